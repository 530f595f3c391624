#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `cyclops c2c` with `perf c2c report` (6.1): every counter of every table.

usage: c2c_perf.py [--seeds N] [--first SEED] [--records N] CYCLOPS MAKE-CAPTURE

On made-up captures, of SPE or of memory samples with all kinds of data sources, and on the real
ones in the folder that the variable CYCLOPS_CAPTURES names. Where perf is known to count
something else, docs/differences.md has the reason; what is adjusted here is marked DIFFERENCE.
"""

import argparse
import collections
import json
import os
import random
import re
import tempfile

from harness import Checks, Failed, csv_rows, need, real_captures, run

# Rows of perf's "Trace Event Information", and our counters.
TRACE = [
    ("Total records", "records"),
    ("Locked Load/Store Operations", "locked"),
    ("Load Operations", "loads"),
    ("Loads - uncacheable", "load_uncached"),
    ("Loads - IO", "load_io"),
    ("Loads - Miss", "load_miss"),
    ("Loads - no mapping", "load_no_address"),
    ("Load Fill Buffer Hit", "load_fill_buffer"),
    ("Load L1D hit", "load_l1"),
    ("Load L2D hit", "load_l2"),
    ("Load LLC hit", "load_llc"),
    ("Load Local HITM", "hitm_local"),
    ("Load Remote HITM", "hitm_remote"),
    ("Load Remote HIT", "load_remote_hit"),
    ("Load Local DRAM", "load_dram_local"),
    ("Load Remote DRAM", "load_dram_remote"),
    ("Load MESI State Exclusive", "load_exclusive"),
    ("Load MESI State Shared", "load_shared"),
    ("Load LLC Misses", "llc_misses"),
    ("Load access blocked by data", "blocked_data"),
    ("Load access blocked by address", "blocked_address"),
    ("Load HIT Local Peer", "peer_local"),
    ("Load HIT Remote Peer", "peer_remote"),
    ("Store Operations", "stores"),
    ("Store - uncacheable", "store_uncached"),
    ("Store - no mapping", "store_no_address"),
    ("Store L1D Hit", "store_l1_hit"),
    ("Store L1D Miss", "store_l1_miss"),
    ("Store No available memory level", "store_any_level"),
    ("No Page Map Rejects", "no_mapping"),
    ("Unable to parse data source", "no_access"),
]
TRACE_SHARES = [
    ("LLC Misses to Local DRAM", "miss_dram_local"),
    ("LLC Misses to Remote DRAM", "miss_dram_remote"),
    ("LLC Misses to Remote cache (HIT)", "miss_remote_hit"),
    ("LLC Misses to Remote cache (HITM)", "miss_remote_hitm"),
]
SHARED = [
    ("Total Shared Cache Lines", "lines"),
    ("Load HITs on shared lines", "loads"),
    ("Fill Buffer Hits on shared lines", "load_fill_buffer"),
    ("L1D hits on shared lines", "load_l1"),
    ("L2D hits on shared lines", "load_l2"),
    ("LLC hits on shared lines", "load_llc"),
    ("Load hits on peer cache or nodes", "load_peer"),
    ("Locked Access on shared lines", "locked"),
    ("Blocked Access on shared lines", "blocked"),
    ("Store HITs on shared lines", "stores"),
    ("Store L1D hits on shared lines", "store_l1_hit"),
    ("Store No available memory level", "store_any_level"),
    ("Total Merged records", "merged"),
]

# Columns of perf's table of lines behind the address, node and "PA cnt", by mode.
MODES = {
    "peer": ("peer_local", "peer_remote"),
    "tot": ("hitm_local", "hitm_remote"),
    "lcl": ("hitm_local", "hitm_remote"),
    "rmt": ("hitm_local", "hitm_remote"),
}
LINE = ["placed_records", "placed_loads", "store_operations", "store_l1_hit", "store_l1_miss",
        "store_any_level", "load_fill_buffer", "load_l1", "load_l2", "load_llc", "hitm_local",
        "load_remote_hit", "hitm_remote", "load_dram_local", "load_dram_remote"]

# Bits of union perf_mem_data_src.
LOAD, HIT, LOCAL_RAM, SNOOP_HIT = 2, 2 << 5, 0x80 << 5, 4 << 19
REMOTE, HOPS = 1 << 37, 7 << 43

TOTAL_ROW = re.compile(r"^  (\S.*?) +: +([\d.]+%?|-?nan%)$")


class Perf:
    """What perf says of a capture."""

    def __init__(self, path, mode):
        command = ["perf", "c2c", "report", "--stdio", "--no-source", "--show-all", "-d", mode,
                   "-i", path]
        self.text = run(*command).decode(errors="replace")
        blocks = re.split(r"={49}\n +(.*?) *\n={49}\n", self.text)
        blocks = dict(zip(blocks[1::2], blocks[2::2]))
        self.trace = self.totals(blocks["Trace Event Information"])
        self.shared = self.totals(blocks["Global Shared Cache Line Event Information"])
        self.lines = [line.split() for line in
                      blocks["Shared Data Cache Line Table"].splitlines()
                      if line and not line.startswith("#")]
        self.read_pareto(blocks["Shared Cache Line Distribution Pareto"])

    @staticmethod
    def totals(text):
        return dict(match.groups() for match in map(TOTAL_ROW.match, text.splitlines()) if match)

    def read_pareto(self, text):
        """Rows of each line, by the line's number."""
        self.pareto = collections.defaultdict(list)
        number = None
        for row in text.splitlines():
            words = row.split()
            if not words or words[0].startswith(("#", "-")):
                continue
            if "%" in words[0]:
                self.pareto[number].append(words[:14])
            else:
                number = int(words[0])


