#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Cycle accounting of samples, against what the machine model counted in full: cycles_truth.py CYCLOPS DATA_DIR
[SEEDS [FIRST_SEED]].

Each of SEEDS captures (default 5) of the demo has other samples, at random intervals. The standard errors of
events by function must cover the truth as often as 95 % limits claim, also where events take turns on few
counters. Costs never exceed their caps, and a branch without one of its events is a lower bound. Where loads
overlap, counts cost several times the cycles, and are capped. Without the emulator, or nm, the test is skipped.
"""

import collections
import json
import math
import pathlib
import sys
import tempfile

from harness import Checks, Functions, csv_rows, need, run

EVENTS = {
    "CPU_CYCLES": 9973, "STALL_BACKEND": 9973, "STALL_FRONTEND": 9973, "INST_RETIRED": 9973, "INST_SPEC": 9973,
    "BR_RETIRED": 997, "L1D_CACHE_REFILL_RD": 997, "L2D_CACHE_REFILL_RD": 499, "L1D_TLB_REFILL_RD": 997,
    "DTLB_WALK": 997, "BR_MIS_PRED_RETIRED": 997,
}
PARTS = ("L1D_CACHE_REFILL_RD", "L2D_CACHE_REFILL_RD", "L1D_TLB_REFILL_RD", "DTLB_WALK")  # of load_latency
# Options, and the part of the seeds.
MODES = {"a counter each": ((), 1), "turns on six counters": (("--counters", "6", "--set", "mux_interval_us=2"), 0.25)}
LEAST_SAMPLES, LIMIT = 10, 1.96
LEAST, MOST = 0.93, 0.97  # of the limits hold, where 95 % should
# By program: what its loads cost without the cap, in cycles of the program; its counts are exact.
UNCAPPED = {"multiply": 1.87, "stride": 6.07}
NEAR = 0.03  # how far from that, when the model's times change a little
ROOM = 3  # standard deviations of that share: with few limits it varies


def record(cyclops, program, path, seed, *options, events=EVENTS, truth=None):
    samples = [word for name, period in events.items() for word in ("--sample", f"{name}:{period}")]
    run(cyclops, "model", *samples, "--set", "random_periods=1", "--seed", seed, *options, "-o", path,
        *(("--truth", truth) if truth else ()), "--", program)


def accounted(cyclops, path):
    """(function, node) -> row."""
    rows = csv_rows(cyclops, "cycles", "--symfs", "/", "--format", "csv", "--all", path)
    return {(row["function"], row["node"]): row for row in rows}


def truth_of(path, functions):
    true = collections.Counter()
    for one in json.loads(path.read_text())["instructions"]:
        name = functions.find(int(one["pc"], 16))
        for event, n in one["counts"].items():
            true[name, event] += n
    return true


def check_rows(checks, where, found):
    """Caps, and what branches are made of."""
    for (function, node), row in found.items():
        if row["cap"]:
            cap = float(found[function, row["cap"]]["cycles"])
            checks.expect(float(row["capped_cycles"]) <= cap * (1 + 1e-12), f"{where}: {function}: {node} exceeds {cap}")
            checks.count("caps")
    for function in {function for function, _ in found}:
        branch = found[function, "load_latency"]
        parts = [found[function, part] for part in PARTS]
        checks.expect(math.isclose(float(branch["cycles"]), sum(float(part["cycles"]) for part in parts), rel_tol=1e-9),
                      f"{where}: {function}: {branch}")
        checks.expect(math.isclose(float(branch["cycles_se"]), math.hypot(*(float(part["cycles_se"]) for part in parts)),
                                   rel_tol=1e-9), f"{where}: {function}: {branch}")


def check_limits(checks, cyclops, program, folder, mode, seeds):
    functions = Functions(program)
    held = n = 0
    for seed in seeds:
        record(cyclops, program, folder / "out.data", seed, *MODES[mode][0], truth=folder / "truth.json")
        true = truth_of(folder / "truth.json", functions)
        found = accounted(cyclops, folder / "out.data")
        check_rows(checks, mode, found)
        for (function, node), row in found.items():
            if row["kind"] != "event" or row["state"] != "measured" or int(row["samples"]) < LEAST_SAMPLES:
                continue
            # of each sample the same is known: its mean weight
            se = float(row["events"]) / math.sqrt(int(row["samples"]))
            if row["penalty"]:
                se = float(row["cycles_se"]) / float(row["penalty"])
            n += 1
            held += abs(float(row["events"]) - true[function, node]) <= LIMIT * se
    room = ROOM * math.sqrt(0.95 * 0.05 / n)
    print(f"{mode}: {held} of {n} limits hold, {held / n:.1%}")
    checks.expect(min(LEAST, 0.95 - room) <= held / n <= max(MOST, 0.95 + room), f"{mode}: {held / n:.1%} of {n} limits hold")


def check_missing(checks, cyclops, program, folder):
    """Without one event that costs something, its branch is a lower bound and the event no number."""
    for missing in PARTS:
        events = {name: period for name, period in EVENTS.items() if name != missing}
        record(cyclops, program, folder / "out.data", 0, events=events)
        found = accounted(cyclops, folder / "out.data")
        branch, leaf = found["chase_memory", "load_latency"], found["chase_memory", missing]
        checks.expect(branch["state"] == "measured" and branch["share_trust"] == "incomplete", f"without {missing}: {branch}")
        checks.expect(leaf["state"] == "not collected" and not leaf["cycles"] and not leaf["share"], f"{missing}: {leaf}")
        checks.count("missing events")


def check_overlap(checks, cyclops, data, folder):
    """Loads that wait at the same time are each charged in full: the branch is cut at the cycles that the back end stalls."""
    for name, times in UNCAPPED.items():
        run(cyclops, "model", "--counts", folder / "counts.json", "-o", folder / "out.data", "--", data / "root/opt/kernels" / name)
        rows = {row["node"]: row for row in csv_rows(cyclops, "stat", "--import", folder / "counts.json", "--tree", "--format", "csv")}
        cycles, stalled = (float(rows[node]["cycles"]) for node in ("CPU_CYCLES", "STALL_BACKEND"))
        parts = sum(float(rows[part]["events"]) * float(rows[part]["penalty"]) for part in PARTS)
        loads = rows["load_latency"]
        print(f"{name}: loads cost {parts / cycles:.2f} times the cycles, capped {float(loads['capped_cycles']) / cycles:.1%}, "
              f"overlap {float(loads['overlap']):.2f}")
        checks.expect(abs(parts / cycles / times - 1) <= NEAR, f"{name}: {parts / cycles} times the cycles, wanted {times}")
        checks.expect(float(loads["capped_cycles"]) == stalled and loads["cap"] == "STALL_BACKEND", f"{name}: {loads}")
        checks.expect(math.isclose(float(loads["overlap"]), parts / stalled, rel_tol=1e-9), f"{name}: {loads}")
        checks.count("programs whose loads overlap")


def main():
    need("qemu-aarch64")
    need("nm")
    cyclops, data = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    amount = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    program = data / "root/opt/demo/demo"
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for mode, (_, part) in MODES.items():
            seeds = range(first, first + math.ceil(amount * part))
            check_limits(checks, cyclops, program, folder, mode, seeds)
        check_missing(checks, cyclops, program, folder)
        check_overlap(checks, cyclops, data, folder)
    checks.finish()


if __name__ == "__main__":
    main()
