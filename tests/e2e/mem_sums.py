#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Works out again, from the exported SPE records, what `cyclops mem` says of them.

usage: mem_sums.py CYCLOPS MAKE-CAPTURE

Records by source, thread, CPU, set of events and place; means and percentiles of all latencies, full counters, walks, slices of
time, selected records, what they stand for where the interval differs between CPUs, the tables of translation, events and
the region. The captures are made up: such as CPUs write, such as any may (16-bit counters, packets left out), and one with
more records in a group than 16 bits count.
"""

import collections
import math
import os
import random
import struct
import sys
import tempfile

import perf_file
import spe_bytes
from harness import Checks, csv_rows, folded, run

FULL = (4095, 65535)
FIGURES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1))
KEYS = {"source": ("source", "source"), "thread": ("tid", "tid"), "cpu": ("cpu", "cpu"), "event": ("events", "events"),
        "source,cpu": ("source cpu", "source cpu")}
AUXTRACE_INFO, MIN_INTERVAL_AT, HEADER_WORDS, BLOCK_WORDS = 70, 5, 5, 7
ABSENT, USABLE, AT_LEAST = range(3)


def rows_of(cyclops, *command):
    return csv_rows(cyclops, *command, "--format", "csv")


def counter(text):
    if text == "":
        return ABSENT, 0
    return AT_LEAST if int(text) in FULL else USABLE, int(text)


def difference(a, b):
    if ABSENT in (a[0], b[0]):
        return ABSENT, 0
    return (USABLE, max(0, a[1] - b[1])) if (a[0], b[0]) == (USABLE, USABLE) else (AT_LEAST, a[1])


def accesses(cyclops, path):
    """Loads, stores and atomics, each with its kind and its latencies: (state, cycles)."""
    found = []
    for row in rows_of(cyclops, "export", "--table", "spe", path):
        if row["op"] not in ("LD", "ST"):
            continue
        row["access"] = "atomic" if "AT" in row["subclass"].split() else {"LD": "load", "ST": "store"}[row["op"]]
        total, issue, xlat = (counter(row[name]) for name in ("total_lat", "issue_lat", "xlat_lat"))
        reach = difference(total, issue)
        row["latencies"] = {"total": total, "issue": issue, "translation": xlat, "access": reach,
                            "execution": reach if xlat[0] == ABSENT else difference(reach, xlat)}
        row["is_walk"] = "TLB-REFILL" in row["events"].split(":")
        found.append(row)
    return found


def is_near(told, truth):
    """Percentiles are exact up to 511 and within 0.2 % above."""
    return told == truth if truth < 512 else abs(told - truth) <= 0.002 * truth


def is_equal(cell, truth):
    return cell == "" if truth is None else cell != "" and math.isclose(float(cell), truth, rel_tol=1e-9, abs_tol=1e-12)


def part(some, whole):
    return some / whole if whole else None


def mean(latencies):
    usable = [cycles for state, cycles in latencies if state == USABLE]
    return part(sum(usable), len(usable))


def weight(its):
    """Full counters count with what they show."""
    return sum(row["latencies"]["total"][1] for row in its if row["latencies"]["total"][0] != ABSENT)


def full_weight(its):
    return sum(row["latencies"]["total"][1] for row in its if row["latencies"]["total"][0] == AT_LEAST)


def bound(its, of_kind):
    """What full counters make of a share: a hundredth of the whole is worth a word."""
    own, full, whole = full_weight(its), full_weight(of_kind), weight(of_kind)
    if weight(its) == whole:
        return "exact"
    is_more, is_less = own > 0.01 * whole, full - own > 0.01 * whole
    return {(False, False): "exact", (True, False): "saturated", (False, True): "at-most", (True, True): "uncertain"}[is_more, is_less]


def check_latency(checks, where, row, name, latencies):
    usable = sorted(cycles for state, cycles in latencies if state == USABLE)
    full = [cycles for state, cycles in latencies if state == AT_LEAST]
    is_part = name in ("access", "execution") and full
    checks.count("latencies")
    checks.expect(is_equal(row[f"{name}_mean_cycles"], mean(latencies)), f"{where}: mean {name} {row[f'{name}_mean_cycles']}")
    checks.expect(not usable or row[f"{name}_mean_cycles_trust"] == ("saturated" if full else "exact"), f"{where}: trust of {name}")
    for figure, share in FIGURES:
        told, trust = row[f"{name}_{figure}_cycles"], row[f"{name}_{figure}_cycles_trust"]
        n = len(usable) + len(full)
        if n == 0 or (is_part and not usable):
            checks.expect(told == "", f"{where}: {figure} of no {name} is {told}")
            continue
        rank = max(1, math.ceil(share * n))
        is_full = rank > len(usable)
        truth = max(full) if is_full else usable[rank - 1]
        checks.expect(told != "" and is_near(float(told), truth), f"{where}: {figure} of {name} is {told}, not {truth}")
        checks.expect(trust == ("saturated" if is_full or is_part else "exact"), f"{where}: {figure} of {name} is {trust}")


def check_row(checks, where, row, its, of_kind, interval_of):
    total = [record["latencies"]["total"] for record in its]
    walks = [record["latencies"]["translation"] for record in its if record["is_walk"]]
    checks.expect(is_equal(row["share"], len(its) / len(of_kind)), f"{where}: share {row['share']}")
    checks.expect(is_equal(row["latency_share"], part(weight(its), weight(of_kind))), f"{where}: of latency {row['latency_share']}")
    trust = "sparse" if len(its) < 10 else bound(its, of_kind)
    checks.expect(row["latency_share_trust"] == trust, f"{where}: a share of latency that is {row['latency_share_trust']}")
    checks.expect(is_equal(row["saturated_share"], part(sum(state == AT_LEAST for state, _ in total),
                                                        sum(state != ABSENT for state, _ in total))), f"{where}: full")
    checks.expect(is_equal(row["walk_share"], len(walks) / len(its)), f"{where}: walks {row['walk_share']}")
    checks.expect(is_equal(row["walk_mean_cycles"], mean(walks)), f"{where}: mean walk {row['walk_mean_cycles']}")
    checks.expect(int(row["estimated_operations"]) == sum(interval_of(record["cpu"]) for record in its),
                  f"{where}: stands for {row['estimated_operations']}")
    for name in its[0]["latencies"]:
        check_latency(checks, where, row, name, [record["latencies"][name] for record in its])


def check_by(checks, cyclops, path, records, by, interval_of, select=None, slices=0, jobs=2):
    mine, theirs = (names.split() for names in KEYS[by])
    groups, kinds = collections.defaultdict(list), collections.defaultdict(list)
    for record in records:
        groups[record["access"], *(record[name] for name in theirs)].append(record)
        kinds[record["access"]].append(record)
    options = ["--jobs", jobs, *(["--select", select] if select else []), *(["--time-slices", slices] if slices else [])]
    rows = rows_of(cyclops, "mem", "--by", by, "--table", "mem", "--all", *options, path)
    found = {(row["access"], *(row[name] for name in mine)): row for row in rows}
    checks.equal(f"rows by {by}", sorted((key, int(row["samples"])) for key, row in found.items()),
                 sorted((key, len(its)) for key, its in groups.items()))
    for key, its in groups.items():
        if key not in found:
            continue
        where = f"{os.path.basename(path)} by {by} {select or ''}: {key}"
        check_row(checks, where, found[key], its, kinds[key[0]], interval_of)
        if slices:
            told = sum(int(found[key][f"slice_{number}"]) for number in range(slices))
            checks.expect(told == sum(record["time_ns"] != "" for record in its), f"{where}: {told} in slices")


def check_overview(checks, cyclops, path, records, interval_of):
    kinds = collections.defaultdict(list)
    for record in records:
        kinds[record["access"]].append(record)
    walks = collections.defaultdict(list)
    for record in records:
        walks[record["access"], "walk" if record["is_walk"] else "no walk"].append(record)
    rows = {(row["access"], row["translation"]): row for row in rows_of(cyclops, "mem", "--table", "translation", path)}
    checks.equal("rows of translation", sorted((key, int(row["samples"])) for key, row in rows.items()),
                 sorted((key, len(its)) for key, its in walks.items()))
    for key, row in rows.items():
        its, where = walks[key], f"{os.path.basename(path)}: {key}"
        for column, name in (("translation", "translation"), ("access", "access"), ("total", "total")):
            truth = mean([record["latencies"][name] for record in its])
            checks.expect(is_equal(row[f"{column}_mean_cycles"], truth), f"{where}: {column} {row[f'{column}_mean_cycles']}, not {truth}")
        xlat = [cycles for state, cycles in (record["latencies"]["translation"] for record in its) if state == USABLE]
        truth = part(sum(xlat), weight(kinds[key[0]])) if xlat else None
        checks.expect(is_equal(row["translation_share"], truth), f"{where}: part {row['translation_share']}, not {truth}")
    sets = collections.Counter((record["access"], record["events"]) for record in records)
    rows = rows_of(cyclops, "mem", "--table", "events", "--all", path)
    checks.equal("sets of events", sorted(((row["access"], row["events"]), int(row["samples"])) for row in rows), sorted(sets.items()))
    for row in rows_of(cyclops, "mem", "--table", "region", path):
        its, times = kinds.pop(row["access"]), collections.defaultdict(list)
        for record in its:
            if record["time_ns"] != "":
                times[record["tid"]].append(int(record["time_ns"]))
        length = sum(max(all_times) - min(all_times) for all_times in times.values())
        operations = sum(interval_of(record["cpu"]) for record in its)
        where = f"{os.path.basename(path)}: region, {row['access']}"
        checks.count("rows of the region")
        checks.expect(int(row["samples"]) == len(its), f"{where}: {row['samples']} records, not {len(its)}")
        checks.expect(int(row["thread_time_ns"] or 0) == length, f"{where}: time {row['thread_time_ns']}, not {length}")
        checks.expect(int(row["estimated_operations"]) == operations, f"{where}: stands for {row['estimated_operations']}")
        derived = part(length, operations) if row["access"] == "load" else None  # others: of a region only
        checks.expect(is_equal(row["derived_latency_ns"], derived or None), f"{where}: {row['derived_latency_ns']}")
        checks.expect(is_equal(row["direct_latency_cycles"], mean([record["latencies"]["access"] for record in its])), where)
    checks.expect(not kinds, f"{path}: the region has no {list(kinds)}")


def check_capture(checks, cyclops, path, interval_of, slices=7):
    records = accesses(cyclops, path)
    checks.count("records", len(records))
    for by in KEYS:
        check_by(checks, cyclops, path, records, by, interval_of, slices=slices)
    check_by(checks, cyclops, path, [record for record in records if record["op"] == "ST"], "thread", interval_of,
             "op == store")
    check_by(checks, cyclops, path, [record for record in records if int(record["total_lat"] or 0) >= 300], "source",
             interval_of, "tot >= 300")
    check_overview(checks, cyclops, path, records, interval_of)
    texts = {run(cyclops, "mem", "--by", "cpu,place", "--all", "--format", "csv", "--jobs", n, path) for n in (1, 3)}
    checks.expect(len(texts) == 1, f"{path}: the answer depends on the number of threads")


def fill_wild(path, seed):
    """Puts records such as no CPU makes in the place of those that were made up."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    wild = spe_bytes.Wild(random.Random(seed), (0xAAAAC0000000, 0xFFFF40000000), (4000, 4001))
    traces = {}
    for chunk in perf_file.chunks(data):
        trace = traces.setdefault(chunk.cpu, spe_bytes.Trace(wild, 0x6450000000, 100, 0.1))
        data[chunk.start : chunk.end] = trace.chunk(chunk.size)
    with open(path, "wb") as file:
        file.write(data)