def node_set(text):
    """{0, 1} of "0-1" or "0,1"; perf's N/A is none."""
    nodes = set()
    for part in text.split(","):
        if not part or part == "N/A":
            continue
        first, _, last = part.partition("-")
        nodes |= set(range(int(first), int(last or first) + 1))
    return frozenset(nodes)


def percent(part, whole):
    return f"{100 * part / whole if whole else 0:.2f}%"


def mean_words(total, n):
    """How perf may print a mean: its running mean decides differently in the middle."""
    if n == 0:
        return {"0"}
    mean = total / n
    return {f"{mean:.0f}", f"{mean - 1e-6:.0f}", f"{mean + 1e-6:.0f}"}


def compare_totals(name, ours, perf, checks, more):
    """`more` is what perf counts besides, by counter of ours."""
    for block, rows, theirs in (("trace", TRACE, perf.trace), ("shared", SHARED, perf.shared)):
        for label, counter in rows:
            least = ours[block][counter]["records"] + more[block].get(counter, 0)
            most = least + more["perhaps"].get(counter, 0)
            checks.count(f"totals of {block}")
            checks.expect(least <= int(theirs[label]) <= most,
                          f"{name}: {label}: {least} to {most}, perf has {theirs[label]}")
    misses = ours["trace"]["llc_misses"]["records"]
    for label, counter in TRACE_SHARES:
        if misses == 0:
            continue
        found = f"{100 * ours['trace'][counter]['records'] / misses:.1f}%"
        checks.expect(found == perf.trace[label], f"{name}: {label}: {found}, perf {perf.trace[label]}")


def our_line(line, mode, all_contended):
    local, remote = (line[column] for column in MODES[mode])
    shown = {"lcl": local, "rmt": remote}.get(mode, local + remote)
    return (line["address"], node_set(line.get("nodes", "")), percent(shown, all_contended),
            local + remote, local, remote, *(line[column] for column in LINE))


def perf_line(words):
    numbers = [int(word) for word in words[5:]]
    return (words[1], node_set(words[2]), words[4], *numbers)


