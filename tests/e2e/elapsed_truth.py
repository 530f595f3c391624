#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Run time by function, out of the times of SPE records, against the cycles that the model counted:
elapsed_truth.py CYCLOPS DATA_DIR KERNELS_DIR [SEEDS].

Programs whose functions run for long at a time, and such where they alternate faster than records are
taken, run with SEEDS (default 1) choices of samples. Limits must hold the truth, what is told must be
near to it, what alternates must not be told, waiting must not count as run time. Without the emulator,
nm or a compiler the test is skipped.
"""

import collections
import json
import os
import pathlib
import re
import sys
import tempfile

from harness import Checks, Functions, csv_rows, folded, need, run

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib"]
HERE = pathlib.Path(__file__).resolve().parent

GHZ = 2.8  # of the model
ENDS = 0.005  # what threads do before their first and after their last record, as a share
NEAR = 0.01  # that what is told may be off by, and …
NEARLY = 0.03  # … what is told, but marked
HELD = 0.99  # of limits: each of several bounds in them holds 19 times out of 20, and all are bounds from above

# Name: macros of elapsed_program.c, sampling interval, functions that must be told.
PROGRAMS = {
    "steady": ("-DROUNDS=4 -DCOMPUTE=2000000 -DLOOKUP=60000 -DSLEEP_NS=20000000", 1024, {"lookup", "compute"}),
    "threads": ("-DROUNDS=2 -DCOMPUTE=300000 -DLOOKUP=30000 -DTHREADS=2", 1024, {"lookup"}),
    "alternating": ("-DROUNDS=300 -DCOMPUTE=10000 -DLOOKUP=100", 1024, set()),
    "rarely": ("-DROUNDS=300 -DCOMPUTE=2000 -DLOOKUP=3", 4096, set()),
    "finely": ("-DROUNDS=3000 -DCOMPUTE=40 -DLOOKUP=20", 1024, set()),
}


def answer(cyclops, capture, *options):
    return csv_rows(cyclops, "hot", "--elapsed", "--symfs", "/", "--format", "csv", "--all", *options, capture)


def text(cyclops, capture, *options):
    return folded(cyclops, "hot", "--elapsed", "--symfs", "/", *options, capture)


def record(cyclops, folder, program, seed, interval):
    """The capture, and cycles and executions by function."""
    capture, truth = folder / "out.data", folder / "truth.json"
    run(cyclops, "model", "--seed", seed, "-c", interval, "-o", capture, "--truth", truth, "--", program)
    functions = Functions(program)
    cycles, executed = collections.Counter(), collections.Counter()
    for one in json.loads(truth.read_text())["instructions"]:
        name = functions.find(int(one["pc"], 16))
        cycles[name] += one["cycles"]
        executed[name] += one["n"]
    return capture, cycles, executed


def check_rows(checks, what, rows, cycles, executed, must_tell):
    whole, told = sum(cycles.values()), set()
    for row in rows:
        name = row["function"]
        true = cycles[name] / whole
        checks.count("limits")
        if not float(row["time_low"]) - ENDS <= true <= float(row["time_high"]) + ENDS:
            checks.count("limits that miss")
            print(f"{what}: {name} took {true:.2%}, limits {row['time_low']} to {row['time_high']}")
        if not row["time_share"]:
            continue
        told.add(name)
        checks.count("shares")
        near = NEAR if row["time_share_trust"] == "exact" else NEARLY
        checks.expect(abs(float(row["time_share"]) - true) <= near,
                      f"{what}: {name} took {true:.2%}, told {row['time_share']}")
        if name in must_tell:
            each, each_true = float(row["cycles_per_operation"]), cycles[name] / executed[name]
            checks.expect(abs(each / each_true - 1) < 0.1, f"{what}: {name}: {each_true} cycles an operation, told {each}")
    checks.expect(must_tell <= told, f"{what}: not told: {must_tell - told}")
    if not must_tell:
        large = {name for name in told if cycles[name] > whole / 10}
        checks.expect(not large, f"{what}: told, though they alternate: {large}")


def check_sums(checks, cyclops, capture, cycles):
    """All run time is there once, by whatever it is grouped; waiting is said and not in it."""
    threads = answer(cyclops, capture, "--by", "thread")
    ns = sum(int(row["time_ns"]) for row in threads)
    true_ns = sum(cycles.values()) / GHZ
    checks.expect(abs(ns / true_ns - 1) < 0.01, f"{ns} ns of threads, {true_ns} counted")
    for row in threads:
        checks.expect(row["time_low"] == row["time_share"] == row["time_high"], "a thread's time is certain")
    checks.expect("60.0 ms in which a thread waited" in text(cyclops, capture), "three sleeps of 20 ms are said")


def has_table(screen):
    """Does report show functions by run time?"""
    return re.search(rb"^Run time\b", screen, re.MULTILINE) is not None


def check_refusals(checks, cyclops, folder, program):
    """Where records are not one in so many operations there is no answer, but the reason."""
    capture = folder / "filtered.data"
    run(cyclops, "model", "--loads", "-o", capture, "--", program)
    checks.expect("filters hid operations" in text(cyclops, capture), "filters")
    run(cyclops, "model", "-o", capture, "--", program)
    checks.expect("--select leaves out" in text(cyclops, capture, "--select", "op=load"), "--select")
    checks.expect(not has_table(run(cyclops, "report", "--select", "op=load", capture)), "report --select")
    run(cyclops, "model", "--no-jitter", "-o", capture, "--", program)
    checks.expect("no jitter:" in text(cyclops, capture), "no jitter")
    for option in (["--by", "operation"], ["--event", "load"], ["--ghz", "x"]):
        checks.expect_failure("exit status 2", cyclops, "hot", "--elapsed", *option, capture)


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    kernels, n_seeds = sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1
    for program in ("qemu-aarch64", "nm", COMPILER):
        need(program)
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = {"demo": (data / "root/opt/demo/demo", 1024, {"chase_memory"})}
        for case, (macros, interval, told) in PROGRAMS.items():
            run(COMPILER, *FLAGS, *macros.split(), "-I", kernels, HERE / "elapsed_program.c", "-o", folder / case)
            cases[case] = (folder / case, interval, told)
        for case, (program, interval, told) in cases.items():
            for seed in range(n_seeds):
                capture, cycles, executed = record(cyclops, folder, program, seed, interval)
                check_rows(checks, f"{case}, seed {seed}", answer(cyclops, capture, "--ghz", GHZ), cycles, executed, told)
            if case == "steady":
                check_sums(checks, cyclops, capture, cycles)
                checks.expect(has_table(run(cyclops, "report", capture)), "report says it")
            if case == "alternating":
                checks.expect("far apart" in run(cyclops, "report", capture).decode(),
                              "report says that it does not know")
        check_refusals(checks, cyclops, folder, cases["demo"][0])
    missed, n = checks.counts["limits that miss"], checks.counts["limits"]
    checks.expect(missed <= (1 - HELD) * n, f"{missed} of {n} limits miss the truth")
    checks.finish()


if __name__ == "__main__":
    main()
