# SPDX-License-Identifier: Apache-2.0
"""The table of all comparisons: on the terminal, as json, and in docs/performance.md."""

import dataclasses
import json

from measure import Cost

BEGIN = "<!-- figures: bench/run.py --update writes what is between these two lines -->"
END = "<!-- end of the figures -->"


@dataclasses.dataclass
class Row:
    """One comparison. What is None, or empty, was not measured."""

    job: str
    file: str = ""                   # the family of captures, or the size
    ours: Cost | None = None
    figure: str = ""                 # … if it is no time
    memory_bytes: int | None = None  # resident, without pages of files
    peer: str = ""                   # the command that it is compared to
    peers: dict[str, Cost] = dataclasses.field(default_factory=dict)  # what that took, by version
    ratio: float | None = None       # by wall-clock time, to the fastest peer
    by_cpu: float | None = None      # the same by CPU time: a busy machine changes it less
    wanted: str = ""
    is_met: bool | None = None
    decode_s: float | None = None    # CPU time of decoding the file and nothing else, on one core
    read_s: float | None = None      # … of reading its bytes from memory


def seconds(value):
    if value is None:
        return ""
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def times(value):
    if value is None:
        return ""
    return f"{value:.2f} x" if value < 10 else f"{value:.1f} x"


def cells_of(row, versions):
    """As printed. The first column of peers has those without a version, too."""
    theirs = [seconds(row.peers[name].wall) if name in row.peers else "" for name in versions]
    theirs[0] = theirs[0] or " ".join(seconds(cost.wall) for name, cost in row.peers.items() if name not in versions)
    return [
        row.job,
        row.file,
        row.figure or seconds(row.ours and row.ours.wall),
        seconds(row.ours and row.ours.cpu),
        "" if row.memory_bytes is None else f"{row.memory_bytes / (1 << 20):.0f} MiB",
        row.peer,
        *theirs,
        times(row.ratio),
        times(row.by_cpu),
        row.wanted,
        {None: "", True: "ok", False: "missed"}[row.is_met],
        seconds(row.decode_s),
        seconds(row.read_s),
    ]


def lines_of(rows, versions):
    heads = ["job", "capture", "cyclops", "its CPU", "memory", "peer", *versions, "ratio", "by CPU", "wanted", "", "decode", "read"]
    return [heads] + [cells_of(row, versions) for row in rows]


def as_text(rows, versions):
    lines = lines_of(rows, versions)
    widths = [max(map(len, column)) for column in zip(*lines)]
    is_words = [head in ("job", "capture", "peer", "") for head in lines[0]]
    return "\n".join("  ".join(cell.ljust(width) if words else cell.rjust(width)
                               for cell, width, words in zip(line, widths, is_words)).rstrip() for line in lines)


def as_markdown(rows, versions):
    heads, *lines = lines_of(rows, versions)
    rule = ["---" if head in ("job", "capture", "peer", "") else "---:" for head in heads]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))


def as_json(rows, versions, machine):
    """All that was measured: seconds and bytes; the least, the median and the number of runs of each command."""
    keep = [dict(dataclasses.asdict(row), ours=row.ours and row.ours._asdict(),
                 peers={name: cost._asdict() for name, cost in row.peers.items()}) for row in rows]
    return json.dumps({"machine": machine, "peers": versions, "rows": keep}, indent=1) + "\n"


def update_page(path, rows, versions, machine):
    """Puts the table and the machine where the page has its marks."""
    text = path.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: {path} lacks the lines {BEGIN!r} and {END!r}")
    told = "\n".join(f"- {line}" for line in machine)
    path.write_text(f"{before}{BEGIN}\n\n{told}\n\n{as_markdown(rows, versions)}\n\n{END}{after}")
