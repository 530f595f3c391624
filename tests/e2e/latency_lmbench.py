#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops latency beside another pointer chase, on this machine, in one run: lmbench's lat_mem_rd -t where it is
installed, else a chase of its own.

usage: latency_lmbench.py [--rounds N] [--within SHARE] [--up-to SIZE] [--lmbench PROGRAM] CYCLOPS CHASE

CHASE is the program of latency_chase.c. Both measure the same sizes, several times in turn: the least of each
counts, because whatever else runs here only makes them slower. Compared is each level that cyclops finds, by the
median of its sizes; sizes between two levels are printed alone. lat_mem_rd measures all sizes up to the largest in
each run, which takes it a minute for 4 MiB. Not for make test: on a busy machine caches are full of the data of others.
"""

import argparse
import glob
import shutil
import statistics
import subprocess

from harness import ENVIRONMENT, Checks, csv_rows

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SAME_SIZE = 0.02  # lat_mem_rd prints MiB with five digits behind the point


def bytes_of(size):
    return int(size[:-1]) * UNITS[size[-1]] if size[-1] in UNITS else int(size)


def lat_mem_rd():
    return shutil.which("lat_mem_rd") or next(iter(glob.glob("/usr/lib/lmbench/bin/*/lat_mem_rd")), None)


def ask_lmbench(program, sizes):
    """ns for a load, by size: those of `sizes` that it measures."""
    done = subprocess.run([program, "-P", "1", "-N", "1", "-t", str(max(1, max(sizes) >> 20)), "64"], check=True,
                          capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stderr.splitlines() if line[:1].isdigit()]
    found = {}
    for mib, ns in rows:
        nearest = min(sizes, key=lambda size: abs(size - float(mib) * (1 << 20)))
        if abs(nearest - float(mib) * (1 << 20)) <= SAME_SIZE * nearest:
            found[nearest] = float(ns)
    return found


def ask_chase(program, sizes):
    return {size: float(subprocess.run([program, str(size)], check=True, capture_output=True, text=True,
                                       env=ENVIRONMENT).stdout) for size in sizes}


def ask_cyclops(cyclops, up_to):
    """ns for a load by size, and the level of each."""
    rows = csv_rows(cyclops, "latency", "--sizes", f"4K..{up_to}", "--format", "csv", "--table", "sizes")
    return {int(row["size_bytes"]): (float(row["least_ns"]), row["level"]) for row in rows}


def least(rounds):
    return {size: min(r[size] for r in rounds) for size in set.intersection(*map(set, rounds))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--within", type=float, default=0.10)
    parser.add_argument("--up-to", default="4M")
    parser.add_argument("--lmbench", default=lat_mem_rd(), help="its lat_mem_rd; '': the chase of its own")
    parser.add_argument("cyclops")
    parser.add_argument("chase")
    given = parser.parse_args()
    checks = Checks()
    peer = "lat_mem_rd" if given.lmbench else "chase"
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(ask_cyclops(given.cyclops, given.up_to))
        sizes = sorted(ours[0])
        theirs.append(ask_lmbench(given.lmbench, sizes) if given.lmbench else ask_chase(given.chase, sizes))
    other, own = least(theirs), least(ours)  # of equal times the level's name does not matter
    levels = {}
    for size in sorted(other):
        # in the same level in each round, so not at its edge
        names = {r[size][1] for r in ours}
        level = names.pop() if len(names) == 1 else ""
        print(f"{size / 1024:>8g}K: cyclops {own[size][0]:.3f} ns, {peer} {other[size]:.3f} ns"
              f"{', ' + level if level else ', between levels'}")
        if level:
            levels.setdefault(level, []).append(size)
    for level, sizes in levels.items():
        mine = statistics.median(own[size][0] for size in sizes)
        its = statistics.median(other[size] for size in sizes)
        print(f"{level}: cyclops {mine:.3f} ns, {peer} {its:.3f} ns, ratio {mine / its:.3f}")
        checks.expect(abs(mine / its - 1) <= given.within, f"{level}: {mine:.3f} ns, {peer} {its:.3f} ns")
        checks.count("levels")
    checks.expect(len(levels) >= 2, f"levels up to {given.up_to}: {', '.join(levels)}")
    checks.finish()


main()
