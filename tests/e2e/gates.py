#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Gates of single runs: `--fail-if` of each command that has it, and the report for continuous integration.

usage: gates.py CYCLOPS DATA

What was measured is compared with the command's own tables; which result follows is computed here.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from harness import ENVIRONMENT, Checks, commands, has_model, run, table_of

DONE, FAILED, USAGE, GATE, NO_DATA = 0, 1, 2, 3, 4

# What each command is asked: words, condition, status, and what it says (a regular expression).
ASKED = {
    "hot": [
        ("stride", "share(walk) > 10%", GATE, r"share\(walk\) > 10% +failed"),
        ("stride", "share(walk) > 99.99%", DONE, r"passed +99\.4 %"),
        ("stride", "share(walk) >= 0.1", GATE, r"failed"),
        ("copies", "share(copy_all) > 50%", GATE, r"failed +84\.8 %"),
        ("copies", "share(copy) > 50%", GATE, r"failed +65\.9 %[^$]*share\(copy\) > 50%: of latency, which is no run time"),
        ("chase", "share(chase_memory) > 99%", DONE, r"passed +>= 40\.0 %"),
        ("stride", "samples < 1000000", GATE, r"failed"),
        ("stride", "share(wlk) > 10%", FAILED, r"no sample is in 'wlk'; did you mean 'walk'\?"),
        ("stride", "share > 10%", USAGE, r"it is written share\(NAME\)|It is written share\(NAME\)"),
        ("stride", "total(walk) > 10%", NO_DATA, r"no call chains"),
        ("stride", "hotness > 10%", USAGE, r"there are share, total, samples"),
        ("stride --by line", "share(stride.c:33) > 10 %", GATE, r"failed"),
        ("stride --by function,line", "share(walk) > 10 %", USAGE, r"several keys"),
        ("stride --elapsed", "share(walk) > 10 %", USAGE, r"not with --elapsed"),
        ("stride --select comm=nobody", "share(walk) > 10 %", NO_DATA, r""),
        ("stride --event l1d-refill", "samples < 1", DONE, r"passed"),
        ("stride --table hot", "samples > 1", GATE, r"samples \d+ \(limit 1\): FAIL"),
        ("stride --columns samples", "samples > 1", GATE, r"samples \d+ \(limit 1\): FAIL"),
    ],
    "mem": [
        ("stride", "dram_share > 10%", GATE, r"failed +27\.5 % +6\.51 %"),
        ("stride", "dram_share > 27%", GATE, r"within the error, the measured value decides"),
        ("stride", "dram_share > 28%", DONE, r"within the error, the measured value decides"),
        ("stride", "share(SYS_CACHE) > 50%", DONE, r"passed"),
        ("stride", "share(system-cache) > 50%", DONE, r"passed"),
        ("stride", "share(nowhere) > 50%", USAGE, r"there is no data source 'nowhere'; there are "),
        ("stride", "walk_share > 50%", DONE, r"passed"),
        ("stride", "loads < 10", DONE, r"passed"),
        ("stride", "p50_latency > 100", GATE, r"cycles"),
        ("stride", "p50_latency > 100%", USAGE, r"p50_latency is no share"),
        ("stride", "p50_latency > 100 s", USAGE, r"p50_latency is no time"),
        ("stride", "dram_share > 10", USAGE, r"did you mean 10 %\?"),
        ("stride --by function", "loads > 1", USAGE, r"not with --by"),
        ("demo", "p99_latency > 4000", GATE, r"failed +>= 4 095 cycles"),
        ("demo", "p99_latency > 4200", GATE, r"undecided, which counts as failed"),
        ("demo", "saturated_share > 90 %", DONE, r"passed"),
    ],
    "c2c": [
        ("sharing", "contended_lines > 0", GATE, r"failed +1\b"),
        ("sharing --top 1", "contended_lines > 1", DONE, r"passed +1\b"),
        ("sharing", "false_sharing_lines >= 1", GATE, r"failed"),
        ("sharing", "true_sharing_lines >= 1", DONE, r"passed"),
        ("sharing", "contended_latency_share > 50 %", GATE, r"failed"),
        ("sharing", "contended_load_share > 90 %", DONE, r"passed"),
        ("padded", "contended_lines > 0", DONE, r"passed +0\b"),
        ("padded --select comm=nobody", "contended_lines > 0", NO_DATA, r""),
    ],
    "stat": [
        ("--import stride.csv --cpu neoverse-n1", "ipc < 1.5", GATE, r"failed +0\.23"),
        ("--import stride.csv --cpu neoverse-n1", "ipc < 0.2", DONE, r"passed +0\.23"),
        ("--import stride.csv", "backend_stalled_cycles > 50 %", GATE, r"failed +83\.9 %"),
        ("--import stride.csv", "backend_stalled_cycles > 50", USAGE, r"did you mean 50 %\?"),
        ("--import stride.csv", "CPU_CYCLES > 1e9", GATE, r"failed +43\.8 G"),
        ("--import stride.csv", "time > 1 s", NO_DATA, r"do not tell how long the run took"),
        ("--import stride.csv", "ipd > 1", USAGE, r"there is no 'ipd'"),
        ("--import stride.csv", "dtlb_mpki > 1", NO_DATA, r"dtlb_mpki needs DTLB_WALK, which was not counted"),
        ("--import stride.csv --table run", "ipc < 1.5", GATE, r"ipc 0\.23 \(limit 1\.5; error not known\): FAIL"),
        ("--import stride.csv --against stride-ahead.csv", "ipc < 1.5", GATE, r"failed +0\.23"),
        ("--interval 100 -- true", "page-faults > 1", USAGE, r"not together with --interval"),
        ("-- true", "page-faults", USAGE, r"there is no < or >"),
        ("-- true", "page-faults > 1e9", DONE, r"passed"),
        ("-- true", "time < 1 h", USAGE, r"something follows the number"),
        ("-- true", "time < 1000 s", GATE, r"failed"),
        ("-- sh -c 'exit 5'", "page-faults > 1", GATE, r"the program ended with status 5"),
        ("-- sh -c 'exit 5'", "page-faults > 1e9", 5, r"the program ended with status 5"),
        ("-- sh -c 'exit 3'", "page-faults > 1e9", FAILED, r"the program ended with status 3"),
        ("--repeat 3 -- true", "page-faults > 1e9", DONE, r"passed .*\d+"),
    ],
    "run": [
        ("--model -- PAGES", "ipc < 0.000001", DONE, r"passed"),
        ("--model -- PAGES", "ipc > 0.000001", GATE, r"failed"),
        ("--runs 1 -- true", "time > 1", USAGE, r"not with --sweep or --runs 1"),
        ("-- true", "time", USAGE, r"there is no < or >"),
    ],
    "kernel": [
        ("--validate faults", "wrong >= 0", GATE, r"failed +\d+ events? +0"),
        ("--validate faults", "wrong > 5%", USAGE, r"wrong is no share: the limit has no %"),
        ("--validate faults", "wrongs > 0", USAGE, r"there is no 'wrongs'; did you mean 'wrong'\?"),
        ("--validate faults", "factor(L1D_CACHE) > 2", NO_DATA, r"'L1D_CACHE' was not validated"),
        ("chase", "wrong > 0", USAGE, r"--fail-if is about --validate and --calibrate"),
    ],
    # What they measure is asked by collect.py, which has an engine.
    "fleet": [
        ("top x", "hosts > 0", USAGE, r"hosts is of the question hosts"),
        ("top x", "share(f) > 5", USAGE, r"did you mean 5 %\?"),
        ("changed x --from a --to b", "rise > 5%", USAGE, r"there is no 'rise'; there are share, change, increase, hosts|did you mean"),
        ("changed x --from a --to b", "change > 5%", USAGE, r"change\(FUNCTION\)"),
        ("changed x --from a --to b", "increase > 5%", NO_DATA, r"it has no table captures"),
    ],
    "diff": [("padded sharing", "total > 5%", GATE, r"failed +arm_spe +\+165\.0 % +26\.2 % +\+5 %"),
             ("padded sharing", "time > 5 ms", DONE, r"passed +\+289\.9 [µu]s +\+5\.00 ms"),
             ("padded sharing", "total > 5 ms", FAILED, r"neither run has a measure"),
             ("padded sharing", "share(count_up) > 5%", FAILED, r"functions stand by their name alone"),
             ("padded sharing", "ipc < -3%", FAILED, r"metrics such as ipc need counts"),
             ("padded stride", "time > 50%", GATE, r"b takes \d+\.\d times as long")],
}


