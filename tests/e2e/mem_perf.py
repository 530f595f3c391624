#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Where the data of loads came from, as `cyclops mem` and `perf report --itrace=M -s mem` count it.

usage: mem_perf.py CYCLOPS MAKE-CAPTURE [SEEDS]

perf 6.1 knows fewer levels than the CPU tells, calls an atomic a load or a store, and takes arithmetic of SVE
for loads; stores have no level. What it shows as one is added up here (docs/differences.md).

Captures that `perf inject --itrace` made of the same have a sample for each event of a record: each record counts once
there, too, with its latency and its translation.
"""

import collections
import os
import re
import sys
import tempfile

from harness import Checks, csv_rows, folded, need, run

# The CPU's words, by perf's. REMOTE is "N/A" there, as are all stores.
LEVELS = {"L1D": "L1 or L1 hit", "L2": "L2 or L2 hit", "PEER_CORE": "L2 or L2 hit",
          "LOCAL_CLUSTER": "L3 or L3 hit", "SYS_CACHE": "L3 or L3 hit", "PEER_CLUSTER": "L3 or L3 hit",
          "DRAM": "Local RAM or RAM hit"}
FULL = 4095
PAGE_SUMS = ("records", "latency_cycles", "latency_cycles_trust", "mean_latency_cycles", "walks")


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
    n, cycles = collections.Counter(), collections.Counter()
    rows = csv_rows(cyclops, "mem", "--table", "sources", "--all", "--format", "csv", path)
    exported = csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path)
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


def check_injected(checks, cyclops, path, folder):
    """Loads and stores by how they were translated, from the records and from the samples that perf makes of them."""
    theirs = collections.defaultdict(list)
    for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path):
        events = row["events"].split(":")
        how = "walk" if "TLB-REFILL" in events else "no walk" if "TLB-ACCESS" in events else "not recorded"
        if row["op"] in ("LD", "ST") or row["subclass"] == "SVE":
            theirs["store" if row["op"] == "ST" else "load", how].append(int(row["total_lat"] or 0))
    injected = os.path.join(folder, "injected.data")
    run("perf", "inject", "--itrace", "-i", path, "-o", injected)
    rows = {(row["access"], row["translation"]): row
            for row in csv_rows(cyclops, "mem", "--table", "translation", "--format", "csv", injected)}
    checks.equal("records as samples", sorted((key, int(row["samples"])) for key, row in rows.items()),
                 sorted((key, len(its)) for key, its in theirs.items()))
    for key, its in theirs.items():
        usable = [cycles for cycles in its if 0 < cycles != FULL]
        row = rows.get(key, {})
        checks.count("latencies of samples")
        checks.expect(abs(float(row.get("total_mean_cycles") or 0) - sum(usable) / max(1, len(usable))) < 1e-6,
                      f"{key}: {row.get('total_mean_cycles')} cycles of {sum(usable)} / {len(usable)}")
        checks.expect((row.get("total_mean_cycles_trust") == "saturated") == (FULL in its), f"{key}: full counters")
    pages = [[(row["page"], row["pid"], *(row[name] for name in PAGE_SUMS)) for row in
              csv_rows(cyclops, "addr", "--by", "page", "--table", "pages", "--all", "--format", "csv", each)]
             for each in (path, injected)]
    checks.equal("pages of records and of samples", *pages)
    # Operations of SVE that are neither are loads without an address to perf.
    counters = ("stores", "load_l1", "load_l2", "load_llc", "load_dram_local", "peer_local", "peer_remote")
    shared = [sorted((row["counter"], int(row["records"])) for row in csv_rows(
        cyclops, "c2c", "--table", "trace", "--format", "csv", each) if row["counter"] in counters)
              for each in (path, injected)]
    checks.equal("accesses of c2c, of records and of samples", *shared)


def check_both(checks, cyclops, make_capture, path):
    """Memory samples beside SPE records are left out, and that is said; an SPE event without records has no samples."""
    run(make_capture, "--records", "500", "--memory-samples", "200", "-o", path)
    n = sum(row["op"] in ("LD", "ST") for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path))
    rows = csv_rows(cyclops, "mem", "--table", "region", "--format", "csv", path)
    checks.equal("records beside samples", [sum(int(row["samples"]) for row in rows)], [n])
    text = folded(cyclops, "mem", path)
    checks.expect("SPE records are counted here, samples of memory are not" in text, "samples are left out silently")
    run(make_capture, "--records", "0", "--samples", "20", "-o", path)
    text = run(cyclops, "mem", path).decode()
    checks.expect("PMU samples" not in text, f"an SPE event without records is sampled: {text}")


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
            check_injected(checks, cyclops, path, folder)
        check_both(checks, cyclops, make_capture, os.path.join(folder, "b.data"))
    checks.finish()


if __name__ == "__main__":
    main()
