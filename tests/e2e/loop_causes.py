#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of one cause each on the machine model: the first finding of `report` is that cause, with its remedy, in the
function that has it; `run` says the same; an efficient loop is no finding.

usage: loop_causes.py [--all] CYCLOPS

Without --all, one of those that differ by how they are written alone.
"""

import json
import os
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need

COMPILER = "aarch64-linux-gnu-gcc"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loop_causes.c")

ANYTHING = ()  # but what NOT_SAID has

# By what is defined: kind of the first finding, its remedy, its function, and what is known of its loop (None: anything).
CASES = {
    "CHAIN": ("dependency-chain", "break-chain", "add", {"chain_cycles": 2}),
    "GENERATOR": ("dependency-chain", "interleave", "draw", {"chain_cycles": None}),
    "HASH": ("dependency-chain", "interleave", "hash", {"chain_cycles": None}),
    "UNOPTIMISED": ("store-forwarding", "in-register", "add", {"chain_cycles": None, "register_chain_cycles": None}),
    "IN_MEMORY": ("store-forwarding", "in-register", "add", {"chain_cycles": 6, "register_chain_cycles": 1}),
    "UNOPTIMISED_CHASE": ("llc-bound", "pointer-chase", "walk", {"walk": "chase"}),
    "SPILLED": ANYTHING,
    "DIVISION": ("division", "division", "add", {"division_cycles": None, "division_wait_cycles": None}),
    "CHASE": ("llc-bound", "pointer-chase", "walk", {"walk": "chase"}),
    "LONG_CHASE": ("llc-bound", "pointer-chase", "walk", {"walk": "chase"}),
    "PAGE_CHASE": ("llc-bound", "pointer-chase", "walk", {"walk": "chase"}),
    "NUMBERED": ("llc-bound", "pointer-chase", "walk", {"walk": "chase"}),
    "HASHED": ("llc-bound", "smaller-table", "visit", {"walk": "lookup"}),
    "AUTOMATA": ("l2-bound", "smaller-table", "match", {"walk": "lookup"}),
    "ROWS": ("llc-bound", "interchange", "add_columns", {"walk": "columns", "element_bytes": 4}),
    "LARGE_CODE": ("front-end", "code-order", None, None),
    "COLUMNS": ("llc-bound", "interchange", "add_columns",
                {"walk": "columns", "stride_bytes": 16384, "element_bytes": 4}),
    "GATHER": ("dram-latency", "prefetch-ahead", "pick", {"walk": "indirect"}),
    "KEYED": ("llc-bound", "prefetch-ahead", "look_up", {"walk": "indirect"}),
    "BRANCHES": ("mispredictions", "predictable", "count", {"records": None, "all_records": None}),
    "STORES": ("store-bound", "store-in-order", "scatter", {"records": None, "all_records": None}),
    "LATE": ("late-prefetch", "prefetch-distance", "pick", {"prefetch_lacks": None}),
    "SCALAR": ("scalar-loop", "vectorise", "add", {"element_bytes": 1}),
    "VECTORS": None,
    "BESIDE": None,
    "UNITS": None,
    "MATRIX": ("dependency-chain", "interchange", "multiply",
               {"walk": "columns", "stride_bytes": 2048, "element_bytes": 8}),
}
# Written otherwise, the same cause: with --all.
ALIKE = {"HASH", "UNOPTIMISED", "UNOPTIMISED_CHASE", "LONG_CHASE", "PAGE_CHASE", "AUTOMATA", "ROWS", "KEYED", "MATRIX", "UNITS"}

# What may not be said of a program: its loads walk no page tables, nothing knows the next address earlier, or there are
# no more registers.
NOT_SAID = {"CHASE": ("huge pages", "prefetch"), "LONG_CHASE": ("huge pages", "prefetch"), "PAGE_CHASE": ("prefetch",),
            "NUMBERED": ("prefetch",), "SPILLED": ("register",), "CHAIN": ("x*A + C",), "MATRIX": ("x*A + C",),
            "GENERATOR": ("use several accumulators",), "HASH": ("use several accumulators", "x*A + C")}
# What has to be.
SAID = {"GENERATOR": ("x*A + C",), "CHAIN": ("use several accumulators",)}
OF_CODE = {"operation-time", "explained-time", "code-size", "code-pages"}


def is_like(found, wanted):
    """Equal; numbers to three digits."""
    if wanted is None or found is None:
        return found is not None
    return found == wanted or (not isinstance(wanted, str) and abs(found / wanted - 1) < 0.005)


def answer_of(cyclops, words, folder):
    done = subprocess.run([cyclops, *words], env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def check_case(checks, cyclops, case, folder):
    subprocess.run([COMPILER, "-O2", "-fno-tree-vectorize", "-g", "-static", f"-D{case}", "-o", case, SOURCE],
                   cwd=folder, check=True)
    answers = {}
    answers["run"] = answer_of(cyclops, ["run", "--model", "--format", "json", "--folder", f"{case}.run", "--", f"./{case}"], folder)
    answers["report"] = answer_of(cyclops, ["report", "--format", "json", f"{case}.run/perf.data"], folder)
    run, report = answers["run"]["findings"], answers["report"]["findings"]
    checks.count("programs")
    if CASES[case] is None:
        checks.expect(not report, f"{case}: report: {report}")
        checks.expect(not any("remedy_id" in f for f in run), f"{case}: run: {run}")
        return
    kind, remedy, function, of_loop = CASES[case] or (None, None, None, None)
    for name, answer in answers.items() if CASES[case] else ():
        first = answer["findings"][0] if answer["findings"] else {}
        told = (first.get("kind"), first.get("remedy_id"), first.get("function"))
        checks.expect(told == (kind, remedy, function), f"{case}: {name}: {told}")
        if of_loop is None:
            found = {row["kind"] for row in answer["evidence"] if row["finding"] == 1}
            checks.expect(OF_CODE <= found, f"{case}: {name}: {found}")
            continue
        loop = next((row for row in answer["loops"] if row["finding"] == 1), {})
        checks.expect(all(is_like(loop.get(key), of_loop[key]) for key in of_loop), f"{case}: {name}: {loop}")
    for words in NOT_SAID.get(case, ()):
        checks.expect(not any(words in f.get("try", "") for f in run + report), f"{case}: '{words}' is said")
    for words in SAID.get(case, ()):
        checks.expect(words in report[0].get("try", ""), f"{case}: '{words}' is not said")
    tries = {f["try"] for f in report if "try" in f}
    checks.expect(tries <= {f.get("try") for f in run}, f"{case}: run lacks {tries}")


def main():
    *options, cyclops = sys.argv[1:] or sys.exit(__doc__)
    if options not in ([], ["--all"]):
        sys.exit(__doc__)
    need("qemu-aarch64")
    need(COMPILER)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if options or case not in ALIKE:
                check_case(checks, os.path.abspath(cyclops), case, folder)
    checks.finish()


if __name__ == "__main__":
    main()
