#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops latency beside another pointer chase, on this machine, in one run: lmbench's lat_mem_rd where it is
installed, else a chase of its own.

usage: latency_lmbench.py [--rounds N] [--within SHARE] [--sizes SIZE,SIZE] CYCLOPS CHASE

CHASE is the program of latency_chase.c. Both measure the same sizes in turn, several times: the least of
each counts, because whatever else runs here only makes them slower. Not for make test: on a busy machine
caches are full of the data of others.
"""

import argparse
import glob
import shutil
import subprocess

from harness import ENVIRONMENT, Checks, csv_rows

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(size):
    return int(size[:-1]) * UNITS[size[-1]] if size[-1] in UNITS else int(size)


def lat_mem_rd():
    return shutil.which("lat_mem_rd") or next(iter(glob.glob("/usr/lib/lmbench/bin/*/lat_mem_rd")), None)


def ask_lmbench(program, size):
    """ns for a load: the line of that size, which is the last of those up to it."""
    done = subprocess.run([program, "-P", "1", "-N", "1", "-t", str(max(1, bytes_of(size) >> 20)), "64"], check=True,
                          capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stderr.splitlines() if line[:1].isdigit()]
    best = min(rows, key=lambda row: abs(float(row[0]) * (1 << 20) - bytes_of(size)))
    return float(best[1])


def ask_chase(program, size):
    return float(subprocess.run([program, str(bytes_of(size))], check=True, capture_output=True, text=True,
                                env=ENVIRONMENT).stdout)


def ask_cyclops(cyclops, size):
    return float(csv_rows(cyclops, "latency", "--sizes", size, "--format", "csv", "--table", "sizes")[0]["least_ns"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--within", type=float, default=0.10)
    parser.add_argument("--sizes", default="16K,256K,128M")
    parser.add_argument("--lmbench", default=lat_mem_rd(), help="its lat_mem_rd; '': the chase of its own")
    parser.add_argument("cyclops")
    parser.add_argument("chase")
    given = parser.parse_args()
    checks = Checks()
    peer = "lat_mem_rd" if given.lmbench else "chase"
    for size in given.sizes.split(","):
        ours, theirs = [], []
        for _ in range(given.rounds):
            ours.append(ask_cyclops(given.cyclops, size))
            theirs.append(ask_lmbench(given.lmbench, size) if given.lmbench else ask_chase(given.chase, size))
        ratio = min(ours) / min(theirs)
        print(f"{size:>6}: cyclops {min(ours):.3f} ns, {peer} {min(theirs):.3f} ns, ratio {ratio:.3f}")
        checks.expect(abs(ratio - 1) <= given.within, f"{size}: {min(ours)} ns, {peer} {min(theirs)} ns")
        checks.count("sizes")
    checks.finish()


main()