def merge_accesses(line):
    """Perf's rows: by offset and address of the instruction alone."""
    rows = {}
    for access in line["accesses"]:
        key = (access["offset"], access["pc"])
        row = rows.setdefault(key, collections.Counter())
        nodes = row.pop("nodes", frozenset()) | node_set(access.get("nodes", ""))
        cpus = max(row.pop("cpus", 0), access["cpus"])
        for name, value in access.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                row[name] += value
        for met, count in MEANS:
            if met in access:
                row[met + "*"] += access[met] * number_of_mean(access, met, count)
        row["nodes"], row["cpus"] = nodes, cpus
    return rows


# Means, and how many loads they are of, for rows where a load is in one class alone.
MEANS = [("mean_peer_remote_cycles", "peer_remote"), ("mean_peer_local_cycles", "peer_local"),
         ("mean_hitm_remote_cycles", "hitm_remote"), ("mean_hitm_local_cycles", "hitm_local"),
         ("mean_load_cycles", None)]


def number_of_mean(access, met, count):
    """Of how many loads a mean is: each load is in the first class that fits."""
    if count is not None:
        return access[count]
    return access["records"] - access["store_operations"] - sum(access[c] for _, c in MEANS if c is not None)


def our_pareto(line, mode):
    local, remote = MODES[mode]
    rows = []
    for (offset, pc), row in merge_accesses(line).items():
        contended = {"lcl": row[local], "rmt": row[remote]}.get(mode, row[local] + row[remote])
        if row["store_operations"] == 0 and contended == 0:
            continue
        rows.append(((percent(row[remote], line[remote]), percent(row[local], line[local]),
                      percent(row["store_l1_hit"], line["store_l1_hit"]),
                      percent(row["store_l1_miss"], line["store_l1_miss"]),
                      percent(row["store_any_level"], line["store_any_level"]),
                      hex(offset), row["nodes"], pc, row["placed_records"]), row))
    return rows


def compare_pareto(name, line, perf_rows, mode, checks):
    theirs = collections.defaultdict(list)
    for w in perf_rows:
        key = (w[0], w[1], w[2], w[3], w[4], w[5], node_set(w[6]), w[8], int(w[12]))
        theirs[key].append(w)
    ours = our_pareto(line, mode)
    checks.count("rows of breakdowns", len(perf_rows))
    wrong = [key for key, _ in ours if not theirs.get(key)]
    if wrong or len(ours) != len(perf_rows):
        checks.fail(f"{name}: line {line['address']}: {len(ours)} rows, perf {len(perf_rows)}; "
                    f"not perf's: {wrong[:3]}")
        return
    for key, row in ours:
        words = theirs[key].pop()
        kind = "peer" if mode == "peer" else "hitm"
        for column, met in ((9, f"mean_{kind}_remote_cycles"), (10, f"mean_{kind}_local_cycles"),
                            (11, "mean_load_cycles")):
            n = dict(MEANS)[met]
            n = row[n] if n else row["records"] - row["store_operations"] - sum(row[c] for _, c in MEANS if c)
            checks.expect(words[column] in mean_words(row[met + "*"], n),
                          f"{name}: {line['address']} {key[5]} {met}: {row[met + '*']}/{n}, "
                          f"perf {words[column]}")
        checks.expect(int(words[13]) >= row["cpus"], f"{name}: cpus of {key}")


def compare_lines(name, ours, perf, mode, checks):
    local, remote = MODES[mode]
    metric = {"lcl": lambda l: l[local], "rmt": lambda l: l[remote]}.get(
        mode, lambda l: l[local] + l[remote])
    lines = [line for line in ours["lines"] if metric(line) > 0]
    contended = {"lcl": ours["trace"][local]["records"], "rmt": ours["trace"][remote]["records"]}
    total = contended.get(mode, sum(ours["trace"][c]["records"] for c in (local, remote)))
    theirs = [(perf_line(words), int(words[0])) for words in perf.lines]
    column = {"lcl": 4, "rmt": 5}.get(mode, 3)
    theirs = [(row, number) for row, number in theirs if row[column] > 0]
    if not checks.equal("lines", [our_line(line, mode, total) for line in lines],
                        [row for row, _ in theirs], f"perf ({name})"):
        return
    numbers = collections.defaultdict(list)
    for row, number in theirs:
        numbers[row].append(number)
    for line in lines:
        candidates = numbers[our_line(line, mode, total)]
        if len(candidates) == 1:
            compare_pareto(name, line, perf.pareto[candidates[0]], mode, checks)


