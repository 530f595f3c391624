#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Where the data of loads came from, as `cyclops mem` and `perf report --itrace=M -s mem` count it.

usage: mem_perf.py CYCLOPS MAKE-CAPTURE [SEEDS]

perf 6.1 knows fewer levels than the CPU tells, calls an atomic a load or a store, and takes arithmetic of SVE
for loads; stores have no level. What it shows as one is added up here (docs/differences.md).
"""

import collections
import csv
import os
import re
import sys
import tempfile

from harness import Checks, need, run

# The CPU's words, by perf's. REMOTE is "N/A" there, as are all stores.
LEVELS = {"L1D": "L1 or L1 hit", "L2": "L2 or L2 hit", "PEER_CORE": "L2 or L2 hit",
          "LOCAL_CLUSTER": "L3 or L3 hit", "SYS_CACHE": "L3 or L3 hit", "PEER_CLUSTER": "L3 or L3 hit",
          "DRAM": "Local RAM or RAM hit"}


def of_perf(path):
    """{level: (records, share of latency)} of its event "memory"."""
    text = run("perf", "report", "-i", path, "--mem-mode", "--itrace=M", "--stdio", "-s", "mem", "-F",
               "overhead,sample,mem").decode()
    text = text[text.rindex("of event 'memory'"):] if "of event 'memory'" in text else text
    found = {}
    for share, n, level in re.findall(r"^ +([\d.]+)% +(\d+) +(.+?) *$", text, re.M):
        found[level] = (int(n), float(share))
    return found


def of_cyclops(cyclops, path):
    out = run(cyclops, "mem", "--table", "sources", "--all", "--format", "csv", path).decode()
    n, cycles = collections.Counter(), collections.Counter()
    rows = list(csv.DictReader(out.splitlines()))
    exported = csv.DictReader(run(cyclops, "export", "--table", "spe", "--format", "csv", path).decode().splitlines())
    for row in exported:
        if row["op"] in ("LD", "ST"):
            cycles[LEVELS.get(row["source"], "N/A or N/A")] += int(row["total_lat"] or 0)
        elif row["subclass"] == "SVE":  # perf 6.1 takes arithmetic of SVE for loads that hit the L1
            n["L1 or L1 hit"] += 1
            cycles["L1 or L1 hit"] += int(row["total_lat"] or 0)
    for row in rows:
        n[LEVELS.get(row["source"], "N/A or N/A")] += int(row["samples"])
    all_cycles = sum(cycles.values())
    return {level: (n[level], 100 * cycles[level] / all_cycles) for level in n}


def main():
    cyclops, make_capture = sys.argv[1:3]
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-mem-perf-") as folder:
        for seed in range(n_seeds):
            path = os.path.join(folder, "a.data")
            run(make_capture, "--records", "20000", "--cpus", "2", "--only-perf61", "--seed", seed, "-o", path)
            ours, theirs = of_cyclops(cyclops, path), of_perf(path)
            checks.equal("levels and their records", sorted((level, n) for level, (n, _) in ours.items()),
                         sorted((level, n) for level, (n, _) in theirs.items()), "perf")
            for level, (_, share) in theirs.items():
                checks.count("shares of latency")
                checks.expect(abs(share - ours.get(level, (0, -1))[1]) < 0.006,
                              f"seed {seed}: {level} is {share} % in perf, {ours.get(level)}")
    checks.finish()


if __name__ == "__main__":
    main()
