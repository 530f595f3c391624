#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what --select lets through with the same filter applied here to all rows.

usage: select_rows.py CYCLOPS MAKE-CAPTURE DATA_DIR

Every field with every operator, on both tables of `cyclops export`, then random expressions of
them. Names of functions and lines are compared by the sums of `cyclops hot` on DATA_DIR/demo.data,
where it is. Then every field in every other command: each has to count the rows that are left.
"""

import csv
import itertools
import json
import operator
import os
import random
import re
import shlex
import sys
import tempfile

from harness import Checks, csv_rows, run

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


# Bits of perf_mem_data_src: what an access of a sample does, and where it hit.
SAMPLE_LOAD, SAMPLE_STORE, SAMPLE_HIT, SAMPLE_LOCKED = 0x2, 0x4, 0x2 << 5, 0x2 << 24
SAMPLE_LEVELS = (("L1", 0x18), ("L2", 0x20), ("system-cache", 0x40), ("DRAM", 0x80),
                 ("remote-DRAM", 0x300), ("remote", 0xC00), ("device", 0x3000))


def access_of(row):
    """The words of op= and source= that fit a sample with a data source; None for other rows."""
    bits = number(row.get("data_src"))
    if bits is None:
        return None
    words = {word for word, bit in (("load", SAMPLE_LOAD), ("store", SAMPLE_STORE)) if bits & bit}
    words |= {"atomic"} if words and bits & SAMPLE_LOCKED else set()
    levels = [name for name, mask in SAMPLE_LEVELS if bits & SAMPLE_HIT and bits >> 5 & mask]
    return words, levels[0] if levels else None


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
        if row.get("data_src") and fields["weight"]:  # of memory samples; no weight is no latency
            fields["tot"] = fields["weight"]
        if fields["tot"] is not None and fields["issue"] is not None:
            fields["exec"] = max(0, fields["tot"] - fields["issue"] - (fields["xlat"] or 0))
        fields["comm"] = NAMES.get((fields["pid"] or 0) // 10)
        fields["access"] = access_of(row)
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
    return row.get("operation") is not None or bool((row["fields"]["access"] or (None,))[0])


def is_operation(test, word):
    def passes(row):
        if row["fields"]["access"]:
            return word in row["fields"]["access"][0]
        return row.get("operation") is not None and bool(test(row["operation"]))
    return passes


def has_events(row):
    return "event" in row or bool(row["events"])


def has_event(name):
    return lambda row: name in row["events"].split(":") if "events" in row else False


def is_sampled(pattern):
    return lambda row: "event" in row and re.search(pattern, row["event"]) is not None


def has_source(row):
    return bool(row.get("source")) or bool((row["fields"]["access"] or (0, None))[1])


def is_source(names, level=None):
    return lambda row: row.get("source") in names or (level is not None and row["fields"]["access"] is not None
                                                      and row["fields"]["access"][1] == level)


def has_comm(row):
    return row["fields"]["comm"] is not None


def is_comm(pattern):
    return lambda row: has_comm(row) and re.search(pattern, row["fields"]["comm"]) is not None


def name_atoms():
    for word, meaning in OPERATIONS.items():
        yield f"op={word}", is_operation(meaning, word)
        yield f"op!={word.upper()}", negated(has_operation, is_operation(meaning, word))
    for word, name in EVENTS.items():
        yield f"event={word}", has_event(name)
        yield f"event!={word}", negated(has_events, has_event(name))
    yield "event=cycles:u", is_sampled("^cycles:u$")
    yield 'event=~"^cyc"', is_sampled("^cyc")
    for name, (level, value) in SOURCES.items():
        yield f"source={level}", is_source({name}, level)
        yield f"source={value}", is_source({name})
        yield f"source!={level.lower()}", negated(has_source, is_source({name}, level))
    for comm in ("server", "client", "nobody"):
        yield f"comm={comm}", is_comm(f"^{comm}$")
        yield f"comm!='{comm}'", negated(has_comm, is_comm(f"^{comm}$"))
    yield 'comm=~"er$"', is_comm("er$")
    yield 'comm!~"^(se|cl)"', negated(has_comm, is_comm("^(se|cl)"))


def one_of_each(atoms, chance):
    """For each field one of its expressions."""
    fields = {}
    for text, test in atoms:
        fields.setdefault(re.match(r"[a-z]+", text)[0], []).append((text, test))
    return [chance.choice(some) for some in fields.values()]


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
    run(maker, "--output", path, "--records", 1200, "--samples", 200, "--memory-samples", 300, "--seed", 5)
    dump = run(cyclops, "dump", path).decode()
    start_ns = min(map(int, re.findall(r" time=(\d+)", dump)))
    tables = [Table(cyclops, path, name, start_ns) for name in ("spe", "samples")]
    add_operations(cyclops, path, tables[0])
    atoms = list(numeric_atoms(tables)) + list(name_atoms())
    chance = random.Random(1)
    combinations = [combination(chance, atoms, 3) for _ in range(COMBINATIONS)]
    check_commands(checks, cyclops, path, tables, one_of_each(atoms, chance) + combinations[:6])
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


def is_access(row):
    """Does `mem` count this record of SPE, and does `addr` if it has an address?"""
    return row.get("op") in ("LD", "ST")


def has_address(row):
    return is_access(row) and bool(row["vaddr"])


def is_sharing(row):
    return is_access(row) or bool(row.get("data_src"))


# What each command counts, and the column of its answer with that.
COMMANDS = [
    (("hot", "--by", "cpu", "--by-samples", "--all"), "hot", "samples", lambda row: True),
    (("hot", "--event", "load || store", "--by", "cpu", "--all"), "hot", "samples", is_access),
    (("mem", "--by", "cpu", "--all"), "mem", "samples", is_access),
    (("addr", "--by", "page", "--all"), "pages", "records", has_address),
    (("c2c",), "trace", "records", is_sharing),
    (("quality", "--all"), "cpus", "records", lambda row: "op" in row),
    (("quality", "--all"), "cpus", "samples", lambda row: "op" not in row),
    (("report", "--all"), "functions", "samples", lambda row: True),
]


def counted(cyclops, path, command, table, column, expression):
    answer = json.loads(run(cyclops, *command, "--format", "json", "--select", expression,
                            *([path] if path else [])))
    if table == "trace":
        return answer["trace"]["records"]["records"]
    return sum(row[column] for row in answer.get(table, []))


def of_report(rows):
    """Rows that `report` shows functions of: of samples those of cycles, else of a clock, if there are any."""
    for words in ("cycles", "cpu-cycles", "cpu_cycles"), ("cpu-clock", "task-clock"):
        led = [row for row in rows if row.get("event", "").split(":")[0] in words]
        if led:
            return led + [row for row in rows if "event" not in row]
    return rows


def check_commands(checks, cyclops, path, tables, expressions):
    for text, test in expressions:
        rows = [row for table in tables for row in table.rows if test(row)]
        for command, table, column, counts in COMMANDS:
            expected = sum(map(counts, of_report(rows) if command[0] == "report" else rows))
            found = counted(cyclops, path, command, table, column, text)
            checks.expect(found == expected, f"{' '.join(command)} --select '{text}': {column} {found}, "
                          f"expected {expected}")
            checks.count("counts of commands")


def sums(cyclops, data, *options):
    """What each function and line has: by function, module and FILE:LINE."""
    return {(row["function"], row["module"], f"{row['file']}:{row['line']}"):
            (row["samples"], row["period"], row["latency_cycles"])
            for row in csv_rows(cyclops, "hot", "--by", "line,function,module", "--all", "--format", "csv", "--symfs",
                                os.path.join(data, "root"), *options, os.path.join(data, "demo.data"))}


def check_tips(checks, cyclops, data):
    """Commands that findings tell are of the same records and the same interval, and can be pasted."""
    root, path = os.path.join(data, "root"), os.path.join(data, "demo.data")
    given = ["--symfs", root, "--select", 'op=load && sym!="no such"', "--interval", "500"]
    output = json.loads(run(cyclops, "report", "--format", "json", *given, path))
    for finding in output["findings"]:
        words = shlex.split(finding["next"])
        found = {word: words[words.index(word) + 1] for word in given[::2] if word in words}
        checks.expect(found == dict(zip(given[::2], given[1::2])), f"the next command lacks options: {finding['next']}")
        run(cyclops, *words[1:])
    text = run(cyclops, "report", *given, path).decode()
    # commands that simulate a gain have the user's own program, not the capture
    pasted = [shlex.split(line.replace("\\\n", "")) for line in re.findall(r"(?:next:)? +(cyclops (?:.*\\\n)*.*)", text)
              if not line.startswith("cyclops model ")]
    for words in pasted:
        found = {word: words[words.index(word) + 1] for word in given[::2] if word in words}
        checks.expect(found == dict(zip(given[::2], given[1::2])), f"a broken line: {words}")
        run(cyclops, *words[1:])
    checks.expect(len(pasted) > 0, "no finding, so no tip")
    checks.count("tips", len(pasted))


def check_functions(checks, cyclops, data):
    """Each function alone has what it has among all."""
    if not os.path.exists(os.path.join(data, "demo.data")):
        print("skipped: names of functions (no demo.data)")
        return
    everything = sums(cyclops, data)
    for column, field in ((0, "sym"), (1, "module"), (2, "line")):
        for name in {key[column] for key in everything} - {"[unknown]", "", ":"}:
            pattern = "^" + re.sub(r"([][.+*?(){}|\\^$])", r"\\\1", name) + "$"
            for text in (f"{field}='{name}'", f"{field}=~'{pattern}'"):
                found = sums(cyclops, data, "--select", text)
                expected = {key: row for key, row in everything.items() if key[column] == name}
                checks.expect(found == expected, f"--select {text}: {found}, expected {expected}")
                checks.count("functions, modules, lines")
    for text, has in (("line=demo.c", lambda key: key[2] != ":"), ("line!=demo/demo.c", lambda key: key[2] == ":"),
                      ("line=demo.c:76", lambda key: key[2].endswith("/demo.c:76"))):
        found = sums(cyclops, data, "--select", text)
        checks.expect(found == {key: row for key, row in everything.items() if has(key)}, f"--select {text}")


def check_code(checks, cyclops, data):
    """Functions and lines in the other commands, by the addresses that they are made of."""
    path, root = os.path.join(data, "demo.data"), os.path.join(data, "root")
    if not os.path.exists(path):
        return
    rows = Table(cyclops, path, "spe", 0).rows
    annotate = [cyclops, "annotate", "--symfs", root, "--format", "csv", "-i", path]
    for name in ("chase_l1", "chase_l2", "multiply_naive"):
        head = csv_rows(*annotate, "--table", "function", name)[0]
        start, size = int(head["address"], 16), int(head["size"])
        listing = csv_rows(*annotate, "--table", "instructions", name)
        line = max(listing, key=lambda row: int(row["spe_records"] or 0))
        where = f"{line['file']}:{line['line']}"
        code = {int(row["address"], 16) for row in listing if f"{row['file']}:{row['line']}" == where}
        tests = ((f"sym={name}", lambda row, s=start, n=size: s <= row["fields"]["pc"] < s + n),
                 (f"sym={name} && line='{where}'", lambda row, c=code: row["fields"]["pc"] in c),
                 (f"sym={name} && !line='{where}'", lambda row, s=start, n=size, c=code:
                  s <= row["fields"]["pc"] < s + n and row["fields"]["pc"] not in c))
        for text, test in tests:
            expected = list(filter(test, rows))
            found = counted_code(cyclops, path, root, annotate, name, text)
            for what, n, wanted in (("mem", found[0], sum(map(is_access, expected))),
                                    ("addr", found[1], sum(map(has_address, expected))),
                                    ("annotate", found[2], len(expected))):
                checks.expect(n == wanted, f"{what} --select {text}: {n}, expected {wanted}")
                checks.count("counts of code")


def counted_code(cyclops, path, root, annotate, name, text):
    here = ["--symfs", root, "-i", path]
    head = csv_rows(*annotate, "--table", "function", "--select", text, name)[0]
    return (counted(cyclops, None, ["mem", "--by", "cpu", "--all", *here], "mem", "samples", text),
            counted(cyclops, None, ["addr", "--by", "page", "--all", *here], "pages", "records", text),
            int(head["spe_records"]))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_rows(checks, cyclops, maker, folder)
    check_functions(checks, cyclops, data)
    check_tips(checks, cyclops, data)
    check_code(checks, cyclops, data)
    checks.finish()


if __name__ == "__main__":
    main()
