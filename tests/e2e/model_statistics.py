#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do estimates from samples cover the truth as often as they claim? model_statistics.py CYCLOPS
DATA_DIR [SEEDS].

Programs run with SEEDS (default 10) choices of samples. For each function, executed loads,
first-level misses and mispredictions are estimated as records times interval, with the interval of
confidence that such a count of records has; and each estimate is compared with what really happened
(--truth). Over all seeds the estimates must not be biased either. Without the emulator, or nm, the
test is skipped.
"""

import collections
import json
import math
import os
import pathlib
import sys
import tempfile

from harness import Functions, csv_rows, need, run

INTERVAL, MEAN_JITTER = 1024, 127.5
LEAST_SAMPLES = 20  # fewer are too few for the normal distribution
CLAIMED, DEVIATIONS = 0.95, 1.96
BIAS_DEVIATIONS = 4.5  # that no mean of many seeds, of dozens, may be off by
PROGRAMS = ("root/opt/demo/demo", "root/opt/kernels/copies", "root/opt/kernels/multiply",
            "root/opt/kernels/sharing")


def is_load(instruction):
    return instruction["class"] == 1 and instruction["op"] & 1 == 0


def quantities(truth, functions):
    """(function, what) -> how often it really was."""
    counts = collections.Counter()
    for one in truth["instructions"]:
        name = functions.find(int(one["pc"], 16))
        counts[name, "loads"] += one["n"] if is_load(one) else 0
        counts[name, "misses"] += one["events"].get("L1D-REFILL", 0)
        counts[name, "mispredictions"] += one["events"].get("MISPRED", 0)
    return counts


def true_counts(cyclops, folder, program, functions):
    run(cyclops, "model", "-o", folder / "out.data", "--truth", folder / "truth.json", "--", program)
    return quantities(json.loads((folder / "truth.json").read_text()), functions)


def sampled(cyclops, folder, program, functions, seed):
    """(function, what) -> number of records."""
    run(cyclops, "model", "--seed", seed, "-c", INTERVAL, "-o", folder / "out.data", "--", program)
    counts = collections.Counter()
    for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", folder / "out.data"):
        name = functions.find(int(row["pc"], 16))
        events = row["events"].split(":")
        counts[name, "loads"] += row["op"] == "LD"
        counts[name, "misses"] += "L1D-REFILL" in events
        counts[name, "mispredictions"] += "MISPRED" in events
    return counts


def check_program(cyclops, folder, program, n_seeds):
    """Returns how many estimates there were, how many covered the truth, and what was biased."""
    interval = INTERVAL + MEAN_JITTER
    functions = Functions(program)
    true = {what: n for what, n in true_counts(cyclops, folder, program, functions).items()
            if n / interval >= LEAST_SAMPLES}
    estimates = collections.defaultdict(list)
    n_covered = collections.Counter()
    for seed in range(n_seeds):
        found = sampled(cyclops, folder, program, functions, seed)
        for what, n in true.items():
            half_width = DEVIATIONS * math.sqrt(found[what]) * interval
            n_covered[what] += abs(found[what] * interval - n) <= half_width
            estimates[what].append(found[what] * interval)
    biased = []
    for what, n in sorted(true.items()):
        bias = sum(estimates[what]) / n_seeds / n - 1
        standard_error = 1 / math.sqrt(n / interval * n_seeds)
        print(f"  {program.name}, {what[0]}, {what[1]}: {n} really, {bias:+.2%} on average "
              f"(standard error {standard_error:.2%}), covered {n_covered[what] / n_seeds:.1%}")
        if abs(bias) > BIAS_DEVIATIONS * standard_error:
            biased.append(f"{program.name}, {what[0]}, {what[1]}: biased by {bias:+.2%}")
    return len(true) * n_seeds, sum(n_covered.values()), biased


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    n = n_covered = 0
    biased = []
    for program in ("qemu-aarch64", "nm"):
        need(program)
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            more, covered, wrong = check_program(cyclops, pathlib.Path(folder), data / program, n_seeds)
            n += more
            n_covered += covered
            biased += wrong
    slack = BIAS_DEVIATIONS * math.sqrt(CLAIMED * (1 - CLAIMED) / n)
    print(f"{n_covered} of {n} estimates cover the truth: {n_covered / n:.1%}, claimed {CLAIMED:.0%}")
    if n_covered < (CLAIMED - slack) * n:
        sys.exit(f"the estimates claim too much: at least {CLAIMED - slack:.1%} should cover the truth")
    if biased:
        sys.exit("\n".join(biased))


if __name__ == "__main__":
    main()
