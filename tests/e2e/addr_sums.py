#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `addr` with sums over the exported records: pages, lines, huge pages, offsets.

usage: addr_sums.py CYCLOPS MAKE-CAPTURE DATA-FOLDER

What counts, and for what, is worked out here again from the operation and the events of each
exported record. Captures are made up, and those of the samples.
"""

import argparse
import collections
import os
import tempfile

from harness import Checks, csv_rows, folded, run

LINE = 64
MADE_UP = [["--records", 20000, "--cpus", 4], ["--records", 8000, "--cpus", 2, "--seed", 7],
           ["--records", 5000, "--cpus", 3, "--seed", 9, "--kernel-share", 60],
           ["--records", 4000, "--cpus", 2, "--seed", 5, "--memory-samples", 1000]]  # which are another sampling
SAMPLES = ["sharing", "padded", "chase", "stride", "multiply", "copies"]

# Level of memory that a data source of these captures stands for.
KINDS = ("loads", "stores", "atomics")  # an access is of one of them
LEVELS = {"L1D": "loads_l1", "L2": "loads_l2", "PEER_CORE": "loads_peer_core", "DRAM": "loads_dram",
          "LOCAL_CLUSTER": "loads_local_cluster", "SYS_CACHE": "loads_system_cache",
          "PEER_CLUSTER": "loads_peer_cluster", "REMOTE": "loads_remote"}


def rows_of(*command):
    return csv_rows(*command)


def accesses(cyclops, path):
    """Exported loads, stores and atomics with an address."""
    found = []
    for row in rows_of(cyclops, "export", "--table", "spe", "--format", "csv", path):
        if row["op"] not in ("LD", "ST") or not row["vaddr"]:
            continue
        is_atomic = "AT" in row["subclass"].split()
        row["reads"] = row["op"] == "LD" or is_atomic
        row["kind"] = "atomics" if is_atomic else {"LD": "loads", "ST": "stores"}[row["op"]]
        found.append(row)
    return found


def add(sums, key, row):
    s = sums.setdefault(key, {"records": 0, **dict.fromkeys(KINDS, 0), "walks": 0, "latency_cycles": 0})
    s["records"] += 1
    s[row["kind"]] += 1
    s["walks"] += "TLB-REFILL" in row["events"].split(":")
    s["latency_cycles"] += int(row["total_lat"] or 0)
    level = LEVELS.get(row["source"])
    if level and row["reads"]:
        s[level] = s.get(level, 0) + 1


def expected(rows, size, pid_of):
    sums = {}
    for row in rows:
        address = int(row["vaddr"], 16)
        add(sums, (address // size * size, pid_of(row, address)), row)
    return sums


def answered(cyclops, path, by, options=()):
    """By address and process; rows of the same are added up (a pid may be of several processes)."""
    sums = {}
    table = {"page": "pages", "hugepage": "hugepages", "line": "lines"}[by]
    for row in rows_of(cyclops, "addr", "--by", by, "--all", "--format", "csv", "--table", table, *options, path):
        s = sums.setdefault((int(row[by], 16), row["pid"]), {})
        for name, value in row.items():
            if name in ("records", *KINDS, "walks", "latency_cycles") or name.startswith("loads_"):
                s[name] = s.get(name, 0) + int(value or 0)
    return sums


def compare(checks, name, ours, theirs):
    checks.count("rows by address", len(theirs))
    checks.expect(ours.keys() == theirs.keys(), f"{name}: {len(ours)} rows, expected {len(theirs)}")
    for key, sums in theirs.items():
        mine = ours.get(key, {})
        for column, value in sums.items():
            checks.expect(mine.get(column, 0) == value,
                          f"{name}: {key} {column}: {mine.get(column)}, expected {value}")


def pid_of(row, address):
    return "" if address >> 63 or row["pid"] in ("", "-1") else row["pid"]


def check_ranges(checks, cyclops, path, name):
    rows = accesses(cyclops, path)
    for by, size in (("page", 4096), ("hugepage", 1 << 21), ("line", LINE)):
        compare(checks, f"{name} by {by}", answered(cyclops, path, by), expected(rows, size, pid_of))


def check_coverage(checks, cyclops, path, name):
    """Pages and huge pages that walks met, those that cost most first; ">=" where many were met once."""
    walks, costs, pages = collections.Counter(), collections.Counter(), collections.Counter()
    for row in accesses(cyclops, path):
        address = int(row["vaddr"], 16)
        pid = pid_of(row, address)
        if "TLB-REFILL" not in row["events"].split(":") or (pid == "" and address >> 63):
            continue
        walks[address >> 21, pid] += 1
        costs[address >> 21, pid] += int(row["xlat_lat"] or 0)
        pages[address >> 12, pid] += 1
    weights = costs if sum(costs.values()) > 0 else walks
    n, total = sum(walks.values()), sum(weights.values())
    order = sorted((key for key in walks if weights[key] > 0), key=lambda key: -weights[key])
    ours = rows_of(cyclops, "addr", "--table", "huge_pages", "--format", "csv", path) if order else []
    trusts = {column: "at-least" if sum(v == 1 for v in met.values()) > n / 100 else "exact"
              for column, met in (("pages", pages), ("huge_pages", walks))}
    for row in ours:
        least, reached = 0, 0
        while reached < float(row["walks_share"]) * total:
            reached += weights[order[least]]
            least += 1
        what = f"{name}: {row['walks_share']} of walks"
        checks.expect(int(row["huge_pages"]) == least, f"{what}: {row['huge_pages']} huge pages, expected {least}")
        for column, trust in trusts.items():
            checks.expect(row[column + "_trust"] == trust, f"{what}: {column} are {row[column + '_trust']}, expected {trust}")
            checks.count(f"{column} {trust}")
    if ours:
        checks.expect(int(ours[-1]["pages"]) == len(pages), f"{name}: {ours[-1]['pages']} pages, expected {len(pages)}")


def offsets(cyclops, path, options):
    sums = {}
    for row in rows_of(cyclops, "addr", *options, "--all", "--format", "csv", path):
        s = sums.setdefault(int(row["offset"]), dict.fromkeys(("records", *KINDS), 0))
        for name in s:
            s[name] += int(row[name])
    return sums


def check_window(checks, cyclops, path, name, options, base, size, count):
    sums = {}
    for row in accesses(cyclops, path):
        address = int(row["vaddr"], 16)
        if base <= address < base + size * count:
            key = (address - base) % size
            s = sums.setdefault(key, dict.fromkeys(("records", *KINDS), 0))
            s["records"] += 1
            s[row["kind"]] += 1
    ours = offsets(cyclops, path, options)
    checks.count("offsets", len(sums))
    checks.expect(len(sums) > 0, f"{name}: nothing to compare")
    checks.expect(ours == sums, f"{name}: {ours}, expected {sums}")


def busiest(cyclops, path):
    """The page with the most accesses, for a window that holds something."""
    counts = {}
    for row in accesses(cyclops, path):
        page = int(row["vaddr"], 16) >> 12
        counts[page] = counts.get(page, 0) + 1
    return max(sorted(counts), key=counts.get) << 12


def main():
    parser = argparse.ArgumentParser()
    for name in ("cyclops", "make_capture", "data"):
        parser.add_argument(name, type=os.path.abspath)
    arguments = parser.parse_args()
    cyclops, checks = arguments.cyclops, Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made-up.data")
        for options in MADE_UP:
            run(arguments.make_capture, "--output", path, *options)
            check_ranges(checks, cyclops, path, " ".join(map(str, options)))
            text = folded(cyclops, "addr", path)
            checks.expect(("samples of memory are not" in text) == ("--memory-samples" in options), "which records count is told")
            base = busiest(cyclops, path)
            for size, count in ((48, 85), (64, 64), (1000, 7)):
                check_window(checks, cyclops, path, f"window {size}",
                             ["--type", str(size), "--base", f"{base:#x},{count}"], base, size, count)
    for sample in SAMPLES:
        path = os.path.join(arguments.data, "samples", sample + ".data")
        check_ranges(checks, cyclops, path, sample)
        check_coverage(checks, cyclops, path, sample)
    symfs = ["--symfs", os.path.join(arguments.data, "root")]
    sharing = os.path.join(arguments.data, "samples", "sharing.data")
    check_window(checks, cyclops, sharing, "account", [*symfs, "--object", "account"], 0x402000, 64, 1)
    check_window(checks, cyclops, sharing, "values", [*symfs, "--object", "values"], 0x402080, 4, 4096)
    check_window(checks, cyclops, sharing, "struct account",
                 [*symfs, "--type", "struct account", "--base", "0x402000"], 0x402000, 64, 1)
    checks.finish()


if __name__ == "__main__":
    main()
