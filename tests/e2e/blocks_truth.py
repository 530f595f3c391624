#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Executions of basic blocks, edges and loops out of branch stacks, against what a program did that is run here.

usage: blocks_truth.py CYCLOPS WRITE-SAMPLES [LOOPS]

Stacks of several depths, of perfect hardware and with faults: partly filled, the newest entry wrong, entries of
wrong paths, signals. LOOPS is how often the program's main loop runs.
"""

import collections
import csv
import math
import os
import subprocess
import sys
import tempfile

from branch_program import ANY, INNER_TRIPS, TAKEN_EVENT, CYCLES_EVENT, Program, Run, lines_of_capture, seeded, stacks
from harness import Checks, run

PERIOD = 97
# (depth, fault, part of instructions before which there is a signal)
CASES = [(8, None, 0), (16, None, 0), (32, None, 0), (64, None, 0), (32, "shallow", 0), (32, "newest", 0),
         (32, "wrong paths", 0), (32, None, 0.002)]


def tables(cyclops, path, function, *options):
    text = run(cyclops, "blocks", "--symfs", "/", "--format", "csv", *options, "-i", path, function).decode()
    found = {}
    for part in text.split("# table ")[1:]:
        name, _, rows = part.partition("\n")
        found[name] = list(csv.DictReader(rows.splitlines()))
    return found


def number(text):
    return float(text) if text else float("nan")


def leaders(program, executed, name):
    """By the definition: the start, targets of branches, what follows branches, jumps and returns."""
    start, end = program.functions[name]
    found = {start}
    for at in range(start, end, 4):
        line = program.at[at]
        targets = []
        if line == "ret" or (line[0] in ("if", "jump", "indirect") and line not in ("nop", "svc")):
            found.add(at + 4)
        if isinstance(line, tuple):
            targets = line[1] if isinstance(line[1], tuple) else [line[1]]
        for target in targets:
            address = program.labels[target]
            # targets of indirect jumps are known if they were seen
            if start <= address < end and (line[0] != "indirect" or executed[address]):
                found.add(address)
    return sorted(address for address in found if address < end)


def check_blocks(checks, where, program, made, answer, name, tolerance):
    """Each instruction in one block, that begins at the leaders; executions of each."""
    start, end = program.functions[name]
    rows = answer["blocks"]
    checks.equal(f"{where}: leaders of {name}", [int(row["start"], 0) for row in rows], leaders(program, made.executed, name))
    at = start
    for row in rows:
        checks.expect(int(row["start"], 0) == at, f"{where}: {name}: a block at {row['start']}, not {at:#x}")
        at = int(row["end"], 0)
        checks.expect(int(row["instructions"]) == (at - int(row["start"], 0)) // 4, f"{where}: {row}")
        truth = sum(made.executed[pc] for pc in range(int(row["start"], 0), at, 4)) / int(row["instructions"])
        if truth >= 1000:
            checks.count("executions of blocks")
            checks.expect(abs(number(row["exec"]) / truth - 1) < tolerance(truth) and row["exec_trust"] == "scaled",
                          f"{where}: {name} block {row['block']}: executed {row['exec']} ({row['exec_trust']}), not {truth}")
    checks.expect(at == end, f"{where}: {name} ends at {at:#x}, not {end:#x}")


def check_edges(checks, where, program, made, answer, tolerance):
    """What each branch of the function did."""
    start = {row["block"]: int(row["start"], 0) for row in answer["blocks"]}
    last = {row["block"]: int(row["end"], 0) - 4 for row in answer["blocks"]}
    for row in answer["edges"]:
        source = last[row["from_block"]]
        taken = sum(n for (at, _), n in made.edges.items() if at == source)
        if row["kind"] == "next":
            truth = made.executed[source] - taken if program.at[source][0] == "if" else made.executed[source]
        else:
            to = start[row["to_block"]] if row["to_block"] else program.labels.get(row["to_name"])
            truth = made.edges[source, to]
        if truth >= 1000:
            checks.count("executions of edges")
            checks.expect(abs(number(row["count"]) / truth - 1) < tolerance(truth), f"{where}: edge {row}: {truth} times")


def check_loops(checks, where, program, answer, tolerance):
    trips = {int(row["start"], 0): number(row["trips"]) for row in answer["loops"]}
    checks.expect(list(trips) == [program.labels["inner"]], f"{where}: loops at {trips}")
    checks.expect(abs(trips[program.labels["inner"]] / INNER_TRIPS - 1) < tolerance, f"{where}: {trips}")


def check_case(checks, cyclops, write_samples, folder, program, n_loops, case):
    depth, fault, signals = case
    where = f"depth {depth}, {fault}, signals {signals}"
    rng = seeded(where)
    made = Run(program, rng, n_loops, signals)
    path = os.path.join(folder, "a.data")
    samples = list(stacks(made, depth, PERIOD, rng, fault))
    lines = lines_of_capture("br_taken_retired", TAKEN_EVENT, ANY, PERIOD, samples)
    subprocess.run([write_samples, path, os.path.join(folder, "program"), "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    mean_depth = depth / 2 if fault == "shallow" else depth

    def tolerance(truth):
        """Relative. Branches of one sample are next to each other, so each is worth less than one on its own."""
        n_seen = truth * (mean_depth - 1) / PERIOD
        return 4 * math.sqrt(3 / n_seen) + 30 * signals

    answer = tables(cyclops, path, "work")
    check_blocks(checks, where, program, made, answer, "work", tolerance)
    check_edges(checks, where, program, made, answer, tolerance)
    check_loops(checks, where, program, answer, tolerance(n_loops))
    check_blocks(checks, where, program, made, tables(cyclops, path, "main"), "main", tolerance)
    positions = {int(row["position"]): row for row in answer["positions"]}
    for position, row in positions.items():
        checks.expect((row["left_out"] == "true") == (fault == "newest" and position == 0), f"{where}: {row}")
        faults = {name: int(n) for name, n in row.items() if name not in ("position", "segments", "impossible", "left_out")}
        expected = {"privilege"} if signals else set()
        checks.expect({name for name, n in faults.items() if n} <= expected or row["left_out"] == "true", f"{where}: {row}")
    n_segments = sum(int(row["segments"]) for row in positions.values())
    true_segments = sum(max(0, sum(not entry[2] >> 24 & 1 for entry in entries) - 1) for _, entries in samples)
    checks.expect(n_segments == true_segments, f"{where}: {n_segments} segments, not {true_segments}")
    if signals:
        check_signals(checks, where, samples, answer)


def check_signals(checks, where, samples, answer):
    """All segments between the program and the kernel are rejected, no others."""
    crossing = sum(newer[0] >> 63 != older[1] >> 63 for _, entries in samples
                   for newer, older in zip(entries, entries[1:]))
    rejected = sum(int(row["privilege"]) for row in answer["positions"])
    checks.expect(crossing > 100, f"{where}: only {crossing} signals in the stacks")
    checks.expect(rejected == crossing, f"{where}: {rejected} segments of signals, not {crossing}")


def check_cycles(checks, cyclops, write_samples, folder, program, n_loops, slower):
    """
    Samples of cycles: by time, not by branches. The second half of the program runs `slower` than the first, with
    as many branches: most samples are of it, and each of them stands for few executions.
    """
    rng = seeded("cycles", slower)
    made = Run(program, rng, n_loops)
    path, samples, clock, window = os.path.join(folder, "c.data"), [], 0, collections.deque(maxlen=32)
    following = period = PERIOD * 2
    for number_of_branch, (at, to, cycles) in enumerate(made.branches):
        cycles *= slower if number_of_branch > len(made.branches) // 2 else 1
        clock += cycles
        window.appendleft((at, to, 2 | cycles << 4))
        if clock >= following:
            samples.append((to, list(window)))
            following += period
    lines = lines_of_capture("cycles", CYCLES_EVENT, ANY, period, samples)
    subprocess.run([write_samples, path, os.path.join(folder, "program"), "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    answer = tables(cyclops, path, "work")
    for row in answer["blocks"]:
        start, end = int(row["start"], 0), int(row["end"], 0)
        truth = sum(made.executed[pc] for pc in range(start, end, 4)) / int(row["instructions"])
        checks.count("blocks by cycles")
        checks.expect(abs(number(row["exec"]) / truth - 1) < 0.1,
                      f"cycles, {slower} times slower: block {row['block']}: {row['exec']}, not {truth}")
    # durations as they were recorded
    durations = collections.defaultdict(list)
    for _, entries in samples:
        for newer, older in zip(entries, entries[1:]):
            durations[older[1], newer[0]].append(newer[2] >> 4 & 0xFFFF)
    for row in answer["segments"]:
        its = sorted(durations[int(row["start"], 0), int(row["end"], 0)])
        checks.count("durations")
        wanted = (len(its), its[(len(its) + 1) // 2 - 1], its[-(-99 * len(its) // 100) - 1])
        checks.expect((int(row["records"]), int(row["cycles_p50"]), int(row["cycles_p99"])) == wanted,
                      f"durations of {row}: not {wanted}")


def main():
    cyclops, write_samples = map(os.path.abspath, sys.argv[1:3])
    n_loops = int(sys.argv[3]) if len(sys.argv) > 3 else 12000
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-blocks-") as folder:
        program = Program(os.path.join(folder, "program"))
        for case in CASES:
            check_case(checks, cyclops, write_samples, folder, program, n_loops, case)
        for slower in (1, 20):
            check_cycles(checks, cyclops, write_samples, folder, program, n_loops // slower, slower)
    checks.finish()


if __name__ == "__main__":
    main()
