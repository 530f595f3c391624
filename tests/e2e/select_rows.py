#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what --select lets through with the same filter applied here to all rows.

usage: select_rows.py CYCLOPS MAKE-CAPTURE DATA_DIR

Every field with every operator, on both tables of `cyclops export`, then random expressions of
them. Names of functions are compared by the sums of `cyclops hot` on DATA_DIR/demo.data, where it
is.
"""

import csv
import itertools
import operator
import os
import random
import re
import sys
import tempfile

from harness import Checks, run

COMBINATIONS = 60
TEXT_COLUMN = 62
NAMES = {400: "server", 401: "client", 402: "logger"}  # of processes, by pid / 10
COMPARISONS = {"=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
               "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SOURCES = {"L1D": ("L1", 0), "L2": ("L2", 8), "PEER_CORE": ("peer-core", 9),
           "LOCAL_CLUSTER": ("local-cluster", 10), "SYS_CACHE": ("system-cache", 11),
           "PEER_CLUSTER": ("peer-cluster", 12), "REMOTE": ("remote", 13), "DRAM": ("DRAM", 14)}

# What the words of op= mean, by the words of the packet dump.
OPERATIONS = {
    "load": lambda op: op[0] == "LD",
    "store": lambda op: op[0] == "ST",
    "branch": lambda op: op[0] == "B",
    "other": lambda op: op[0] in ("OTHER", "SVE-OTHER", "SME-OTHER"),
    "atomic": lambda op: "AT" in op,
    "exclusive": lambda op: "EXCL" in op,
    "acquire-release": lambda op: "AR" in op,
    "conditional": lambda op: "COND" in op or "COND-SELECT" in op,
    "indirect": lambda op: "IND" in op,
    "call": lambda op: "CR-BL" in op,
    "return": lambda op: "CR-RET" in op,
    "simd": lambda op: "SIMD-FP" in op or "ASE" in op,
    "fp": lambda op: "FP" in op,
    "sve": lambda op: "SVE-OTHER" in op or "SVE-SME-REG" in op,
    "sme": lambda op: "SME-OTHER" in op,
    "vector": lambda op: {"SIMD-FP", "ASE", "SVE-OTHER", "SVE-SME-REG", "SME-OTHER"} & set(op),
    "predicated": lambda op: "PRED" in op,
    "gather-scatter": lambda op: "SG" in op,
}
EVENTS = {"l1d-refill": "L1D-REFILL", "L1D_REFILL": "L1D-REFILL", "mispredicted": "MISPRED",
          "tlb-walk": "TLB-REFILL", "llc-miss": "LLC-REFILL", "retired": "RETIRED",
          "not-taken": "NOT-TAKEN", "remote-access": "REMOTE-ACCESS"}


def number(text):
    return int(text, 0) if text else None


class Table:
    """The rows of an export: as written, and by field."""

    def __init__(self, cyclops, path, name, start_ns):
        self.command = [cyclops, "export", "--table", name, "--format", "csv"]
        self.path = path
        lines = run(*self.command, path).decode().splitlines()
        self.header, self.lines = lines[0], lines[1:]
        self.rows = list(csv.DictReader(lines))
        for row in self.rows:
            self.add_fields(row, start_ns)

    @staticmethod
    def add_fields(row, start_ns):
        columns = {"tot": "total_lat", "issue": "issue_lat", "xlat": "xlat_lat", "va": "vaddr",
                   "pa": "paddr", "target": "target", "pid": "pid", "tid": "tid", "cpu": "cpu",
                   "period": "period", "weight": "weight"}
        fields = {name: number(row.get(column)) for name, column in columns.items()}
        fields["pc"] = number(row.get("pc") or row.get("ip"))
        fields["va"] = fields["va"] if "vaddr" in row else number(row["addr"])
        fields["el"] = number(row["el"]) if "el" in row else 0
        fields["time"] = number(row["time_ns"]) - start_ns
        if fields["tot"] is not None and fields["issue"] is not None:
            fields["exec"] = max(0, fields["tot"] - fields["issue"] - (fields["xlat"] or 0))
        fields["comm"] = NAMES.get((fields["pid"] or 0) // 10)
        row["fields"] = fields

    def selected(self, expression):
        return run(*self.command, "--select", expression, self.path).decode().splitlines()[1:]

    def filtered(self, test):
        return [line for line, row in zip(self.lines, self.rows) if test(row)]


def add_operations(cyclops, path, table):
    """The words of each record's operation, from the dump, which has the same order."""
    dump = run(cyclops, "dump", "--packets", "--wording", "full", path).decode().splitlines()
    operations, words = [], None
    for line in dump:
        text = line[TEXT_COLUMN:].split()
        if text and (text[0] in ("LD", "ST", "B") or text[0].endswith("OTHER")):
            words = text
        elif text and text[0] == "TS":
            operations.append(words)
            words = None
    assert len(operations) == len(table.rows)
    for row, words in zip(table.rows, operations):
        row["operation"] = words


def numeric(name, compare, value):
    def test(row):
        found = row["fields"].get(name)
        return found is not None and compare(found, value)
    return test


def within(name, low, high):
    return numeric(name, lambda found, _: low <= found <= high, None)


def negated(has, test):
    """!= and !~: a row that has nothing to compare does not pass."""
    return lambda row: has(row) and not test(row)


