#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures of a few records that are spelled out, and what hot --event, hot --elapsed, mem and quality must say of them.

usage: spe_cases.py CYCLOPS MAKE-CASE
"""

import math
import os
import subprocess
import sys
import tempfile

import small_elf
from harness import Checks, csv_rows, folded, run

NOP, LDP, TBZ = 0xD503201F, 0xA9401C26, 0x36180082
LD1D = 0xA5E0A000  # {z0.d}, p0/z, [x0]
JITTER = 1 << 16
LOADS = 1 << 33
RETIRED, REFILL, MISPREDICTED, WALK = 1 << 1, 1 << 3, 1 << 7, 1 << 5
OTHER, MEMORY, BRANCH = 0, 1, 2
COND = 1
TRUNCATED, COLLISION = 1, 8
Z = 1.959964


class Case:
    """Makes captures of one program, and asks cyclops about them."""

    def __init__(self, cyclops, make_case, folder, checks):
        self.cyclops, self.make_case, self.checks = cyclops, make_case, checks
        self.program = os.path.join(folder, "program")
        self.path = os.path.join(folder, "case.data")
        self.at = small_elf.write(self.program, {"main": [NOP] * 4, "copy": [NOP] * 8 + [LDP, TBZ] + [NOP] * 6,
                                                 "loop": [NOP] * 8, "vector": [LD1D] * 4})

    def make(self, lines, period=1024, config=JITTER | 1, min_latency=0):
        subprocess.run([self.make_case, self.path, str(period), hex(config), "40", self.program,
                        str(min_latency)], input="\n".join(lines).encode() + b"\n", check=True)

    def table(self, command, name, *more):
        return csv_rows(self.cyclops, command, "--symfs", "/", "--format", "csv", "--table", name, *more, self.path)

    def expect(self, holds, what):
        self.checks.count("statements")
        self.checks.expect(holds, what)


def spe(address, op_class, op, events, n, cpu=0, ticks=1000000, latencies="20 4 1", source="-"):
    return f"spe {cpu} {address:#x} {op_class} {op} {events:#x} {latencies} {source} {ticks} {n} 100"


def hotspots_without_skid(c):
    """Section 3 of the SPE white paper: one ldp with 38 % of the refills, one tbz with 97 % of the wrong
    predictions; PMU samples are spread over instructions behind."""
    copy = c.at["copy"]
    lines = [spe(copy + 32, MEMORY, 4, RETIRED | REFILL, 380), spe(copy, MEMORY, 0, RETIRED | REFILL, 320),
             spe(copy + 40, MEMORY, 0, RETIRED | REFILL, 300), spe(copy + 36, BRANCH, COND, RETIRED | MISPREDICTED, 970),
             spe(copy + 48, BRANCH, COND, RETIRED | MISPREDICTED, 30), spe(copy + 4, OTHER, 0, RETIRED, 5000)]
    lines += [f"sample 1 0 {copy + 36 + 4 * (i % 5):#x} 1000 {1000000 + i * 50}" for i in range(1000)]
    c.make(lines)
    rows = c.table("hot", "hot", "--event", "l1d-refill", "--by", "instruction")
    mine = [row for row in rows if row["event"] == "arm_spe"]
    c.expect(mine[0]["instruction"] == "copy+0x20" and float(mine[0]["share"]) == 0.38, f"ldp: {mine[0]}")
    c.expect(int(mine[0]["estimated_operations"]) == 380 * 1152, "estimated refills of the ldp")
    low, high = float(mine[0]["estimated_low"]), float(mine[0]["estimated_high"])
    c.expect(abs((high - low) / 2 / 1152 - Z * math.sqrt(380)) < 1, f"limits {low} {high}")
    skid = {row["instruction"]: row for row in c.table("hot", "skid", "--event", "l1d-refill", "--by", "instruction")}
    c.expect(float(skid["copy+0x20"]["sampled_share"]) == 0 and float(skid["copy+0x20"]["spe_share"]) == 0.38,
             "the skid of the ldp")
    c.expect(float(skid["copy+0x24"]["spe_share"]) == 0 and float(skid["copy+0x24"]["sampled_share"]) == 0.2,
             "samples behind the ldp")
    text = run(c.cyclops, "hot", "--symfs", "/", "--event", "l1d-refill", "--by", "instruction", c.path).decode()
    c.expect("80.0 % of the samples are at instructions without an SPE record of the event" in " ".join(text.split()), "the note on skid")
    rows = c.table("hot", "hot", "--event", "mispredicted", "--by", "instruction")
    c.expect(rows[0]["instruction"] == "copy+0x24" and float(rows[0]["share"]) == 0.97, f"tbz: {rows[0]}")


def conditions(c):
    """What --event and --select let through, against counting by hand."""
    copy = c.at["copy"]
    lines = [spe(copy, MEMORY, 0, RETIRED | REFILL, 10, latencies="300 20 40"),
             spe(copy + 4, MEMORY, 0, RETIRED | REFILL | WALK, 20, latencies="900 20 60"),
             spe(copy + 8, MEMORY, 1, RETIRED, 40), spe(copy + 12, BRANCH, COND, RETIRED | 1 << 6, 80),
             spe(copy + 16, BRANCH, COND, RETIRED, 160), spe(copy + 20, MEMORY, 6, RETIRED | WALK, 320)]
    c.make(lines)
    cases = {"l1d-refill": 30, "l1d-refill && !tlb-walk": 10, "l1d-refill,tlb-walk": 20, "tlb-walk || not-taken": 420,
             "taken": 160, "branch && !taken": 80, "store": 40, "load && tot > 500": 20, "atomic": 320,
             "(l1d-refill || store) && !(tlb-walk)": 50, "exec in 200..300": 10, "impdef:1": 630}
    for event, n in cases.items():
        rows = c.table("hot", "hot", "--event", event, "--by", "module")
        c.expect(sum(int(row["samples"]) for row in rows) == n, f"--event '{event}': {rows}, not {n}")
    twice = c.table("hot", "hot", "--event", "l1d-refill", "--event", "tlb-walk", "--by", "module")
    c.expect([row["samples"] for row in twice] == ["20"], "--event twice")
    kinds = {row["access"]: int(row["samples"]) for row in c.table("mem", "region")}
    c.expect(kinds == {"load": 30, "store": 40, "atomic": 320}, f"kinds of access: {kinds}")


def losses(c):
    loop = c.at["loop"]
    lines = [spe(loop, MEMORY, 0, RETIRED, 100, ticks=1000000), f"chunk 0 {TRUNCATED}",
             spe(loop, MEMORY, 0, RETIRED, 100, ticks=2000000), f"chunk 0 {TRUNCATED | COLLISION}",
             spe(loop, MEMORY, 0, RETIRED, 400, cpu=1, latencies="4095 4095 1"), "chunk 1 0",
             "throttle 1500000", "lost 7 1600000"]
    c.make(lines)
    found = {(row["loss"], row["cpu"]): row for row in c.table("quality", "losses")}
    c.expect(set(found) == {("truncated", "0"), ("collision", "0"), ("lost-records", "0"), ("throttled", "0")},
             f"losses: {list(found)}")
    row = found["truncated", "0"]
    c.expect(row["times"] == "2" and int(row["last_ns"]) - int(row["first_ns"]) == 1000000 * 40, f"truncated: {row}")
    c.expect(found["lost-records", "0"]["amount"] == "7", "lost records")
    checks = {row["check"]: row for row in c.table("quality", "quality")}
    c.expect(abs(float(checks["truncated"]["value"]) - 2 / 3) < 1e-9, f"truncated: {checks['truncated']}")
    c.expect(checks["truncated"]["verdict"] == "warning" and checks["throttled"]["value"] == "1", "verdicts")
    held = 400 * 4095 / (400 * 4095 + 200 * 20)
    c.expect(abs(float(checks["saturated"]["value"]) - held) < 1e-9, f"saturated: {checks['saturated']}")
    c.expect("66.7 % of total latencies" in checks["saturated"]["finding"], f"saturated: {checks['saturated']}")
    c.expect(checks["saturated"]["verdict"] == "warning", "saturated is a warning")
    cpus = {row["cpu"]: int(row["records"]) for row in c.table("quality", "cpus")}
    c.expect(cpus == {"0": 200, "1": 400}, f"cpus: {cpus}")


def saturation(c):
    """It is judged by the cycles that full counters hold: few records may have most of them."""
    loop = c.at["loop"]
    for n_full, verdict in ((0, "ok"), (1, "note"), (10, "warning")):
        c.make([spe(loop, MEMORY, 0, RETIRED, 10000), spe(loop, MEMORY, 0, RETIRED, n_full, latencies="4095 4 1")])
        row = {row["check"]: row for row in c.table("quality", "quality")}["saturated"]
        held = n_full * 4095 / (n_full * 4095 + 10000 * 20)
        c.expect(abs(float(row["value"]) - held) < 1e-9 and row["verdict"] == verdict, f"{n_full} of 10000 full: {row}")


def contradictions(c):
    """A filter that the records do not obey is none of theirs."""
    loop = c.at["loop"]
    load, store, branch, other = ((MEMORY, 0), (MEMORY, 1), (BRANCH, COND), (OTHER, 0))
    stores, branches, mask = 1 << 34, 1 << 32, 1 << 37
    cases = [(LOADS, load, 0, True), (LOADS, store, 0, False), (LOADS, other, 0, False), (stores, store, 0, True),
             (stores | branches, branch, 0, True), (stores | branches, load, 0, False), (LOADS | mask, other, 0, True),
             (0, other, 0, True), (0, load, 20, True), (0, load, 21, False), (LOADS, load, 21, False)]
    for config, (op_class, op), min_latency, obeys in cases:
        c.make([spe(loop, op_class, op, RETIRED, 100)], config=config | JITTER | 1, min_latency=min_latency)
        checks = {row["check"]: row for row in c.table("quality", "quality")}
        where = f"filter {config:#x} from {min_latency} and operation {op_class} {op}: {checks['filters']}"
        c.expect(("100 of 100 records do not fit" in checks["filters"]["finding"]) != obeys, where)
        c.expect(checks["filters"]["verdict"] == "warning" if not obeys else True, where)
        c.expect((checks["interval"]["verdict"] == "warning") != obeys, f"{where}: {checks['interval']}")
        text = folded(c.cyclops, "hot", "--symfs", "/", c.path)
        c.expect(("records do not fit it" in text) != obeys, f"{where}: {text[-300:]}")
    c.make([spe(loop, *load, RETIRED, 5000), spe(loop, *other, RETIRED, 1)], config=LOADS | JITTER | 1)
    found = {row["check"]: row for row in c.table("quality", "quality")}["filters"]["finding"]
    c.expect("records do not fit" not in found, f"one of 5000 may be damaged: {found}")


def bias(c):
    """A loop of eight instructions, sampled at all of them alike, and at one alone."""
    loop = c.at["loop"]
    for config, at, verdict in ((1, range(8), "ok"), (1, [3], "warning"), (JITTER | 1, range(8), "ok"),
                                (LOADS | 1, [3], "note")):
        c.make([spe(loop + 4 * i, OTHER, 0, RETIRED, 800 // len(at)) for i in at], config=config)
        row = {row["check"]: row for row in c.table("quality", "quality")}["bias"]
        c.expect(row["verdict"] == verdict, f"bias with {config:#x} at {list(at)}: {row}")
        if verdict == "warning":
            c.expect("jitter=1" in row["finding"], f"the remedy: {row['finding']}")
            place = c.table("quality", "bias")[0]
            c.expect(place["instruction"] == "loop+0xc" and place["samples"] == "800"
                     and place["samples_next"] == "0", f"the place: {place}")


def certainty(c):
    """Intervals: known, given, unknown; filters; limits of shares."""
    loop = c.at["loop"]
    lines = [spe(loop, MEMORY, 0, RETIRED, 100), spe(c.at["copy"], MEMORY, 0, RETIRED, 300)]
    c.make(lines, config=1)
    c.expect(c.table("mem", "region")[0]["estimated_operations"] == str(400 * 1025), "without jitter")
    c.expect(c.table("mem", "region", "--interval", "500")[0]["estimated_operations"] == "200000", "--interval")
    c.make(lines, period=0, config=1)
    row = c.table("mem", "region")[0]
    c.expect(row["estimated_operations"] == "" and row["derived_latency_ns"] == "" and row["samples"] == "400",
             f"an unknown interval: {row}")
    c.expect("shares only" in run(c.cyclops, "mem", c.path).decode(), "an unknown interval is not told")
    c.make(lines, min_latency=10)
    row = {row["check"]: row for row in c.table("quality", "quality")}["filters"]
    c.expect(row["verdict"] == "warning" and "latency from 10 cycles" in row["finding"], f"filters: {row}")
    rows = {row["function"]: row for row in c.table("quality", "rows")}
    p, n = 0.25, 400
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / 4 / n / n)
    middle = (p + Z * Z / 2 / n) / (1 + Z * Z / n)
    c.expect(abs(float(rows["loop"]["share_low"]) - (middle - half)) < 1e-6
             and abs(float(rows["loop"]["share_high"]) - (middle + half)) < 1e-6, f"limits: {rows['loop']}")


def slices(c):
    """Records of a first and a second half."""
    lines = [spe(c.at["loop"], MEMORY, 0, RETIRED, 100, ticks=1000000), "chunk 0 0",
             f"sample 0 0 {c.at['loop']:#x} 1 1000000", f"sample 0 0 {c.at['loop']:#x} 1 1100000",
             spe(c.at["copy"], MEMORY, 0, RETIRED, 50, ticks=1081000, latencies="60 4 1"), "chunk 0 0"]
    c.make(lines)
    rows = {row["function"]: row for row in c.table("mem", "mem", "--by", "function", "--time-slices", "10")}
    c.expect([int(rows["loop"][f"slice_{i}"]) for i in range(10)] == [100] + [0] * 9, "slices of loop")
    c.expect([int(rows["copy"][f"slice_{i}"]) for i in range(10)] == [0] * 8 + [50, 0], "slices of copy")
    hot = c.table("hot", "hot", "--time-slices", "10", "--select", "op=load")
    c.expect([int(row[f"slice_{i}"]) for row in hot if row["function"] == "copy" for i in (7, 8)] == [0, 3000],
             f"slices of hot: {hot}")
    for command in ("mem", "hot"):  # in the order of time, not of weight, and all of them
        times = c.table(command, command, "--by", "time", "--time-slices", "10", "--select", "op=load", "--top", "1")
        c.expect([int(row["samples"]) for row in times] == [100, 50], f"{command} by time: {times}")
    heavy = c.table("hot", "hot", "--by", "time", "--time-slices", "10", "--select", "op=load", "--sort", "latency_cycles")
    c.expect([int(row["samples"]) for row in heavy] == [50, 100], f"by time, sorted: {heavy}")


def vectors(c):
    """Loads of SVE: each as long as its record says, or as the shortest vectors there are, which is said."""
    evl = {64: 0x1C, 128: 0x2C, 256: 0x3C}  # LD SVE-SME-REG EVLEN n PRED
    for seen, expected, words in (((128,), 16, "as recorded (up to 128 bits)"), ((64, 256), 32, "(up to 256 bits)"),
                                  ((128, 256), 24, "(up to 256 bits)"), ((64,), 16, "was not recorded")):
        c.make([spe(c.at["vector"], MEMORY, evl[bits], RETIRED, 100, ticks=1000000 + 100000 * i)
                for i, bits in enumerate(seen)] + ["chunk 0 0"])
        row = c.table("mem", "mem", "--by", "function")[0]
        found = int(row["bytes"]) / int(row["estimated_operations"])
        c.expect(found == expected and row["function"] == "vector", f"{seen} bits: {found} bytes, wanted {expected}")
        text = folded(c.cyclops, "mem", "--symfs", "/", c.path)
        c.expect(words in text, f"{seen} bits: nothing of '{words}' in: {text[-600:]}")
    c.make([spe(c.at["copy"] + 32, MEMORY, evl[128], RETIRED, 100), "chunk 0 0"])
    text = run(c.cyclops, "mem", "--symfs", "/", c.path).decode()
    c.expect("SVE" not in text, "a caution about SVE without an instruction of it")


def stops(c):
    """Run time: what lies across a switch, the end of a buffer or a pause of recording is none."""
    def trace(cpu):
        return spe(c.at["loop"], OTHER, 0, RETIRED, 101, cpu=cpu)[:-len("100")] + "1000"

    def run_ns(lines):
        c.make(lines)
        rows = c.table("hot", "elapsed", "--elapsed", "--by", "thread")
        c.expect(len(rows) == 1, f"rows: {rows}")
        return int(rows[0]["time_ns"])

    def notes():
        return folded(c.cyclops, "hot", "--elapsed", "--symfs", "/", c.path)

    gap = 1000 * 40
    c.expect(run_ns([trace(0)]) == 100 * gap, "all of it")
    c.expect("no context switch records" in notes(), "that switches are not known")
    c.expect(run_ns([trace(0), trace(1)]) == 200 * gap, "two CPUs")
    c.expect(run_ns([trace(0), trace(1), "switch 1 1010100", "switch 1 1010900"]) == 199 * gap, "a switch on one CPU")
    c.expect("no context switch records" not in notes(), "that switches are known")
    c.expect("excluded: 40.0" in notes(), "how much is left out")
    c.expect(run_ns([trace(0), "switch 0 1010100", "switch 0 1020900"]) == 98 * gap, "away between two records")
    c.expect(run_ns([trace(0), "throttle 1050500"]) == 99 * gap, "a pause")
    first, then = spe(c.at["loop"], OTHER, 0, RETIRED, 11, ticks=1000000), spe(c.at["loop"], OTHER, 0, RETIRED, 11, ticks=1001100)
    c.expect(run_ns([first, then]) == 21 * 4000, "one buffer")
    c.expect(run_ns([first, "chunk 0 0", then, "chunk 0 0"]) == 20 * 4000, "the end of a buffer")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-cases-") as folder:
        case = Case(*sys.argv[1:3], folder, checks)
        for test in (hotspots_without_skid, conditions, losses, saturation, contradictions, bias, certainty, slices, vectors,
                     stops):
            test(case)
    checks.finish()


if __name__ == "__main__":
    main()
