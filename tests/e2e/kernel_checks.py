#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
kernel --validate and --calibrate on the machine model: it counts what kernels make it count, a table with two
events swapped is noticed, and penalties are the model's parameters.

usage: kernel_checks.py CYCLOPS MODEL EXPECTED DATA_DIR

MODEL: catalog/model/neoverse-n1.json. EXPECTED: catalog/expected.json. The system cache of the model is made
smaller here, so that kernels that do not fit into it are quick.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import harness
from harness import ENVIRONMENT, Checks

SMALL = ["--set", "system_cache_bytes=8388608"]
# One for each thing that goes wrong in its own way; all cases: make soak.
CASES = ["chase-l1", "chase-l2", "chase-tlb2", "chase-walk", "random-branch", "constant-branch", "branches-taken", "calls",
         "code-l1", "floats"]
SWAPPED = ("L1D_CACHE_REFILL_RD", "BR_MIS_PRED_RETIRED")
GATE = 3


def ask(cyclops, *words, **more):
    return subprocess.run([cyclops, "kernel", *words], env={**ENVIRONMENT, **more}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


def answer(cyclops, *words, **more):
    done = ask(cyclops, *words, "--format", "json", **more)
    if done.returncode != 0:
        sys.exit(f"kernel {' '.join(words)}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def check_counts(checks, cyclops, cases):
    """Whatever follows from the instructions is counted; nothing counts where it must not."""
    got = answer(cyclops, "--validate", "--model", *SMALL, *cases)
    checks.expect(got["modelled"] is True, "the counts of the model are not said to be modelled")
    for row in got["checks"]:
        is_known = row.get("counted") is not None  # the model does not count all events of the CPU
        checks.expect(not is_known or row["verdict"] == "ok", f"{row['event']} in {row['case']}: {row}")
        checks.count(f"{row['kind']} rows that are {row['verdict']}")
    for row in got["events"]:
        checks.expect(row["verdict"] in ("ok", "not counted here"), f"{row}")
        checks.count(f"events {row['verdict']}")


def swapped(path, to):
    """A file of expected counts in which two events have each other's."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    other = {SWAPPED[0]: SWAPPED[1], SWAPPED[1]: SWAPPED[0]}
    text = re.sub("|".join(f'"{name}"' for name in SWAPPED), lambda found: f'"{other[found[0][1:-1]]}"', text)
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)
    return to


def check_swapped(checks, cyclops, expected, folder):
    table = swapped(expected, os.path.join(folder, "swapped.json"))
    words = ["--validate", "--model", "--expected", table, "chase-l1", "chase-l2", "random-branch", *SWAPPED]
    verdicts = {row["event"]: row["verdict"] for row in answer(cyclops, *words)["events"]}
    checks.expect(verdicts == dict.fromkeys(SWAPPED, "fires elsewhere"), f"swapped events: {verdicts}")
    checks.expect(ask(cyclops, *words, "--fail-if", "elsewhere > 1").returncode == GATE, "elsewhere > 1 fails no gate")
    checks.expect(ask(cyclops, *words, "--fail-if", "wrong > 2").returncode == 0, "wrong > 2 fails a gate")
    checks.count("swapped tables")


def check_spe(rows):
    """Records of the chases: their number, their source and how long a load takes, beside what is counted."""
    if [row["level"] for row in rows] != ["l1", "l2", "llc", "dram"] or {row["verdict"] for row in rows} != {"ok"}:
        sys.exit(f"SPE beside chases: {rows}")
    for row in rows:
        error = abs(row["estimate"] - row["loads"])
        # a load that is answered late ends later than the next one needs its data: only the first level is equal
        late = row["level"] == "l1" or row.get("latency_cycles", 0) > row["load_cycles"] or row["saturated_share"] > 0
        if error > 2 * row["error"] or row["source_share"] < 0.75 or not late:
            sys.exit(f"SPE beside a chase: {row}")


def penalties(cyclops, *words, **more):
    got = answer(cyclops, "--calibrate", "--model", *SMALL, *words, **more)
    for row in got["penalties"]:
        if row["spread"] > 0.05:
            sys.exit(f"not steady: {row}")
    check_spe(got["spe"])
    return {row["event"]: row["penalty"] for row in got["penalties"]}


def is_near(value, wanted, part=0.05):
    return abs(value - wanted) <= part * wanted


def check_penalties(checks, found, model):
    """What the model was told, as far as it is a parameter."""
    wanted = {
        "L1D_CACHE_REFILL_RD": model["l2_cycles"] - model["latency_load"],
        "LL_CACHE_MISS_RD": model["dram_cycles"] - model["system_cache_cycles"],
        "BR_MIS_PRED_RETIRED": model["mispredict_cycles"],
        # the entry is in the L2. The load misses the L1D, too: its look-up there is over when the page is known
        "DTLB_WALK": model["walk_cycles"] + model["l2_cycles"] - (model["latency_load"] - 1),
    }
    for event, cycles in wanted.items():
        checks.expect(is_near(found[event], cycles), f"{event}: {found[event]}, the model has {cycles}")
        checks.count("penalties of parameters")
    # one cycle of a translation is hidden, as it is when the first TLB hits
    checks.expect(abs(found["L1D_TLB_REFILL_RD"] - (model["l2tlb_cycles"] - 1)) < 1, f"second TLB: {found['L1D_TLB_REFILL_RD']}")


def check_moved(checks, before, after, by):
    """A slower L2: its own penalty is larger, and of all that reads from it; what is behind it is as much nearer. The model repeats itself."""
    moves = {"L1D_CACHE_REFILL_RD": by, "L1I_CACHE_REFILL": by, "DTLB_WALK": by, "ITLB_WALK": by, "L2D_CACHE_REFILL_RD": -by}
    for event, cycles in before.items():
        moved = after[event] - cycles
        checks.expect(abs(moved - moves.get(event, 0)) < 0.05 * by + 0.005 * cycles, f"{event}: {cycles} moved by {moved}")
        checks.count("penalties that moved" if event in moves else "penalties that did not move")


def check_file(checks, cyclops, data, folder):
    """The file says what it is, and cycles takes it. Returns the penalties that the command shows."""
    path = os.path.join(folder, "tree.json")
    found = penalties(cyclops, "--repeats", "2", "-o", path, SOURCE_DATE_EPOCH="86400")
    with open(path, encoding="utf-8") as file:
        tree = json.load(file)
    sources = {node["name"]: node.get("source", "") for node in tree["nodes"]}
    checks.expect(tree["measured"] == {"machine": "Neoverse N1", "modelled": True, "date": "1970-01-02", "ghz": 2.8},
                  f"measured: {tree['measured']}")
    checks.expect("1970-01-02 at 2.80 GHz" in sources["L1D_CACHE_REFILL_RD"], sources["L1D_CACHE_REFILL_RD"])
    capture = os.path.join(data, "cycles.data")
    costs = []
    for template in ("neoverse-n1", path):
        done = subprocess.run([cyclops, "cycles", "--template", template, "--tree", "all", "--format", "json", capture],
                              env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == 0, f"cycles --template {template}: {done.stderr}")
        costs.append({row["node"]: row.get("penalty") for row in json.loads(done.stdout)["cycles"]})
    checks.expect(costs[0]["L1D_CACHE_REFILL_RD"] == 7 and is_near(costs[1]["L1D_CACHE_REFILL_RD"], 10),
                  f"penalties of the capture: {costs[0]['L1D_CACHE_REFILL_RD']}, {costs[1]['L1D_CACHE_REFILL_RD']}")
    checks.count("trees used")
    return found


def check_far_walks(checks, cyclops):
    """
    Table 4.4 of the SPE white paper, from DRAM with -t: 135 ns. Lines are in DRAM, each on a page of its own, and
    page table entries no longer fit the L2 beside them, so that a walk reads the system cache, which is small here.
    """
    run = answer(cyclops, "chase", "--lines", "131072", "--stride", "4160", "--iterations", "300000", "--model", "--set",
                 "system_cache_bytes=4194304")["run"][0]
    checks.expect(is_near(run["iteration_ns"], 135), f"DRAM with walks: {run['iteration_ns']} ns, the paper has 135")
    checks.count("points of table 4.4")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    cyclops, model_path, expected, data = map(os.path.abspath, sys.argv[1:])
    if not harness.has_kernels(cyclops):
        harness.skip("no machine model here, or no microbenchmarks for it")
    with open(model_path, encoding="utf-8") as file:
        model = {p["name"]: p["value"] for p in json.load(file)["parameters"]}
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_far_walks(checks, cyclops)
        check_counts(checks, cyclops, CASES)
        check_swapped(checks, cyclops, expected, folder)
        found = check_file(checks, cyclops, data, folder)
        check_penalties(checks, found, model)
        check_moved(checks, found, penalties(cyclops, "--repeats", "1", "--set", "l2_cycles=20"), 20 - model["l2_cycles"])
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
