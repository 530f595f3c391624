#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares --time-slices of every command that has it with the times of the exported records.

usage: time_slices.py CYCLOPS MAKE-CAPTURE DATA-FOLDER

Slices are worked out here from the times of the exported records and samples; then
each row of an answer must have its records in the slices that their times belong to.
"""

import collections
import os
import sys
import tempfile

from harness import Checks, csv_rows, run

LINE, PAGE = 64, 4096


class Capture:
    """The exported records of a capture, each with its slice."""

    def __init__(self, cyclops, path, n, options=()):
        self.cyclops, self.path, self.n, self.options = cyclops, path, n, options
        self.spe, self.samples = self.exported("spe"), self.exported("samples")
        everything = self.spe + self.samples
        times = [int(row["time_ns"]) for row in everything if row["time_ns"]]
        self.first, self.width = min(times), (max(times) - min(times)) // n + 1
        for row in everything:
            slice_of = (int(row["time_ns"]) - self.first) // self.width
            row["slice"] = min(max(slice_of, 0), self.n - 1)
            row["pc"] = int(row.get("pc") or row.get("ip") or "0", 0)

    def exported(self, table):
        return self.rows_of("export", "--table", table, "--format", "csv", self.path)

    def rows_of(self, *command):
        return csv_rows(self.cyclops, *command)

    def answer(self, *command, table):
        return self.rows_of(*command, "--time-slices", self.n, "--format", "csv", "--table", table,
                            *self.options)

    def slices(self, row):
        return [int(row[f"slice_{i}"]) for i in range(self.n)]

    def expected(self, rows, key):
        """{key: records by slice}"""
        found = collections.defaultdict(lambda: [0] * self.n)
        for row in rows:
            found[key(row)][row["slice"]] += 1
        return found


def is_memory(row):
    return row["op"] in ("LD", "ST")


def has_address(row):
    return is_memory(row) and bool(row["vaddr"])


def kind_of(row):
    return "atomic" if "AT" in row["subclass"].split() else {"LD": "load", "ST": "store"}[row["op"]]


def pid_of(row):
    return "" if int(row["vaddr"], 16) >> 63 or row["pid"] in ("", "-1") else row["pid"]


def compare(checks, c, name, answer, key, expected, part=False):
    """Every row of the answer; with `part` the answer need not have all that is expected."""
    found = collections.defaultdict(lambda: [0] * c.n)
    for row in answer:
        found[key(row)] = [a + b for a, b in zip(found[key(row)], c.slices(row))]
    checks.expect(bool(found), f"{name}: no rows")
    for which in found.keys() if part else found.keys() | expected.keys():
        checks.expect(found[which] == expected[which],
                      f"{name}: {which}: {found[which]}, expected {expected[which]}")
    checks.count("rows with slices", len(answer))


def check_hot(checks, c):
    everything = c.spe + c.samples
    compare(checks, c, "hot", c.answer("hot", "--by", "cpu", "--all", "--by-samples", c.path, table="hot"),
            lambda row: (row.get("event", "arm_spe"), row["cpu"]),
            c.expected(everything, lambda row: (row.get("event", "arm_spe"), row["cpu"])))
    refills = [row for row in c.spe if "L1D-REFILL" in row["events"].split(":") and row["op"] == "LD"]
    compare(checks, c, "hot --event",
            c.answer("hot", "--event", "l1d-refill && load", "--by", "cpu", "--all", c.path, table="hot"),
            lambda row: row["cpu"], c.expected(refills, lambda row: row["cpu"]))


def check_report(checks, c):
    """The report's functions weigh what they do in `hot`, slice by slice."""
    def key(row):
        return row.get("event"), row["function"], row["module"]

    weights = {key(row): c.slices(row) for row in c.answer("hot", "--by", "function", "--all", c.path, table="hot")}
    compare(checks, c, "report", c.answer("report", "--all", c.path, table="functions"), key, weights)


def check_memory(checks, c):
    memory = [row for row in c.spe if is_memory(row)]
    compare(checks, c, "mem", c.answer("mem", "--by", "cpu", "--all", c.path, table="mem"),
            lambda row: (row["access"], row["cpu"]),
            c.expected(memory, lambda row: (kind_of(row), row["cpu"])))
    placed = [row for row in memory if has_address(row)]
    for by, table, size in (("line", "lines", LINE), ("page", "pages", PAGE)):
        compare(checks, c, f"addr --by {by}",
                c.answer("addr", "--by", by, "--all", c.path, table=table),
                lambda row, by=by: (int(row[by], 16), row["pid"]),
                c.expected(placed, lambda row, size=size: (int(row["vaddr"], 16) // size * size, pid_of(row))))
    compare(checks, c, "c2c", c.answer("c2c", "--all", c.path, table="lines"),
            lambda row: (int(row["address"], 16), row["pid"]),
            c.expected([row for row in placed if int(row["vaddr"], 16) != 0],
                       lambda row: (int(row["vaddr"], 16) // LINE * LINE, pid_of(row))), part=True)


def check_quality(checks, c):
    compare(checks, c, "quality", [row for row in c.answer("quality", c.path, table="cpus") if int(row["records"])],
            lambda row: row["cpu"], c.expected(c.spe, lambda row: row["cpu"]))


def check_annotate(checks, c, function):
    """The demo's program is not moved where it runs: addresses in the file are those of records."""
    head = c.rows_of("annotate", "--format", "csv", "--table", "function", *c.options, c.path, function)[0]
    start, size = int(head["address"], 16), int(head["size"])
    inside = [row for row in c.spe + c.samples if start <= row["pc"] < start + size]
    answer = c.answer("annotate", c.path, function, table="instructions")
    compare(checks, c, f"annotate {function}", [row for row in answer if any(c.slices(row))],
            lambda row: int(row["address"], 16), c.expected(inside, lambda row: row["pc"]))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for number, options in enumerate((["--sharing", "--data", "64K"], ["--no-context", "--samples", 500])):
            path = os.path.join(folder, f"{number}.data")
            run(maker, "--output", path, "--records", 3000, "--seed", number + 3, *options)
            for n in (1, 7, 60):
                c = Capture(cyclops, path, n)
                check_hot(checks, c)
                check_quality(checks, c)
                check_report(checks, c)
                if number == 0:
                    check_memory(checks, c)
    c = Capture(cyclops, os.path.join(data, "demo.data"), 12, ["--symfs", os.path.join(data, "root")])
    for function in ("chase_l2", "multiply_naive"):
        check_annotate(checks, c, function)
    check_quality(checks, c)
    checks.finish()


if __name__ == "__main__":
    main()