def uncounted(cyclops, path):
    """
    DIFFERENCES: perf 6.1 takes SVE operations that are no loads for loads without an address;
    it has no mapping for addresses of the kernel outside its image, or without a map of it, for
    all of them. A load from local
    memory that is marked as remote counts in both, and twice as exclusive or shared.
    """
    more = {kind: collections.Counter() for kind in ("trace", "shared", "perhaps")}
    for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path):
        if row["op"] == "OTHER" and row["subclass"] == "SVE":
            more["trace"].update(("records", "loads", "load_no_address"))
        elif row["op"] in ("LD", "ST") and row["vaddr"] and row["el"] in ("1", "2"):
            more["trace"]["no_mapping"] += 1
    for row in csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path):
        src = int(row["data_src"] or "0", 16)
        if src and (int(row["addr"] or "0", 16) | int(row["ip"] or "0", 16)) >> 63:
            more["perhaps"]["no_mapping"] += 1
        if (src & LOAD and src & HIT and src & LOCAL_RAM and src & REMOTE and not src & HOPS
                and int(row["addr"] or "0", 16)):
            more["trace"]["load_shared" if src & SNOOP_HIT else "load_exclusive"] += 1
    return more


def compare(name, path, mode, cyclops, checks):
    perf = Perf(path, mode)
    ours = json.loads(run(cyclops, "c2c", "--all", "--line-size", 64, "--mode", mode, "--format",
                          "json", path))
    compare_totals(name, ours, perf, checks, uncounted(cyclops, path))
    compare_lines(name, ours, perf, mode, checks)
    checks.count("captures and modes")


def draw_options(seed, n_records):
    r = random.Random(seed)
    options = ["--seed", seed, "--cpus", r.choice((1, 2, 3, 4, 8)), "--only-perf61",
               "--data", r.choice((64, 200, 1024, 8192, 65536, 1 << 20)),
               "--kernel-share", r.choice((0, 15, 60)), "--chunk", r.choice((4096, 65536, 1 << 20))]
    if r.random() < 0.7:
        options.append("--sharing")
    if seed % 3 == 2:
        return options + ["--memory-samples", n_records], r.choice(("tot", "lcl", "rmt", "peer"))
    if r.random() < 0.2:
        options.append("--no-context")
    return options + ["--records", n_records], "peer"


def has_data_src(cyclops, path):
    try:
        rows = csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path)
    except Failed:
        return False
    return any(row["data_src"] not in ("", "0x0") for row in rows)


def compare_real(path, cyclops, checks):
    """perf refuses streams, and captures that do not say which nodes the machine has."""
    for mode in MODES:
        try:
            compare(f"{os.path.basename(path)}, {mode}", path, mode, cyclops, checks)
        except Failed as failure:
            if "Failed setup nodes" not in str(failure):
                raise
            checks.count("real captures that perf refuses, by mode")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--records", type=int, default=3000)
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    need("perf")
    checks = Checks()
    for seed in range(args.first, args.first + args.seeds):
        options, mode = draw_options(seed, args.records)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c2c.data")
            run(args.make_capture, "--output", path, *options)
            compare(f"seed {seed}, {mode}: " + " ".join(map(str, options)), path, mode,
                    args.cyclops, checks)
    for path in real_captures():
        if has_data_src(args.cyclops, path):
            compare_real(path, args.cyclops, checks)
    checks.finish()


if __name__ == "__main__":
    main()
