#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that the answer is the same for any number of threads, byte for byte.

usage: determinism.py [--all] CYCLOPS MAKE-CAPTURE

Every command in every form is run with one thread and with several, on a made-up capture of many CPUs;
on two others, and on those in the folder that the variable CYCLOPS_CAPTURES names, each capture takes
a part of the commands, in turn. With --all each takes all, with two numbers of threads.
"""

import argparse
import hashlib
import os
import random
import re
import subprocess
import tempfile

import perf_file
import spe_bytes
from harness import ENVIRONMENT, Checks, export_formats, real_captures, run, table_of

JOBS = (7,)
ALL_JOBS = (2, 7)

# Options of make-capture, and whether the trace is to be a wild one.
MADE_UP = [
    (["--records", 40000, "--samples", 1000, "--cpus", 1, "--chunk", "4M"], False),
    (["--records", 6000, "--samples", 1000, "--cpus", 5, "--chunk", 2048, "--no-context"], False),
    (["--records", 8000, "--cpus", 2, "--chunk", 4096], True),
]
MANY_CPUS = 1  # the second


def hot_keys(cyclops, path):
    """The keys that --by takes, as its error message lists them, but `caller`: only mem takes it."""
    done = subprocess.run([cyclops, "hot", "--by", "no-such-key", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    return [key for key in re.search(r"there are (.*)", done.stderr.decode()).group(1).split(", ") if key != "caller"]


# Commands that answer with what a capture holds: each in the forms in which it is asked, as words
# behind its name; {keys} are all keys of hot, {key} is each of them in turn, {format} each of export's that is not named
# here. SOME are for large captures, ALL for made-up ones.
# With these two there is a list of the others; a command in none of them fails the test.
TABLES = ("csv", "json", "spe-parser")
FORMS = [["--format", form] for form in ("text", "csv", "json")]
SOME = {
    "report": [["--format", "json"]],
    "hot": [
        ["--by", "{keys}", "--format", "csv", "--all"],
        ["--callers", "--all"],
        ["--elapsed", "--all", "--format", "json", "--interval", "1024"],
        ["--time-estimate", "--by", "instruction", "--all", "--format", "csv"],
    ],
    "annotate": [["--format", "json"]],
    "blocks": [["--format", "json"]],
    "calls": [["--format", "json"]],
    "mem": [["--format", "json", "--all"]],
    "c2c": [["--all", "--format", "json"]],
    "addr": [["--by", key, "--format", "json", "--all"] for key in ("field", "page", "instruction")],
    "quality": [["--format", "json"]],
    "cycles": [["--template", "haswell", "--format", "csv", "--all"]],
    "diff": [["--save", "saved", "--by", "function,line,instruction,source"]],
    "dump": [["--packets"]],
    "export": [[], ["--table", "samples"], ["--table", "branches"], ["--table", "counts"]],
}
ALL = {
    "report": FORMS,
    "hot": [
        *([*form, "--callers", "--all"] for form in FORMS),
        *([*form, "--top", "3"] for form in FORMS),
        ["--interval", "1024", "--all"],  # with run time in front
        ["--format", "csv", "--by", "{key}", "--all"],
        ["--by", "{keys}", "--format", "csv", "--all"],
        *(["--elapsed", "--by", key, "--format", "csv", "--all", "--interval", "1024"]
          for key in ("function", "thread,module", "instruction")),
        ["--by", "function,source", "--select", "op=load || period>1", "--format", "csv"],
        ["--time-estimate", "--by", "instruction", "--all", "--format", "csv"],
        ["--event", "list", "--format", "csv"],
        ["--event", "mispredicted", "--format", "json", "--all"],
        ["--time-slices", "7", "--format", "json", "--all"],
    ],
    "calls": [*FORMS, ["--graph", "dot"], ["--graph", "text"]],
    "blocks": [*FORMS, ["--cfg", "dot", "--split-calls"], ["--cfg", "text"]],
    "annotate": [*FORMS, ["--all", "--no-source"], ["--time-slices", "5", "--format", "json"]],
    "mem": [
        *FORMS,
        *(["--by", key, "--histogram", "--format", "json", "--all"]
          for key in ("source", "function", "function,caller", "line", "instruction", "place,thread", "cpu,operation", "event", "time")),
        ["--time-slices", "7", "--format", "json"],
    ],
    "c2c": [
        *FORMS,
        *(["--mode", mode, "--coalesce", "process,thread", "--all", "--format", "json"] for mode in ("peer", "tot")),
    ],
    "addr": [["--by", key, "--format", "json", "--all"] for key in (
        "object", "type", "field", "line", "page", "hugepage", "node", "instruction")],
    "cycles": [
        *(["--template", "neoverse-n1", *form, "--by", key]
          for form in FORMS for key in ("function", "process,cpu", "line")),
        ["--template", "haswell", "--tree", "all"],
    ],
    "quality": [*FORMS, ["--all", "--format", "json"], ["--time-slices", "7", "--format", "csv"]],
    "diff": [
        ["--save", "saved", "--by", "function,line,instruction,source"],
        ["--by", "function,line,instruction,source,shared", "--format", "json", "{capture}"],
    ],
    "dump": [[], ["--packets"], ["--packets", "--wording", "full"]],
    "export": [
        *(["--table", table, "--format", form] for table in ("spe", "samples") for form in ("csv", "json")),
        ["--select", "tot>20 || period>1"],
        ["--format", "spe-parser", "-o", "parser"],
        ["--format", "{format}", "-o", "profile"],
    ],
}
# These read no capture: they measure, or tell what is known; or many, which e2e/collect is about.
WITHOUT_CAPTURE = ("collect", "fleet", "run", "stat", "record", "list", "catalog", "doctor", "kernel", "latency", "model", "help")


def commands_of(cyclops, table, path):
    """What is run on this capture."""
    keys, formats = hot_keys(cyclops, path), [name for name in export_formats(cyclops) if name not in TABLES]
    for name, forms in table_of(cyclops, table, WITHOUT_CAPTURE):
        for words in forms:
            for key in keys if "{key}" in words else formats if "{format}" in words else keys[:1]:
                yield [name, *(word.format(key=key, keys=",".join(keys), format=key, capture=path) for word in words)]


def answer(cyclops, command, path, n_jobs):
    """Exit status, output, messages, and files written: as short as possible."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([cyclops, *command, "-j", str(n_jobs), path], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
        files = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                files.append((name, hashlib.sha256(file.read()).hexdigest()))
    return done.returncode, hashlib.sha256(done.stdout).hexdigest(), len(done.stdout), done.stderr, files


