#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of one cause each on the machine model: the first finding of `report` is that cause, with its remedy, in the
function that has it; `run` says the same; an efficient loop is no finding.

usage: loop_causes.py CYCLOPS
"""

import json
import os
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need

COMPILER = "aarch64-linux-gnu-gcc"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loop_causes.c")

# By what is defined: kind of the first finding, its remedy, its function, and what its evidence has to say.
CASES = {
    "CHAIN": ("dependency-chain", "break-chain", "add", "the chain takes 2 cycles"),
    "DIVISION": ("division", "division", "add", "one after the other; one that has its inputs waits"),
    "CHASE": ("llc-bound", "pointer-chase", "walk", "pointer chase"),
    "LONG_CHASE": ("llc-bound", "pointer-chase", "walk", "pointer chase"),
    "NUMBERED": ("llc-bound", "pointer-chase", "walk", "pointer chase"),
    "HASHED": ("llc-bound", "smaller-table", "visit", "dependent look-ups"),
    "AUTOMATA": ("l2-bound", "smaller-table", "match", "dependent look-ups"),
    "ROWS": ("llc-bound", "interchange", "add_columns", "column-wise access over 4-byte elements"),
    "LARGE_CODE": ("front-end", "code-order", None, "90 % of the samples are spread over"),
    "COLUMNS": ("llc-bound", "interchange", "add_columns", "column-wise access, stride 16 KiB over 4-byte elements"),
    "GATHER": ("dram-latency", "prefetch-ahead", "pick", "the addresses come from other loads"),
    "BRANCHES": ("mispredictions", "predictable", "count", "are mispredicted"),
    "STORES": ("store-bound", "store-in-order", "scatter", "miss the L1D"),
    "LATE": ("late-prefetch", "prefetch-distance", "pick", "the data take"),
    "SCALAR": ("scalar-loop", "vectorise", "add", "over 1-byte elements"),
    "VECTORS": None,
    "BESIDE": None,
    "MATRIX": ("dependency-chain", "interchange", "multiply", "column-wise access, stride 2 KiB over 8-byte elements"),
}


def findings_of(cyclops, words, folder):
    done = subprocess.run([cyclops, *words], env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["findings"]


def check_case(checks, cyclops, case, folder):
    subprocess.run([COMPILER, "-O2", "-fno-tree-vectorize", "-g", "-static", f"-D{case}", "-o", case, SOURCE],
                   cwd=folder, check=True)
    run = findings_of(cyclops, ["run", "--model", "--format", "json", "--folder", f"{case}.run", "--", f"./{case}"], folder)
    report = findings_of(cyclops, ["report", "--format", "json", f"{case}.run/perf.data"], folder)
    checks.count("programs")
    if CASES[case] is None:
        checks.expect(not report, f"{case}: report: {report}")
        checks.expect(not any("remedy_id" in f and f.get("from") == "samples" for f in run), f"{case}: run: {run}")
        return
    kind, remedy, function, words = CASES[case]
    for name, findings in (("report", report), ("run", run)):
        first = findings[0] if findings else {}
        told = (first.get("kind"), first.get("remedy_id"), first.get("function"))
        checks.expect(told == (kind, remedy, function), f"{case}: {name}: {told}")
        checks.expect(words in first.get("evidence", ""), f"{case}: {name}: {first.get('evidence')}")
    tries = {f["try"] for f in report if "try" in f}
    checks.expect(tries <= {f.get("try") for f in run}, f"{case}: run lacks {tries}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    need("qemu-aarch64")
    need(COMPILER)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            check_case(checks, os.path.abspath(sys.argv[1]), case, folder)
    checks.finish()


if __name__ == "__main__":
    main()
