#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Estimates by function with their limits, against what the model counted in full: estimate_truth.py CYCLOPS
DATA_DIR [SEEDS].

Each of SEEDS captures (default 5) of the demo in each mode has other samples. The limits that `hot --event`
and `mem` state must cover the truth as often as they claim: 19 times out of 20. Where samples were lost to
collisions there is no upper limit. Without the emulator, or nm, the test is skipped.
"""

import collections
import csv
import json
import math
import os
import pathlib
import sys
import tempfile

from harness import Failed, need, run
from model_statistics import INTERVAL, Functions, is_load

EVENTS = {"loads": "load || atomic", "misses": "l1d-refill", "mispredictions": "mispredicted"}
COLLIDING = ("--set", "l2_finish=4000")  # such loads are still on their way when the next sample is due
MODES = {  # options, what can be estimated then, and whether samples are lost to collisions
    "all": ((), ("loads", "loads of mem", "misses", "mispredictions"), False),
    "only loads": (("--loads",), ("loads", "loads of mem"), False),
    "only misses": (("--event", "l1d-refill"), ("misses",), False),
    "collisions": (COLLIDING, ("loads", "loads of mem", "misses", "mispredictions"), True),
    "collisions, only loads": ((*COLLIDING, "--loads"), ("loads", "loads of mem"), True),
}
CLAIMED = 0.95
ROOM = 0.06  # below the claim, for few seeds


def limits(row):
    """No upper one: infinite."""
    return (float(row["estimated_operations"]), float(row["estimated_low"]),
            float(row["estimated_high"] or math.inf))


def rows(cyclops, path, *command):
    out = run(cyclops, *command, "--symfs", "/", "--format", "csv", "--all", path)
    return list(csv.DictReader(out.decode().splitlines()))


def estimates(cyclops, path):
    """(function, what) -> (estimate, low, high)."""
    found = {}
    for what, event in EVENTS.items():
        for row in rows(cyclops, path, "hot", "--table", "hot", "--event", event):
            found[row["function"], what] = limits(row)
    for row in rows(cyclops, path, "mem", "--by", "function", "--table", "mem"):
        if row["access"] == "load":
            found[row["function"], "loads of mem"] = limits(row)
    return found


def truth_of(cyclops, folder, program, functions, options):
    """(function, what) -> how often it really was."""
    run(cyclops, "model", *options, "-o", folder / "out.data", "--truth", folder / "truth.json", "--", program)
    true = collections.Counter()
    for one in json.loads((folder / "truth.json").read_text())["instructions"]:
        name = functions.find(int(one["pc"], 16))
        for what in ("loads", "loads of mem"):
            true[name, what] += one["n"] if is_load(one) else 0
        true[name, "misses"] += one["events"].get("L1D-REFILL", 0)
        true[name, "mispredictions"] += one["events"].get("MISPRED", 0)
    return true


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    for program in ("qemu-aarch64", "nm"):
        need(program)
    demo = data / "root/opt/demo/demo"
    functions = Functions(demo)
    n, covered = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for mode, (options, whats, collide) in MODES.items():
            true = truth_of(cyclops, folder, demo, functions, COLLIDING if collide else ())
            for seed in range(n_seeds):
                run(cyclops, "model", "--seed", seed, "-c", INTERVAL, *options, "-o", folder / "out.data", "--", demo)
                found = estimates(cyclops, folder / "out.data")
                for (function, what), count in true.items():
                    if what not in whats or (function, what) not in found:
                        continue  # cannot be estimated, or no record: nothing is claimed
                    _, low, high = found[function, what]
                    if math.isinf(high) != collide:
                        sys.exit(f"{mode}, seed {seed}: {what} of {function} up to {high}")
                    n[mode, what] += 1
                    covered[mode, what] += low <= count <= high
    for mode, (_, whats, _) in MODES.items():
        for key in ((mode, what) for what in whats):
            if not n[key]:
                sys.exit(f"{key}: nothing was compared")
            print(f"{', '.join(key)}: {covered[key]} of {n[key]} limits cover the truth "
                  f"({covered[key] / n[key]:.1%}, claimed {CLAIMED:.0%})")
            if covered[key] < (CLAIMED - ROOM) * n[key]:
                sys.exit(f"the limits of {', '.join(key)} claim too much")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(str(failure))
