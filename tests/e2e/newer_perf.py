#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares with a perf newer than 6.1 (7.3 is known), which scripts/new-perf.sh makes, what both read.

usage: newer_perf.py [--seeds N] [--first SEED] [--records N] CYCLOPS MAKE-CAPTURE

The perf is the one that is found first in PATH. Compared are the text of each SPE packet of the made-up
captures of differential.py, in the wording for everything that is newer, letter for letter; and process,
thread and address of each sample of the captures below the folder that CYCLOPS_CAPTURES names. That
perf's numbers for data sources, its order of call chains and its lines of a header are others than 6.1's:
the tests that compare those are for 6.1 alone.
"""

import argparse
import collections
import os
import re
import subprocess
import tempfile

from differential import PACKET, TEXT_COLUMN, Capture
from harness import Checks, ENVIRONMENT, csv_rows, need, real_captures, run, skip

SAMPLE = re.compile(r"^ *(-?\d+)/(-?\d+) +([0-9a-f]+)\b")
# Where that perf stops, or invents: what it is about, and what it says.
REFUSALS = ("bad event header size", "piped event processing failed", "failed to process type")
LEFT_OUT = re.compile(rb"OP-TYPE |EVENTS ")
LONG = 256
# It makes samples of what a trace of the CPU tells, which are none that were recorded.
TRACES = ("AUXTRACE",)


def need_newer():
    need("perf")
    version = run("perf", "--version").decode().split()[-1]
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < (7, 0):
        skip(f"perf {version} is not a newer one; scripts/new-perf.sh makes one")
    print(f"perf {version}")


def compare_packets(checks, cyclops, capture):
    """
    Letter for letter. DIFFERENCE: of an operation of no class perf prints what its buffer happened to hold;
    events whose names take 256 letters and more, as damage makes them, are a number to us.
    """
    theirs = PACKET.findall(run("perf", "script", "-D", "-i", capture.path))
    ours = PACKET.findall(run(cyclops, "dump", "--packets", "--wording", "full", capture.path))
    checks.expect(len(ours) == len(theirs), f"{capture.name}: {len(ours)} lines of packets, perf has {len(theirs)}")
    for number, (left, right) in enumerate(zip(ours, theirs)):
        is_left_out = LEFT_OUT.match(left[TEXT_COLUMN:]) and (not left.endswith(b"(8)") or len(right) >= TEXT_COLUMN + LONG)
        if left != right and is_left_out:
            checks.expect(left[:TEXT_COLUMN] == right[:TEXT_COLUMN], f"{capture.name}: line {number}: {left}, perf: {right}")
            checks.count("packets that perf has no words for, or too many")
        elif not checks.expect(left == right, f"{capture.name}: line {number}: {left}, perf: {right}"):
            break
        else:
            checks.count("packets")


def samples_of_perf(path):
    """Lines of perf script, or None where it stops."""
    done = subprocess.run(["perf", "script", "-F", "pid,tid,ip", "-G", "-i", path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", env=ENVIRONMENT, check=False)
    if done.returncode != 0 and not any(words in done.stderr for words in REFUSALS):
        raise RuntimeError(f"perf script of {path}: {done.returncode}: {done.stderr[-300:]}")
    if done.returncode != 0:
        return None
    found = [SAMPLE.match(line) for line in done.stdout.splitlines()]
    return [(int(m[1]), int(m[2]), int(m[3], 16)) for m in found if m]


def compare_samples(checks, cyclops, path):
    records = collections.Counter(line.split()[2] for line in run(cyclops, "dump", path).decode(
        errors="replace").splitlines() if len(line.split()) > 2)
    if any(records[kind] for kind in TRACES):
        return
    theirs = samples_of_perf(path)
    if theirs is None:
        checks.count("captures that perf refuses")
        return
    ours = [(int(row["pid"]), int(row["tid"]), int(row["ip"], 16)) for row in
            csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path)]
    checks.equal("samples", sorted(ours), sorted(theirs), f"perf ({os.path.basename(path)})")
    checks.count("captures")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    need_newer()
    checks = Checks()
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            capture = Capture(seed, args.records, (args.cyclops, args.make_capture), folder)
            compare_packets(checks, args.cyclops, capture)
    for path in real_captures():
        compare_samples(checks, args.cyclops, path)
    checks.finish()


if __name__ == "__main__":
    main()