# What words of a command line stand for: files of DATA.
FILES = {**{name: f"samples/{name}.data" for name in ("stride", "sharing", "padded", "copies", "chase")}, "demo": "demo.data",
         "PAGES": "root/opt/kernels/pages", **{name: f"counts/{name}" for name in ("stride.csv", "stride-ahead.csv")}}


def ask(cyclops, data, command, words, *options, **more):
    """Runs a command with the options before its words."""
    line = [os.path.join(data, FILES[word]) if word in FILES else word for word in shlex.split(words)]
    symbols = [] if command in ("stat", "run", "kernel", "fleet") else ["--symfs", os.path.join(data, "root")]
    return subprocess.run([cyclops, command, *symbols, *options, *line], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, **more)


def check_answers(checks, cyclops, data, folder):
    others = [name for name in commands(cyclops) if name == "help" or
              "\nfail-if\t" not in "\n" + run(cyclops, name, "--list-options").decode()]
    for command, cases in table_of(cyclops, ASKED, others):
        for words, condition, status, said in cases:
            if "--model" in words and not has_model():
                continue
            done = ask(cyclops, data, command, words, "--fail-if", condition, cwd=folder)
            text = (done.stdout + done.stderr).decode()
            checks.expect(done.returncode == status and re.search(said, text),
                          f"{command} {words} --fail-if '{condition}': status {done.returncode}: {text[:600]}")
            checks.count("conditions")


