#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The overhead of counting: cyclops stat and perf stat, in turn, in one run.

usage: stat.py [--build DIR] [--rounds N]

The same command with the same events: one that ends at once, and one that forks a lot. Prints
the medians of wall time and of CPU time (user and system, of the tool and all it ran), and the
ratios of cyclops to perf; at most 1 is wanted. On a busy machine lean on the CPU time.
"""

import argparse
import os
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


def run(command):
    """Wall and CPU time of a command, in ms."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command}: exit status {child.returncode}")
    return 1000 * wall, 1000 * (usage.ru_utime + usage.ru_stime)


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
                times[tool].append(run([*prefix, *work]))
        median = {tool: [statistics.median(column) for column in zip(*values)] for tool, values in times.items()}
        for tool, (wall, cpu) in median.items():
            print(f"{name:14} {tool:14} {wall:9.2f} ms wall {cpu:9.2f} ms CPU")
        wall, cpu = (ours / theirs for ours, theirs in zip(median["cyclops stat"], median["perf stat"]))
        print(f"{name:14} ratio          {wall:9.2f}         {cpu:9.2f}")


main()
