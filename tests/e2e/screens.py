#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The screen of a report: the answer first, on one screen, with nothing that csv and json do not rest on.

usage: screens.py CYCLOPS DATA_DIR
"""

import glob
import json
import os
import re
import subprocess
import sys

from harness import ENVIRONMENT, Checks

LINES, ANSWER_LINES = 40, 7  # an answer has some sentences, which may take more lines, behind one that it is modelled

# What begins the answer for a capture: the cause and the place.
CAUSES = {
    "demo": r"DRAM latency in chase_memory \(demo\.c:96\), accessing struct node\.next: at most [0-9.]+ % (±|\+-) [0-9.]+ of the time",
    "sharing": r"False sharing in account .*, written at sharing\.c:38, 40, 41, read at sharing\.c:52",
    "copies": r"Branch mispredicts in copy, inlined into copy_all \(copies\.c:\d+\): at most ",
    "cycles": r"[0-9.]+ % (±|\+-) [0-9.]+ of cpu_cycles:u is in chase_memory \(demo\.c:96\)\. ",
    "stride": r"\w+ latency in walk \(stride\.c:33\), accessing array\[\]: at most ",
}


def screen(cyclops, data, path, width, *words, name="report"):
    """Asked in the folder of the captures, so that no line is long by the paths in it."""
    environment = {**ENVIRONMENT, "COLUMNS": str(width)}
    command = [os.path.abspath(cyclops), name, "--symfs", "root", *words, os.path.relpath(path, data)]
    return subprocess.run(command, cwd=data, env=environment, capture_output=True, text=True, check=True).stdout


def check_same_words(checks, cyclops, data):
    """c2c begins with what report says of the costliest contended line."""
    path = os.path.join(data, "samples/sharing.data")
    report, c2c = (" ".join(screen(cyclops, data, path, 100, name=name).split()) for name in ("report", "c2c"))
    checks.count("commands that say the same", 2)
    checks.expect(c2c.startswith(report[:report.index(" Confidence:")]), f"c2c says {c2c[:300]}, report {report[:300]}")


def share_words(finding):
    """Its share, also if that is a limit, and the error, if it has one."""
    error = f" +- {100 * finding['share_error']:.1f}" if "share_error" in finding else ""
    return f"{100 * finding['share']:.1f} %{error}"


def check_answer(checks, cyclops, data, path):
    name = os.path.splitext(os.path.basename(path))[0]
    text = screen(cyclops, data, path, 100)
    lines = text.splitlines()
    findings = json.loads(screen(cyclops, data, path, 100, "--format", "json"))["findings"]
    checks.expect(len(lines) <= LINES, f"{name}: {len(lines)} lines")
    for width in (80, 100):
        wide = [line for line in screen(cyclops, data, path, width).splitlines() if len(line) > width]
        checks.expect(not wide, f"{name}: wider than {width}: {wide}")
    checks.expect("" in lines and lines.index("") <= ANSWER_LINES + 1, f"{name}: a long answer: {lines[:8]}")
    checks.expect(lines[0].startswith("modelled: "), f"{name}: not said first to be modelled")
    answer = " ".join(lines[1:lines.index("")])
    if name in CAUSES:
        checks.expect(re.match(CAUSES[name], answer), f"{name}: {answer}")
    checks.expect(("Fix: " in answer) == bool(findings and findings[0].get("try")), f"{name}: {answer}")
    rows = [line for line in lines if re.match(r"\d  ", line)]
    checks.expect(len(rows) == len(findings), f"{name}: {rows} for {len(findings)} findings")
    for width in (80, 100):  # whatever the width: what a finding rests on is not hidden
        shown = screen(cyclops, data, path, width)
        n = sum(line.startswith("   evidence: ") for line in shown.splitlines())
        checks.expect(n == len(findings), f"{name}: {n} lines of evidence for {len(findings)} findings, {width} wide")
    for row, finding in zip(rows, findings):
        if finding["kind"] != "unknown":
            words = share_words(finding)
            checks.expect(words in row, f"{name}: {words} is not in {row}")
            checks.expect(finding["share"] + finding.get("share_error", 0) < 1 + 1e-9, f"{name}: {finding}")
    if findings and "share" in findings[0] and findings[0]["kind"] != "unknown":
        first = share_words(findings[0])  # one number in the answer and in the table
        checks.expect(first in answer, f"{name}: {first} is not in {answer}")
    checks.expect(re.search(r"^([0-9 ]+ SPE records \(1 in [0-9 ]+ operations\)|[0-9 ]+ samples), nothing lost, ", text, re.M), f"{name}: {text}")
    checks.count("screens")


def answer_of(cyclops, data, path, *words):
    """The sentences that an answer begins with, on one line."""
    done = subprocess.run([cyclops, *words, "--symfs", os.path.join(data, "root"), path], env=ENVIRONMENT,
                          capture_output=True, text=True, check=True)
    answer = " ".join(done.stdout.split("\n\n", maxsplit=1)[0].split())
    return answer.removeprefix("modelled: these numbers are simulated, not measured ")


def check_hot(checks, cyclops, data, path):
    """Where run time is known it leads, with the limits that csv and json have."""
    answer = answer_of(cyclops, data, path, "hot")
    rows = json.loads(subprocess.run(
        [cyclops, "hot", "--elapsed", "--format", "json", "--symfs", os.path.join(data, "root"), path],
        env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout)["elapsed"]
    told = [row for row in rows if "time_share" in row]
    known = sum(row["time_share"] for row in told)
    checks.expect(re.match(r"[A-Z0-9]", answer), f"{path}: begins with no capital: {answer}")
    checks.expect("of the run time" in answer, f"{path}: no run time: {answer}")
    checks.expect(not answer.startswith("About ") or known < 0.5, f"{path}: {known} of the run time: {answer}")
    if known >= 0.5:
        first = told[0]
        begin = (f"{100 * first['time_share']:.1f} % of the run time ({100 * first['time_low']:.1f} to "
                 f"{100 * first['time_high']:.1f} %) is in {first['function']} (")
        checks.expect(answer.startswith(begin), f"{path}: {begin} is not in {answer}")
    checks.count("answers of hot")


def answer_json(cyclops, data, path, *words):
    command = [cyclops, *words, "--format", "json", "--all", "--symfs", os.path.join(data, "root"), path]
    return json.loads(subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout)


def check_functions(checks, cyclops, data, path):
    """Functions are in the order of their time, of which nearly all is said, with the limits where they are known."""
    rows = answer_json(cyclops, data, path, "report")["elapsed"]
    shares = [row["time_share"] for row in rows]
    checks.expect(shares == sorted(shares, reverse=True), f"{path}: in which order are {shares}?")
    checks.expect(abs(sum(shares) - 1) < 0.01, f"{path}: {shares} are not all of the time")
    for row in rows:
        checks.expect(row["time_low"] <= row["time_share"] <= row["time_high"], f"{path}: {row} is not between its limits")
    text = screen(cyclops, data, path, 100)
    checks.expect(re.search(r"^ *Run time\b", text, re.M) and "time: of " in text, f"{path}: {text}")
    checks.count("captures with functions by time")


def check_kinds(checks, cyclops, data, path):
    """Loads, stores and atomics are counted one way by all commands."""
    kinds = dict.fromkeys(("loads", "stores", "atomics"), 0)
    for row in answer_json(cyclops, data, path, "mem")["sources"]:
        kinds[row["access"] + "s"] += row["samples"]
    objects = answer_json(cyclops, data, path, "addr")["objects"]
    ours = {kind: sum(row[kind] for row in objects) for kind in kinds}
    checks.expect(ours == kinds, f"{path}: addr has {ours}, mem {kinds}")
    sharing = answer_json(cyclops, data, path, "c2c")
    ours = {kind: sharing["sharing"][0][kind] for kind in kinds}
    checks.expect(ours == kinds, f"{path}: c2c has {ours}, mem {kinds}")
    for line in sharing["lines"]:
        for kind in kinds:
            n = sum(access[kind] for access in line["accesses"])
            checks.expect(line[kind] == n, f"{path}: {line['address']} {kind}: {line[kind]}, its accesses {n}")
    checks.count("captures with one set of counts")


def check_addresses(checks, cyclops, data):
    """Without symbols: one note, and one table of addresses that adds up to what the functions had."""
    path = os.path.join(data, "samples", "chase.data")
    places = json.loads(subprocess.run([cyclops, "hot", "--by", "place", "--all", "--format", "json", path], env=ENVIRONMENT,
                                       capture_output=True, text=True, check=True).stdout)["hot"]
    for command in ("report", "hot", "mem"):
        done = subprocess.run([cyclops, command, path], env=ENVIRONMENT, capture_output=True, text=True, check=True)
        checks.expect("[unknown]" not in done.stdout, f"{command}: {done.stdout}")
        checks.expect(done.stderr.count("\n") == 1 and "no symbols for chase" in done.stderr, f"{command}: {done.stderr}")
        for row in places[:2]:
            checks.expect(re.search(rf"^ *(load  +)?chase +{row['offset']} ", done.stdout, re.M), f"{command}: {row} is not in {done.stdout}")
    by_function = subprocess.run([cyclops, "hot", "--by", "function", path], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    checks.expect("[unknown]" in by_function.stdout, f"--by function: {by_function.stdout}")


def check_long(checks, cyclops, data):
    """--all has each finding at length and all sections, --verbose the facts."""
    path = os.path.join(data, "demo.data")
    short = screen(cyclops, data, path, 100)
    long = screen(cyclops, data, path, 100, "--all")
    verbose = screen(cyclops, data, path, 100, "--verbose")
    for words in ("   confidence:  ", "Source lines", "   fix:  "):
        checks.expect(words in long and words not in short, f"--all: {words}")
    checks.expect(long.startswith(short.split("\n\n", maxsplit=1)[0]), f"--all: {long[:200]}")
    checks.expect("\ncommand  " in verbose and "\ncommand  " not in short, f"--verbose: {verbose}")
    # A table or columns that are asked for are shown as they are.
    for words in (("--table", "findings"), ("--columns", "claim")):
        checks.expect("waits for data from DRAM" in screen(cyclops, data, path, 100, *words), f"{words}")


def check_events(checks, cyclops, data):
    """Of several events that of cycles leads; the others are for cyclops cycles."""
    path = os.path.join(data, "cycles.data")
    check_answer(checks, cyclops, data, path)
    tables = json.loads(screen(cyclops, data, path, 100, "--format", "json"))
    cycles = [row for row in answer_json(cyclops, data, path, "hot", "--by", "event")["hot"] if row["event"] == "cpu_cycles:u"]
    functions = answer_json(cyclops, data, path, "report")["functions"]
    checks.expect({row["event"] for row in tables["findings"]} == {"cpu_cycles:u"}, f"{tables['findings']}")
    sampled = {row["event"] for row in tables["sampled_events"]}
    checks.expect({"cpu_cycles:u", "dtlb_walk:u"} < sampled, f"{sampled}")
    checks.expect(sum(row["samples"] for row in functions) == cycles[0]["samples"], f"{functions}: not {cycles}")
    text = screen(cyclops, data, path, 100)
    checks.expect(re.search(r"^cycles: +cyclops cycles ", text, re.M), text)
    checks.expect("9 other events were sampled: cyclops hot --event list" in " ".join(text.split()), text)
    check_scaled(checks, cyclops, data, path)
    checks.count("captures with several events")


def check_scaled(checks, cyclops, data, path):
    """Events that took turns are scaled up in text, to what cyclops cycles has; csv and json have what was counted."""
    hot = subprocess.run([cyclops, "hot", "--all", "--symfs", os.path.join(data, "root"), path], env=ENVIRONMENT,
                         capture_output=True, text=True, check=True).stdout
    counted = {row["node"]: row["events"] for row in answer_json(cyclops, data, path, "cycles")["cycles"]
               if row["function"] == "chase_memory" and "events" in row}
    raw = {row["event"]: row["period"] for row in answer_json(cyclops, data, path, "hot")["hot"] if row["function"] == "chase_memory"}
    for name in ("DTLB_WALK", "L2D_CACHE_REFILL_RD"):
        event = f"{name.lower()}:u"
        found = re.search(rf"^{event} +chase_memory .* % +[0-9]+ +([0-9 ]+[0-9]) *~$", hot, re.M)
        shown = int(found[1].replace(" ", "")) if found else 0
        checks.expect(abs(shown - counted[name]) <= 1 and shown > 1.05 * raw[event], f"{event}: {shown}, {counted[name]}, {raw[event]}")
    checks.expect("events took turns on the counters" in hot, hot)


def main():
    cyclops, data = sys.argv[1:]
    checks = Checks()
    check_events(checks, cyclops, data)
    for path in [os.path.join(data, "demo.data"), *sorted(glob.glob(os.path.join(data, "samples", "*.data")))]:
        check_answer(checks, cyclops, data, path)
        check_hot(checks, cyclops, data, path)
        check_functions(checks, cyclops, data, path)
        check_kinds(checks, cyclops, data, path)
    check_same_words(checks, cyclops, data)
    check_long(checks, cyclops, data)
    check_addresses(checks, cyclops, data)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