def judge(row):
    """The result that a row of the table has to have, from its own numbers. The last sign is the condition's."""
    sign = re.findall(r"[<>]=?", row["fail_if"])[-1]
    def met(value):
        return {"<": value < row["limit"], "<=": value <= row["limit"], ">": value > row["limit"],
                ">=": value >= row["limit"]}[sign]
    value = row["measured"]
    if row["certainty"] in ("undecided", "noise"):
        return "failed" if row["certainty"] == "undecided" else "passed"
    if "measured_low" in row and "measured_high" in row:
        differs = met(row["measured_low"]) != met(value) or met(row["measured_high"]) != met(value)
        if differs != (row["certainty"] == "within"):
            return f"certainty {row['certainty']}"
    return "failed" if met(value) else "passed"


def check_numbers(checks, cyclops, data):
    """What gates measure is what the tables show."""
    hot = json.loads(ask(cyclops, data, "hot", "stride", "--format", "json", "--fail-if", "share(walk) > 10%",
                         "--fail-if", "share(fill) > 0.6%", "--fail-if", "samples > 7").stdout)
    shares = {row["function"]: row["share"] for row in hot["hot"]}
    measured = [row["measured"] for row in hot["gates"]]
    checks.equal("shares", measured, [shares["walk"], shares["fill"], sum(row["samples"] for row in hot["hot"])])
    mem = json.loads(ask(cyclops, data, "mem", "stride", "--format", "json", "--fail-if", "dram_share > 10%",
                         "--fail-if", "loads > 7", "--fail-if", "share(L1D) < 0.9").stdout)
    loads = {row.get("source"): row["samples"] for row in mem["sources"] if row["access"] == "load"}
    total = sum(loads.values())
    checks.equal("loads", [row["measured"] for row in mem["gates"]],
                 [loads["DRAM"] / total, total, loads["L1D"] / total])
    c2c = json.loads(ask(cyclops, data, "c2c", "sharing", "--format", "json", "--fail-if",
                         "contended_latency_share > 10%").stdout)
    checks.expect(abs(c2c["gates"][0]["measured"] - c2c["findings"][0]["share"]) < 1e-9, f"c2c: {c2c['gates']}")
    diff = json.loads(ask(cyclops, data, "diff", "padded sharing", "--format", "json", "--fail-if", "total > 5%", "--fail-if",
                          "time > 5 ms", "--fail-if", "time > 1%", "--fail-if", "function:compare > 160%").stdout)
    totals = {row.get("event", "time"): row for row in diff["totals"]}
    checks.equal("changes", [row["measured"] for row in diff["gates"]][:3],
                 [totals["arm_spe"]["change_share"], totals["time"]["change"], totals["time"]["change_share"]])
    stat = json.loads(ask(cyclops, data, "stat", "--import stride.csv", "--format", "json", "--fail-if", "ipc < 1.5").stdout)
    answers = {"hot": hot, "mem": mem, "c2c": c2c, "diff": diff, "stat": stat}
    for command, answer in answers.items():
        checks.equal(f"columns of {command}", list(answer["columns"]["gates"]), list(hot["columns"]["gates"]))
    for row in [row for answer in answers.values() for row in answer["gates"]]:
        checks.expect(judge(row) == row["result"], f"{row}: {judge(row)}")
        checks.count("judgements")


