#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counting costs: cyclops stat beside perf stat, taking turns in one run.

usage: stat.py [--build DIR] [--rounds N]

The same command with the same events: one that ends at once, and one that forks a lot. Prints
the median time of each, and the ratio of cyclops to perf; at most 1 is wanted.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

EVENTS = "task-clock,context-switches,cpu-migrations,page-faults"
WORK = {
    "1 ms command": ["/bin/true"],
    "200 forks": ["sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"],
}


def run_ns(command):
    start = time.monotonic_ns()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    return time.monotonic_ns() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--rounds", default=30, type=int)
    options = parser.parse_args()
    if shutil.which("perf") is None:
        sys.exit("perf is needed to compare with")
    tools = {
        "alone": [],
        "perf stat": ["perf", "stat", "-e", EVENTS, "--"],
        "cyclops stat": [options.build / "cyclops", "stat", "-e", EVENTS, "--"],
    }
    for name, work in WORK.items():
        times = {tool: [] for tool in tools}
        for _ in range(options.rounds):
            for tool, prefix in tools.items():
                times[tool].append(run_ns([*prefix, *work]))
        median = {tool: statistics.median(values) for tool, values in times.items()}
        for tool, value in median.items():
            print(f"{name:14} {tool:14} {value / 1e6:9.2f} ms")
        print(f"{name:14} ratio          {median['cyclops stat'] / median['perf stat']:9.2f}")


main()
