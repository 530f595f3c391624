#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Opens each page of --html in a browser: nothing fails, no request leaves the file, names are never markup, the
accessibility checker (axe-core) finds nothing, tables have the values of csv, and the text is the reviewed one.

usage: html_pages.py [--update] [--captures] [--everything] [--rows N] CYCLOPS WRITE_SAMPLES PACKAGES DATA_DIR

PACKAGES is where the build has the viewer's packages. --update writes the reviewed texts: look at the
difference before it goes in. --everything: axe-core looks at every page. --captures opens the pages of all captures in the folder that CYCLOPS_CAPTURES names, too.
"""

import argparse
import csv
import difflib
import functools
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import browser
import small_elf
from harness import Checks, Failed, has_model, real_captures, run, skip

SYMBOLS = ["--symfs", "root"]

# By name: the capture, and whether its text is reviewed. The others are opened and compared with csv.
NARROW, WIDE = 390, 1280  # pixels
CAPTURES = {
    "demo": ("demo.data", True),
    "sharing": ("samples/sharing.data", True),
    "chase": ("samples/chase.data", False),
    "calls": ("calls.data", True),
    "cycles": ("cycles.data", False),
    "executions": ("executions.data", True),
    "stride": ("samples/stride.data", False),
    "copies": ("samples/copies.data", False),
    "padded": ("samples/padded.data", False),
}

# By page: the command whose csv has the tables, and by table its options.
# Of each capture so many pages of functions are looked at, one of them by axe-core.
FUNCTIONS = 3

HOT = {"functions": "function", "lines": "line", "modules": "module", "processes": "process", "threads": "thread"}

NOP, RET = 0xD503201F, 0xD65F03C0
IN_USER = 0xfffffffffffffe00  # in a call chain: what follows is the program's
HOSTILE = ["line\nbreak\r\ttab", "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'onmouseover=alert(1) x='",
           "<!-- --><svg onload=alert(1)>", "${alert(1)}`", "javascript:alert(1)", "\udcff\udcfe invalid \udc80",
           "right\u202eleft", "escape\x1b[31m", "]]>&lt;b&gt;", "a,b\"c\"", "% > 5 !x y=1", "日本語", "\\x41"]


def random_names(seed, n):
    """Any bytes but 0."""
    rng = random.Random(seed)
    return [bytes(rng.randrange(1, 256) for _ in range(rng.randrange(1, 25))).decode(errors="surrogateescape") for _ in range(n)]


# The last ones are the hottest, and have pages of their own.
HOSTILE = [*random_names(16, 30), *HOSTILE]


def page_file(cyclops, folder, capture, *options):
    path = pathlib.Path(folder) / "pages.html"
    run(cyclops, "report", *options, "--html", path, capture)
    return path


def addresses(page):
    """All pages, and the tables of each that are behind tabs."""
    menu = page.run("[...document.querySelectorAll('.menu a')].map((a) => a.getAttribute('href'))")
    found, functions = list(menu), []
    for address in menu:
        page.show(address)
        tabs = page.run("[...document.querySelectorAll('.tabs a')].map((a) => a.getAttribute('href'))")
        found += [tab for tab in tabs if tab not in found]
        links = page.run("[...document.querySelectorAll('.grid td a')].map((a) => a.getAttribute('href'))")
        functions += [link for link in links if link not in functions]
    return found + functions[:FUNCTIONS]


READ_GRIDS = """(async () => {
    const tables = {};
    document.querySelectorAll(".all-columns").forEach((button) => button.click());
    for (const grid of document.querySelectorAll(".grid")) {
        const rows = new Map(), box = grid.parentElement;
        const take = () => grid.querySelectorAll("tr[data-row]").forEach((tr) => rows.set(Number(tr.dataset.row),
            Object.fromEntries([...tr.children].map((td) => [td.dataset.column, [td.dataset.value, td.dataset.mark || "exact"]]))));
        for (let top = 0; top === 0 || top < box.scrollHeight; top += 300) {
            box.scrollTop = top;
            box.dispatchEvent(new Event("scroll"));
            take();
        }
        tables[grid.dataset.table] = [...rows.values()];
    }
    return tables;
})()"""


def plain(name):
    """A name without what neither csv nor a page shows as it is: csv has U+FFFD or the end of a line there, a page \\xNN."""
    return re.sub(r"(\\x[0-9a-f]{2}|�|[\t\n\r])+", "�", name)


def same(ours, theirs):
    if ours == theirs:
        return True
    try:
        return float(ours) == float(theirs)
    except ValueError:
        return plain(ours) == plain(theirs)


@functools.cache
def csv_text(cyclops, data, *words):
    """What a command prints: the same each time, as captures do not change."""
    return run(cyclops, *words, "--format", "csv", cwd=data).decode(errors="surrogateescape")


def csv_of(cyclops, data, *words):
    """Rows of its csv; of one table, which is taken from an answer that has all of them where there are several."""
    at = words.index("--table") if "--table" in words else None
    text = csv_text(cyclops, data, *words[:at], *words[at + 2:]) if at is not None else csv_text(cyclops, data, *words)
    tables = re.split(r"^# table (.*)\n", text, flags=re.M)
    if at is not None and len(tables) > 1:
        text = dict(zip(tables[1::2], tables[2::2]))[words[at + 1]]
    elif at is not None:
        text = csv_text(cyclops, data, *words)
    return list(csv.DictReader(io.StringIO(text)))


def compare_grid(checks, what, shown, rows):
    """Each row of csv is a row of the page: all columns that csv has, values and marks."""
    if not checks.expect(len(shown) == len(rows), f"{what}: {len(shown)} rows, csv has {len(rows)}"):
        return
    for number, (ours, theirs) in enumerate(zip(shown, rows)):
        for column, value in theirs.items():
            if column.endswith("_trust") and column[:-6] not in ours:
                wrong = False
            elif column.endswith("_trust"):
                wrong = (value or "exact") != ours.get(column[:-6], ["", "exact"])[1]
            else:
                wrong = column in ours and not same(ours[column][0], value)
            checks.count("values")
            checks.expect(not wrong, f"{what}: row {number}, {column}: {ours.get(column)}, csv has {value!r}")


def first_columns(rows):
    return ",".join(column for column in rows[0] if not column.endswith("_trust"))


def check_function(checks, page, cyclops, data, capture, options, address):
    """The tables of a function: instructions with all columns, loops, blocks, edges."""
    symbol = urllib.parse.unquote(address.partition("/")[2])
    words = [*options, capture, symbol]
    for name, command in (("instructions", "annotate"), ("loops", "annotate"), ("blocks", "blocks"), ("edges", "blocks")):
        rows = csv_of(cyclops, data, command, "--table", name, *(["--blocks"] if command == "annotate" else ["--all"]), *words)
        if not rows:
            continue
        page.show(f"{address}?columns={first_columns(rows)}" if name == "instructions" else address)
        shown = page.run(READ_GRIDS)
        if name in shown or name != "blocks":
            compare_grid(checks, f"{capture} {symbol} {name}", shown[name], rows)
    facts = page.run("Object.fromEntries([...document.querySelectorAll('dl[data-table=function] dd')]"
                     ".map((dd) => [dd.dataset.column, dd.dataset.value]))")
    for column, value in csv_of(cyclops, data, "annotate", "--table", "function", *words)[0].items():
        checks.expect(column not in facts or same(facts[column], value), f"{symbol} {column}: {facts.get(column)}, csv has {value}")


def check_values(checks, page, cyclops, data, capture, options, found):
    """Tables of the page of functions, with all columns; what the answer shows of them; pages of functions. `found`: addresses()."""
    for address in found:
        if address.startswith("#function/") and "[unknown]" not in urllib.parse.unquote(address):
            check_function(checks, page, cyclops, data, capture, options, address)
    for tab in [address for address in found if address.startswith("#functions")]:
        name = tab.partition("/")[2] or "functions"
        if name == "compare":
            continue
        if name not in HOT:
            rows = csv_of(cyclops, data, "report", "--all", "--table", name, *options, capture)
        else:
            rows = csv_of(cyclops, data, "hot", "--all", "--by", HOT[name], *options, capture)
        page.show(f"{tab}?columns={first_columns(rows)}")
        compare_grid(checks, f"{capture} {tab}", page.run(READ_GRIDS)[name], rows)
    check_tables(checks, page, cyclops, data, capture, options, "#memory", MEMORY)
    check_tables(checks, page, cyclops, data, capture, options, "#sharing", SHARING)
    check_timeline(checks, page, cyclops, data, capture, options)
    if capture == CAPTURES["sharing"][0]:
        check_bytes(checks, page, cyclops, data, capture, options)
        check_compare(checks, page, cyclops, data, capture, options)
        check_object_times(checks, page, cyclops, data, capture, options)
    page.show("#answer")
    for name, shown in page.run(READ_GRIDS).items():
        rows = csv_of(cyclops, data, "report", "--all", "--table", name, *options, capture)
        compare_grid(checks, f"{capture} #answer {name}", shown, rows[:len(shown)])
    check_facts(checks, page, cyclops, data, capture, options)
    check_unexplained(checks, page, cyclops, data, capture, options)
    check_cards(checks, page, csv_of(cyclops, data, "report", "--all", "--table", "findings", *options, capture), capture)
    page.show("#quality")
    for name, shown in page.run(READ_GRIDS).items():
        rows = csv_of(cyclops, data, "quality", "--all", "--table", name, *options, capture)
        if name == "quality":  # problems are first on a page, as on a screen
            rows.sort(key=lambda row: row["check"])
            shown.sort(key=lambda row: row["check"][0])
        compare_grid(checks, f"{capture} #quality {name}", shown, rows)


# Rows that are lists of facts: their table, number, and values by column.
READ_FACTS = """[...document.querySelectorAll("dl[data-row]")].map((list) => [list.dataset.table, Number(list.dataset.row),
    Object.fromEntries([...list.querySelectorAll("dd[data-column]")].map((dd) => [dd.dataset.column, dd.dataset.value]))])"""


# Lines of the source that stands on the page without a card, by what they are marked as.
READ_SNIPPET = """[...document.querySelectorAll(".snippets tr.marked")].filter((tr) => tr.closest(".card") === null && tr.querySelector(".said") !== null)
    .flatMap((tr) => tr.querySelector(".said").textContent.replace("^", "").split(",").map((what) => [what.trim(),
        Number(tr.previousElementSibling.firstElementChild.textContent)]))"""


def check_unexplained(checks, page, cyclops, data, capture, options):
    """An answer without a finding shows the source of the time that nothing explains, or else of the hottest line."""
    if not isinstance(capture, str) or csv_of(cyclops, data, "report", "--all", "--table", "findings", *options, capture):
        return  # what the test makes has no source
    marked = page.run(READ_SNIPPET)
    rows = csv_of(cyclops, data, "report", "--all", "--table", "unexplained", *options, capture)
    if rows:
        wanted = [["loop", int(rows[0]["line"])]] + ([["suspect", int(rows[0]["suspect_line"])]] if rows[0]["suspect_line"] else [])
        checks.expect(marked == wanted, f"{capture} #answer: source marked at {marked}, unexplained are {wanted}")
    else:
        checks.expect(len(marked) == 1 and marked[0][0].startswith("hottest by "), f"{capture} #answer: source marked at {marked}")
    checks.count("answers without a finding")


def check_facts(checks, page, cyclops, data, capture, options):
    """What findings rest on, and facts of the capture."""
    rows = {}
    for name, row, facts in page.run(READ_FACTS):
        if name not in rows:
            rows[name] = csv_of(cyclops, data, "report", "--all", "--table", name, *options, capture)
        for column, value in facts.items():
            checks.count("values")
            checks.expect(same(value, rows[name][row][column]), f"{capture} {name} {row} {column}: {value}, csv {rows[name][row]}")
        absent = {column for column, value in rows[name][row].items() if value != "" and column not in facts}
        checks.expect(absent <= {"finding", "modelled"} or all(column.endswith("_trust") for column in absent - {"finding", "modelled"}),
                      f"{capture} {name} {row}: without {absent}")


# By card: its cost in words, and where its bar and the interval end, in per cent.
READ_CARDS = """[...document.querySelectorAll(".card[data-finding]")].map((card) => { const bar = card.querySelector(".cost-bar");
    return [card.querySelector(".cost").textContent, ...["--part", "--low", "--high"].map((name) =>
        bar === null ? null : parseFloat(bar.style.getPropertyValue(name)))]; })"""


def check_cards(checks, page, findings, what):
    """The bar of each finding, and the numbers beside it."""
    cards = page.run(READ_CARDS)
    checks.expect(len(cards) == len(findings), f"{what}: {len(cards)} cards, csv has {len(findings)} findings")
    for (words, *ends), finding in zip(cards, findings):
        if finding["share"] == "":
            continue
        share, error = 100 * float(finding["share"]), 100 * float(finding["share_error"] or 0)
        wanted = [min(100, max(0, end)) for end in (share, share - error, share + error)]
        said = [f"{wanted[0]:.1f} %"] + ([f"± {error:.1f}"] if error != 0 else [])
        checks.expect(all(abs(a - b) < 1e-9 for a, b in zip(ends, wanted)), f"{what}: bar {ends}, csv {wanted}")
        checks.expect(all(part in words for part in said), f"{what}: '{words}', csv {share} ± {error}")
        checks.count("cards")


# Of the page about memory: by table, the command whose csv has it.
MEMORY = {
    "sources": ["mem"], "histogram": ["mem", "--histogram"], "functions": ["mem"], "translation": ["mem"],
    "events": ["mem"], "region": ["mem"], "levels": ["mem", "--by-level"],
    "mem": ["mem", "--by", "time", "--time-slices", "100"],
    "objects": ["addr"], "splits": ["addr"], "huge_pages": ["addr"],
}

SHARING = {name: ["c2c"] for name in ("pairs", "trace", "shared", "lines", "accesses")}

# By drawing of a cache line: its boxes in order, with their first byte.
READ_BYTES = """[...document.querySelectorAll(".card[data-finding='1'] figure")].map((figure) =>
    [...figure.querySelectorAll(".byte-rows")].map((line) => [...line.querySelectorAll("[role=listitem] .bytes > span")]
        .map((box) => [box.textContent, Number(box.style.gridColumnStart) - 1])))"""


def check_bytes(checks, page, cyclops, data, capture, options):
    """The first contended line: each access at its bytes, and members where they are with the fix."""
    page.show("#sharing")
    drawn = page.run(READ_BYTES)
    accesses = [row for row in csv_of(cyclops, data, "c2c", "--all", "--table", "accesses", *options, capture) if row["line"] == "1"]
    layouts = [row for row in csv_of(cyclops, data, "c2c", "--all", "--table", "layouts", *options, capture) if row["line"] == "1"]
    boxes = [box for box in drawn[0][0] if box[0] in ("R", "W", "RW")]
    checks.expect([at for _, at in boxes] == [int(row["offset"]) for row in accesses], f"{capture}: accesses at {boxes}")
    shown = {(name, 64 * line + at) for line, members in enumerate(drawn[1]) for name, at in members}
    fixed = {(row["field"], int(row["new_offset"])) for row in layouts}
    checks.expect(shown == fixed, f"{capture}: with the fix {shown}, csv has {fixed}")
    checks.count("cache lines drawn", len(drawn))


# Of the timeline: by table, the key of `hot`.
TIMELINE = {"threads": "thread", "functions": "function", "sources": "source"}
SLICES = 100


def check_range(checks, page, cyclops, data, capture, words, address):
    """The tables of a range of time are those of `hot` for these records."""
    page.show(address)
    for name, shown in page.run(READ_GRIDS).items():
        rows = csv_of(cyclops, data, "hot", "--all", "--by", TIMELINE[name], *words, capture)
        rows = [row for row in rows if "event" not in row or row["event"] == rows[0]["event"]]
        rows = [row for row in rows if row["samples"] != "0"]  # callers alone
        has_latency = rows[0]["latency_cycles"] != ""
        for row in shown:
            row["latency_cycles" if has_latency else "period"] = row.pop("weight")
            if has_latency:
                row["mean_latency_cycles"] = row.pop("mean")
        compare_grid(checks, f"{capture} {address} {name}", shown, rows)
    checks.count("ranges of time")


def check_timeline(checks, page, cyclops, data, capture, options):
    """The whole time, and a part of it, which the mouse chooses in one capture."""
    if not page.run("document.querySelector('.menu a[href=\"#timeline\"]') !== null"):
        return
    check_range(checks, page, cyclops, data, capture, options, "#timeline")
    starts = csv_of(cyclops, data, "hot", "--all", "--by", "time", "--time-slices", str(SLICES), *options, capture)
    starts = sorted({int(row["start_ns"]) for row in starts})
    first, last = 15, 70
    chosen = f"time in {starts[first]}ns..{starts[last] - 1}ns"
    check_range(checks, page, cyclops, data, capture, [*options, "--select", chosen], f"#timeline?from={first}&to={last}")
    if capture != CAPTURES["sharing"][0]:
        return
    page.show("#timeline")
    left, top, width, height = page.run("(() => { const box = document.querySelector('.timeline .plot').getBoundingClientRect();"
                                        " return [box.left, box.top, box.width, box.height]; })()")
    for kind, slice_, buttons in (("mousePressed", first, 1), ("mouseMoved", (first + last) / 2, 1), ("mouseMoved", last - 1, 1),
                                  ("mouseReleased", last - 1, 0)):
        page.ask("Input.dispatchMouseEvent", type=kind, x=left + (slice_ + 0.5) / SLICES * width, y=top + height / 2,
                 button="left", buttons=buttons, clickCount=1)
    checks.expect(page.run("location.hash") == f"#timeline?from={first}&to={last}", f"mouse: {page.run('location.hash')}")
    page.run("""(() => { const input = document.querySelector(".range-tools input"); input.value = "20";
                input.dispatchEvent(new Event("input")); })()""")
    checks.expect(page.run("location.hash") == f"#timeline?from=20&to={last}", f"slider: {page.run('location.hash')}")
    page.run("document.querySelector('.range-tools button').click()")
    checks.expect(page.run("location.hash") == "#timeline", f"whole time: {page.run('location.hash')}")


COMPARED = "function,module,inlined,share_a,error_a,share_b,error_b,difference,samples_a,samples_b"


def by_function(rows):
    return {(row["function"], row["module"], row["inlined"]): row for row in rows}


def check_sides(checks, page, what, address, sides):
    """Both sides of a comparison: rows of csv, and whether they are by samples."""
    page.show(f"{address}&columns={COMPARED}")
    shown = {tuple(row[name][0] for name in ("function", "module", "inlined")): row for row in page.run(READ_GRIDS)["compare"]}
    for letter, (rows, by_samples) in zip("ab", sides):
        rows = by_function(rows)
        samples = sum(int(row["samples"]) for row in rows.values())
        for key, row in shown.items():
            theirs = rows.get(key, {"samples": "0", "share": "", "share_trust": ""})
            checks.count("values", 3)
            checks.expect(same(row[f"samples_{letter}"][0], theirs["samples"]), f"{what} {key}: samples {row}, csv {theirs}")
            ours, trust = row[f"share_{letter}"]
            if by_samples and theirs["share"] != "":
                share = int(theirs["samples"]) / samples
                error = 1.96 * (share * (1 - share) / samples) ** 0.5
                checks.expect(abs(float(ours) - share) < 1e-12, f"{what} {key}: {ours}, of samples {share}")
                checks.expect(abs(float(row[f"error_{letter}"][0]) - error) < 1e-9, f"{what} {key}: {row}, wanted ± {error}")
            else:
                checks.expect(same(ours, theirs["share"]), f"{what} {key}: {ours}, csv {theirs['share']}")
                checks.expect(trust == (theirs["share_trust"] or "exact"), f"{what} {key}: {trust}, csv {theirs}")
        checks.expect(set(rows) == {key for key in shown if shown[key][f"samples_{letter}"][0] != "0"},
                      f"{what}: other functions")
    checks.count("comparisons")
    return shown


def check_compare(checks, page, cyclops, data, capture, options):
    """Threads, ranges of time and columns beside each other; chance where it explains a difference."""
    hot = [cyclops, data, "hot", "--all", "--by", "function", *options, capture]
    tids = [row["tid"] for row in csv_of(cyclops, data, "hot", "--all", "--by", "thread", *options, capture)]
    starts = sorted({int(row["start_ns"]) for row in csv_of(cyclops, data, "hot", "--all", "--by", "time", "--time-slices", str(SLICES),
                                                            *options, capture)})
    halves = [csv_of(*hot, "--select", f"time {condition}") for condition in (f"< {starts[50]}ns", f">= {starts[50]}ns")]
    by_thread = [csv_of(*hot, "--select", f"tid={tid}") for tid in tids]
    whole = csv_of(*hot)
    check_sides(checks, page, "threads", "#functions/compare?a=thread:0&b=thread:1", [(by_thread[0], False), (by_thread[1], False)])
    check_sides(checks, page, "halves", "#functions/compare?a=time:0:50&b=time:50:100", [(halves[0], False), (halves[1], False)])
    shown = check_sides(checks, page, "columns", "#functions/compare?a=all&b=all:samples", [(whole, False), (whole, True)])
    # one thread runs one function, and none of the others does
    records = [(row["tid"], int(row["total_lat"])) for row in csv_of(cyclops, data, "export", *options, capture)]
    own = [latency for tid, latency in records if tid == tids[1]]
    rest = [latency for tid, latency in records if tid != tids[1]]
    spread = [sum(x * x for x in part) * len(part) / sum(part) ** 2 for part in (own, rest)]
    share = sum(own) / sum(own + rest)
    error = 1.96 * share * (1 - share) * (spread[0] / len(own) + spread[1] / len(rest)) ** 0.5
    found = [row for key, row in shown.items() if key[0] == by_thread[1][0]["function"]][0]
    checks.expect(abs(float(found["error_a"][0]) - error) < 1e-9, f"compare: {found}, wanted ± {error}")
    page.show("#functions/compare?a=time:0:50&b=time:50:100")
    for row in page.run(READ_GRIDS)["compare"]:
        errors = [float(row[f"error_{side}"][0] or 0) for side in "ab"]
        least = (errors[0] ** 2 + errors[1] ** 2) ** 0.5
        value, mark = row["difference"]
        wanted = "sparse" if all(int(row[f"samples_{side}"][0]) < 10 for side in "ab") else "noise" if abs(float(value)) <= least else "exact"
        checks.expect(mark == wanted, f"compare: {row}: wanted {wanted}")
    page.run("""(() => { const select = document.querySelector("select[aria-label='A by']"); select.value = "samples";
                select.dispatchEvent(new Event("change")); })()""")
    checks.expect("a=time%3A0%3A50%3Asamples" in page.run("location.hash"), f"compare: {page.run('location.hash')}")
    checks.expect("A: " in twin_of(page) and "B − A" in twin_of(page), f"compare: {twin_of(page)[:300]}")


def check_object_times(checks, page, cyclops, data, capture, options):
    """Accesses of each object in a range of time: sums of the slices that csv has."""
    first, last = 20, 60
    page.show(f"#memory/objects?from={first}&to={last}")
    shown = page.run("[...document.querySelectorAll('.strip:not(.strip-axis)')].map((strip) => [strip.querySelector('.strip-name').textContent,"
                     " strip.querySelector('.strip-figures').textContent, strip.querySelectorAll('rect').length])")
    rows = csv_of(cyclops, data, "addr", "--time-slices", str(SLICES), *options, capture)
    wanted = []
    for row in rows[:24]:
        slices = [int(row[f"slice_{i}"]) for i in range(SLICES)]
        wanted.append([row["object"] or row["kind"], f"{sum(slices[first:last])} records", sum(n > 0 for n in slices)])
    checks.expect(shown == wanted, f"objects over time: {shown}, csv has {wanted}")
    checks.count("objects over time", len(wanted))


def check_tables(checks, page, cyclops, data, capture, options, start, commands):
    """All tables of a page and of what is behind its tabs, with the columns that they show."""
    if not page.run(f"document.querySelector('.menu a[href=\"{start}\"]') !== null"):
        return
    page.show(start)
    for address in page.run("[...document.querySelectorAll('.tabs a')].map((a) => a.getAttribute('href'))") or [start]:
        page.show(address)
        for name, shown in page.run(READ_GRIDS).items():
            rows = csv_of(cyclops, data, *commands[name], "--all", "--table", name, *options, capture)
            compare_grid(checks, f"{capture} {address} {name}", shown, rows)


def check_access(checks, page, axe, what):
    """No violation by the rules of axe-core, in light and in dark."""
    for is_dark in (False, True):
        page.dark(is_dark)
        if page.run("typeof axe") == "undefined":
            page.run(axe)
        rules = "{ runOnly: ['color-contrast'] }" if is_dark else "{}"  # nothing else is different in the dark
        found = json.loads(page.run(f"axe.run({rules}).then((r) => JSON.stringify(r.violations.map((v) => "
                                    "[v.id, v.nodes.slice(0, 3).map((n) => n.html + n.failureSummary)])))"))
        checks.count("pages by axe-core")
        for violation in found:
            checks.fail(f"{what}{' dark' if is_dark else ''}: axe: {json.dumps(violation)[:500]}")
    page.dark(False)


# By table, drawing and list: the signs that its values have, and those that what stands below it explains. Rows not in sight count.
READ_SIGNS = """(async () => {
    const found = [], SIGN = /^[≥≤≈](?= )|[~?=*!]$/g;
    const signs = (texts) => [...new Set(texts.flatMap((text) => text.trim().match(SIGN) || []))].sort();
    const explained = (elements) => [...new Set(elements.filter((e) => e !== null && !e.hidden).flatMap((e) => e.classList.contains("legend")
        ? e.textContent.split("; ").map((part) => part[0]) : [...e.textContent.matchAll(/(?<![^ ])([≥≤≈~?=*!]): /g)].map((m) => m[1])))].sort();
    for (const grid of document.querySelectorAll(".grid")) {
        const texts = new Set(), box = grid.parentElement;
        for (let top = 0; top === 0 || top < box.scrollHeight; top += 300) {
            box.scrollTop = top;
            box.dispatchEvent(new Event("scroll"));
            grid.querySelectorAll("td.number").forEach((td) => texts.add(td.textContent));
        }
        box.scrollTop = 0;
        box.dispatchEvent(new Event("scroll"));
        found.push([grid.dataset.table, signs([...texts]), explained([...box.parentElement.querySelectorAll(".notes p")])]);
    }
    const behind = (e) => [e.nextElementSibling, e.nextElementSibling === null ? null : e.nextElementSibling.nextElementSibling]
        .filter((next) => next !== null && next.matches("p.legend"));
    for (const list of document.querySelectorAll("dl[data-row]"))
        found.push([list.dataset.table, signs([...list.querySelectorAll("dd[data-mark]")].map((dd) => dd.textContent.split(" ")
            .filter((word, i, all) => i < 2 || i === all.length - 1).join(" "))), explained(behind(list))]);
    for (const flow of document.querySelectorAll(".flow-box"))
        found.push(["control flow", signs([...flow.querySelectorAll("text")].flatMap((text) => text.textContent.split(/[ ()]+(?=[≥≤≈\\d(])|\\)/))), explained(behind(flow))]);
    return found;
})()"""


def check_signs(checks, page, what):
    """A legend has each sign that its table, list or drawing shows, and no other."""
    for name, shown, explained in page.run(READ_SIGNS):
        checks.expect(shown == explained, f"{what} {name}: signs {shown}, explained {explained}")
        checks.count("signs", len(shown))


# Tables that are wider than their place, and whether a note says so.
READ_WIDE = """[...document.querySelectorAll(".scroller")].flatMap((box) => {
    const says = !box.parentElement.querySelector(".sideways").hidden, isWide = box.scrollWidth > box.clientWidth + 1;
    return isWide || says ? [[box.firstElementChild.dataset.table, isWide, says]] : [];
})"""


def check_width(checks, page, what):
    """On a wide screen each table fits, as columns are hidden by name; on a narrow one a note says which are to be scrolled."""
    checks.expect(page.run(READ_WIDE) == [], f"{what}: wider than {WIDE} pixels: {page.run(READ_WIDE)}")
    hidden = page.run("[...document.querySelectorAll('.hidden-columns:not([hidden])')].map((e) => e.textContent)")
    checks.expect(all(re.match("hidden columns: .+Show all columns$", words) for words in hidden), f"{what}: {hidden}")
    checks.count("tables with hidden columns", len(hidden))


# What is hard to read: labels of an axis or of loops over each other, a figure in two lines, a word of a command that is broken
# though there is room for it in a line.
READ_CLASHES = """(() => {
    const clashes = [...document.querySelectorAll(".figure")].filter((e) => e.getClientRects().length > 1).map((e) => e.textContent);
    for (const axis of document.querySelectorAll(".ticks")) {
        const labels = [...axis.children].map((e) => [e.getBoundingClientRect(), e.textContent]).sort((a, b) => a[0].left - b[0].left);
        labels.forEach(([box, words], i) => { if (i > 0 && labels[i - 1][0].right > box.left) clashes.push(`${labels[i - 1][1]} | ${words}`); });
    }
    const loops = [...document.querySelectorAll(".loop-words")].map((e) => [e.getBoundingClientRect(), e.textContent]);
    loops.forEach(([a, words], i) => loops.slice(0, i).forEach(([b, others]) => {
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) clashes.push(`${others} | ${words}`);
    }));
    for (const word of document.querySelectorAll("code .word")) {
        const line = word.closest("p, dd, li, h1, h2, td"), room = line.clientWidth, height = word.offsetHeight;
        word.style.whiteSpace = "nowrap";
        if (height > 1.5 * word.offsetHeight && word.scrollWidth < 0.9 * room) clashes.push(`broken: ${word.textContent}`);
        word.style.whiteSpace = "";
    }
    return clashes;
})()"""


def check_text(checks, page, name, address, data, update):
    """What a person reads on the page, reviewed."""
    path = data / "pages" / f"{name}-{urllib.parse.unquote(address).strip('#').replace('/', '-')}.txt"
    shown = page.run("document.querySelector('main').innerText") + "\n"
    checks.count("reviewed texts")
    page.size(NARROW, 900)
    width = page.run("document.documentElement.scrollWidth")
    checks.expect(width <= NARROW, f"{path.stem}: {width} pixels wide on a screen of {NARROW}")
    clashes = page.run(READ_CLASHES)
    checks.expect(not clashes, f"{path.stem}: on a screen of {NARROW} pixels: {clashes}")
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # notes follow the size
    silent = [name for name, is_wide, says in page.run(READ_WIDE) if is_wide != says]
    checks.expect(not silent, f"{path.stem}: on a screen of {NARROW} pixels no note says that {silent} are wider")
    page.size(WIDE, 900)
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
        return
    reviewed = path.read_text(encoding="utf-8") if path.exists() else ""
    difference = "\n".join(difflib.unified_diff(reviewed.splitlines(), shown.splitlines(), "reviewed", "shown", lineterm="", n=1))
    checks.expect(not difference, f"{path.name}: look at it, and then --update\n{difference[:3000]}")


def check_quiet(checks, page, what):
    checks.expect(not page.errors, f"{what}: {page.errors[:3]}")
    page.errors.clear()


def twin_of(page):
    page.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    page.run("document.querySelector('.actions button').click()")
    return page.run("window.copied")


def check_twin(checks, page, what):
    """"Copy page as text" has something of the page, and the mark of modelled numbers."""
    text = twin_of(page)
    checks.expect(len(text) > 100, f"{what}: the text is short: {text!r}")
    shows = page.run("document.querySelector('.modelled') !== null")
    checks.expect(text.startswith("modelled:") == shows, f"{what}: modelled on the page, not in the text, or the reverse")


def check_capture(checks, page, arguments, name, folder, axe):
    capture, is_reviewed = CAPTURES[name]
    data = pathlib.Path(arguments.data)
    path = pathlib.Path(folder) / f"{name}.html"
    run(arguments.cyclops, "report", *SYMBOLS, "--html", path, capture, cwd=data)
    page.open(path)
    found = addresses(page)
    for address in found:
        page.show(address)
        checks.count("pages")
        checks.expect(page.run("document.querySelector('main h1') !== null"), f"{name}{address}: no heading")
        check_twin(checks, page, f"{name}{address}")
        clashes = page.run(READ_CLASHES)
        checks.expect(not clashes, f"{name}{address}: {clashes}")
        check_width(checks, page, f"{name}{address}")
        check_signs(checks, page, f"{name}{address}")
        is_first = address.startswith("#function/") and not any(a.startswith("#function/") for a in found[:found.index(address)])
        if arguments.everything or (name in ("demo", "executions") or address.startswith("#sharing")) and (
                is_first or not address.startswith("#function/")):
            check_access(checks, page, axe, f"{name}{address}")
        if is_reviewed and (is_first or not address.startswith("#function/")):
            check_text(checks, page, name, address, data, arguments.update)
        check_quiet(checks, page, f"{name}{address}")
    check_values(checks, page, arguments.cyclops, data, capture, SYMBOLS, found)
    check_quiet(checks, page, name)


def write_hostile(arguments, folder, names):
    """
    A capture whose functions have these names; of the file, too. Samples fall, one more in each function; of few
    functions each calls the next one.
    """
    are_few = len(names) <= 100
    program = pathlib.Path(folder) / "root" / "<b>\"module"
    program.parent.mkdir(exist_ok=True)
    places = small_elf.write(program, {name: [NOP, RET] for name in names})
    lines = [f"E cycles 0 0 0 {120 if are_few else 100} 0"]
    time, before = 0, names[-1]
    for number, name in enumerate(names):
        chain = f"{IN_USER:x} {places[name]:x} {places[before] + 4:x}" if are_few else ""
        for _ in range(number + 1 if are_few else 1):
            time += 1000
            lines.append(f"S 0 0 3e8 3e8 {time:x} {places[name]:x} 0 3e8 0 0 0 0 2 {chain}")
        before = name
    capture = pathlib.Path(folder) / "hostile.data"
    subprocess.run([arguments.write_samples, capture, "/<b>\"module", "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    return capture


def check_hostile(checks, page, arguments, folder):
    """Names are shown as they are, whatever is in them, and nothing of them runs."""
    capture = write_hostile(arguments, folder, HOSTILE)
    options = ["--symfs", pathlib.Path(folder) / "root"]
    path = page_file(arguments.cyclops, folder, capture, *options)
    page.open(path)
    found = addresses(page)
    checks.expect("#flame" in found, "hostile: no flame graph")
    for address in found:
        page.show(address)
        strange = page.run("document.querySelectorAll('main img, main script, main svg[onload], main b, [onmouseover]').length")
        checks.expect(strange == 0, f"hostile {address}: names became elements")
        checks.count("pages of hostile names")
    page.show("#functions")
    rows = page.run(READ_GRIDS)["functions"]
    shown = {plain(row["function"][0]) for row in rows if "function" in row} or {plain(row["code"][0]) for row in rows}
    wanted = {plain("".join(f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in name))
              for name in HOSTILE}
    wanted = {re.sub("[\x01-\x1f\x7f-\x9f\u202e]", "�", name) for name in wanted}
    checks.expect({plain(name) for name in wanted} <= shown, f"hostile names: {sorted(wanted - shown)} are not among {sorted(shown)}")
    check_values(checks, page, arguments.cyclops, folder, capture, options, found)
    check_quiet(checks, page, "hostile names")


# Call stacks, the outermost function first, and how many samples have them; a function calls itself, too.
STACKS = {("main",): 3, ("main", "a"): 5, ("main", "a", "b"): 7, ("main", "b"): 2, ("main", "a", "a"): 4}

# What follows from them: (own, with all that it calls) by function, and callers from the functions that were sampled on.
OF_STACKS = {"main": (3, 21), "a": (9, 16), "b": (9, 9)}
OF_INVERTED = {"all": 21, "a": 9, "b": 9, "main": 3, "a main": 5, "a a": 4, "a a main": 4, "b a": 7, "b a main": 7, "b main": 2}


def write_stacks(arguments, folder, stacks):
    program = pathlib.Path(folder) / "root" / "stacks"
    program.parent.mkdir(exist_ok=True)
    places = small_elf.write(program, {name: [NOP, NOP, RET] for name in ("main", "a", "b")})
    lines, time = ["E cycles 0 0 0 120 0"], 0
    for stack, n in stacks.items():
        inner, callers = places[stack[-1]], [places[name] + 8 for name in reversed(stack[:-1])]
        chain = " ".join(f"{word:x}" for word in (IN_USER, inner, *callers))
        for _ in range(n):
            time += 1000
            lines.append(f"S 0 0 3e8 3e8 {time:x} {inner:x} 0 3e8 0 0 0 0 2 {chain}")
    capture = pathlib.Path(folder) / "stacks.data"
    subprocess.run([arguments.write_samples, capture, "/stacks", "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    return capture


def check_flame(checks, page, arguments, folder, axe):
    """Own parts and totals of functions are those of the stacks that were written; so is each caller, inverted."""
    capture = write_stacks(arguments, folder, STACKS)
    path = page_file(arguments.cyclops, folder, capture, "--symfs", pathlib.Path(folder) / "root")
    page.open(path, "#flame")
    shown = {row["function"][0]: (int(row["self"][0]), int(row["total"][0])) for row in page.run(READ_GRIDS)["flame_functions"]}
    period = {name: tuple(1000 * n for n in sums) for name, sums in OF_STACKS.items()}
    checks.expect(shown == period, f"flame: {shown}, wanted {period}")
    rows = csv_of(arguments.cyclops, folder, "hot", "--all", "--symfs", pathlib.Path(folder) / "root", capture)
    checks.expect({row["function"]: int(row["period"]) for row in rows} == {name: sums[0] for name, sums in period.items()},
                  "flame: hot has other sums")
    boxes = page.run("document.querySelectorAll('.flame g').length")
    checks.expect(boxes == 1 + len(STACKS), f"flame: {boxes} boxes")
    check_access(checks, page, axe, "#flame")
    page.show("#flame?inverted=1&search=b")
    checks.expect(page.run("document.querySelectorAll('.flame g.found').length") > 0, "flame: nothing is marked")
    text = twin_of(page)
    shown = {}
    path_down = []
    for line in text.splitlines():
        match = re.fullmatch(r"( *)([^ ]+)(?: \(stacks\))?: [\d.]+ %, ([\d ]+) \w+, self .*", line)
        if match is None:
            continue
        path_down = [*path_down[:len(match[1]) // 2], match[2]]
        shown[" ".join(path_down[1:]) or "all"] = int(match[3].replace(" ", "")) // 1000
    checks.expect(shown == OF_INVERTED, f"flame, inverted: {shown}, wanted {OF_INVERTED}")
    checks.count("flame graphs")
    check_quiet(checks, page, "flame graph")


def check_cycles(checks, page, arguments, folder, axe):
    """The tree of the whole and that of the first function, of a page of its own, which `report` has, too."""
    path = pathlib.Path(folder) / "cycles.html"
    words = ["cycles", *SYMBOLS, "cycles.data"]
    run(arguments.cyclops, *words, "--html", path, cwd=arguments.data)
    page.open(path, "#cycles?all=1")
    compare_grid(checks, "cycles tree", page.run(READ_GRIDS)["tree"],
                 csv_of(arguments.cyclops, arguments.data, *words, "--tree", "all"))
    check_access(checks, page, axe, "#cycles")
    rows = csv_of(arguments.cyclops, arguments.data, *words, "--all")
    check_shares(checks, page.run(READ_GRIDS)["shares"], rows)
    links = page.run("[...document.querySelectorAll('.grid td a')].map((a) => [a.textContent, a.getAttribute('href')])")
    first = links[0][1]
    for name, link in links:
        checks.expect(urllib.parse.unquote(link.partition("/")[2]).startswith(f"{name}@"), f"cycles: {name} leads to {link}")
    page.show(f"{first}?all=1")
    name, _, module = urllib.parse.unquote(first.partition("/")[2]).partition("@")
    compare_grid(checks, f"cycles of {name}", page.run(READ_GRIDS)["tree"],
                 [row for row in rows if row["function"] == name and row["module"] == module])
    run(arguments.cyclops, *words, "--by", "line,thread", "--html", path, cwd=arguments.data)
    rows = csv_of(arguments.cyclops, arguments.data, *words, "--all", "--by", "line,thread")
    page.open(path, "#cycles")
    last = page.run("[...document.querySelectorAll('.grid td a')].pop().getAttribute('href')")
    page.show(f"{last}{'&' if '?' in last else '?'}all=1")
    shown = page.run(READ_GRIDS)["tree"]
    compare_grid(checks, f"cycles of {last}", shown, rows[-len(shown):])
    checks.count("pages of cycle accounting", 3)
    run(arguments.cyclops, *words, "cycles.data", "--html", path, cwd=arguments.data)
    page.open(path)
    checks.expect(page.run("document.querySelector('.subject').textContent") == "cycles.data, cycles.data", "cycles: not both files are named")
    check_quiet(checks, page, "cycles")


def check_shares(checks, shown, rows):
    """Shares by function: a column for each node, of which csv has rows."""
    shares = {}
    for row in rows:
        shares.setdefault((row["function"], row["module"]), {})[row["node"]] = row["share"]
    checks.expect(len(shown) == len(shares), f"cycles: {len(shown)} functions, csv has {len(shares)}")
    for row, ((function, _), nodes) in zip(shown, shares.items()):
        checks.expect(row["code"][0].split(" ")[0] == function, f"cycles: {row['code']}, csv has {function}")
        for column, (value, _) in row.items():
            if column in nodes:
                checks.count("values")
                checks.expect(same(value, nodes[column]), f"cycles of {function}, {column}: {value}, csv has {nodes[column]}")
    checks.expect(any(column in nodes for column in shown[0]), "cycles: no node is shown")


def check_sharing(checks, page, arguments, folder):
    """`c2c --html` has the page that report has, also where there is nothing to say."""
    for capture, says in (("samples/sharing.data", "False sharing in account"), ("samples/copies.data", "No line is contended"),
                          ("executions.data", "No access with a data address")):
        path = pathlib.Path(folder) / "c2c.html"
        run(arguments.cyclops, "c2c", *SYMBOLS, "--html", path, capture, cwd=arguments.data)
        page.open(path)
        shown = page.run("document.querySelector('main').innerText")
        checks.expect(says in shown, f"c2c {capture}: not '{says}': {shown[:300]}")
        checks.count("pages of c2c")
        check_quiet(checks, page, f"c2c {capture}")


def check_diff(checks, page, arguments, folder, axe):
    """Tables of two runs; and of stacks, each function's share in both."""
    path = pathlib.Path(folder) / "diff.html"
    words = ["diff", *SYMBOLS, "samples/padded.data", "samples/sharing.data"]
    run(arguments.cyclops, *words, "--html", path, cwd=arguments.data)
    page.open(path, "#diff")
    for name, shown in page.run(READ_GRIDS).items():
        compare_grid(checks, f"diff {name}", shown, csv_of(arguments.cyclops, arguments.data, *words, "--all", "--table", name))
    check_access(checks, page, axe, "#diff")
    check_text(checks, page, "diff", "#diff", arguments.data, arguments.update)
    hot = [csv_of(arguments.cyclops, arguments.data, "hot", "--all", "--by", "function", *SYMBOLS, f"samples/{name}.data")
           for name in ("padded", "sharing")]
    for row in hot[1]:
        row["module"] = hot[0][0]["module"]  # the same program, of another name
    check_sides(checks, page, "runs", "#functions/compare?a=a.all&b=b.all", [(rows, False) for rows in hot])
    checks.expect("run b, all" in twin_of(page), f"runs: {twin_of(page)[:300]}")
    page.show("#timeline/b")
    checks.expect("sharing 1002" in twin_of(page), f"timeline of run b: {twin_of(page)[:300]}")
    before, after = write_stacks(arguments, folder, STACKS), pathlib.Path(folder) / "after.data"
    before.rename(pathlib.Path(folder) / "before.data")
    write_stacks(arguments, folder, {**STACKS, ("main", "a", "b"): 28}).rename(after)
    run(arguments.cyclops, "diff", "--symfs", pathlib.Path(folder) / "root", "--html", path,
        pathlib.Path(folder) / "before.data", after)
    page.open(path, "#flame")
    text = twin_of(page)
    # 7 of 21 samples, then 28 of 42
    checks.expect("b (stacks): a 33.3 %, b 66.7 %, +33.3 points; 28 000 cycles in b" in text, f"diff: {text}")
    checks.expect("main (stacks): a 100.0 %, b 100.0 %, +0.0 points" in text, f"diff: {text}")
    colours = page.run("['same', 'more-3', 'less-3'].map((name) => document.querySelectorAll('.flame g.' + name).length)")
    checks.expect(colours[0] == 2 and colours[1] == 2, f"diff: colours {colours}")
    check_access(checks, page, axe, "#flame of two runs")
    page.show("#flame?width=a&inverted=1")
    checks.expect("b (stacks): a 42.9 %, b 71.4 %, +28.6 points; 9 000 cycles in a" in twin_of(page), f"diff: {twin_of(page)}")
    checks.count("comparisons", 2)
    check_quiet(checks, page, "diff")


