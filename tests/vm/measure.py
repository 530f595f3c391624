# SPDX-License-Identifier: Apache-2.0
"""
libcyclops on the virtual Neoverse N1, whose clock counts instructions: counts of loops of known length, by
read(2) and by instructions, what begin and end cost, events that take turns on the counters, counters of
32 bits that wrap.

usage: measure.py
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import guest  # noqa: E402
from harness import Checks  # noqa: E402

ACCESS = "/proc/sys/kernel/perf_user_access"
PAIRS, LOOP, CONSTANT, LONG = 1000, 1_000_000, 200 * 5_000_000, 4_400_000_000
SETS = 6


def measure(machine, what, access, mode="auto"):
    """The rows of regions, by region, event and set; the exit status; messages."""
    done = machine.run(f"echo {access} >{ACCESS}; CYCLOPS_MODE={mode} measure-program {what} /tmp/out.json")
    answer = json.loads(machine.run("cat /tmp/out.json").text)
    rows = {(row["region"], row["event"], row.get("set")): row for row in answer["regions"]}
    return rows, done, answer["run"][0]


def check_loops(machine, checks):
    """Ten times a million instructions: each call counts them, and what lies between the readings."""
    seen = {}
    for access, mode, how in (0, "auto", "read"), (1, "auto", "user"), (1, "user", "user"), (1, "read", "read"):
        rows, done, run = measure(machine, "loops", access, mode)
        checks.expect(done.status == 0 and run["pmu"] == "armv8_pmuv3", f"{access} {mode}: {done.messages}, {run}")
        for event in "CPU_CYCLES", "INST_RETIRED":
            row = rows[("loop", event, 0)]
            between = row["min"] - LOOP
            checks.expect(row["mode"] == how, f"{access} {mode}: read by {row['mode']}, not {how}")
            checks.expect(row["min"] == row["max"] and row["calls"] == 10, f"{access} {mode}: runs differ: {row}")
            checks.expect(0 < between < 500 and abs(between - row["bias"]) <= 4, f"{access} {mode}: not the loop and the bias: {row}")
            checks.expect(row["coverage"] == 1 and row["count"] == 10 * row["min"], f"{access} {mode}: {row}")
        seen[(access, mode)] = rows[("loop", "INST_RETIRED", 0)]["count"]
    again, _, _ = measure(machine, "loops", 1, "user")
    checks.expect(again[("loop", "INST_RETIRED", 0)]["count"] == seen[(1, "user")], f"not repeatable: {again}")
    checks.count("loops", 5)


def check_refusal(machine, checks):
    _, done, run = measure(machine, "loops", 0, "user")
    checks.expect(done.status == 1 and "perf_user_access is 0" in done.messages, f"mode user: {done.messages}")
    checks.expect("sysctl kernel.perf_user_access=1" in run["why"], f"mode user: {run}")
    checks.count("refusals")


def check_cost(machine, checks):
    """What begin and end cost the program, in instructions of it and of the kernel. A cycle is an instruction here."""
    costs = {}
    for access, how, what, n in ((0, "read", "pairs", 2), (1, "user", "pairs1", 1), (1, "user", "pairs2", 2),
                                 (1, "user", "pairs4", 4)):
        rows, _, _ = measure(machine, what, access)
        outer, pair = rows[("outer", "CPU_CYCLES", 0)], rows[("pair", "CPU_CYCLES", 0)]
        checks.expect(pair["mode"] == how and pair["calls"] == PAIRS, f"{what}: {pair}")
        checks.expect(outer["exclusive"] + pair["count"] == outer["count"], f"{what}: {outer}, {pair}")
        costs[(how, n)] = outer["count"] / PAIRS
        print(f"{how}, {n} events: {costs[(how, n)]:.0f} instructions for begin and end, {pair['min']} between their readings")
    done = machine.run(f"echo 1 >{ACCESS}; measure-program bare -")
    print(f"bare readings of 1, 2, 4 events, twice: {done.text.strip()} instructions")
    checks.expect(done.status == 0 and len(done.text.split()) == 3, f"bare: {done.status} {done.text} {done.messages}")
    checks.expect(costs[("user", 2)] * 8 < costs[("read", 2)], f"user reads are not cheaper: {costs}")
    checks.count("costs", 5)


def check_turns(machine, checks):
    """Twelve events in six sets: what is constant is extrapolated well, and nothing is called exact."""
    rows, _, _ = measure(machine, "turns", 1)
    for number in range(SETS):
        for event in "CPU_CYCLES", "INST_RETIRED":
            row = rows[("constant", event, number)]
            checks.expect(row["mode"] == "read" and 0 < row["coverage"] < 1, f"turns: {row}")
            checks.expect(abs(row["count"] - CONSTANT) < 0.02 * CONSTANT, f"turns: {row}, not {CONSTANT}")
    rows, _, _ = measure(machine, "phases", 0)
    for number in range(SETS):
        row = rows[("phases", "INST_RETIRED", number)]
        checks.expect(row["coverage"] < 1 and row["running_ns"] < row["enabled_ns"] and row["counted_calls"] == 0,
                      f"phases: called exact: {row}")
    checks.count("sets that took turns", 2 * SETS)


def check_long(machine, checks):
    """Longer than 32 bits: the kernel extends the counter by the offset of its page."""
    rows, _, _ = measure(machine, "long", 1, "user")
    row = rows[("long", "INST_RETIRED", 0)]
    checks.expect(row["mode"] == "user" and 0 < row["count"] - LONG < 500, f"long: {row}")
    checks.count("counters that wrapped")


def main():
    guest.need_guest()
    program = guest.cross_built().parent / "tests" / "vm" / "measure-program"
    if not program.exists():
        guest.skip("no measure-program for AArch64; scripts/build-arm64.sh builds it")
    checks = Checks()
    with guest.Guest(files={"/bin/measure-program": program}) as machine:
        check_loops(machine, checks)
        check_refusal(machine, checks)
        check_cost(machine, checks)
        check_turns(machine, checks)
        check_long(machine, checks)
    checks.finish()


main()
