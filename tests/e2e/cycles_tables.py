#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Tables of cycle accounting, against those of hot and against themselves: cycles_tables.py CYCLOPS DATA_DIR.

By instruction, line and function the samples of each event are those of `hot --event`; differences and ratios are
not shown below functions. What is in csv is what the manual says, --ghz scales the penalties in ns alone, and
--penalty takes the place of any.
"""

import collections
import json
import pathlib
import subprocess
import sys

from harness import Checks, csv_rows

COLUMNS = ["node", "parent", "depth", "kind", "state", "samples", "events", "mux", "mux_trust", "penalty", "cycles", "cycles_se",
           "share", "share_trust", "cap", "capped_cycles", "overlap"]
NAMES = ["program", "module", "function", "file", "line", "block", "address"]
# By key: what rows are called, what else csv has of it, and what tells rows apart in hot, too.
KEYS = {
    "function": (["function", "module"], [], ["function", "module"]),
    "line": (["module", "function", "file", "line"], [], ["file", "line", "function", "module"]),
    "instruction": (["module", "function", "file", "line", "address"], ["instruction", "offset", "location"], ["module", "offset"]),
    "module": (["module"], ["path"], ["module"]),
    "program": (["program"], ["program_path", "processes"], ["program"]),
}
FINE = ("line", "instruction")
NODES = ["CPU_CYCLES", "STALL_BACKEND", "STALL_FRONTEND", "INST_RETIRED", "INST_SPEC", "L1D_CACHE_REFILL_RD", "L2D_CACHE_REFILL_RD",
         "L1D_TLB_REFILL_RD", "DTLB_WALK", "BR_MIS_PRED_RETIRED"]
CLOCKS = (1.4, 2.8, 3.5)


def ask(cyclops, data, command, *options):
    return csv_rows(cyclops, command, "--symfs", data / "root", "--format", "csv", "--all", *options, data / "cycles.data")


def check_costs_of_blocks(checks, cyclops, data):
    """Costs of the blocks of a function, in `blocks`: those of the same block in `cycles --by block`."""
    values = collections.defaultdict(dict)
    for row in ask(cyclops, data, "cycles", "--by", "block"):
        if row["address"]:
            values[row["function"], row["address"]][row["node"]] = row
    for function in sorted({function for function, _ in values}):
        rows = csv_rows(cyclops, "blocks", "--symfs", data / "root", "--format", "csv", "--table", "blocks", data / "cycles.data", function)
        cycles = {row["start"]: float(values[function, row["start"]]["CPU_CYCLES"]["cycles"] or 0)
                  for row in rows if (function, row["start"]) in values}
        for row in rows:
            nodes = values.get((function, row["start"]), {})
            whole = cycles.get(row["start"], 0)
            for name, node in (("cost_stalled", "stall_total"), ("cost_load_latency", "load_latency"), ("cost_front_end", "front_end")):
                wanted = float(nodes[node]["cycles"]) / whole if whole > 0 else None
                ours = float(row[name]) if row[name] else None
                checks.expect(ours == wanted or (ours is not None and wanted is not None and abs(ours - wanted) < 1e-9),
                              f"blocks: {function} {row['start']}: {name} is {ours}, cycles --by block: {wanted}")
            checks.expect(row["cost_underutilization"] == "", f"blocks: {function}: a difference of samples of a block")
            share = whole / sum(cycles.values())
            checks.expect(abs(float(row["cycle_share"] or 0) - share) < 1e-9, f"blocks: {function} {row['start']}: {row['cycle_share']}, not {share}")
            checks.count("costs of blocks", 3)


def check_key(checks, cyclops, data, key):
    names, more, identity = KEYS[key]
    rows = ask(cyclops, data, "cycles", "--by", key)
    wanted = NAMES + COLUMNS + more
    checks.expect([name for name in rows[0] if name != "modelled"] == wanted, f"--by {key}: {list(rows[0])}, wanted {wanted}")
    for name in NAMES:  # startup code has no lines
        checks.expect(any(row[name] for row in rows) == (name in names), f"--by {key}: column {name}")
    found = collections.defaultdict(dict)
    for row in rows:
        found[row["node"]][tuple(row[name] for name in identity)] = row
    for node in NODES:
        hot = collections.Counter()  # hot has rows of their own for what was inlined
        for row in ask(cyclops, data, "hot", "--by", key, "--event", f"{node.lower()}:u"):
            hot[tuple(row[name] for name in identity)] += int(row["samples"])
        here = {name: int(row["samples"]) for name, row in found[node].items() if int(row["samples"]) > 0}
        checks.expect(here == dict(hot), f"--by {key}: {node}: {here}, hot {hot}")
        checks.count("sums of samples", len(hot))
    for name in ("underutilization", "Wrong_path_cycles", "not_explained", "instruction_starvation"):
        states = {row["state"] for row in found[name].values()}
        checks.expect(("too fine" in states) == (key in FINE), f"--by {key}: {name} is {states}")
        checks.expect(key not in FINE or not any(row["cycles"] for row in found[name].values()), f"--by {key}: {name} has cycles")


def check_blocks(checks, cyclops, data):
    """Samples of blocks are those of their instructions, and the blocks are those of `blocks`."""
    rows = [row for row in ask(cyclops, data, "cycles", "--by", "block") if row["node"] in NODES]
    functions = {row["function"] for row in rows}
    for function in functions:
        listed = csv_rows(cyclops, "blocks", "--symfs", data / "root", "--format", "csv", "--table", "blocks", data / "cycles.data", function)
        ranges = {int(one["start"], 16): one for one in listed}
        for row in (row for row in rows if row["function"] == function):
            block = ranges[int(row["address"], 16)]
            checks.expect(block["block"] == row["block"] and block["file"] == row["file"], f"{row}, blocks has {block}")
            samples = block[f"samples_{row['node'].lower()}_u"] if f"samples_{row['node'].lower()}_u" in block else "0"
            checks.expect(samples == row["samples"], f"{row}, blocks has {block}")
            checks.count("events of blocks")
    whole = sum(int(row["samples"]) for row in rows if row["node"] == "CPU_CYCLES")
    function = sum(int(row["samples"]) for row in ask(cyclops, data, "cycles") if row["node"] == "CPU_CYCLES")
    checks.expect(whole == function, f"blocks have {whole} samples, functions {function}")


def check_several(checks, cyclops, data):
    """A capture twice: twice of all that is counted, and the same shares; errors grow as those of independent ones do."""
    once = {(row["function"], row["node"]): row for row in ask(cyclops, data, "cycles", "--by", "program,function")}
    twice = ask(cyclops, data, "cycles", "--by", "program,function", data / "cycles.data")
    checks.expect(len(once) == len(twice), f"{len(once)} rows, of two captures {len(twice)}")
    for row in twice:
        one = once[row["function"], row["node"]]
        checks.expect(row["processes"] == "2" and row["program"] == one["program"], f"{row}")
        for name, times in (("samples", 2), ("events", 2), ("cycles", 2), ("cycles_se", 2**0.5), ("share", 1), ("mux", 1)):
            if one["kind"] == "formula" and name == "cycles_se":
                continue  # of few samples, the busiest port or a clamped one may be another
            checks.expect(row[name] == one[name] or abs(float(row[name]) - times * float(one[name])) <= 1e-9 * abs(float(row[name])),
                          f"{name}: {row}, of one capture {one}")
            checks.count("numbers of two captures")


def check_clock(checks, cyclops, data):
    listed = {row["event"]: row for row in csv_rows(cyclops, "list", "penalties", "--cpu", "neoverse-n1", "--format", "csv")}
    for event in NODES:
        checks.expect({"penalty", "unit", "state", "source"} <= set(listed[event]), f"{event}: {listed[event]}")
    for ghz in CLOCKS:
        rows = ask(cyclops, data, "cycles", "--tree", "all", "--ghz", str(ghz))
        for row in rows:
            if row["kind"] != "event" or not row["penalty"]:
                continue
            one = listed[row["node"]]
            wanted = float(one["penalty"]) * (ghz if one["unit"] == "ns" else 1)
            checks.expect(abs(float(row["penalty"]) - wanted) < 1e-9 * wanted, f"{ghz} GHz: {row['node']}: {row['penalty']}, not {wanted}")
            checks.count(f"penalties in {one['unit']}")
            if row["cycles"]:
                checks.expect(abs(float(row["cycles"]) - float(row["events"]) * wanted) <= 1e-9 * float(row["cycles"]), f"{row}")
    rows = ask(cyclops, data, "cycles", "--tree", "all", "--penalty", "DTLB_WALK=100")
    walk = next(row for row in rows if row["node"] == "DTLB_WALK")
    checks.expect(float(walk["penalty"]) == 100 and float(walk["cycles"]) == 100 * float(walk["events"]), f"--penalty: {walk}")


def check_diff(checks, cyclops, data):
    """diff of a capture and itself has the capped cycles of the tree, and no change; with the same options."""
    for options in ((), ("--ghz", "3.5", "--penalty", "DTLB_WALK=100"), ("--template", "neoverse-n2")):
        said = subprocess.run([cyclops, "diff", "--by", "cycles", *options, "--format", "json", data / "cycles.data", data / "cycles.data"],
                              capture_output=True, text=True, check=True).stdout
        rows = {row["name"]: row for row in json.loads(said)["cycles"]}
        for row in ask(cyclops, data, "cycles", "--tree", "all", *options):
            if row["node"] not in rows:
                continue
            one = rows[row["node"]]
            checks.expect(abs(one["a"] - float(row["capped_cycles"])) <= 1e-9 * one["a"] and one["change"] == 0, f"{options}: {one}, cycles {row}")
            checks.count("nodes of diff")
    checks.expect_failure("add --by cycles", cyclops, "diff", "--ghz", "3", data / "cycles.data", data / "cycles.data")
    checks.expect_failure("has no event 'FOO'", cyclops, "diff", "--by", "cycles", "--penalty", "FOO=3", data / "cycles.data", data / "cycles.data")


def main():
    cyclops, data = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    checks = Checks()
    for key in KEYS:
        check_key(checks, cyclops, data, key)
    check_blocks(checks, cyclops, data)
    check_costs_of_blocks(checks, cyclops, data)
    check_several(checks, cyclops, data)
    check_clock(checks, cyclops, data)
    check_diff(checks, cyclops, data)
    checks.finish()


if __name__ == "__main__":
    main()