def check_run(checks, page, arguments, folder):
    """What counts and samples of one run say, with call stacks."""
    if not has_model():
        return
    path = pathlib.Path(folder) / "run.html"
    run(arguments.cyclops, "run", "--model", "--folder", pathlib.Path(folder) / "demo", "--html", path, "--",
        arguments.data / "root" / "opt" / "demo" / "demo")
    page.open(path)
    for address in addresses(page):
        page.show(address)
        check_twin(checks, page, f"run {address}")
        check_quiet(checks, page, f"run {address}")
    page.show("#answer")
    shown = page.run("document.querySelector('main').innerText")
    checks.expect("chase_memory" in shown and "backend stalled" in shown, f"run: {shown[:500]}")
    page.show("#flame")
    checks.expect("_start" in twin_of(page) and "chase_memory" in twin_of(page), f"run: {twin_of(page)[:300]}")
    checks.count("runs")


def check_many(checks, page, arguments, folder):
    """Of many rows only those in sight are elements; filter and sorting are of all."""
    capture = write_hostile(arguments, folder, [f"function_{number}" for number in range(arguments.rows)])
    path = page_file(arguments.cyclops, folder, capture, "--symfs", pathlib.Path(folder) / "root")
    page.open(path, "#functions")
    checks.expect(page.run("document.querySelectorAll('.grid tr').length") < 200, "all rows are elements")
    checks.expect(page.run("document.querySelector('.grid').getAttribute('aria-rowcount')") == str(arguments.rows + 1), "rows")
    page.show(f"#functions?filter=function_{arguments.rows - 1}&sort=function")
    checks.expect(page.run("document.querySelectorAll('.grid tr[data-row]').length") == 1, "the filter")
    checks.count("rows", arguments.rows)
    check_quiet(checks, page, "many rows")
    return path


