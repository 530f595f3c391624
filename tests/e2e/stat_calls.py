#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stat --region FUNCTION -- PROGRAM: what each call of a function counts, with events of the kernel, of which it is
known how often they happen.

usage: stat_calls.py CYCLOPS PROGRAM.C THROWS.CC SCHEMA CC [CXX]

Needs probes (uprobes), which root may set. Says what cannot be done without them, and skips.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import harness
import schema
from harness import Checks

# Beside pages that the program touches: of code, of the stack, of the probes.
OTHER_PAGES = 2
# Only the kernel's own events, which any machine has.
EVENTS = ["-e", "page-faults,context-switches,task-clock"]


def compile_(compiler, *words):
    # in the environment of the tests: a compiler that keeps a cache wants a home
    subprocess.run([*shlex.split(compiler), "-O2", "-g", *map(str, words)], check=True)


def build(work, cc, program):
    """The program as PIE and at a fixed address, with a library; returns both."""
    library = work / "libpart.so"
    compile_(cc, "-shared", "-fPIC", "-DPART=1", program, "-o", library)
    compile_(cc, "-c", "-DPART=2", "-fPIE", program, "-o", work / "twin.o")
    built = []
    for name, flags in ("pie", ["-fPIE", "-pie"]), ("fixed", ["-no-pie", "-fno-pie"]):
        built.append(work / name)
        compile_(cc, *flags, "-DPART=0", program, work / "twin.o", library, "-Wl,-rpath," + str(work), "-pthread", "-o",
                 built[-1])
    return built


