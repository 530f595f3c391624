#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `cyclops c2c` says a fix would save, against the applied fix, on the machine model:
sharing_programs.py CYCLOPS FOLDER [--all] [--print]

Programs in the manner of Phoenix and PARSEC, and small ones, share cache lines for no reason; built with -DPADDED
they do not. Each false sharing has to be found, none in the twins. Predicted are the load access
latency, within ten points of what the twin takes less, and, where the threads ran without contention for a
while, their run time: what the twin takes less is within its error, however often is sampled. Threads that wait for
two lines gain less by the fix of one: then it is a limit, which is what the fix of both gains. Without --all three programs are asked, sampled once. Without the
emulator or the cross compiler the test is skipped.
"""

import json
import os
import sys
import tempfile
import typing

from harness import Checks, need, run

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib"]
KERNELS = os.path.join("..", "..", "..", "kernels")


class Program(typing.NamedTuple):
    shared: str  # what the finding names
    waiting: range  # CPUs of the threads that wait
    is_told: bool = True  # is there a time without contention that tells the run time?
    folder: str = ""
    n_findings: int = 1
    is_limit: bool = False


PROGRAMS = {"histogram": Program("counts", range(1, 5)), "regression": Program("sums", range(1, 4)),
            "cluster": Program("work", range(1, 5)), "locker": Program("table", range(2, 4), False),
            "ring": Program("sides", range(1, 5), False), "counters": Program("counters", range(1, 5)),
            "both": Program("s", range(1, 5), n_findings=2, is_limit=True),
            "sharing": Program("account", range(2, 3), folder=KERNELS), "settings": Program("settings", range(2, 5), folder=KERNELS)}
WITHIN = 0.10
USUAL, OTHERS = 1024, (2048, 4096)  # operations between samples
SOME = {"counters": 4096, "locker": USUAL, "both": USUAL}


def model(cyclops, source, scratch, interval, *flags):
    program, capture, counts, truth = (os.path.join(scratch, name) for name in ("program", "data", "counts", "truth"))
    run(COMPILER, *FLAGS, *flags, source, "-o", program)
    run(cyclops, "model", "-c", str(interval), "-o", capture, "--counts", counts, "--truth", truth, "--", program)
    answer = json.loads(run(cyclops, "c2c", "--symfs", "/", "--format", "json", capture))
    with open(counts, encoding="utf-8") as file:
        cycles = {cpu["cpu"]: cpu["events"]["CPU_CYCLES"]["count"] for cpu in json.load(file)["cpus"]}
    with open(truth, encoding="utf-8") as file:
        latency = sum(source["total"] - source["issue"] for source in json.load(file)["sources"].values())
    return answer, cycles, latency


def saved(cycles, fewer, cpus):
    return 1 - sum(fewer[cpu] for cpu in cpus) / sum(cycles[cpu] for cpu in cpus)


def check_time(checks, name, program, finding, of_time, of_all):
    """`of_time`: what the fix of one line saves; `of_all`: of all that the threads wait for."""
    gain, error = finding.get("gain_share"), finding.get("gain_error")
    checks.expect(gain is not None or not program.is_told, f"{name}: run time is not told")
    if gain is None:
        return
    checks.expect((finding.get("gain_share_trust") == "at-most") == program.is_limit, f"{name}: {finding}")
    checks.expect(gain - error <= of_all <= gain + error, f"{name}: {gain} +- {error} of run time, in truth {of_all:.4f}")
    checks.expect(of_time <= of_all, f"{name}: the fix of one line saves {of_time:.4f} of the run time, of all {of_all:.4f}")
    checks.count("gains of run time")


def check_program(checks, cyclops, folder, name, program, interval):
    source = os.path.join(folder, program.folder, name + ".c")
    with tempfile.TemporaryDirectory() as scratch:
        answer, cycles, latency = model(cyclops, source, scratch, interval)
        twin, fewer_cycles, less_latency = model(cyclops, source, scratch, interval, "-DPADDED")
        all_fixed = model(cyclops, source, scratch, interval, "-DPADDED", "-DALL_PADDED")[1] if program.is_limit else fewer_cycles
        others = [model(cyclops, source, scratch, n)[0] for n in OTHERS] if "--all" in sys.argv else []
    found = [f for f in answer["findings"] if f["kind"] == "false-sharing" and program.shared in f["claim"]]
    checks.expect(len(found) == program.n_findings, f"{name}: {[f['claim'] for f in answer['findings']]}")
    alarms = [f["claim"] for f in twin["findings"] if f["kind"] == "false-sharing" and program.n_findings == 1]
    checks.expect(alarms == [], f"{name} with its fix: {alarms}")
    of_time, of_all = (saved(cycles, fewer, program.waiting) for fewer in (fewer_cycles, all_fixed))
    of_latency = 1 - less_latency / latency
    for finding in found:
        if "--print" in sys.argv:
            print(f"{name}: latency {finding['share']:.3f}, in truth {of_latency:.3f}; run time "
                  f"{finding.get('gain_share')} +- {finding.get('gain_error')}, in truth {of_all:.4f}"
                  + (f", by this line alone {of_time:.4f}" if program.is_limit else ""))
        checks.expect(abs(finding["share"] - of_latency) <= WITHIN or program.n_findings > 1,
                      f"{name}: {finding['share']:.3f} of latency, in truth {of_latency:.3f}")
        check_time(checks, name, program, finding, of_time, of_all)
    for other in others:  # fewer samples may not tell
        for finding in other["findings"]:
            if finding["kind"] == "false-sharing" and "gain_share" in finding:
                check_time(checks, f"{name}, fewer samples", program, finding, of_time, of_all)
    checks.count("programs")


def main():
    cyclops, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    for program in ("qemu-aarch64", COMPILER):
        need(program)
    checks = Checks()
    for name, interval in (dict.fromkeys(PROGRAMS, USUAL) if "--all" in sys.argv else SOME).items():
        check_program(checks, cyclops, folder, name, PROGRAMS[name], interval)
    checks.finish()


if __name__ == "__main__":
    main()
