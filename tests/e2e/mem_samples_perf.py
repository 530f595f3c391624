#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Memory samples of PMUs (x86 load latency and stores, AMD IBS, POWER) as `cyclops mem` and `perf report --mem-mode`
tell them.

usage: mem_samples_perf.py CYCLOPS WRITE-SAMPLES [SEEDS]

Made-up captures with a known answer: number, mean and percentiles of each row are worked out here, from the weights that
were written. perf tells the number and the share of weight of each row; a weight of 0 counts as 1 there (DIFFERENCE).
Real captures with data sources are compared with perf alone.
"""

import collections
import math
import os
import platform
import random
import re
import struct
import subprocess
import sys
import tempfile

import small_elf
from harness import Checks, csv_rows, folded, need, real_captures, run

ADDR, PERIOD, WEIGHT, DATA_SRC, WEIGHT_STRUCT = 1 << 3, 1 << 8, 1 << 14, 1 << 15, 1 << 24
MACHINE_AT, X86_64 = 18, 62
FUNCTIONS = {f"walk{number}": [0x90909090] * 8 for number in range(4)}
LOAD, STORE, LOCKED = 2, 4, 2 << 24


def source(level, number=0, snoop=0, tlb=0, remote=0, snoopx=0, hops=0, block=0):
    return (level << 5 | snoop << 19 | tlb << 26 | number << 33 | remote << 37 | snoopx << 38 | block << 40 | hops << 43)


# What kernels write for such CPUs: (data source, its name, walked: None if not told). Of one style no two are the same.
TLB_HIT, TLB_L2_MISS, TLB_L2_HIT, FAULT = 0x02 | 0x08 | 0x10, 0x04 | 0x10, 0x02 | 0x10, 0x02 | 0x40
INTEL = [(source(0x0A, 1, 2, TLB_HIT), "L1", False), (source(0x0A, 1, 2, TLB_L2_MISS), "L1", True),
         (source(0x12, 0xC, 2, TLB_HIT), "LFB", False), (source(0x22, 2, 2, TLB_HIT), "L2", False),
         (source(0x42, 3, 2, TLB_HIT), "L3", False), (source(0x42, 3, 4, TLB_HIT), "L3", False),
         (source(0x42, 3, 0x10, TLB_HIT), "L3", False), (source(0x82, 0xD, 4, TLB_L2_MISS), "DRAM", True),
         (source(0x102, 0xD, 4, TLB_HIT, 1), "remote-DRAM", False),
         (source(0x402, 3, 0x10, TLB_HIT, 1), "remote-cache", False),
         (source(0x1002, 0xA, 1, TLB_HIT), "IO", False), (source(0x2002, 8, 1, TLB_HIT, block=2), "uncached", False)]
INTEL_STORES = [(source(0x0A, 0, 1, TLB_HIT), "L1", False), (source(0x0C, 0, 1, TLB_HIT), "L1-miss", False),
                (source(0x01, 0, 1, 1), "", None)]
IBS = [(source(0x0A, 0, 0, TLB_HIT), "L1", False), (source(0x22, 0, 0, TLB_L2_HIT), "L2", False),
       (source(0x42, 0, 0, TLB_L2_MISS), "L3", True), (source(0x82, 0, 0, TLB_L2_MISS), "DRAM", True),
       (source(0x402, 0, 0x10, TLB_L2_MISS), "remote-cache", True), (source(0x01, 0, 0, 0), "", None)]
# No level, as of newer kernels.
NUMBERED = [(source(0, 1, 2, TLB_HIT), "L1", False), (source(0, 0xC, 2, TLB_HIT), "LFB", False),
            (source(0, 0xE, 2, TLB_HIT), "PMEM", False), (source(0, 9, 4, FAULT, 1), "remote-CXL", True),
            (source(0, 0xB, 2, TLB_HIT, 1, 2, 1), "remote-cache", False), (source(0, 0xD, 2, TLB_L2_HIT), "DRAM", False)]

STYLES = {
    "intel": (INTEL, INTEL_STORES, WEIGHT_STRUCT, "x86_64", "GenuineIntel,6,143,8", lambda rng: rng.randrange(30, 900)),
    "old": (INTEL, INTEL_STORES, WEIGHT, "x86_64", "GenuineIntel,6,85,4", lambda rng: rng.randrange(30, 4200)),
    "ibs": (IBS, IBS, WEIGHT_STRUCT, "x86_64", "AuthenticAMD,25,1,1",
            lambda rng: rng.choice((0, 0, rng.randrange(1, 3000), 65535))),
    "numbers": (NUMBERED, NUMBERED, WEIGHT, "x86_64", "GenuineIntel,6,207,2",
                lambda rng: int(2 ** (30 * rng.random() ** 2))),
}
FIGURES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1))


def build(path):
    at = small_elf.write(path, FUNCTIONS)
    with open(path, "r+b") as file:
        file.seek(MACHINE_AT)
        file.write(struct.pack("<H", X86_64))
    return at


def make(write_samples, folder, at, style, seed):
    """Returns the path of a capture, and its samples as dictionaries."""
    loads, stores, weight_bit, arch, cpuid, weight_of = STYLES[style]
    rng = random.Random(f"{style} {seed}")
    path = os.path.join(folder, "a.data")
    fields = ADDR | PERIOD | DATA_SRC | weight_bit
    lines = [f"E mem-loads 4 1cd 1e {fields:x} 0", f"E mem-stores 4 82d0 0 {fields:x} 0", f"E weights 4 d1 0 {weight_bit:x} 0"]
    samples = []
    for number in range(400):
        event = rng.choices((0, 1, 2), (7, 3, 1))[0]
        bits, name, is_walk = rng.choice(stores if event else loads)
        function, instruction = rng.choice(list(at)), rng.randrange(8)
        bits |= STORE if event else LOAD
        kind = "store" if event else "load"
        if event == 0 and rng.random() < 0.1:
            bits, kind = bits | LOCKED, "atomic"
        if rng.random() < 0.02:
            bits, kind = 1, None
        sample = {"kind": kind if event < 2 else None, "source": name, "function": function, "walk": is_walk, "bits": bits,
                  "event": event, "instruction": f"{function}+{hex(4 * instruction)}",
                  "cpu": str(rng.randrange(3)), "tid": str(100 + rng.randrange(3)), "module": "program",
                  "total": weight_of(rng), "instr": 0, "stage": 0}
        if weight_bit == WEIGHT_STRUCT:
            sample["instr"], sample["stage"] = rng.randrange(2000), rng.choice((0, rng.randrange(100)))
        samples.append(sample)
        lines.append(f"S {event:x} {int(sample['cpu']):x} 64 {int(sample['tid']):x} {1000 * number + 5000:x} "
                     f"{at[function] + 4 * instruction:x} {0x10000000 + 8 * rng.randrange(1000):x} 3e8 {sample['total']:x} "
                     f"{sample['instr']:x} {sample['stage']:x} {bits:x} 2")
    subprocess.run([write_samples, path, os.path.join(folder, "program"), arch, cpuid],
                   input="\n".join(lines).encode() + b"\n", check=True)
    return path, samples


def mem(cyclops, path, by, *options):
    return csv_rows(cyclops, "mem", "--by", by, "--table", "mem", "--all", "--format", "csv", "--symfs", "/", *options, path)


def is_near(told, truth):
    """Percentiles are exact up to 511 and within 0.2 % above."""
    return told == truth if truth < 512 else abs(told - truth) <= 0.002 * truth


def check_latency(checks, where, row, name, values):
    usable = sorted(value for value in values if value not in (0, 65535))
    n_full = values.count(65535)
    mean = row[f"{name}_mean_cycles"]
    checks.count("latencies")
    if usable:
        checks.expect(abs(float(mean) - sum(usable) / len(usable)) < 1e-6, f"{where}: mean {name} {mean}")
        checks.expect(row[f"{name}_mean_cycles_trust"] == ("saturated" if n_full else "exact"), f"{where}: trust of {name}")
    else:
        checks.expect(mean == "", f"{where}: mean {name} of nothing is {mean}")
    ordered = usable + [65535] * n_full
    for figure, part in FIGURES:
        told = row[f"{name}_{figure}_cycles"]
        if not ordered:
            checks.expect(told == "", f"{where}: {figure} of no {name} is {told}")
            continue
        truth = ordered[max(0, math.ceil(part * len(ordered)) - 1)]
        checks.expect(is_near(float(told), truth), f"{where}: {figure} of {name} is {told}, not {truth}")


ABSENT = ("issue_mean_cycles", "translation_mean_cycles", "execution_mean_cycles", "access_mean_cycles", "bytes",
          "bytes_per_s", "estimated_operations", "sized_share")


def check_rows(checks, cyclops, path, samples, style, by, key, select=None, keep=lambda sample: True):
    """Each row of a grouping against what was written."""
    groups = collections.defaultdict(list)
    for sample in samples:
        if sample["kind"] is not None and keep(sample):
            groups[sample["kind"], key(sample)].append(sample)
    of_kind = collections.Counter(kind for (kind, _), its in groups.items() for _ in its)
    rows = mem(cyclops, path, by, *(("--select", select) if select else ()))
    column = "tid" if by == "thread" else by
    found = {(row["access"], row[column]): row for row in rows}
    checks.equal(f"{style}: rows by {by}", sorted((key, int(row["samples"])) for key, row in found.items()),
                 sorted((key, len(its)) for key, its in groups.items()))
    for name, its in groups.items():
        row, where = found.get(name), f"{style} by {by} {select or ''}: {name}"
        if row is None:
            continue
        checks.expect(abs(float(row["share"]) - len(its) / of_kind[name[0]]) < 1e-9, f"{where}: share {row['share']}")
        for latency, member in (("total", "total"), ("instruction", "instr"), ("stage", "stage")):
            check_latency(checks, where, row, latency, [sample[member] for sample in its])
        told = [sample["walk"] for sample in its if sample["walk"] is not None]
        walks = row["walk_share"]
        checks.expect(abs(float(walks) - sum(told) / len(told)) < 1e-9 if told else walks == "", f"{where}: walks {walks}")
        checks.expect(all(row[column] == "" for column in ABSENT), f"{where}: what only SPE tells")


def perf_rows(path, keys):
    """(event, keys…): (samples, per cent), as a list."""
    text = run("perf", "report", "-i", path, "--mem-mode", "--stdio", "-F", "overhead,sample", "-s", keys, "-t", ";").decode()
    event, found = None, []
    for line in text.splitlines():
        name = re.search(r"of event '(.*)'", line)
        event = name[1] if name else event
        row = re.match(r" *([\d.]+)% *; *(\d+) *;(.*)", line)
        if row:
            found.append((event, tuple(word.strip() for word in row[3].split(";")), int(row[2]), float(row[1])))
    return found


def check_perf(checks, cyclops, path, samples, style):
    """The same rows, by function and all that the data source says: how many, and their share of weight."""
    kinds = {"mem-loads": ("load", "atomic"), "mem-stores": ("store",)}
    theirs, weights = collections.Counter(), collections.defaultdict(list)
    for event, keys, n, share in perf_rows(path, "sym,mem,snoop,tlb,locked,blocked"):
        kind = "atomic" if keys[4] == "Yes" else "load" if event == "mem-loads" else "store"
        if event in kinds:
            theirs[kind, re.sub(r"^\[.\] ", "", keys[0]), n] += 1
            weights[event].append(share)
    unclear = collections.Counter((sample["function"], sample["event"]) for sample in samples
                                  if sample["kind"] is None and sample["event"] < 2)
    for (function, event), n in unclear.items():  # records that are no access: perf counts them
        theirs["store" if event else "load", function, n] -= 1
    ours = collections.Counter((row["access"], row["function"], int(row["samples"]))
                               for row in mem(cyclops, path, "function,source,event"))
    checks.equal(f"{style}: rows of perf", sorted(ours.elements()), sorted((+theirs).elements()), "perf")
    for number, event in enumerate(kinds):
        if style == "ibs":
            continue  # weights of 0
        groups, total = collections.Counter(), 0
        for sample in samples:
            if sample["event"] == number:
                weight = max(1, sample["total"])
                groups[sample["function"], sample["bits"]] += weight
                total += weight
        mine = sorted(100 * weight / total for weight in groups.values())
        checks.count("shares of weight", len(mine))
        checks.expect(all(abs(a - b) < 0.006 for a, b in zip(mine, sorted(weights[event]), strict=True)),
                      f"{style}: shares of weight of {event}")


def check_functions(checks, cyclops, path, samples, style):
    """Weight of functions as perf sums it up and as the means here do, with what is no access added."""
    theirs = {(event, keys[0][4:]): share for event, keys, _, share in perf_rows(path, "sym")}
    weights = collections.Counter()
    for row in mem(cyclops, path, "function", "--select", "event == mem-loads"):
        n_full = round(float(row["saturated_share"] or 0) * int(row["samples"]))
        weights[row["function"]] += float(row["total_mean_cycles"]) * (int(row["samples"]) - n_full) + 65535 * n_full
    for sample in samples:
        if sample["kind"] is None and sample["event"] == 0:
            weights[sample["function"]] += sample["total"]
    total = sum(weights.values())
    for function, weight in weights.items():
        checks.count("weights of functions")
        checks.expect(abs(100 * weight / total - theirs["mem-loads", function]) < 0.006,
                      f"{style}: {function} has {100 * weight / total} %, perf {theirs['mem-loads', function]}")


def check_instruction(checks, cyclops, path, samples):
    """The second part of weights is what perf, where it is built for x86, calls instruction latency."""
    cycles, n = collections.Counter(), collections.Counter()
    for event, (name, latency), number, _ in perf_rows(path, "sym,local_ins_lat"):
        if event == "mem-loads":
            cycles[name[4:]] += int(latency) * number
    for sample in samples:
        if sample["kind"] is None and sample["event"] == 0:
            cycles[sample["function"]] -= sample["instr"]
    for row in mem(cyclops, path, "function", "--select", "event == mem-loads"):
        timed = sum(int(step["samples"]) for step in csv_rows(
            cyclops, "mem", "--by", "function", "--histogram", "--table", "histogram", "--format", "csv", "--symfs", "/", "--all",
            "--select", f"event == mem-loads && sym == {row['function']}", path)
                    if step["latency"] == "instruction" and step["access"] == row["access"])
        n[row["function"]] += float(row["instruction_mean_cycles"]) * timed
    for function, total in n.items():
        checks.count("instruction latencies of functions")
        checks.expect(abs(total - cycles[function]) < 0.01, f"{function}: {total} cycles, perf {cycles[function]}")


def check_notes(checks, cyclops, path, style):
    text = folded(cyclops, "mem", path)
    checks.expect(("mem-loads samples only loads of 30 cycles or more" in text) == (style != "ibs"),
                  f"{style}: the threshold is told")
    checks.expect("no totals, bytes or bandwidth" in text, f"{style}: what these samples are not")


def check_threads(checks, cyclops, path):
    texts = {run(cyclops, "mem", "--format", "json", "--all", "--histogram", "--jobs", n, path) for n in (1, 2, 3)}
    checks.expect(len(texts) == 1, "the answer depends on the number of threads")


def check_hot(checks, cyclops, path, samples, style):
    """hot knows the sources of samples, too; what else they tell does not split its events."""
    ours = {(row["events"], row["source"]): int(row["samples"]) for row in
            csv_rows(cyclops, "hot", "--by", "source,event", "--by-samples", "--all", "--format", "csv", path)}
    names = ("mem-loads", "mem-stores", "weights")
    theirs = collections.Counter((names[sample["event"]], sample["source"] if sample["event"] < 2 and sample["kind"] else "")
                                 for sample in samples)
    checks.equal(f"{style}: sources of hot", sorted(ours.items()), sorted(theirs.items()))


def check_addresses(checks, cyclops, path, samples, style):
    """addr counts the same samples; a weight of 0 is none there, too."""
    rows = csv_rows(cyclops, "addr", "--by", "instruction", "--table", "instructions", "--all", "--format", "csv",
                    "--symfs", "/", path)
    its = [sample for sample in samples if sample["kind"] is not None]
    usable = [sample["total"] for sample in its if sample["total"]]
    ours = [sum(int(row[name] or 0) for row in rows) for name in ("records", "latency_cycles", "walks")]
    checks.equal(f"{style}: sums of addr", ours, [len(its), sum(usable), sum(bool(sample["walk"]) for sample in its)])
    checks.expect(all(row["walk_cycles"] == "" for row in rows), f"{style}: samples do not tell how long walks took")
    checks.expect(all(row["memory_bytes"] == "" for row in rows), f"{style}: nothing follows for what was not sampled")
    for row in rows:
        if row["latency_cycles"] not in ("", "0"):
            n = int(row["latency_cycles"]) / float(row["mean_latency_cycles"])
            checks.expect(abs(n - round(n)) < 1e-6 and round(n) <= int(row["records"]), f"{style}: {row} is the mean of {n}")
    n = sum(round(int(row["latency_cycles"]) / float(row["mean_latency_cycles"])) for row in rows if row["mean_latency_cycles"])
    checks.expect(n == len(usable), f"{style}: means of {n} samples, not {len(usable)}")


def check_export(checks, cyclops, path, samples, style):
    """All parts of a weight, as they were written; a weight of one part has no others."""
    ours = [tuple(row[name] for name in ("weight", "weight2", "weight3")) for row in
            csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path)]
    has_parts = STYLES[style][2] == WEIGHT_STRUCT
    theirs = [(str(sample["total"]), *((str(sample["instr"]), str(sample["stage"])) if has_parts else ("", "")))
              for sample in samples]
    checks.equal(f"{style}: exported weights", ours, theirs)


def check_made_up(checks, cyclops, path, samples, style):
    for by in ("source", "function", "module", "cpu", "instruction"):
        check_rows(checks, cyclops, path, samples, style, by, lambda sample, by=by: sample[by])
    check_rows(checks, cyclops, path, samples, style, "thread", lambda sample: sample["tid"])
    check_rows(checks, cyclops, path, samples, style, "function", lambda sample: sample["function"], "tot >= 100",
               lambda sample: sample["total"] >= 100)
    check_rows(checks, cyclops, path, samples, style, "source", lambda sample: sample["source"], "op == store",
               lambda sample: sample["kind"] == "store")
    levels = {"L1": ("L1", "LFB"), "DRAM": ("DRAM", "PMEM"), "LFB": ("LFB",), "L1-miss": ("L1-miss",)}
    for name, names in levels.items():
        check_rows(checks, cyclops, path, samples, style, "cpu", lambda sample: sample["cpu"], f"source == {name}",
                   lambda sample, names=names: sample["source"] in names)
    check_hot(checks, cyclops, path, samples, style)
    check_export(checks, cyclops, path, samples, style)
    check_addresses(checks, cyclops, path, samples, style)
    slices = mem(cyclops, path, "time", "--time-slices", "7")
    checks.expect(sum(int(row["samples"]) for row in slices) == sum(sample["kind"] is not None for sample in samples),
                  f"{style}: slices of time")


def check_real(checks, cyclops, path):
    """Samples and weights of a real capture by all that the data source says."""
    theirs = collections.Counter()
    for event, keys, n, share in perf_rows(path, "mem,snoop,tlb,locked,blocked"):
        theirs[n] += 1
    ours = collections.Counter(int(row["samples"]) for row in mem(cyclops, path, "source,event"))
    checks.equal(f"rows of {os.path.basename(path)}", sorted(ours.elements()), sorted(theirs.elements()), "perf")


def main():
    cyclops, write_samples = map(os.path.abspath, sys.argv[1:3])
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-mem-samples-") as folder:
        at = build(os.path.join(folder, "program"))
        for seed in range(n_seeds):
            for style in STYLES:
                path, samples = make(write_samples, folder, at, style, seed)
                check_made_up(checks, cyclops, path, samples, style)
                if style != "numbers":  # perf 6.1 puts all of them in one row (DIFFERENCE)
                    check_perf(checks, cyclops, path, samples, style)
                if style == "intel" and platform.machine() == "x86_64":
                    check_instruction(checks, cyclops, path, samples)
                if style == "old":
                    check_functions(checks, cyclops, path, samples, style)
                check_notes(checks, cyclops, path, style)
                check_threads(checks, cyclops, path)
    for path in real_captures():
        if os.path.basename(path) == "perf.data.weight_struct":
            check_real(checks, cyclops, path)
    checks.finish()


if __name__ == "__main__":
    main()
