#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `cyclops c2c` says a fix would save, against the applied fix, on the machine model:
sharing_programs.py CYCLOPS FOLDER [--all] [--print]

Six programs in the manner of Phoenix and PARSEC share cache lines for no reason; built with -DPADDED
they do not. Each false sharing has to be found, none in the twins. Predicted are the load access
latency and, where the threads ran without contention for a while, their run time; both have to be
within ten points of what the twin takes less. Without --all two of the six are asked. Without the
emulator or the cross compiler the test is skipped.
"""

import json
import os
import sys
import tempfile

from harness import Checks, need, run

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib"]
# What each shares, and whether there is a time without contention that tells the run time.
PROGRAMS = {"histogram": ("counts", True), "regression": ("sums", True), "cluster": ("work", True),
            "locker": ("table", False), "ring": ("sides", False), "counters": ("counters", True)}
SOME = ("histogram", "locker")
WITHIN = 0.10


def model(cyclops, source, scratch, *flags):
    program, capture, counts, truth = (os.path.join(scratch, name) for name in ("program", "data", "counts", "truth"))
    run(COMPILER, *FLAGS, *flags, source, "-o", program)
    run(cyclops, "model", "-o", capture, "--counts", counts, "--truth", truth, "--", program)
    answer = json.loads(run(cyclops, "c2c", "--symfs", "/", "--format", "json", capture))
    with open(counts, encoding="utf-8") as file:
        cycles = {cpu["cpu"]: cpu["events"]["CPU_CYCLES"]["count"] for cpu in json.load(file)["cpus"]}
    with open(truth, encoding="utf-8") as file:
        latency = sum(source["total"] - source["issue"] for source in json.load(file)["sources"].values())
    return answer, sum(n for cpu, n in cycles.items() if cpu != 0), latency


def main():
    cyclops, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    for program in ("qemu-aarch64", COMPILER):
        need(program)
    checks = Checks()
    for name in PROGRAMS if "--all" in sys.argv else SOME:
        shared, is_told = PROGRAMS[name]
        source = os.path.join(folder, name + ".c")
        with tempfile.TemporaryDirectory() as scratch:
            answer, cycles, latency = model(cyclops, source, scratch)
            twin, fewer_cycles, less_latency = model(cyclops, source, scratch, "-DPADDED")
        found = [f for f in answer["findings"] if f["kind"] == "false-sharing" and shared in f["claim"]]
        checks.expect(len(found) == 1, f"{name}: {[f['claim'] for f in answer['findings']]}")
        alarms = [f["claim"] for f in twin["findings"] if f["kind"] == "false-sharing"]
        checks.expect(alarms == [], f"{name} with its fix: {alarms}")
        for finding in found:
            of_time, of_latency = 1 - fewer_cycles / cycles, 1 - less_latency / latency
            gain = finding.get("gain_share")
            if "--print" in sys.argv:
                print(f"{name}: latency {finding['share']:.3f}, in truth {of_latency:.3f}; "
                      f"run time {gain if gain is None else round(gain, 3)}, in truth {of_time:.3f}")
            checks.expect(abs(finding["share"] - of_latency) <= WITHIN,
                          f"{name}: {finding['share']:.3f} of latency, in truth {of_latency:.3f}")
            checks.expect(gain is not None or not is_told, f"{name}: run time is not told")
            checks.expect(gain is None or abs(gain - of_time) <= WITHIN,
                          f"{name}: {gain} of run time, in truth {of_time:.3f}")
        checks.count("programs")
    checks.finish()


if __name__ == "__main__":
    main()
