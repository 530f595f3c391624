#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Code of just-in-time compilers that they dumped (jit-PID.dump): the function of each sample beside that of perf inject
-j, of the capture itself and of what perf made of it.

usage: jitdump.py CYCLOPS JIT-PROGRAM

The program replaces a function at its address by another, and moves that. Where node is there, its code is compared, too.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import Checks, ENVIRONMENT, csv_rows, need, run, run_perf, skip

LINE = re.compile(r"^ *(\d+) +(\d+)\.(\d{9}): +[0-9a-f]+ (.*) \((.*)\)$")
DUMP = re.compile(r"jit-\d+\.dump")
SAME_FILE = "\udcff"  # a byte that is no UTF-8, as Python reads it
SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function mix(a) { let s = 0; for (let i = 0; i < a.length; i++) s = (s * 31 + a[i]) | 0; return s }
const list = [...Array(1000).keys()];
let x = 0;
for (const end = process.cpuUsage().user + 400000; process.cpuUsage().user < end;) { x += fib(16); x ^= mix(list) }
"""


def record(folder, clock, *command):
    path = os.path.join(folder, "perf.data")
    done = run_perf("record", *clock, "-e", "cpu-clock:u", "-F", "2000", "-o", path, "--", *command, cwd=folder)
    if done.returncode != 0:
        skip(f"perf cannot record: {done.stderr.decode()[-300:]}")
    return path


def samples_of_perf(path, folder):
    """(module, function) by thread and time."""
    text = run("perf", "script", "-i", path, "-F", "tid,time,ip,sym,dso", "-G", "--ns", cwd=folder).decode(errors="replace")
    found = filter(None, map(LINE.match, text.splitlines()))
    return {(m[1], str(int(m[2]) * 10**9 + int(m[3]))): (m[5], m[4]) for m in found}


def samples(cyclops, path):
    return {(row["tid"], row["time_ns"]): (row["module"], row["symbol"])
            for row in csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path)}


def compare(checks, cyclops, folder, name, *command):
    """Of each sample in dumped code, function by function."""
    path, injected = record(folder, ("-k", "mono"), *command), os.path.join(folder, "injected.data")
    run("perf", "inject", "-j", "-i", path, "-o", injected, cwd=folder)
    theirs = {key: value for key, value in samples_of_perf(injected, folder).items() if "/jitted-" in value[0]}
    for what, captured in (("dump", path), ("perf inject -j", injected)):
        ours = samples(cyclops, captured)
        checks.equal(f"samples of {name} by {what}", sorted((key, ours.get(key, ("", ""))[1]) for key in theirs),
                     sorted((key, value[1]) for key, value in theirs.items()), "perf")
        others = [key for key, value in ours.items() if DUMP.fullmatch(value[0]) and key not in theirs]
        checks.expect(not others, f"{name}: {len(others)} samples are in dumped code to us alone")
    return path


def lines_of(cyclops, path):
    """Samples by function and line, of dumped code; "\\xff" in place of a file's name means the one before it."""
    rows = csv_rows(cyclops, "hot", "--by", "module,function,line", "--format", "csv", path)
    jitted = [row for row in rows if DUMP.fullmatch(row["module"]) or row["module"].startswith("jitted-")]
    found = collections.Counter()
    for row in jitted:
        found[row["function"], f"{row['file']}:{row['line']}".replace("\ufffd", "inlined.jit")] += int(row["samples"])
    return found


def lines_of_perf(path, folder):
    text = run("perf", "script", "-i", path, "-F", "ip,sym,srcline", "-G", cwd=folder).decode(errors="surrogateescape")
    found = re.findall(r"^ *[0-9a-f]+ (first|second)\n +(.*:\d+)$", text, re.M)
    return collections.Counter((sym, line.replace(SAME_FILE, "inlined.jit")) for sym, line in found)


def functions_of(cyclops, path, *options):
    rows = csv_rows(cyclops, "hot", "--by", "module,function", "--format", "csv", *options, path)
    return collections.Counter({row["function"]: int(row["samples"]) for row in rows if DUMP.fullmatch(row["module"])})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    need("perf")
    cyclops, program = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = compare(checks, cyclops, folder, "the program", program, "60")
        found = functions_of(cyclops, path)
        checks.expect(set(found) == {"first", "second"} and found["second"] > found["first"] > 0, f"functions: {found}")

        # The code of the dump is that of the file that perf inject -j makes of it.
        code = [[row["instruction"].split() for row in csv_rows(cyclops, "annotate", "--table", "instructions", "--format", "csv", capture, "second")
                 if row.get("instruction")] for capture in (path, os.path.join(folder, "injected.data"))]
        checks.equal("instructions", [words[0] for words in code[0]], [words[0] for words in code[1]], "perf inject -j")

        # So are the lines, which perf 6.1 shows of what it injected, with "\xff" as a file's name.
        injected = os.path.join(folder, "injected.data")
        lines = lines_of(cyclops, path)
        checks.equal("lines", sorted(lines.items()), sorted(lines_of_perf(injected, folder).items()), "perf inject -j")
        checks.equal("lines of the injected capture", sorted(lines_of(cyclops, injected).items()), sorted(lines.items()), "the dump")
        checks.expect({line.split(":")[0] for _, line in lines} == {"loop.jit", "inlined.jit"}, f"lines: {lines}")
        checks.count("lines", len(lines))

        # Times of another clock: what came last counts, and it is said.
        path = record(folder, (), program, "60")
        found = functions_of(cyclops, path)
        checks.expect(set(found) == {"second"}, f"without the dump's clock: {found}")
        done = subprocess.run([cyclops, "hot", path], capture_output=True, env=ENVIRONMENT, check=True)
        checks.expect(b"another clock" in done.stderr, f"not said: {done.stderr.decode()}")

        # Elsewhere: the dump is looked for below --symfs alone, and it is said where it is not.
        dump = next(filter(DUMP.fullmatch, os.listdir(folder)))
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        done = subprocess.run([cyclops, "hot", "--symfs", empty, path], capture_output=True, env=ENVIRONMENT, check=True)
        checks.expect(re.search(rb"jit-\d+\.dump: the dump of code made at run time is not here", done.stderr),
                      f"not said: {done.stderr.decode()}")
        copied = os.path.join(empty, folder.lstrip("/"))
        os.makedirs(copied)
        for name in os.listdir(folder):
            if DUMP.fullmatch(name):
                shutil.copy(os.path.join(folder, name), copied)
                os.remove(os.path.join(folder, name))
        checks.equal("functions below --symfs", list(functions_of(cyclops, path, "--symfs", empty)), ["second"], dump)
    if shutil.which("node"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "loops.js"), "w", encoding="ascii") as file:
                file.write(SCRIPT)
            path = compare(checks, cyclops, folder, "node", "node", "--perf-prof", "loops.js")
            checks.expect(any("fib" in name for name in functions_of(cyclops, path)), "no fib of node")
            # V8 shifts addresses, and damages names of files that it knows from the function's name.
            found = {line for name, line in lines_of(cyclops, path) if "*fib" in name}
            checks.expect({line.split("/")[-1] for line in found} == {"loops.js:2"}, f"lines of fib: {found}")
    checks.finish()


if __name__ == "__main__":
    main()
