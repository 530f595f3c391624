#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Estimates by function with their limits, against what the model counted in full: estimate_truth.py CYCLOPS
DATA_DIR [SEEDS].

Each of SEEDS captures (default 5) of the demo has other samples. The limits that `hot --event` and `mem`
state must cover the truth as often as they claim: 19 times out of 20. Without the emulator, or nm, the
test is skipped.
"""

import collections
import csv
import json
import os
import pathlib
import sys
import tempfile

from harness import Failed, need, run
from model_statistics import INTERVAL, Functions, is_load

EVENTS = {"loads": "load || atomic", "misses": "l1d-refill", "mispredictions": "mispredicted"}
CLAIMED = 0.95
ROOM = 0.06  # below the claim, for few seeds


def rows(cyclops, path, *command):
    out = run(cyclops, *command, "--symfs", "/", "--format", "csv", "--all", path)
    return list(csv.DictReader(out.decode().splitlines()))


def estimates(cyclops, path):
    """(function, what) -> (estimate, low, high)."""
    found = {}
    for what, event in EVENTS.items():
        for row in rows(cyclops, path, "hot", "--table", "hot", "--event", event):
            found[row["function"], what] = tuple(float(row[c]) for c in (
                "estimated_operations", "estimated_low", "estimated_high"))
    for row in rows(cyclops, path, "mem", "--by", "function", "--table", "mem"):
        if row["access"] == "load":
            found[row["function"], "loads of mem"] = tuple(float(row[c]) for c in (
                "estimated_operations", "estimated_low", "estimated_high"))
    return found


def truth_of(cyclops, folder, program, functions):
    """(function, what) -> how often it really was."""
    run(cyclops, "model", "-o", folder / "out.data", "--truth", folder / "truth.json", "--", program)
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
        true = truth_of(cyclops, folder, demo, functions)
        for seed in range(n_seeds):
            run(cyclops, "model", "--seed", seed, "-c", INTERVAL, "-o", folder / "out.data", "--", demo)
            found = estimates(cyclops, folder / "out.data")
            for (function, what), count in true.items():
                if (function, what) not in found:
                    continue  # no record: nothing is claimed
                _, low, high = found[function, what]
                n[what] += 1
                covered[what] += low <= count <= high
    if not n:
        sys.exit("nothing was compared")
    for what in sorted(n):
        print(f"{what}: {covered[what]} of {n[what]} limits cover the truth ({covered[what] / n[what]:.1%}, "
              f"claimed {CLAIMED:.0%})")
        if covered[what] < (CLAIMED - ROOM) * n[what]:
            sys.exit(f"the limits of {what} claim too much")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(str(failure))