def check_keys(checks, page, path):
    """A filter stays in the address; keys go to pages and to the filter."""
    page.open(path, "#functions")
    page.run("""(() => { const input = document.querySelector(".filter"); input.value = "samples>1";
                input.dispatchEvent(new Event("input")); })()""")
    checks.expect(page.run("location.hash") == "#functions?filter=samples%3E1", f"address: {page.run('location.hash')}")
    page.run("document.querySelector('th[data-column] button').click()")
    checks.expect("sort=" in page.run("location.hash"), "sorting is not in the address")
    page.run("document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent('keydown', { key: '1' }))")
    page.wait("#answer")
    checks.count("keys")
    page.ask("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for theme in ("", "dark"):
        page.run(f"document.documentElement.dataset.theme = '{theme}'")
        ground = page.run("getComputedStyle(document.body).backgroundColor")
        checks.expect(ground == "rgb(255, 255, 255)", f"paper is {ground} in the theme '{theme}'")
    page.ask("Emulation.setEmulatedMedia", media="")
    page.run("delete document.documentElement.dataset.theme")
    checks.count("printed themes", 2)


def check_real(checks, page, arguments, folder):
    """Pages of captures from elsewhere: damaged, old, without symbols."""
    for capture in real_captures():
        try:
            path = page_file(arguments.cyclops, folder, capture)
        except Failed:
            continue  # what report cannot read has no pages
        page.open(path)
        for address in addresses(page):
            page.show(address)
            checks.expect(page.run("document.querySelector('main').innerText.length") > 20, f"{capture}{address}: empty")
            check_quiet(checks, page, f"{capture}{address}")
            checks.count("pages of other captures")


def check_refusals(checks, arguments, data):
    demo = data / "demo.data"
    before = demo.read_bytes()
    checks.expect_failure("is the capture itself", arguments.cyclops, "report", "--html", demo, demo)
    checks.expect_failure("cannot write", arguments.cyclops, "report", "--html", demo / "pages.html", demo)
    checks.expect(demo.read_bytes() == before, "the capture was written over")
    checks.count("refusals", 2)
    with tempfile.TemporaryDirectory() as folder:
        for name, command in (("samples/sharing.data", "diff"), ("cycles.data", "cycles")):
            copy = pathlib.Path(folder) / "second.data"
            shutil.copyfile(data / name, copy)
            for option in ("--html", "-o"):
                checks.expect_failure("is the capture itself", arguments.cyclops, command, option, copy, data / name, copy)
                checks.expect(copy.read_bytes() == (data / name).read_bytes(), f"{command} {option}: the capture was written over")
                checks.count("refusals")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--captures", action="store_true")
    parser.add_argument("--everything", action="store_true")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("cyclops", type=pathlib.Path)
    parser.add_argument("write_samples")
    parser.add_argument("packages")
    parser.add_argument("data", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.cyclops, arguments.data = arguments.cyclops.resolve(), arguments.data.resolve()
    if browser.find() is None:
        skip("there is no Chromium")
    checks = Checks()
    axe = (pathlib.Path(arguments.packages) / "node_modules" / "axe-core" / "axe.min.js")
    if not axe.exists():
        skip("the viewer's packages are not there")
    axe = axe.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(arguments.cyclops, "report", "--html", pathlib.Path(folder) / "x.html", arguments.data / "demo.data")
        except Failed as failure:
            if "built without its viewer" not in str(failure):
                raise
            skip("cyclops was built without its viewer")
        with browser.Browser() as page:
            page.size(WIDE, 900)
            for name in CAPTURES:
                check_capture(checks, page, arguments, name, folder, axe)
            check_flame(checks, page, arguments, folder, axe)
            check_cycles(checks, page, arguments, folder, axe)
            check_sharing(checks, page, arguments, folder)
            check_diff(checks, page, arguments, folder, axe)
            check_run(checks, page, arguments, folder)
            check_hostile(checks, page, arguments, folder)
            check_keys(checks, page, check_many(checks, page, arguments, folder))
            if arguments.captures:
                check_real(checks, page, arguments, folder)
        check_refusals(checks, arguments, arguments.data)
    checks.finish()


if __name__ == "__main__":
    main()