class Asker:
    def __init__(self, cyclops, work):
        self.cyclops, self.work = cyclops, work

    def words(self, *words):
        return subprocess.run([self.cyclops, "stat", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=harness.ENVIRONMENT, text=True, check=False)

    def json(self, regions, *words, options=()):
        """The answer, and the program's status."""
        out = self.work / "out.json"
        named = [word for region in regions for word in ("--region", region)]
        done = self.words(*named, *EVENTS, *options, "--format", "json", "-o", out, "--", *words)
        if not out.exists():
            raise harness.Failed(f"{regions} {words}: {done.returncode} {done.stderr}")
        answer = json.loads(out.read_text())
        out.unlink()
        return answer, done


def rows_of(answer, region, event):
    return [row for row in answer["regions"] if (row["region"], row["event"]) == (region, event)]


def outermost(answer, region, event, field="count"):
    return sum(row[field] for row in rows_of(answer, region, event) if not row["recursive"])


def is_pages(row_count, calls, pages):
    return pages <= row_count <= pages + OTHER_PAGES * calls


def check_refusals(checks, ask, program, work):
    """What is said without running anything. No rights are needed to know what functions there are."""
    (work / "script").write_text("#!/bin/sh\n")
    (work / "script").chmod(0o755)
    for words, message in (
            (["--region", "tuch", "--", program], "did you mean touch?"),
            (["--region", "zzzz", "--", program], "inlined or removed cannot be probed"),
            (["--region", "libpart:in_libary", "--", program], "did you mean in_library?"),
            (["--region", "nowhere:touch", "--", program], "give the path"),
            (["--region", "twin", "--", program], "2 functions are called so"),
            (["--region", "strlen", "--", program], "(IFUNC)"),
            (["--region", "main", "--", work / "script"], "is no ELF file"),
            (["--region", "main", "--", work / "missing"], "cannot run"),
            (["--region", "touch", "--region", "pie:touch", "--", program], "the same function as 'touch'"),
            (["--region", "touch"], "cyclops stat --region FUNCTION -- COMMAND"),
            (["--region", "touch", "--repeat", "2", "--", program], "not together with"),
            (["--region", "touch", "--metrics", "ipc", "--", program], "not together with"),
            (["--region", "touch", "--fail-if", "ipc < 1", "--", program], "not together with")):
        done = ask.words(*words)
        checks.expect(done.returncode in (1, 2) and message in done.stderr and not done.stdout,
                      f"{words}: {done.returncode}, {done.stderr}")
        checks.count("refusals")


def skip_without_probes(ask, program):
    done = ask.words("--region", "touch", *EVENTS, "--", program, "nothing")
    if done.returncode != 0 and "uprobes" in done.stderr or "does not allow probes" in done.stderr:
        harness.skip(done.stderr.strip())


def check_counts(checks, ask, program):
    regions = ["touch", "outer", "recursive", "leave", "tail_caller", "tail_called", "nap", "steps", "in_library"]
    answer, done = ask.json(regions, program)
    run = answer["run"][0]
    checks.expect(done.returncode == 4, f"status of the program: {done.returncode}, {done.stderr}")
    checks.expect(run["threads"] == 5 and run["processes"] == 2, f"threads: {run}")
    # of four calls two are left; nothing else is
    checks.expect((run["calls_without_return"], run["returns_without_call"], run["lost_records"]) == (2, 0, 0), f"{run}")
    for region, calls, pages in (("touch", 6 + 4 + 4 + 2 + 3 + 1, None), ("outer", 3, 3 * 35), ("recursive", 1, 20),
                                 ("leave", 2, 6), ("tail_caller", 1, 9), ("tail_called", 1, 7), ("in_library", 3, 15),
                                 ("nap", 1, 0), ("steps", 1, 0)):
        got = outermost(answer, region, "page-faults", "calls"), outermost(answer, region, "page-faults")
        checks.expect(got[0] == calls, f"{program.name}: {region}: {got[0]} calls, not {calls}")
        checks.expect(pages is None or is_pages(got[1], 4 * calls, pages), f"{program.name}: {region}: {got[1]} faults, {pages}")
        checks.count("functions")
    inner = [row for row in rows_of(answer, "recursive", "page-faults") if row["recursive"]]
    checks.expect(len(inner) == 1 and inner[0]["calls"] == 3 and inner[0]["parent"] == "recursive", f"{inner}")
    # inner and exclusive are outer
    inside = sum(
        row["count"] for row in answer["regions"] if row["event"] == "page-faults" and row.get("parent") == "outer")
    outer = rows_of(answer, "outer", "page-faults")[0]
    checks.expect(outer["exclusive"] + inside == outer["count"], f"exclusive: {outer}, {inside}")
    checks.expect(outermost(answer, "nap", "context-switches") >= 5, f"{rows_of(answer, 'nap', 'context-switches')}")
    # threads and the child are apart
    by_thread = {}
    for row in rows_of(answer, "touch", "page-faults"):
        by_thread.setdefault(row["thread"], []).append(row)
    alone = sorted(rows[0]["count"] for rows in by_thread.values() if len(rows) == 1 and rows[0]["calls"] == 1)
    checks.expect(len(alone) == 4 and all(is_pages(count, 1, pages) for count, pages in zip(alone, (50, 1000, 2000, 3000))),
                  f"by thread: {alone}")
    for row in answer["regions"]:
        checks.expect(row["state"] == "counted" and row["coverage"] == 1 and row["enabled_ns"] == row["running_ns"], f"{row}")
        if row["event"] == "duration_time":
            checks.expect(row["min"] <= row["p50"] <= row["p99"] <= row["max"], f"{row}")
        if row["event"] == "page-faults":
            checks.expect(row["bias"] == 0, f"bias: {row}")
    checks.expect(run["probe_ns"] > 0, f"{run}")
    return answer


def check_ways(checks, ask, program, work):
    """Other ways to name a function, and other things that processes do."""
    out = ask.words("--region", "twin", "--", program).stderr
    found = []
    for address in re.findall(r"--region (\S+:0x\w+)", out):
        answer, _ = ask.json([address], program)
        found.append(outermost(answer, address, "duration_time", "calls"))
    checks.expect(found == [1, 1], f"functions of one name, by address: {found}")
    answer, _ = ask.json([f"{work}/libpart.so:in_library", "libc.so.6:nanosleep", "pie:nap"], program)
    checks.expect([outermost(answer, name, "duration_time", "calls") for name in
                   (f"{work}/libpart.so:in_library", "libc.so.6:nanosleep", "pie:nap")] == [3, 5, 1], f"{answer['regions']}")
    # without children
    answer, _ = ask.json(["touch"], program, options=["--no-inherit"])
    checks.expect(answer["run"][0]["threads"] == 4 and answer["run"][0]["processes"] == 1, f"{answer['run']}")
    # a shell runs it
    answer, done = ask.json([f"{program}:touch"], "/bin/sh", "-c", f"{program}; exit 5")
    checks.expect(outermost(answer, f"{program}:touch", "page-faults", "calls") == 20 and done.returncode == 5,
                  f"in a shell: {done.returncode} {answer['run']}")
    # forked inside of a function: the child's return is of no call of its own
    answer, _ = ask.json(["forks"], program, "fork")
    run = answer["run"][0]
    checks.expect(outermost(answer, "forks", "page-faults", "calls") == 1 and run["returns_without_call"] == 1, f"{run}")
    answer, _ = ask.json(["main"], program, "exec")
    checks.expect(answer["run"][0]["calls_without_return"] == 1 and
                  outermost(answer, "main", "page-faults", "calls") == 1, f"exec: {answer['run']}")
    answer, done = ask.json(["main"], program, "kill")
    checks.expect(done.returncode == 128 + 6 and answer["run"][0]["calls_without_return"] == 1, f"{done.returncode}")
    # calls that come fast: each is counted, or known to be lost
    answer, _ = ask.json(["tiny"], program, "fast")
    run, calls = answer["run"][0], outermost(answer, "tiny", "duration_time", "calls")
    checks.expect(calls == 20000 or (run["lost_records"] > 0 and calls < 20000), f"fast: {calls} calls, {run}")
    checks.count("ways", 9)


def check_exceptions(checks, ask, throws):
    names = ["shop::Order::price(int)", "shop::Order::price(double)"]
    answer, done = ask.json(names, throws)
    calls = [outermost(answer, name, "duration_time", "calls") for name in names]
    checks.expect(done.returncode == 0 and calls == [5, 1] and answer["run"][0]["calls_without_return"] == 5,
                  f"exceptions: {done.returncode}, {calls}, {answer['run']}")
    done = ask.words("--region", "shop::Order::price", "--", throws)
    checks.expect("2 functions are called so" in done.stderr, done.stderr)
    checks.count("exceptions", 5)


def check_files(checks, ask, program, of_schema, answer, work):
    """stat --import and diff read what is written."""
    schema.check_json(checks, of_schema, answer, "stat --region")
    (work / "a.json").write_text(json.dumps(answer, separators=(",", ":")))
    ask.words("--region", "touch", "--region", "outer", *EVENTS, "--format", "csv", "-o", work / "b.csv", "--", program)
    for name in "a.json", "b.csv":
        done = ask.words("--import", work / name, "--by-region", "--format", "json")
        rows = {row["region"]: row["calls"] for row in json.loads(done.stdout)["regions"]} if done.returncode == 0 else {}
        checks.expect(rows.get("outer") == 3 and rows.get("touch") == 20, f"{name}: {rows}, {done.stderr}")
    for condition, wanted in ("region:outer:page-faults > 50%", 0), ("region:outer:calls > -1", 3), ("region:none:calls > 0", 1):
        done = subprocess.run([ask.cyclops, "diff", work / "a.json", work / "b.csv", "--fail-if", condition],
                              env=harness.ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == wanted, f"{condition}: {done.returncode}, {done.stderr}")
    text = ask.words("--region", "outer", *EVENTS, "--", program).stdout
    checks.expect("outer: 3 calls" in text and "an empty function" in text, text)
    text = ask.words("--region", "touch", *EVENTS, "--by-thread", "--", program).stdout
    checks.expect("thread" in text and text.count("page-faults") == 5, text)
    checks.count("files", 2)


def main():
    cyclops, source, throws_source, schema_file, cc = sys.argv[1:6]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        ask = Asker(os.path.abspath(cyclops), work)
        pie, fixed = build(work, cc, source)
        check_refusals(checks, ask, pie, work)
        skip_without_probes(ask, pie)
        answer = check_counts(checks, ask, pie)
        check_counts(checks, ask, fixed)
        check_ways(checks, ask, pie, work)
        check_files(checks, ask, pie, schema.Schema(pathlib.Path(schema_file), "measure"), answer, work)
        if len(sys.argv) > 6:
            compile_(sys.argv[6], throws_source, "-o", work / "throws")
            check_exceptions(checks, ask, work / "throws")
    checks.finish()


main()