def set_least_interval(path, cpu, interval):
    """Gives the SPE of one CPU a least interval of its own; that of the others is shorter than what was asked for."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    [position] = [position for position, kind, _ in perf_file.records(data) if kind == AUXTRACE_INFO]
    word = position + perf_file.RECORD_HEADER.size + 8 * (HEADER_WORDS + BLOCK_WORDS * cpu + MIN_INTERVAL_AT)
    struct.pack_into("<Q", data, word, interval)
    with open(path, "wb") as file:
        file.write(data)


def check_others(checks, cyclops, path, interval):
    """What hot and addr estimate, and what quality and report say of it, where CPUs have intervals of their own."""
    records = rows_of(cyclops, "export", "--table", "spe", path)
    refills = [record for record in records if "L1D-REFILL" in record["events"].split(":")]
    of_memory = [record for record in records if record["source"] == "DRAM" and record["op"] == "LD" and record["vaddr"]]
    for by in ("cpu", "module", "function"):
        rows = rows_of(cyclops, "hot", "--event", "l1d-refill", "--by", by, "--all", path)
        checks.count("estimates")
        told, truth = sum(int(row["estimated_operations"]) for row in rows), sum(interval(record["cpu"]) for record in refills)
        checks.expect(told == truth, f"hot by {by}: {told} operations, not {truth}")
    rows = rows_of(cyclops, "addr", "--by", "page", "--table", "pages", "--all", path)
    told, truth = sum(float(row["memory_bytes"]) for row in rows), sum(64 * interval(record["cpu"]) for record in of_memory)
    checks.expect(told == truth, f"addr: {told} bytes, not {truth}")
    checks.expect(len(refills) > 0 and len(of_memory) > 0, "something to compare")
    for command in ("quality", "report", "mem"):
        text = folded(cyclops, command, path)
        checks.expect("intervals differ between CPUs" in text and "shares only" not in text, f"{command} says it otherwise")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, maker = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    usual = 1024 + 1 + 127  # made-up captures: what was asked for, and jitter
    with tempfile.TemporaryDirectory(prefix="cyclops-mem-sums-") as folder:
        def make(name, *options):
            path = os.path.join(folder, name)
            run(maker, "--output", path, *options)
            return path
        for seed in range(2):
            check_capture(checks, cyclops, make("plain", "--records", 4000, "--cpus", 3, "--seed", seed), lambda cpu: usual)
            path = make("wild", "--records", 3000, "--cpus", 2, "--seed", seed)
            fill_wild(path, seed)
            check_capture(checks, cyclops, path, lambda cpu: usual)
        path = make("differ", "--records", 4000, "--cpus", 3, "--info-v2")
        set_least_interval(path, 1, 4096)
        check_capture(checks, cyclops, path, lambda cpu: usual + (3072 if cpu == "1" else 0))
        check_others(checks, cyclops, path, lambda cpu: usual + (3072 if cpu == "1" else 0))
        path = make("many", "--records", 240000, "--cpus", 2)
        records = accesses(cyclops, path)
        largest, n = collections.Counter((record["access"], record["source"]) for record in records).most_common(1)[0]
        checks.expect(n > 1 << 16, f"only {n} records of {largest}")
        for jobs in (1, 2):
            check_by(checks, cyclops, path, records, "source", lambda cpu: usual, jobs=jobs)
    checks.finish()


if __name__ == "__main__":
    main()
