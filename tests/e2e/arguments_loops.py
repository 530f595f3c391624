#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
hot --arguments on counted loops whose limits are known: arguments_loops.py CYCLOPS PROGRAM.

A breakpoint in a loop is hit in each iteration, so a run of n iterations has n times the samples of one of 1: as
samples of time have. Three of four runs have a limit of 10, the fourth one of 200. A loop over addresses has
none. Without breakpoints, or nm, the test is skipped.
"""

import os
import platform
import subprocess
import sys
import tempfile

import harness

ROUNDS, PERIOD = 400, 7
LIMITS = (10, 10, 10, 200)
# By function: what the limit is called, "" if it is no argument; the step of the counter.
LOOPS = {"by_one": ("n", 1), "by_three": ("count", 3), "of_int": ("times", 1), "of_queue": ("", 1)}
MAX_BREAKPOINTS = 4
NEAR = 0.1


def record(cyclops, path, addresses, program):
    words = [word for address in addresses for word in ("-e", f"mem:0x{address}:x")]
    done = subprocess.run([cyclops, "record", "-q", "-c", str(PERIOD), "--regs", "-o", path, *words, "--", program, str(ROUNDS)],
                          env=harness.ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        harness.skip(f"breakpoints cannot be recorded here: {done.stderr}")


def check_loop(checks, row, argument, step):
    trips = [-(-limit // step) for limit in LIMITS]
    where = row["function"]
    checks.expect(row["argument"] == argument and row["step"] == str(step), f"{where}: {row}")
    checks.expect((int(row["min_trips"]), int(row["max_trips"])) == (min(trips), max(trips)), f"{where}: {row}")
    checks.expect(int(row["p50_trips"]) == min(trips), f"{where}: three of four runs have {min(trips)}: {row}")
    mean, in_time = sum(trips) / len(trips), sum(n * n for n in trips) / sum(trips)
    for name, wanted in (("mean_trips", mean), ("mean_trips_in_time", in_time), ("samples", ROUNDS / len(trips) * sum(trips) / PERIOD)):
        checks.expect(abs(float(row[name]) / wanted - 1) < NEAR, f"{where}: {name} is {row[name]}, wanted {wanted}")
        checks.count("numbers")


def main():
    harness.need("nm")
    if platform.machine() not in ("x86_64", "aarch64"):
        harness.skip("code of this machine is not followed")
    checks = harness.Checks()
    cyclops, program = (os.path.abspath(word) for word in sys.argv[1:])
    symbols = [line.split() for line in harness.run("nm", program).decode().splitlines()]
    where = {words[2][3:]: words[0] for words in symbols if len(words) == 3 and words[2].startswith("in_")}
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        names = sorted(where)
        for i in range(0, len(names), MAX_BREAKPOINTS):
            path = os.path.join(folder, f"{i}.data")
            record(cyclops, path, [where[name] for name in names[i:i + MAX_BREAKPOINTS]], program)
            for row in harness.csv_rows(cyclops, "hot", "--arguments", "--table", "loops", "--format", "csv", path):
                found[row["function"]] = row
    checks.expect(set(found) == set(LOOPS), f"loops of {sorted(found)}, wanted {sorted(LOOPS)}")
    for name, (argument, step) in LOOPS.items():
        check_loop(checks, found[name], argument, step)
    checks.finish()


if __name__ == "__main__":
    main()
