#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops latency on an emulated Neoverse N1, whose cycles are instructions: single loads are timed where the kernel
lets programs read the cycle counter, and nowhere else.

usage: latency.py
"""

import csv
import io
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import guest  # noqa: E402
from harness import Checks  # noqa: E402

ASK = "cyclops latency --sizes 4K..16K --samples 100 --format csv --table "


def rows(machine, table):
    return list(csv.DictReader(io.StringIO(machine.run(ASK + table).text)))


def main():
    guest.need_guest()
    checks = Checks()
    with guest.Guest(files={"/bin/cyclops": guest.cross_built()}) as machine:
        clock = rows(machine, "clock")[0]
        # the generic counter moves at 62.5 MHz: 16 instructions
        checks.expect(clock["clock"] == "CNTVCT_EL0" and clock["times_single_loads"] == "false" and
                      not rows(machine, "histogram"), f"without user reads: {clock}")
        machine.run("echo 1 >/proc/sys/kernel/perf_user_access")
        clock = rows(machine, "clock")[0]
        checks.expect((clock["clock"], clock["step_cycles"], clock["cycles_basis"]) == ("PMU cycles", "1", "counter"),
                      f"with user reads: {clock}")
        times = rows(machine, "histogram")
        # All loads are alike: the same instructions lie between the two readings.
        most = max((int(row["count"]) for row in times), default=0)
        checks.expect(most >= 95, f"times of 100 equal loads: {times}")
        modes = [float(row["value_cycles"]) for row in times if int(row["count"]) == most and row["size_bytes"] == "4096"]
        checks.expect(modes and float(clock["bias_cycles"]) == modes[0] - 4 and clock["load_to_use_basis"] == "catalog",
                      f"the bias is not the mode, {modes}, less the 4 cycles of the catalog: {clock}")
        # A chase has an instruction for each load, and some for its loop.
        cycles = [float(row["cycles"]) for row in rows(machine, "sizes")]
        checks.expect(cycles and all(1 <= value < 2 for value in cycles), f"cycles for a load: {cycles}")
        checks.count("answers", 5)
    checks.finish()


main()
