#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A real capture with branch stacks and its program: what blocks, calls and annotate say of it, against what an independent
reader counted and what is known of the program (README.md beside it).

usage: branch_capture.py CYCLOPS

The capture is looked for below the folder that CYCLOPS_CAPTURES names; without it the test is skipped.
"""

import os
import sys

from harness import Checks, csv_rows, folded, real_captures, skip

NAME = "propeller_sample_1.perfdata1"
SAMPLES, ENTRIES = 3732, 32
IMPOSSIBLE_OF_NEWEST = 966
# Segments of the called function: start, end, cycles of half of them, of 99 of 100.
DURATIONS = [("0x18d0", "0x18e3", 11, 24), ("0x18d0", "0x18f4", 19, 45)]
P_LONG = 0.381  # of the called function's long way, pooled over the positions


def main():
    cyclops = os.path.abspath(sys.argv[1])
    captures = [path for path in real_captures() if os.path.basename(path) == NAME]
    if not captures:
        skip(f"CYCLOPS_CAPTURES names no folder with {NAME}")
    capture, checks = captures[0], Checks()
    # the program is there under another name than the recorded one: its build-id finds it
    words = ("--symfs", os.path.dirname(capture), "-i", capture)

    positions = csv_rows(cyclops, "blocks", *words, "--format", "csv", "--table", "positions")
    checks.equal("segments by position", [(row["position"], int(row["segments"])) for row in positions],
                 [(str(i), SAMPLES) for i in range(ENTRIES - 1)])
    faults = [name for name in positions[0] if name not in ("position", "segments", "impossible", "left_out", "privilege", "unresolved")]
    impossible = {row["position"]: sum(int(row[name]) for name in faults) for row in positions}
    checks.equal("positions with impossible segments", [(at, n) for at, n in impossible.items() if n], [("0", IMPOSSIBLE_OF_NEWEST)])
    checks.equal("positions left out", [row["position"] for row in positions if row["left_out"] == "true"], ["0"])

    segments = {(row["start"], row["end"]): row
                for row in csv_rows(cyclops, "blocks", *words, "compute_flag", "--format", "csv", "--table", "segments")}
    for start, end, p50, p99 in DURATIONS:
        row = segments[start, end]
        checks.equal(f"cycles of {start}..{end}", [("p50", int(row["cycles_p50"])), ("p99", int(row["cycles_p99"]))],
                     [("p50", p50), ("p99", p99)])
    counts = [int(segments[where[:2]]["records"]) for where in DURATIONS]
    checks.expect(abs(counts[1] / sum(counts) - P_LONG) < 0.005, f"the long way is taken by {counts[1] / sum(counts):.3f}")

    calls = csv_rows(cyclops, "calls", *words, "--format", "csv")
    checks.equal("calls", [(row["caller"], row["callee"], row["calls_trust"]) for row in calls], [("main", "compute_flag", "biased")])
    listing = folded(cyclops, "annotate", "--blocks", *words, "main")
    checks.expect("[7]" in listing and "cmpl $0x0, -0x18(%rbp)" in listing, "annotate --blocks shows no code of main")

    # people read shares only; the tables above have the counts, marked
    called, blocks = folded(cyclops, "calls", *words), folded(cyclops, "blocks", *words, "main")
    for name, screen, headings in ("calls", called, "callee of calls mispred."), ("blocks", blocks, "instr. self of instr. goes to"):
        checks.expect(headings in screen, f"{name}: other columns than {headings}")
        checks.expect("no counts of executions, only shares" in screen, f"{name}: nothing is said of what the stacks prefer")
    checks.expect("% of the calls (15453 recorded returns)" in called, "calls: its answer has other than a share")
    checks.finish()


if __name__ == "__main__":
    main()
