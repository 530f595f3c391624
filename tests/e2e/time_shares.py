#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far shares of time made of SPE records are from the commit stage's: time_shares.py [--all] CYCLOPS DATA_DIR.

By the metric of TIP (MICRO 2021): half the sum of the differences of shares, by instruction and by function, for
shares of total latency, shares of records, and `hot --time-estimate`. The truth are `commit_cycles` of the model.
Prints a table as docs/model.md has it, and fails if the estimate gets worse than that page says, or differs with the
number of threads. Without --all some of the programs are asked. Other programs: --sources FILE.c ...; another machine: --set NAME=N ... Without the emulator or the
cross compiler the test is skipped.
"""

import argparse
import bisect
import collections
import csv
import io
import json
import os
import pathlib
import statistics
import sys
import tempfile

from harness import Failed, Functions, need, run

COMPILER = "aarch64-linux-gnu-gcc"
OWN = (("mixed, -O2", ["-O2"]), ("mixed, -O0", ["-O0"]))  # time_shares.c, with the C library
FLAGS = ["-O2", "-g", "-static", "-pthread"]  # of --sources
INTERVAL = 1024
PROGRAMS = ("opt/demo/demo", "opt/kernels/chase", "opt/kernels/copies", "opt/kernels/multiply",
            "opt/kernels/pages", "opt/kernels/sharing", "opt/kernels/padded", "opt/kernels/steady",
            "opt/kernels/stride", "opt/kernels/stride-ahead")
VIEWS = {"total latency": "latency_cycles", "number of records": "samples", "estimate": "time_estimate"}
BEST = "estimate"
SOME_PROGRAMS = ("opt/demo/demo", "opt/kernels/copies", "opt/kernels/multiply")
WORST_MEANS = (0.17, 0.03)  # of PROGRAMS and OWN: by instruction, by function


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


def estimate(cyclops, capture, threads):
    return run(cyclops, "hot", "--by", "instruction", "--time-estimate", "--all", "--format", "csv",
               "-j", threads, capture).decode()


def check_annotate(cyclops, capture, shares, names, fold):
    """annotate has the same shares, as parts of its function's. `names` are those that cyclops has for functions, by address."""
    function = fold(shares).most_common(1)[0][0]
    own = {pc: share for pc, share in shares.items() if fold.function_of(pc) == function}
    answer = json.loads(run(cyclops, "annotate", "--time-estimate", "--format", "json", capture, names[next(iter(own))]))
    rows = {int(row["address"], 16) if isinstance(row["address"], str) else row["address"]:
            row.get("time_estimate") or 0 for row in answer["instructions"]}
    if error(rows, own) > 1e-6:
        raise Failed(f"{function}: annotate and hot differ")


def measure(cyclops, folder, program, options):
    capture, truth_file = folder / "out.data", folder / "truth.json"
    settings = [word for setting in options.set for word in ("--set", setting)]
    run(cyclops, "model", "-o", capture, "--truth", truth_file, "-c", options.interval, *settings, "--", program)
    commit = {int(i["pc"], 16): i["commit_cycles"] for i in json.loads(truth_file.read_text())["instructions"]}
    text = estimate(cyclops, capture, 1)
    if estimate(cyclops, capture, 3) != text:
        raise Failed(f"{program}: the estimate differs with the number of threads")
    views, names = {name: collections.Counter() for name in VIEWS}, {}
    for row in csv.DictReader(io.StringIO(text)):
        if not row["address"]:
            continue
        names[int(row["address"], 16)] = row["instruction"].rpartition("+")[0]
        for name, column in VIEWS.items():
            views[name][int(row["address"], 16)] += float(row[column] or 0)
    fold = Fold(program)
    if not 0.98 < sum(views[BEST].values()) < 1.000001:
        raise Failed(f"{program}: the shares add up to {sum(views[BEST].values())}")
    check_annotate(cyclops, capture, views[BEST], names, fold)
    return {name: (error(view, commit), error(fold(view), fold(commit))) for name, view in views.items()}


def programs_of(options, folder):
    """Yields name and file."""
    for source in options.sources:
        run(COMPILER, *FLAGS, "-o", folder / source.stem, source, "-lm")
        yield source.stem, folder / source.stem
    if options.sources:
        return
    for program in PROGRAMS if options.all else SOME_PROGRAMS:
        yield pathlib.Path(program).name, options.data.resolve() / "root" / program
    for what, flags in OWN if options.all else OWN[:1]:
        run(COMPILER, *flags, "-static", "-o", folder / "program", pathlib.Path(__file__).with_suffix(".c"))
        yield what, folder / "program"


def table_row(name, errors):
    return f"| {name} | " + " | ".join(f"{errors[n][0]:.0%}, {errors[n][1]:.0%}" for n in VIEWS) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cyclops", type=os.path.realpath)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--interval", type=int, default=INTERVAL)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=N")
    parser.add_argument("--sources", nargs="+", type=pathlib.Path, default=[])
    options = parser.parse_args()
    for program in ("qemu-aarch64", "nm", COMPILER):
        need(program)
    results = {}
    print("| program | " + " | ".join(VIEWS) + " |\n|" + " --- |" * (len(VIEWS) + 1))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, program in programs_of(options, folder):
            results[what] = measure(options.cyclops, folder, program, options)
            print(table_row(what, results[what]), flush=True)
    means = {n: [statistics.mean(errors[n][i] for errors in results.values()) for i in (0, 1)] for n in VIEWS}
    print(table_row("mean", means))
    is_usual = not options.sources and not options.set and options.interval == INTERVAL
    if is_usual and any(mean > limit for mean, limit in zip(means[BEST], WORST_MEANS)):
        sys.exit(f"{BEST}: {means[BEST]}, docs/model.md has at most {WORST_MEANS}")


if __name__ == "__main__":
    main()
