#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far shares of time made of SPE records are from the commit stage's: time_shares.py [--all] CYCLOPS DATA_DIR.

By the metric of TIP (MICRO 2021): half the sum of the differences of shares, by instruction and by function, for
several ways to weigh the same records. The truth are `commit_cycles` of the model. Prints the table that docs/model.md
has, and fails if the best estimate gets worse than that page says. Without --all some of the programs are asked. Without
the emulator, the cross compiler or its objdump the test is skipped.
"""

import argparse
import bisect
import collections
import csv
import io
import json
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile

from harness import Failed, need, run
from model_statistics import Functions

OBJDUMP, COMPILER = "aarch64-linux-gnu-objdump", "aarch64-linux-gnu-gcc"
OWN = (("mixed -O2", ["-O2"]), ("mixed -O0", ["-O0"]))  # time_shares.c, with the C library
INTERVAL = 1024
PROGRAMS = ("opt/demo/demo", "opt/kernels/chase", "opt/kernels/copies", "opt/kernels/multiply",
            "opt/kernels/pages", "opt/kernels/sharing", "opt/kernels/padded", "opt/kernels/steady",
            "opt/kernels/stride", "opt/kernels/stride-ahead")
SOME_PROGRAMS = ("opt/demo/demo", "opt/kernels/copies", "opt/kernels/multiply")
# What the walk knows of the CPU: dispatch width, window, refill of the pipeline after a misprediction.
WIDTH, WINDOW, REFILL = 4, 128, 11
WALKS, WARM_UP, WALK = 400, 400, 800
ISSUE = 2  # cycles from dispatch to issue, at least
FULL = 4095  # what a latency counter holds
FULL_EXECUTION = 280  # of loads of which all records are full: a load from DRAM
DEFAULT_LATENCY = 1  # of what no record met
BEST = "walk and times"
WORST_MEANS = {BEST: (0.20, 0.05)}  # by instruction, by function
WORST_MEANS_OF_SOME = {BEST: (0.10, 0.03)}


REGISTER = re.compile(r"\b([wxbhsdqv])(\d+)\b")
SETS_FLAGS = re.compile(r"(cmp|cmn|tst|subs|adds|ands|bics|negs|fcmpe?|ccmp|ccmn|fccmpe?)$")
READS_FLAGS = re.compile(r"(b\..*|cs.*|cinc|cinv|cneg|cset|csetm|ccmp|ccmn|fcsel|fccmpe?|adcs?|sbcs?)$")
NO_RESULT = re.compile(r"(st.*|cmp|cmn|tst|fcmpe?|ccmp|ccmn|fccmpe?|b|b\..*|br|blr|bl|ret|cbn?z|tbn?z|nop|prfm|dmb|dsb|isb|svc)$")
FLAGS = "flags"


class Instruction:
    """Where it can go, and what it reads and writes."""

    def __init__(self, words):
        self.name = name = words[0]
        text = " ".join(words[1:]).split("//")[0]
        registers = [("v" if kind in "bhsdqv" else "x") + number for kind, number in REGISTER.findall(text)]
        n_results = 0 if NO_RESULT.match(name) else 2 if name.startswith(("ldp", "ldnp", "ldxp")) else 1
        self.results, self.sources = registers[:n_results], registers[n_results:]
        if name.startswith(("fmla", "mla", "movk", "bfi", "bfxil", "ins", "fmls")):
            self.sources += self.results
        self.early = []  # a base register that is written back
        if "]!" in text or "], #" in text:
            self.early = [r for r in re.findall(r"\[(x\d+)", text)]
        if SETS_FLAGS.match(name):
            self.results = [*self.results, FLAGS]
        if READS_FLAGS.match(name):
            self.sources = [*self.sources, FLAGS]
        self.is_store = name.startswith("st") and not name.startswith("stx")
        self.kind, self.target = self.kind_of(words)

    @staticmethod
    def kind_of(words):
        name = words[0]
        target = None
        if name in ("b", "bl") or name.startswith(("b.", "cb", "tb")):
            addresses = [word for word in words[1:] if re.fullmatch(r"[0-9a-f]{4,}", word)]
            target = int(addresses[0], 16) if addresses else None
        if name == "b":
            return "jump", target
        if name == "bl":
            return "call", target
        if name.startswith(("b.", "cb", "tb")):
            return "conditional", target
        return {"blr": "call", "br": "jump", "ret": "return"}.get(name, "plain"), None


def read_code(program):
    code = {}
    for line in run(OBJDUMP, "-d", "--no-show-raw-insn", program).decode().splitlines():
        parts = line.split("\t")
        if len(parts) > 1 and parts[0].strip().endswith(":"):
            code[int(parts[0].strip()[:-1], 16)] = Instruction("\t".join(parts[1:]).split())
    return code


class Records:
    """What the records say of each instruction."""

    def __init__(self, rows):
        self.rows = rows
        self.count = collections.Counter(int(r["pc"], 16) for r in rows)
        self.total, self.execution = collections.Counter(), collections.Counter()
        self.targets = collections.defaultdict(collections.Counter)
        self.mispredicted, self.loads = collections.Counter(), collections.Counter()
        self.whole = collections.defaultdict(list)
        for r in rows:
            pc = int(r["pc"], 16)
            self.total[pc] += int(r["total_lat"])
            self.execution[pc] += int(r["total_lat"]) - int(r["issue_lat"])
            self.loads[pc] += r["op"] == "LD"
            if int(r["total_lat"]) < FULL:
                self.whole[pc].append(int(r["total_lat"]) - int(r["issue_lat"]))
            if r["op"] == "B":
                self.targets[pc][int(r["target"], 16) if r["target"] else pc + 4] += 1
                self.mispredicted[pc] += "MISPRED" in r["events"]

    def mean_execution(self, pc):
        """Cycles from issue to the end; of records whose counters are not full, if there are some."""
        if pc in self.whole:
            return statistics.mean(self.whole[pc])
        return FULL_EXECUTION if self.count[pc] and self.loads[pc] else DEFAULT_LATENCY

    def times(self, function_of, cycles_per_operation):
        """Time by function: between two records of a CPU, to the functions of both by what their
        operations take."""
        times = collections.Counter()
        last = {}
        for r in self.rows:
            name, now = function_of(int(r["pc"], 16)), int(r["time_ns"])
            if r["cpu"] in last:
                before, then = last[r["cpu"]]
                parts = [cycles_per_operation.get(one, 1.0) + 0.01 for one in (before, name)]
                for one, part in zip((before, name), parts):
                    times[one] += (now - then) * part / sum(parts)
            last[r["cpu"]] = name, now
        return times


def choose(generator, counter):
    return generator.choices(list(counter), list(counter.values()))[0]


class Walker:
    """
    Goes through the program as the sampled branches did. Instructions are dispatched in order, begin when their
    registers are ready, take as long as records say from issue to the end, and leave the window in order; who
    gets a cycle is decided as the commit stage's cycles are.
    """

    def __init__(self, code, records):
        self.code, self.records, self.generator = code, records, random.Random(1)
        self.latencies = {}
        self.cycles, self.executed = collections.Counter(), collections.Counter()

    def next_pc(self, pc, stack):
        instruction, taken = self.code[pc], self.records.targets.get(pc)
        if instruction.kind == "plain":
            return pc + 4
        if instruction.kind == "return" and stack:
            return stack.pop()
        if instruction.kind == "call":
            stack.append(pc + 4)
        if taken:
            return choose(self.generator, taken)
        return instruction.target if instruction.target and instruction.kind != "conditional" else pc + 4

    def latency(self, pc):
        if pc not in self.latencies:
            self.latencies[pc] = max(1, round(self.records.mean_execution(pc)))
        return 1 if self.code[pc].is_store else self.latencies[pc]

    def flushes(self, pc):
        n = self.records.mispredicted[pc]
        return n > 0 and self.generator.random() < n / self.records.count[pc]

    def walk(self, pc):
        stack, ready, taken = [], collections.Counter(), []
        commits = collections.deque([0] * WINDOW, WINDOW)
        dispatch = in_cycle = commit = fetch = 0
        flusher = None
        for n in range(WARM_UP + WALK):
            instruction = self.code.get(pc)
            if instruction is None:
                return
            begin = max(dispatch, commits[0], fetch)
            in_cycle = in_cycle + 1 if begin == dispatch else 1
            if in_cycle > WIDTH:
                begin, in_cycle = begin + 1, 1
            dispatch = begin
            issue = max([dispatch + ISSUE, *(ready[r] for r in instruction.sources)])
            end = issue + self.latency(pc)
            for register in instruction.results:
                ready[register] = end
            for register in instruction.early:
                ready[register] = issue + 1
            if n >= WARM_UP:
                self.executed[pc] += 1
            if end > commit:
                for one in taken:
                    self.cycles[one] += 1 / len(taken)
                waits = end - commit - 1
                empty = min(waits, max(0, dispatch - commit)) if flusher is not None else 0
                if n >= WARM_UP:
                    self.cycles[pc] += waits - empty
                    if flusher is not None:
                        self.cycles[flusher] += empty
                taken, commit = [], end
            if n >= WARM_UP:
                taken.append(pc)
            commits.append(commit)
            flusher = None
            if self.flushes(pc):
                fetch, flusher = end + REFILL, pc
            pc = self.next_pc(pc, stack)


def shares_by_walk(code, records, function_of):
    """By instruction: cycles of a walk, for as many executions as there are records; and the same within each
    function, with the function's time out of the times of the records."""
    walker = Walker(code, records)
    for _ in range(WALKS):
        walker.walk(choose(walker.generator, records.count))
    walked = {pc: walker.cycles[pc] / n * records.count[pc] for pc, n in walker.executed.items()}
    inside, operations = collections.Counter(), collections.Counter()
    for pc, cycles in walked.items():
        inside[function_of(pc)] += cycles
        operations[function_of(pc)] += records.count[pc]
    times = records.times(function_of, {name: inside[name] / n for name, n in operations.items() if n})
    timed = {pc: cycles / inside[function_of(pc)] * times[function_of(pc)]
             for pc, cycles in walked.items() if inside[function_of(pc)]}
    return walked, timed