def numeric_atoms(tables):
    """Each field with each operator, at values that occur, and around them."""
    for name in ("tot", "issue", "xlat", "exec", "pc", "va", "pa", "target", "pid", "tid", "cpu",
                 "el", "time", "period", "weight"):
        values = sorted(row["fields"][name] for table in tables for row in table.rows
                        if row["fields"].get(name) is not None) or [0]
        middle = values[len(values) // 2]
        edges = itertools.cycle((values[0], values[-1], middle + 1))
        for sign, compare in COMPARISONS.items():
            for value in (middle, next(edges)):
                unit = "ns" if name == "time" else ""
                yield f"{name}{sign}{value}{unit}", numeric(name, compare, value)
        low, high = values[len(values) // 4], values[3 * len(values) // 4]
        yield f"{name} in {low}..{hex(high)}", within(name, low, high)
    yield "time<1.5ms", numeric("time", operator.lt, 1500000)
    yield "time in 100us .. 0.001s", within("time", 100000, 1000000)


def has_operation(row):
    return row.get("operation") is not None


def is_operation(test):
    return lambda row: has_operation(row) and bool(test(row["operation"]))


def has_events(row):
    return "event" in row or bool(row["events"])


def has_event(name):
    return lambda row: name in row["events"].split(":") if "events" in row else False


def is_sampled(pattern):
    return lambda row: "event" in row and re.search(pattern, row["event"]) is not None


def has_source(row):
    return bool(row.get("source"))


def is_source(names):
    return lambda row: row.get("source") in names


def has_comm(row):
    return row["fields"]["comm"] is not None


def is_comm(pattern):
    return lambda row: has_comm(row) and re.search(pattern, row["fields"]["comm"]) is not None


def name_atoms():
    for word, meaning in OPERATIONS.items():
        yield f"op={word}", is_operation(meaning)
        yield f"op!={word.upper()}", negated(has_operation, is_operation(meaning))
    for word, name in EVENTS.items():
        yield f"event={word}", has_event(name)
        yield f"event!={word}", negated(has_events, has_event(name))
    yield "event=cycles:u", is_sampled("^cycles:u$")
    yield 'event=~"^cyc"', is_sampled("^cyc")
    for name, (level, value) in SOURCES.items():
        yield f"source={level}", is_source({name})
        yield f"source={value}", is_source({name})
        yield f"source!={level.lower()}", negated(has_source, is_source({name}))
    for comm in ("server", "client", "nobody"):
        yield f"comm={comm}", is_comm(f"^{comm}$")
        yield f"comm!='{comm}'", negated(has_comm, is_comm(f"^{comm}$"))
    yield 'comm=~"er$"', is_comm("er$")
    yield 'comm!~"^(se|cl)"', negated(has_comm, is_comm("^(se|cl)"))


def combination(chance, atoms, depth):
    """A random expression and its test."""
    kind = chance.randrange(4) if depth > 0 else 3
    if kind == 3:
        return chance.choice(atoms)
    text, test = combination(chance, atoms, depth - 1)
    if kind == 2:
        return f"!({text})", lambda row: not test(row)
    other_text, other = combination(chance, atoms, depth - 1)
    if kind == 1:
        return f"({text}) && ({other_text})", lambda row: test(row) and other(row)
    return f"({text} || {other_text})", lambda row: test(row) or other(row)


def check_rows(checks, cyclops, maker, folder):
    path = os.path.join(folder, "a.data")
    run(maker, "--output", path, "--records", 1200, "--samples", 200, "--seed", 5)
    dump = run(cyclops, "dump", path).decode()
    start_ns = min(map(int, re.findall(r" time=(\d+)", dump)))
    tables = [Table(cyclops, path, name, start_ns) for name in ("spe", "samples")]
    add_operations(cyclops, path, tables[0])
    atoms = list(numeric_atoms(tables)) + list(name_atoms())
    chance = random.Random(1)
    combinations = [combination(chance, atoms, 3) for _ in range(COMBINATIONS)]
    for number, (text, test) in enumerate(atoms + combinations):
        for table in tables:
            expected = table.filtered(test)
            if not expected and number % 4 > 0:
                continue  # a field that this table lacks, mostly
            found = table.selected(text)
            checks.expect(found == expected, f"--select '{text}': {len(found)} of {len(table.rows)} "
                          f"rows, {len(expected)} expected")
            checks.count("selected rows", len(found))
        checks.count("expressions")


def sums(cyclops, data, *options):
    """What each function has, by its name and module."""
    output = run(cyclops, "hot", "--all", "--format", "csv", "--symfs", os.path.join(data, "root"),
                 *options, os.path.join(data, "demo.data")).decode()
    return {(row["function"], row["module"]): (row["samples"], row["period"], row["latency_cycles"])
            for row in csv.DictReader(output.splitlines())}


def check_functions(checks, cyclops, data):
    """Each function alone has what it has among all."""
    if not os.path.exists(os.path.join(data, "demo.data")):
        print("skipped: names of functions (no demo.data)")
        return
    everything = sums(cyclops, data)
    for column, field in ((0, "sym"), (1, "module")):
        for name in {key[column] for key in everything} - {"[unknown]", ""}:
            pattern = "^" + re.sub(r"([][.+*?(){}|\\^$])", r"\\\1", name) + "$"
            for text in (f"{field}='{name}'", f"{field}=~'{pattern}'"):
                found = sums(cyclops, data, "--select", text)
                expected = {key: row for key, row in everything.items() if key[column] == name}
                checks.expect(found == expected, f"--select {text}: {found}, expected {expected}")
                checks.count("functions and modules")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_rows(checks, cyclops, maker, folder)
    check_functions(checks, cyclops, data)
    checks.finish()


if __name__ == "__main__":
    main()