def check_names(checks, cyclops, data):
    """The manual has each name that the error of an unknown one lists."""
    for command, words in (("hot", "stride"), ("mem", "stride"), ("c2c", "stride"), ("fleet", "top x")):
        error = ask(cyclops, data, command, words, "--fail-if", "zzzzzzzzzzzz > 0").stderr.decode()
        names = re.search(r"there are (.*)", error)[1].strip().split(", ")
        page = run(cyclops, "help", command).decode()
        for name in names:
            checks.expect(re.search(rf"\b{name}\b", page), f"cyclops-{command}(1) does not have {name}")
            checks.count("names")


def check_junit(checks, cyclops, data, folder):
    """Valid XML with the results, whatever bytes a condition has; and an error if it cannot be written."""
    path = os.path.join(folder, "junit.xml")
    conditions = ["dram_share > 10%", "loads < 10", "p50_latency > 100"]
    options = [word for condition in conditions for word in ("--fail-if", condition)] + ["--junit", path]
    done = ask(cyclops, data, "mem", "stride", *options)
    suite = ElementTree.parse(path).getroot().find("testsuite")
    cases = suite.findall("testcase")
    checks.expect(done.returncode == GATE and suite.get("tests") == "3" and suite.get("failures") == "2",
                  f"junit: {ElementTree.tostring(suite)}")
    checks.equal("test cases", [case.get("name") for case in cases], conditions)
    failed = [case.find("failure").get("message") for case in cases if case.find("failure") is not None]
    checks.expect(len(failed) == 2 and re.fullmatch(r"dram_share 27\.5 % ± 6\.51 % \(limit 10 %\): FAIL", failed[0]),
                  f"junit: {failed}")
    strange = b"share(a\x01<&\"'\xff\xef\xbf\xbe>) > 1"
    for command, condition in (("diff", b"function:a\x01<&\"'\xff\xef\xbf\xbe> > 1"), ("hot", strange)):
        words = "padded sharing" if command == "diff" else "stride"
        done = ask(cyclops, data, command, words, "--fail-if", condition, "--junit", path)
        checks.expect(done.returncode == FAILED, f"{command} {condition}: {done.returncode} {done.stderr}")
    checks.expect(done.returncode == FAILED and len(ElementTree.parse(path).getroot().findall(".//error")) == 1,
                  "what could not be judged is no error in the report")
    done = ask(cyclops, data, "mem", "padded --select comm=nobody", *options)
    checks.expect(done.returncode == NO_DATA and len(ElementTree.parse(path).getroot().findall(".//error")) == 3,
                  "without data no condition is an error in the report")
    for bad, status in ((["--junit", path], USAGE),
                        (["--fail-if", "loads > 1", "--junit", os.path.join(folder, "none", "x")], FAILED)):
        done = ask(cyclops, data, "mem", "stride", *bad)
        checks.expect(done.returncode == status and b"--junit" in done.stderr, f"{bad}: {done.returncode} {done.stderr}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    check_numbers(checks, cyclops, data)
    check_names(checks, cyclops, data)
    with tempfile.TemporaryDirectory() as folder:
        check_answers(checks, cyclops, data, folder)
        check_junit(checks, cyclops, data, folder)
    return checks.finish()


sys.exit(main())
