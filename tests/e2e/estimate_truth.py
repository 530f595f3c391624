#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Estimates by function with their limits, against what the model counted in full: estimate_truth.py CYCLOPS
DATA_DIR [SEEDS [FIRST_SEED]].

Each of SEEDS captures (default 5) of the demo in each mode has other samples. The limits that `hot --event`
and `mem` state must cover the truth as often as they claim: 19 times out of 20; of few limits no fewer than happens by
chance. Where samples were lost, to
collisions or in full buffers, there is no upper limit, unless they were counted (--counts). Without the
emulator, or nm, the test is skipped.
"""

import collections
import json
import math
import os
import pathlib
import sys
import tempfile

import perf_file
from harness import Failed, Functions, csv_rows, need, run
from model_statistics import INTERVAL, is_load

EVENTS = {"loads": "load || atomic", "misses": "l1d-refill", "mispredictions": "mispredicted"}
ALL = ("loads", "loads of mem", "misses", "mispredictions")
LOADS = ("loads", "loads of mem")
COLLIDING = ("--set", "l2_finish=4000")  # such loads are still on their way when the next sample is due
FULL = ("--set", "dram_cycles=5000")  # of loads from DRAM the counter is full


class Mode:
    """Options of the machine and of the recording, what can be estimated then, and what is lost."""

    def __init__(self, machine=(), options=(), whats=ALL, loses=None):
        self.machine, self.options, self.whats, self.loses = machine, options, whats, loses


MODES = {
    "all": Mode(),
    "only loads": Mode(options=("--loads",), whats=LOADS),
    "only misses": Mode(options=("--event", "l1d-refill"), whats=("misses",)),
    "full counters": Mode(FULL),
    "collisions": Mode(COLLIDING, loses="collisions"),
    "collisions, only loads": Mode(COLLIDING, ("--loads",), LOADS, "collisions"),
    "full buffers": Mode(loses="buffers"),
    "full buffers, only loads": Mode(options=("--loads",), whats=LOADS, loses="buffers"),
}
COUNTED = ", counted"  # behind the mode
AUX, TRUNCATED, FLAGS_AT = 11, 1, 24
CLAIMED = 0.95
ROOM = 0.02  # below the claim
# Of fewer limits the part that holds varies by itself: 14 of 16, or fewer, once in five. The samples depend on where the
# program lies and on the environment, so each machine has others.
FEW, LEAST_CHANCE = 100, 1e-4
RECORD_BYTES = 64


def limits(row):
    """No upper one: infinite."""
    return (float(row["estimated_operations"]), float(row["estimated_low"]),
            float(row["estimated_high"] or math.inf))


def rows(cyclops, path, *command):
    return csv_rows(cyclops, *command, "--symfs", "/", "--format", "csv", "--all", path)


def estimates(cyclops, path, *options):
    """(function, what) -> (estimate, low, high); of a function with what is inlined into it, which has rows of its own."""
    found = {}
    for what, event in EVENTS.items():
        for row in rows(cyclops, path, "hot", "--table", "hot", "--event", event, *options):
            before = found.get((row["function"], what), (0, 0, 0))
            found[row["function"], what] = tuple(map(sum, zip(before, limits(row))))
    for row in rows(cyclops, path, "mem", "--by", "function", "--table", "mem", *options):
        if row["access"] == "load":
            found[row["function"], "loads of mem"] = limits(row)
    return found


def truth_of(cyclops, folder, program, functions, machine):
    """(function, what) -> how often it really was."""
    run(cyclops, "model", *machine, "-o", folder / "out.data", "--truth", folder / "truth.json", "--", program)
    true = collections.Counter()
    for one in json.loads((folder / "truth.json").read_text())["instructions"]:
        name = functions.find(int(one["pc"], 16))
        for what in LOADS:
            true[name, what] += one["n"] if is_load(one) else 0
        true[name, "misses"] += one["events"].get("L1D-REFILL", 0)
        true[name, "mispredictions"] += one["events"].get("MISPRED", 0)
    return true


def lose_a_part(path, seed):
    """Of each chunk of trace data a third becomes padding, and its buffer was full."""
    data = bytearray(path.read_bytes())
    for chunk in perf_file.chunks(data):
        n = chunk.size // RECORD_BYTES
        first = chunk.start + seed % (n - n // 3) * RECORD_BYTES
        data[first:first + n // 3 * RECORD_BYTES] = bytes(n // 3 * RECORD_BYTES)
    for position, kind, _ in list(perf_file.records(data)):
        if kind == AUX:
            data[position + FLAGS_AT] |= TRUNCATED
    path.write_bytes(data)


def chance(held, n):
    """Of so few or fewer, were each held as often as is claimed."""
    return sum(math.comb(n, k) * CLAIMED ** k * (1 - CLAIMED) ** (n - k) for k in range(held + 1))


class Coverage:
    """How often limits hold the truth, by mode and quantity."""

    def __init__(self):
        self.n, self.held = collections.Counter(), collections.Counter()

    def add(self, mode, whats, true, found, is_open):
        for (function, what), count in true.items():
            if what not in whats or (function, what) not in found:
                continue  # cannot be estimated, or no record: nothing is claimed
            _, low, high = found[function, what]
            if math.isinf(high) != is_open:
                raise Failed(f"{mode}: {what} of {function} up to {high}")
            self.n[mode, what] += 1
            self.held[mode, what] += low <= count <= high

    def check(self):
        for key, n in self.n.items():
            held = self.held[key]
            print(f"{', '.join(key)}: {held} of {n} limits cover the truth ({held / n:.1%}, claimed {CLAIMED:.0%})")
        for key, n in self.n.items():
            held = self.held[key]
            if held < (CLAIMED - ROOM) * n if n >= FEW else chance(held, n) < LEAST_CHANCE:
                raise Failed(f"the limits of {', '.join(key)} claim too much")
        if self.held.total() < (CLAIMED - ROOM) * self.n.total():
            raise Failed("all limits together claim too much")


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    first_seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    for program in ("qemu-aarch64", "nm"):
        need(program)
    demo = data / "root/opt/demo/demo"
    functions = Functions(demo)
    coverage = Coverage()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, counts = folder / "out.data", folder / "counts.json"
        true = {machine: truth_of(cyclops, folder, demo, functions, machine)
                for machine in {mode.machine for mode in MODES.values()}}
        for seed in range(first_seed, first_seed + n_seeds):
            for name, mode in MODES.items():
                run(cyclops, "model", "--seed", seed, "-c", INTERVAL, *mode.machine, *mode.options, "--counts", counts,
                    "-o", path, "--", demo)
                if mode.loses == "buffers":
                    lose_a_part(path, seed)
                coverage.add(name, mode.whats, true[mode.machine], estimates(cyclops, path), mode.loses is not None)
                if mode.loses is not None:
                    found = estimates(cyclops, path, "--counts", counts)
                    coverage.add(name + COUNTED, mode.whats, true[mode.machine], found, False)
    coverage.check()


if __name__ == "__main__":
    main()
