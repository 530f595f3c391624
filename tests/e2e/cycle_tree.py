#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares trees of cycle accounting with the report that Gooda's authors published (Westmere-EP).

usage: cycle_tree.py CYCLE_TREE

The report has samples of 44 events by function and by process, periods, multiplex factors and
penalties, and what Gooda made of them: nine branches and sub-branches, in samples of the cycles event.
Gooda cuts each part to a whole number, so a sum may differ by less than the number of its parts;
with our parts cut in the same way, all must be equal.

CYCLOPS_GOODA_SAMPLE: the folder of the report. Without it the test is skipped.
"""

import csv
import json
import math
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
BRANCHES = ["load_latency", "dtlb_latency", "instruction_starvation", "itlb_latency", "bandwidth_saturated",
            "branch_misprediction", "store_resources_saturated", "instruction_latency", "exception_handling"]
CYCLES = "unhalted_core_cycles"
WRONG = "Wrong_path_cycles"


class Report:
    """A table of the report: rows of whole numbers by column, and what is said of columns."""

    def __init__(self, path):
        lines = [line for line in path.read_text().splitlines() if line.startswith("[,")]
        rows = [next(csv.reader([line.strip("[],")], skipinitialspace=True)) for line in lines]
        # a line begins with empty cells, of which strip() removed all but the text
        head = next(row for row in rows if CYCLES in row)
        self.columns = head[head.index(CYCLES):]
        n = len(self.columns)
        self.said, self.rows, self.total = {}, [], None
        for row in rows[rows.index(head) + 1:]:
            numbers = row[-n:]
            if len(row) < n:
                continue
            key = next((cell for cell in row if cell), "")
            if key in ("Period", "Periods"):
                self.said["period"] = dict(zip(self.columns, map(float, numbers)))
            elif key == "Multiplex":
                self.said["mux"] = dict(zip(self.columns, map(float, numbers)))
            elif key in ("Penalty", "Penalties"):
                self.said["penalty"] = dict(zip(self.columns, map(float, numbers)))
            elif "sample breakdown" in " ".join(row):
                self.total = dict(zip(self.columns, map(int, numbers)))
            elif key == "Cycles":
                continue
            elif all(cell.lstrip("-").isdigit() for cell in numbers):
                self.rows.append(dict(zip(self.columns, map(int, numbers))))


def parts_of(template, branch):
    """The events whose cycles are in a branch, sub-branches' included."""
    parts = []
    for node in template["nodes"]:
        if node.get("parent") == branch and node.get("adds"):
            parts += [node["name"]] if node["kind"] != "branch" else parts_of(template, node["name"])
    return parts


def compare(name, report, tree, template):
    """Returns the number of cells that were compared, and of those whose parts, cut, give another sum."""
    unit = report.said["period"][CYCLES] * report.said["mux"][CYCLES]
    weight = {c: report.said["period"][c] * report.said["mux"][c] for c in report.columns}
    known = {node["name"]: node for node in template["nodes"]}
    events = [c for c in report.columns if known[c]["kind"] == "event"]
    numbers = "\n".join(" ".join(f"{row[c] * weight[c]:.17g}" for c in events) for row in report.rows)
    lines = subprocess.run([tree, template["id"], "0", *events], input=numbers, text=True,
                           capture_output=True, check=True).stdout.splitlines()
    names = lines[0].split("\t")
    n_cells = n_cut_differs = n_far = 0
    for row, line in zip(report.rows, lines[1:], strict=True):
        got = dict(zip(names, map(float, line.split("\t"))))
        for branch in BRANCHES:
            parts = parts_of(template, branch)
            cut = sum(math.trunc(got[p] / unit + 1e-9) for p in parts)
            n_cells += 1
            n_cut_differs += cut != row[branch]
            # the factors in the report have four digits behind the point
            n_far += not -1e-3 <= got[branch] / unit - row[branch] < len(parts)
    print(f"{name}: {len(report.rows)} rows, {n_cells} branches, parts cut differ in {n_cut_differs}, "
          f"off by as many as there are parts: {n_far}")
    return n_cells, n_cut_differs, n_far


def compare_wrong_path(report, tree, template):
    """The part of rows whose wrong-path cycles are the report's. Its ratio is one of raw samples."""
    total, mux = report.total, report.said["mux"]
    rate = total["uops_issued:any"] / total["uops_issued:any:c=1"]
    events = ["uops_issued:any", "uops_retired:retire_slots", "uops_issued:any:c=1"]
    numbers = "\n".join(" ".join(f"{row[c] * mux[c] / mux[CYCLES]:.17g}" for c in events) for row in report.rows)
    lines = subprocess.run([tree, template["id"], f"{rate:.17g}", *events], input=numbers, text=True,
                           capture_output=True, check=True).stdout.splitlines()
    at = lines[0].split("\t").index(WRONG)
    same = sum(math.trunc(float(line.split("\t")[at])) == row[WRONG]
               for row, line in zip(report.rows, lines[1:], strict=True))
    print(f"wrong path: {same} of {len(report.rows)} rows are equal")
    return same / len(report.rows)


def main():
    tree = sys.argv[1]
    folder = os.environ.get("CYCLOPS_GOODA_SAMPLE")
    if not folder:
        print("CYCLOPS_GOODA_SAMPLE is not set: no report to compare with")
        sys.exit(SKIPPED)
    catalog = pathlib.Path(__file__).parents[2] / "catalog" / "cycles"
    template = json.loads((catalog / "westmere-ep.json").read_text())
    faults = 0
    for name in ("function_hotspots.csv", "process.csv"):
        report = Report(pathlib.Path(folder) / name)
        for column, penalty in report.said.get("penalty", {}).items():
            node = next(n for n in template["nodes"] if n["name"] == column)
            if node["kind"] == "event" and node.get("adds") and node.get("penalty") != penalty:
                print(f"{column}: penalty {node.get('penalty')}, the report has {penalty}")
                faults += 1
        n, n_cut, n_far = compare(name, report, tree, template)
        faults += n < 2000 or n_far > 0 or n_cut > 0
        if name == "function_hotspots.csv":
            faults += compare_wrong_path(report, tree, template) < 0.95
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
