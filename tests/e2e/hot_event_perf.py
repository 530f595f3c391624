#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `cyclops hot --event` with the events that perf synthesizes from SPE records.

usage: hot_event_perf.py CYCLOPS MAKE-CAPTURE [SEEDS]

Each of perf's events by thread and instruction: how many records, and the shares of threads as
`perf report` shows them.
"""

import collections
import os
import re
import sys
import tempfile

from harness import Checks, csv_rows, need, run

# Our event, perf's, and its letter for --itrace.
EVENTS = [("l1d-refill", "l1d-miss", "f"), ("l1d-access || l1d-refill", "l1d-access", "f"),
          ("llc-miss", "llc-miss", "m"), ("llc-access || llc-miss", "llc-access", "m"),
          ("tlb-walk", "tlb-miss", "t"), ("tlb-access || tlb-walk", "tlb-access", "t"),
          ("mispredicted", "branch-miss", "b"), ("remote-access", "remote-access", "a")]
KINDS = [[], ["--sharing"], ["--kernel-share", 40, "--cpus", 3], ["--no-context", "--cpus", 1]]


def code_of(cyclops, path):
    """Start, length and offset of the program's mappings: where its code stands in the file."""
    dump = run(cyclops, "dump", path).decode()
    found = re.findall(r" MMAP2? .*?start=(0x[0-9a-f]+) length=(0x[0-9a-f]+) pgoff=(0x[0-9a-f]+) path=\"/", dump)
    return {tuple(int(value, 16) for value in place) for place in found}


def place_of(ip, code):
    """The offset in the file, or the address of what is in no file."""
    for start, length, offset in code:
        if start <= ip < start + length:
            return ip - start + offset
    return ip


def of_perf(path, letter, code):
    """{event: records by (tid, place)}"""
    found = collections.defaultdict(collections.Counter)
    output = run("perf", "script", "-i", path, f"--itrace={letter}", "-F", "event,tid,ip").decode()
    for tid, event, ip in re.findall(r"^ *(-?\d+) +([a-z0-9-]+): +([0-9a-f]+)", output, re.M):
        found[event][int(tid), place_of(int(ip, 16), code)] += 1
    return found


def of_cyclops(cyclops, path, event):
    rows = csv_rows(cyclops, "hot", "--event", event, "--by", "thread,place", "--all", "--format", "csv", path)
    found = collections.Counter()
    for row in rows:
        found[int(row["tid"] or -1), int(row["offset"] or "0", 0)] += int(row["samples"])
    return found


def perf_shares(path, letter, event):
    """{tid: per cent} of `perf report`, which weighs each record the same."""
    text = run("perf", "report", "-i", path, f"--itrace={letter}", "--stdio", "-s", "pid").decode()  # its threads
    part = re.search(rf"of event '{event}'(.*?)(?=of event '|\Z)", text, re.S)
    rows = re.findall(r"^ +([\d.]+)% +(-?\d+):", part[1], re.M) if part else []
    return {int(tid): float(share) for share, tid in rows}


def main():
    cyclops, make_capture = map(os.path.abspath, sys.argv[1:3])
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-hot-event-") as folder:
        path = os.path.join(folder, "a.data")
        for seed, kind in ((seed, kind) for seed in range(n_seeds) for kind in KINDS):
            run(make_capture, "--records", 6000, "--only-perf61", "--seed", seed, *kind, "-o", path)
            code = code_of(cyclops, path)
            for ours, theirs, letter in EVENTS:
                expected = of_perf(path, letter, code)[theirs]
                found = of_cyclops(cyclops, path, ours)
                name = f"{theirs} by thread and place"
                checks.equal(name, sorted(found.elements()), sorted(expected.elements()), "perf")
                total = sum(found.values())
                for tid, share in perf_shares(path, letter, theirs).items():
                    mine = 100 * sum(n for (t, _), n in found.items() if t == tid) / total
                    checks.count("shares of threads in perf report")
                    checks.expect(abs(mine - share) <= 0.0051, f"{theirs}: thread {tid} has {share} %, {mine}")
    checks.finish()


if __name__ == "__main__":
    main()
