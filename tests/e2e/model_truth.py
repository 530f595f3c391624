#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the model says is true, against what the kernels are known to do, against its counts of the
PMU, and against what perf c2c finds: model_truth.py CYCLOPS DATA_DIR.

Without the emulator, perf, or nm, the test is skipped.
"""

import collections
import json
import os
import pathlib
import re
import sys
import tempfile

from harness import Failed, Functions, need, run
from model_captures import run_perf
from model_statistics import is_load

NEARLY_ALL = 0.98


def model(cyclops, folder, program, *options):
    """Runs a program; returns its truth and its counts."""
    run(cyclops, "model", "-o", folder / "out.data", "--truth", folder / "truth.json", "--counts",
        folder / "counts.json", *options, "--", program)
    return [json.loads((folder / name).read_text()) for name in ("truth.json", "counts.json")]


def expect(name, found, wanted):
    if found != wanted:
        raise Failed(f"{name}: found {found}, wanted {wanted}")


def check_sums(truth, counts):
    """The truth by instruction adds up to the counts of the PMU."""
    events = {name: e["count"] for name, e in counts["events"].items()}
    totals = collections.Counter()
    for one in truth["instructions"]:
        totals["n"] += one["n"]
        totals.update(one["events"])
    expect("instructions", totals["n"], events["INST_RETIRED"])
    expect("retired", totals["RETIRED"], events["INST_RETIRED"])
    expect("mispredictions", totals["MISPRED"], events["BR_MIS_PRED_RETIRED"])
    cycles, commits = (sum(one[name] for one in truth["instructions"]) for name in ("cycles", "commit_cycles"))
    if abs(cycles - commits) > 1e-6 * cycles + 64:  # a CPU's last cycle may be nobody's
        raise Failed(f"{cycles} cycles of completion, {commits} of the commit stage")
    if totals["TLB-REFILL"] > events["DTLB_WALK"]:  # the PMU counts those of prefetchers, too
        raise Failed(f"{totals['TLB-REFILL']} walks, but the PMU counted {events['DTLB_WALK']}")
    expect("cpus", sum(c["events"]["INST_RETIRED"]["count"] for c in counts["cpus"]), totals["n"])


def count_in(truth, where, is_wanted):
    return sum(one["n"] for one in truth["instructions"]
               if int(one["pc"], 16) in where and is_wanted(one))


def check_sources(truth, functions, wanted):
    """Where the data of a function's loads must come from, nearly all of it."""
    for name, source in wanted:
        sources = collections.Counter()
        for one in truth["instructions"]:
            if int(one["pc"], 16) in functions.ranges[name]:
                sources.update(one["sources"])
        share = sources[source] / sum(sources.values())
        print(f"{name}: {share:.1%} from {source}")
        if share < NEARLY_ALL:
            raise Failed(f"{name}: only {share:.1%} from {source}")


def check_demo(truth, functions):
    """Loads that the source of the demo promises."""
    for name, loads in (("chase_l1", 250000), ("chase_l2", 150000), ("chase_memory", 40000)):
        expect(name + " loads", count_in(truth, functions.ranges[name], is_load), loads)
    check_sources(truth, functions,
                  (("chase_l1", "L1D"), ("chase_l2", "L2"), ("chase_memory", "DRAM")))


def check_chase(cyclops, folder, data):
    program = data / "root/opt/kernels/chase"
    truth, _ = model(cyclops, folder, program)
    check_sources(truth, Functions(program),
                  (("chase_l1", "L1D"), ("chase_l2", "L2"), ("chase_system_cache", "SYS_CACHE"),
                   ("chase_memory", "DRAM")))


def contested_lines(truth, functions, names):
    """Lines that instructions of one of these functions took from those of another."""
    lines = collections.Counter()
    for transfer in truth["transfers"]:
        sides = {functions.find(int(transfer[side]["pc"], 16)) for side in ("from", "to")}
        if len(sides & set(names)) == 2:
            lines[transfer["line"]] += transfer["n"]
    return lines


def c2c_lines(capture):
    """The lines of perf's table, by address."""
    text = run_perf(["c2c", "report", "--stdio"], capture).stdout
    table = text.split("Shared Data Cache Line Table")[1].split("Pareto")[0]
    return re.findall(r"^ +\d+ +(0x[0-9a-f]+) ", table, re.M)


def check_sharing(cyclops, folder, data):
    kernels = data / "root/opt/kernels"
    functions = Functions(kernels / "sharing")
    truth, _ = model(cyclops, folder, kernels / "sharing")
    lines = contested_lines(truth, functions, ["count_up", "compare"])
    account = functions.ranges["account"][0]
    expect("contested lines", list(lines), [hex(account)])
    offsets = {transfer[side]["offset"] for transfer in truth["transfers"] for side in ("from", "to")
               if transfer["line"] == hex(account)}
    if not {0, 16} <= offsets <= {0, 8, 16}:  # the lock, the limit; the count, if it is lost in between
        raise Failed(f"offsets in the line: {offsets}")
    print(f"sharing: the line of 'account' changed hands {lines[hex(account)]} times")
    expect("lines of perf c2c", c2c_lines(folder / "out.data"), [hex(account)])
    truth, _ = model(cyclops, folder, kernels / "padded")
    padded = Functions(kernels / "padded")
    expect("contested lines, padded", list(contested_lines(truth, padded, ["count_up", "compare"])), [])


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for program in ("qemu-aarch64", "nm", "perf"):
        need(program)
    demo = data / "root/opt/demo/demo"
    functions = Functions(demo)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        truth, counts = model(cyclops, folder, demo)
        check_sums(truth, counts)
        check_demo(truth, functions)
        check_chase(cyclops, folder, data)
        check_sharing(cyclops, folder, data)


if __name__ == "__main__":
    main()