def normalise(weights):
    whole = sum(weights.values())
    return {key: weight / whole for key, weight in weights.items()} if whole else {}


def error(estimate, truth):
    """TIP's: half of all differences."""
    estimate, truth = normalise(estimate), normalise(truth)
    return sum(abs(estimate.get(key, 0) - truth.get(key, 0)) for key in set(estimate) | set(truth)) / 2


class Fold:
    """From instructions to functions."""

    def __init__(self, program):
        self.ranges = sorted((r.start, r.stop, name) for name, r in Functions(program).ranges.items())
        self.starts = [r[0] for r in self.ranges]

    def function_of(self, pc):
        at = bisect.bisect_right(self.starts, pc) - 1
        return self.ranges[at][2] if at >= 0 and pc < self.ranges[at][1] else "?"

    def __call__(self, weights):
        out = collections.Counter()
        for pc, weight in weights.items():
            out[self.function_of(pc)] += weight
        return out


def measure(cyclops, folder, program, interval):
    capture, truth_file = folder / "out.data", folder / "truth.json"
    run(cyclops, "model", "-o", capture, "--truth", truth_file, "-c", interval, "--", program)
    truth = json.loads(truth_file.read_text())["instructions"]
    commit = {int(i["pc"], 16): i["commit_cycles"] for i in truth}
    text = run(cyclops, "export", "--table", "spe", "--format", "csv", capture).decode()
    records = Records(list(csv.DictReader(io.StringIO(text))))
    fold = Fold(program)
    walked, timed = shares_by_walk(read_code(program), records, fold.function_of)
    views = {
        "total latency": records.total,
        "number of records": records.count,
        "execution latency": records.execution,
        "walk": walked,
        BEST: timed,
        "completion (truth)": {int(i["pc"], 16): i["cycles"] for i in truth},
    }
    return {name: (error(view, commit), error(fold(view), fold(commit))) for name, view in views.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cyclops", type=os.path.realpath)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--interval", type=int, default=INTERVAL)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    for program in ("qemu-aarch64", "nm", OBJDUMP, COMPILER):
        need(program)
    results = {}
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program in PROGRAMS if options.all else SOME_PROGRAMS:
                path = options.data.resolve() / "root" / program
                results[path.name] = measure(options.cyclops, folder, path, options.interval)
            for what, flags in OWN if options.all else OWN[:1]:
                source = pathlib.Path(__file__).with_suffix(".c")
                run(COMPILER, *flags, "-static", "-o", folder / "program", source)
                results[what] = measure(options.cyclops, folder, folder / "program", options.interval)
    except Failed as failure:
        sys.exit(str(failure))
    names = list(next(iter(results.values())))
    print("| program | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 1))
    for program, errors in results.items():
        print(f"| {program} | " + " | ".join(f"{errors[n][0]:.0%}, {errors[n][1]:.0%}" for n in names) + " |")
    means = {n: [statistics.mean(errors[n][i] for errors in results.values()) for i in (0, 1)] for n in names}
    print("| mean | " + " | ".join(f"{means[n][0]:.0%}, {means[n][1]:.0%}" for n in names) + " |")
    for name, limits in (WORST_MEANS if options.all else WORST_MEANS_OF_SOME).items():
        if any(mean > limit for mean, limit in zip(means[name], limits)):
            sys.exit(f"{name}: {means[name]}, docs/model.md has at most {limits}")


if __name__ == "__main__":
    main()