def check_capture(checks, cyclops, path, table, turn=slice(None), jobs=JOBS):
    for command in list(commands_of(cyclops, table, path))[turn]:
        alone = answer(cyclops, command, path, 1)
        checks.expect(alone[0] in (0, 1, 4), f"{path}: {' '.join(command)}: exit status {alone[0]}")
        for n_jobs in jobs:
            together = answer(cyclops, command, path, n_jobs)
            checks.expect(together == alone, f"{path}: {' '.join(command)}: -j1 gives {alone[:4]}, "
                          f"-j{n_jobs} {together[:4]}")
            checks.count("answers of several threads")
    checks.count("captures")


def make_wild(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    wild = spe_bytes.Wild(random.Random(1), (0xAAAAC0000000, 0xFFFF40000000), (4000, 4001, 77))
    wild.with_repeats = True
    traces = {}
    for chunk in perf_file.chunks(data):
        trace = traces.setdefault(chunk.cpu, spe_bytes.Trace(wild, 0x6450000000, 100, 0.1))
        data[chunk.start : chunk.end] = trace.chunk(chunk.size)
    with open(path, "wb") as file:
        file.write(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    cyclops, maker = os.path.abspath(args.cyclops), os.path.abspath(args.make_capture)
    checks = Checks()
    jobs = ALL_JOBS if args.all else JOBS
    with tempfile.TemporaryDirectory() as folder:
        for number, (options, is_wild) in enumerate(MADE_UP):
            path = os.path.join(folder, f"{number}.data")
            run(maker, "--output", path, *options)
            if is_wild:
                make_wild(path)
            is_whole = args.all or number == MANY_CPUS
            check_capture(checks, cyclops, path, ALL, slice(None) if is_whole else slice(number // 2, None, 2), jobs)
    captures = real_captures()
    for number, path in enumerate(captures):
        check_capture(checks, cyclops, path, *((ALL, slice(None)) if args.all else (SOME, slice(number % 3, None, 3))), jobs)
    if not captures:
        print("skipped: real captures (CYCLOPS_CAPTURES names no folder with some)")
    checks.finish()


if __name__ == "__main__":
    main()
