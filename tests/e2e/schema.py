#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What csv and json say is what the schemas of docs/schema promise.

usage: schema.py [--update] [--few | --all] CYCLOPS SCHEMA_DIR DATA_DIR

Each command is asked in all ways below, of the samples of DATA_DIR and the captures of CYCLOPS_CAPTURES:
of a sample each third question, of the others each sixth, in turn; --all: each of each; --few: of two samples. Each json answer has to be
valid by its command's schema; each table of csv has exactly the columns that json describes, each with the
schema's type, unit and meaning; no text but a message has an amount in it, which would be a number with its
unit. A column that the schema does not have fails, and one that no answer fills and unfilled.py does not name.

--update adds what is missing to the schemas and corrects types, units and meanings; it removes nothing.
Look at what it changed: a column that is renamed, or of another type, breaks the programs of others.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import engines
import harness
import unfilled
from harness import ENVIRONMENT, Checks

try:
    import jsonschema
except ImportError:
    harness.skip("the Python package jsonschema is not installed")

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = 2
WIDTH = 120

# Of each capture. ROOT is where its binaries are.
OF_CAPTURES = """
report --time-slices 4
report --all
hot --all
hot --by process,module --callers
hot --by line
hot --by instruction --top 7 --time-slices 3
hot --by event,operation,source,cpu,thread
hot --by place,time --top 3
hot --by program
hot --fail-if samples>5
hot --event mispredicted
hot --event all-samples --against cycles
hot --event list
hot --by function --skid
hot --elapsed
hot --elapsed --by thread,instruction --interval 1024
hot --time-estimate
hot --arguments --histogram
mem
mem --by function --histogram
mem --by caller
mem --by-level --ghz 2.5
mem --fail-if dram_share>5%
mem --by event,operation --ghz 2.5
mem --by instruction,thread --time-slices 3
mem --region code:0x400000..0x410000
mem --region main --vector-length 256
addr
addr --by field
addr --by type
addr --by page --time-slices 4
addr --by hugepage
addr --by line
addr --by instruction
addr --by node
addr --base 0x400000,16
addr --object table
addr --object account
c2c
c2c --mode tot --coalesce process,thread
c2c --mode lcl
c2c --physical --line-size 128
c2c --time-slices 3
c2c --fail-if contended_lines>0
quality
quality --time-slices 3
diff CAPTURE
diff --by function,line,instruction,source CAPTURE
diff --per instruction --fail-if time>5% CAPTURE
export
export --table samples
export --table branches
export --table counts
annotate
annotate --all --time-slices 3
annotate --time-estimate
blocks
"""

# These want a function: the hottest.
OF_FUNCTION = ("annotate", "blocks")

# Of no capture. DATA is the folder of the data, OUT a file that does not exist.
OF_OTHERS = """
list cpus
list events
list metrics
list groups
list events --cpu neoverse-n1
list metrics --cpu neoverse-v2
list groups --cpu neoverse-n2
list penalties --cpu neoverse-n1
list kernels
list kernels chase
stat --import DATA/counts/stride.csv
stat --import DATA/counts/stride.csv --all
stat --import DATA/counts/stride.csv --cpu neoverse-n1
stat --import DATA/counts/stride.csv --cpu neoverse-n1 --tree
stat --import DATA/counts/stride.csv --cpu neoverse-n1 --against DATA/counts/stride-ahead.csv
stat --import DATA/counts/rpistat.txt
stat --import DATA/counts/regions.json --by-region
stat --import DATA/counts/regions.json --region hash
stat -e task-clock,page-faults -- /bin/true
stat -e task-clock,page-faults -r 2 -- /bin/true
stat -e task-clock,page-faults -I 10 -- /bin/sleep 0.1
diff DATA/counts/stride.csv DATA/counts/stride-ahead.csv
diff DATA/counts/stride.csv DATA/counts/stride-ahead.csv --fail-if time>-10%
diff DATA/counts/regions.json DATA/counts/regions-slow.json --fail-if region:hash:cycles>3%
diff --by cycles DATA/cycles.data DATA/cycles.data
blocks --symfs DATA/root DATA/cycles.data count_kinds
blocks --symfs DATA/root DATA/executions.data
blocks --symfs DATA/root --split-calls DATA/executions.data
annotate --blocks --symfs DATA/root DATA/executions.data
calls --symfs DATA/root DATA/calls.data
quality --symfs DATA/root DATA/callers.data
hot --symfs DATA/root --event spe --callers DATA/callers.data
calls --symfs DATA/root DATA/calls.data factorial
diff DATA/samples/stride.data DATA/samples/stride-ahead.data --fail-if time>5%
stat --import DATA/counts/stride.csv --cpu neoverse-n1 --fail-if ipc<1
diff DATA/samples/stride.data DATA/samples/stride-ahead.data
diff DATA/samples/sharing.data DATA/samples/padded.data --by shared
catalog
catalog update --dry-run DATA/../../catalog/cpu/neoverse-n1.json
doctor
latency --sizes 4K..64K --samples 10
latency --import DATA/latency/arm1176.dat
kernel --validate
kernel --validate --fail-if wrong>0 page-faults
kernel chase --iterations 1000
run --folder OUT -- /bin/true
run --folder OUT --sweep N=1,2 -- /bin/true
collect --into OUT --symfs DATA/root DATA/samples/sharing.data
"""

# Of a dataset of the samples, where the engine is.
OF_FLEET = """
fleet top FLEET
fleet changed FLEET --from 2026-11-26 --to 2026-11-27
fleet hosts FLEET --fail-if hosts>1000
fleet sharing FLEET
fleet latency FLEET
fleet history FLEET --function chase_memory
fleet coverage FLEET
fleet compact FLEET --keep 1
"""

# Of a dataset of what perf stat record counted.
OF_COUNTED = """
fleet counts FLEET --by host
fleet counts FLEET --by day
fleet push FLEET file://STORE
"""

# Of no capture, where there is more than one CPU.
OF_SEVERAL_CPUS = """
latency --loaded --sizes 1M
"""

# Of a capture that is made here, where programs can be sampled: with call chains and registers.
RECORD = "record -e cpu-clock -g --regs -o LIVE -- sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'"
OF_LIVE = """
report
hot --all --callers
hot --arguments --histogram
hot --by line
quality
export --table samples
"""

# On the machine model, where its emulator is; and of a capture that it makes of samples with branch stacks.
EMULATOR = "qemu-aarch64"
OF_MODEL = """
run --model --what-if dram,coherence --folder OUT -- DATA/root/opt/kernels/sharing
run --model --fail-if ipc<9 --folder OUT -- DATA/root/opt/kernels/pages
"""
MODEL = "model -c 1024 --sample CPU_CYCLES:5003 --sample STALL_BACKEND:5003 --sample BR_RETIRED:1009 --branch-stack -o LIVE " \
        "-- DATA/root/opt/kernels/sharing"
OF_KERNELS = """
kernel --validate --model LD_SPEC chase-l1
kernel chase-l1 --model
kernel --calibrate --model --repeats 1 --set system_cache_bytes=1048576
"""
OF_MODELLED = """
report
hot --event mispredicted
blocks
calls
hot --against cpu_cycles:u
cycles
cycles --by line
cycles --by program,block
cycles --by process,thread,instruction
cycles --tree all --time-slices 3
export --table samples
export --table branches
"""

# Commands whose csv and json are not made of tables, or that write none.
WITHOUT = ("dump", "help", "model", "record")

# What takes seconds is asked as csv with --all only.
HEAVY = {"--calibrate", "--model"}

# A question is asked of one in so many samples, or other captures.
SHARE, SHARE_OF_OTHERS = 3, 6

# Rows of export are many and alike.
MOST_ROWS = 300

# Tables of cores of one type, where a machine has several.
OF_PMU = re.compile(r"@.*")

# Columns that depend on the question: as many as are asked for.
FAMILIES = {
    r"^slice_[0-9]+$": re.compile(r"slice_\d+"),
}

TYPES = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "hex": {"type": "string", "pattern": "^0x[0-9a-f]+$"},
}

HEX = re.compile(TYPES["hex"]["pattern"])
TRUST = {"enum": ["scaled", "sparse", "saturated", "noise", "at-most", "uncertain", "at-least", "biased", "incomplete",
                  "implausible"]}
POSITION = {
    "row": {"type": "integer", "description": "number of this row, from 0"},
    "parent_row": {"type": "integer", "description": "number of the row that this one is below; absent: none"},
}

# An amount for people: digits, then a unit; digits in groups; a share; limits.
AMOUNT = re.compile(r"\d ?(?:%|[µmn]s\b|[KMG]i?B?\b)|\d (?:bytes|cycles|records|samples|lines|times)\b|"
                    r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w.])|[±≥≤≈]")


def meaning(column):
    return column["meaning"] + ("; a sentence for people, whose wording may change" if column.get("message") else "")


def description(column, units=None):
    """What a schema says of a column; `units`: those that it may have, by the question."""
    units = [unit or "no unit" for unit in units or [column["unit"]]]
    return meaning(column) + ("" if units == ["no unit"] else f" ({' or '.join(units)})")


def units_of(column, known):
    """The units that a schema says the column may have; none if it says something else of it."""
    rest = known.get("description", "").removeprefix(meaning(column))
    if {**known, "description": None} != {**TYPES[column["type"]], "description": None}:
        return []
    found = re.fullmatch(r"(?: \((.*)\))?", rest)
    return ["" if unit == "no unit" else unit for unit in (found[1] or "").split(" or ")] if found else []


class Schema:
    """The schema of a command: a file of docs/schema."""

    def __init__(self, path, command):
        self.path = path
        self.command = command
        self.of_now = json.loads(path.read_text()) if path.exists() else self.empty()
        self.validator = None

    def empty(self):
        return {
            "$schema": DIALECT,
            "title": f"cyclops {self.command} --format json",
            "description": "Each table is a property, each of its columns a property of a row; csv has the same columns. "
                           "What is not known is absent. Units are in parentheses; shares are from 0 to 1.",
            "type": "object",
            "required": ["schema", "cyclops", "command", "modelled", "columns", "notes"],
            "properties": {
                "schema": {"const": VERSION, "description": "version of these schemas: another one if a column changes"},
                "cyclops": {"type": "string", "description": "version of the program"},
                "command": {"const": self.command, "description": "that was asked"},
                "modelled": {"type": "boolean", "description": "simulated numbers, not measured ones"},
                "columns": {"type": "object", "description": "by table and column: type, unit, meaning"},
                "notes": {"type": "object", "description": "by table: sentences for people",
                          "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            },
            "patternProperties": {},
            "additionalProperties": False,
        }

    def row_of(self, table):
        """The schema of a table's rows; None: there is no such table."""
        tables = self.of_now["properties"]
        known = tables.get(table)
        if known is None:
            rows = [row["properties"].get(table, {}) for row in map(rows_of, tables.values()) if row]
            return next((inner["items"] for inner in rows if "items" in inner), None)
        return rows_of(known)

    def validate(self, answer):
        """Why the answer is not valid; None: it is."""
        self.validator = self.validator or jsonschema.Draft202012Validator(self.of_now)
        error = next(self.validator.iter_errors(answer), None)
        return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"

    def write(self):
        self.path.write_text(dump(self.of_now) + "\n")


def rows_of(table):
    """The schema of the rows of a table, which is a list, or an object by the first column."""
    return table.get("items") or (table.get("additionalProperties") if "propertyNames" in table else None)


def dump(value, indent=0):
    """Json with a line for each column."""
    flat = json.dumps(value, ensure_ascii=False)
    is_leaf = not isinstance(value, dict) or not any(isinstance(part, dict) for part in value.values())
    if is_leaf and (not isinstance(value, dict) or "properties" not in value):
        return flat
    space = "\t" * (indent + 1)
    parts = [f"{space}{json.dumps(name)}: {dump(part, indent + 1)}" for name, part in value.items()]
    return "{\n" + ",\n".join(parts) + "\n" + "\t" * indent + "}"


def nested_of(answer):
    """Names of the tables that stand within rows of others, with the table that they are in."""
    found = {}
    for name, table in answer.items():
        if isinstance(table, list):
            found.update({inner: name for row in table for inner, value in row.items() if isinstance(value, list)})
    return found


def new_table(value, columns):
    row = {"type": "object", "properties": {}, "additionalProperties": False}
    if isinstance(value, dict):
        key = next(iter(columns.items()))
        return {"type": "object", "propertyNames": {"title": key[0], "description": description(key[1])},
                "additionalProperties": row}
    return {"type": "array", "items": row}


def update(schema, answer):
    """Adds what the answer has to the schema."""
    tables = schema.of_now["properties"]
    nested = nested_of(answer)
    for name, columns in answer["columns"].items():
        table = OF_PMU.sub("", name)
        if table != name:
            schema.of_now["patternProperties"][f"^{table}@"] = {"$ref": f"#/properties/{table}"}
        row = schema.row_of(table)
        if row is None and name in answer:
            tables[table] = new_table(answer[name], columns)
            row = schema.row_of(table)
        elif row is None and name in nested:
            row = {"type": "object", "properties": {}, "additionalProperties": False}
            schema.row_of(nested[name])["properties"][table] = {"type": "array", "items": row}
        elif row is None:
            continue
        is_keyed = "propertyNames" in tables.get(table, {})
        put_columns(row, list(columns.items())[1 if is_keyed or name in nested else 0:])
        rows = answer.get(name, [])
        if isinstance(rows, list) and any("row" in found for found in rows):
            row["properties"].update(POSITION)


def put_columns(row, columns):
    for name, column in columns:
        family = next((pattern for pattern, names in FAMILIES.items() if names.fullmatch(name)), None)
        place = row.setdefault("patternProperties", {}) if family else row["properties"]
        key = family or name
        known = units_of(column, place.get(key, {}))
        units = known if column["unit"] in known else sorted({column["unit"], *known}, reverse=True)
        place[key] = {**TYPES[column["type"]], "description": description(column, units)}
        if column.get("trust"):
            place.setdefault(f"{name}_trust", {**TRUST, "description": f"how far {name} can be trusted; absent: exact"})
    if "patternProperties" in row:  # behind the columns
        row["additionalProperties"] = row.pop("additionalProperties")


def differences(schema, name, columns, is_keyed):
    """What the schema says of the columns of a table, where it is not what json says."""
    row = schema.row_of(OF_PMU.sub("", name))
    if row is None:
        yield f"the schema has no table {name}"
        return
    known = {**row["properties"]}
    for column, now in list(columns.items())[1 if is_keyed else 0:]:
        family = next((pattern for pattern, names in FAMILIES.items() if names.fullmatch(column)), None)
        before = row.get("patternProperties", {}).get(family) if family else known.get(column)
        if before is None:
            yield f"{name}: the schema has no column {column}"
        elif now["unit"] not in units_of(now, before):
            yield f"{name}: {column} is {now}, in the schema {before}"
        if not family and now.get("trust") and f"{column}_trust" not in known:
            yield f"{name}: the schema has no column {column}_trust"


def cells(rows):
    """All (column, value) of rows, those of nested tables, too."""
    for row in rows.values() if isinstance(rows, dict) else rows:
        for column, value in row.items():
            if isinstance(value, list):
                yield from cells(value)
            else:
                yield column, value


# Texts with numbers in them that are names, of people or of their files.
NAMES = {"function", "inlined", "writer", "reader", "module", "path", "file", "process", "thread", "name", "code", "place",
         "field", "type", "command", "program", "formula", "label", "description", "cpu", "event", "instruction", "source", "fail_if"}


def shape(name, value):
    """What a schema can say of a value: its type, and the values of a column of few."""
    if isinstance(value, list):
        return tuple(sorted({shape(name, part) for part in value}))
    if isinstance(value, dict):
        return tuple((key, shape(key, part)) for key, part in value.items())
    is_hex = isinstance(value, str) and HEX.fullmatch(value)
    return "hex" if is_hex else str(value) if name.endswith("_trust") else type(value).__name__


def one_of_each(table):
    """A list of rows without those that have the shape of one before."""
    return list({shape("", row): row for row in table}.values()) if isinstance(table, list) else table


def check_json(checks, schema, answer, what):
    wrong = schema.validate({name: one_of_each(table) for name, table in answer.items()})
    checks.expect(wrong is None, f"{what}: {wrong}")
    messages = {column for columns in answer["columns"].values() for column, now in columns.items() if now.get("message")}
    nested = nested_of(answer)
    for name, columns in answer["columns"].items():
        is_inner = name in nested or isinstance(answer.get(name), dict)
        if name in answer or name in nested:
            for difference in differences(schema, name, columns, is_inner):
                checks.fail(f"{what}: {difference} (--update writes it)")
        checks.count("columns", len(columns))
        for column, value in cells(answer.get(name, [])):
            if isinstance(value, str) and column not in messages | NAMES:
                checks.expect(not AMOUNT.search(value), f"{what}: {name}: {column} has an amount for people: {value!r}")
    checks.count("json answers")


class Filled:
    """Which columns have a value in an answer: of those that are shown of what is the same everywhere."""

    def __init__(self):
        self.shown, self.everywhere, self.filled = set(), set(), set()

    @staticmethod
    def is_same_everywhere(words):
        asks_machine = {"doctor", "latency", "kernel"} & {words[0]} or "--" in words
        return "--model" in words or "--import" in words or not asks_machine and not any("/recorded" in word for word in words)

    def add(self, words, answer):
        captures = os.environ.get("CYCLOPS_CAPTURES")
        if captures and any(captures in word for word in words):
            return
        is_same, nested = self.is_same_everywhere(words), nested_of(answer)
        for name, columns in answer["columns"].items():
            table, rows = (words[0], OF_PMU.sub("", name)), answer.get(name, [])
            if name in nested:
                rows = [row for outer in answer[nested[name]] for row in outer.get(name, [])]
            found = {(*table, column) for row in (rows.values() if isinstance(rows, dict) else rows) for column in row}
            if rows and (name in nested or isinstance(rows, dict)):  # the first column is a key of json
                found.add((*table, next(iter(columns))))
            self.filled |= found
            if is_same and rows:
                self.shown |= {(*table, column) for column in columns}
                self.everywhere |= found

    def check(self, checks, is_whole):
        """Each column of a table that has rows is filled, or known not to be."""
        known = unfilled.known()
        wrong = {"no answer fills {}: a cell is forgotten, or unfilled.py says why": self.shown - self.filled - known}
        if not is_whole:
            wrong["{} is filled: take it off the list of unfilled.py"] = known & self.everywhere
            wrong = {sentence: {column for column in columns if column[0] not in unfilled.AT_TIMES}
                     for sentence, columns in wrong.items()}
        for sentence, columns in wrong.items():
            for table in sorted({column[:2] for column in columns}):
                names = " ".join(sorted(column[2] for column in columns if column[:2] == table))
                checks.fail(f"{' '.join(table)}: {sentence.format(names)}")
        checks.count("columns that are filled", len(self.shown & self.filled))


def columns_of(table):
    """The header that csv has for the columns of a table of json."""
    for name, column in table.items():
        yield name
        if column.get("trust"):
            yield f"{name}_trust"


def check_csv(checks, text, answer, what):
    """Each table has the columns that json describes."""
    lines = text.splitlines()
    heads = {line.removeprefix("# table "): next(csv.reader([lines[i + 1]])) for i, line in enumerate(lines[:-1])
             if line.startswith("# table ")}
    if not heads and lines:
        heads = {next(iter(answer["columns"]), ""): next(csv.reader(lines[:1]))}
    names = list(answer["columns"])
    if "--" in what.split():  # two runs of a program, which need not see the same
        heads = {name: head for name, head in heads.items() if name in names}
        names = [name for name in names if name in heads]
    checks.expect(list(heads) == names, f"{what}: csv has the tables {list(heads)}, json {names}")
    for name, head in heads.items():
        expected = list(columns_of(answer["columns"].get(name, {})))
        found = [column for column in head if column not in ("row", "parent_row", "modelled") or column in expected]
        checks.expect(found == expected, f"{what}: {name}: csv has {found}, json {expected}")
    checks.count("csv answers")


def ask(cyclops, words, form=None):
    options = ["--format", form] if form else []
    with tempfile.TemporaryDirectory() as folder:
        words = [os.path.join(folder, "out") if word == "OUT" else word for word in words]
        done = subprocess.run([cyclops, *words[:1], *options, *words[1:]], stdin=subprocess.DEVNULL,
                              capture_output=True, env=ENVIRONMENT, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def captures_of(data, is_few):
    """(capture, where its binaries are)"""
    samples = [data / "samples/sharing.data", data / "demo.data"]
    if is_few:
        return [(path, data / "root") for path in samples]
    samples = [*sorted((data / "samples").glob("*.data")), data / "demo.data"]
    return [(path, data / "root") for path in samples] + \
        [(pathlib.Path(path), pathlib.Path(path).parent / "root") for path in harness.real_captures()]


def hottest(cyclops, words):
    """The function that annotate is asked about."""
    rows = csv.DictReader(io.StringIO(ask(cyclops, ["hot", "--by", "function", "--table", "hot", *words], "csv")[1]))
    names = [row.get("function") or "" for row in rows]
    return next((name for name in names if name and not name.startswith("[")), None)


def questions(cyclops, data, live, is_few, is_whole):
    others = OF_OTHERS + (OF_SEVERAL_CPUS if len(os.sched_getaffinity(0)) > 1 else "") + (OF_MODEL if shutil.which(EMULATOR) else "")
    others += OF_KERNELS if harness.has_kernels(cyclops) else ""
    for line in others.strip().splitlines():
        yield [word.replace("DATA", str(data)) for word in shlex.split(line)]
    if engines.find_duckdb(cyclops):
        for day, capture in (("2026-11-26", "stride"), ("2026-11-27", "stride-ahead"), ("2026-11-27", "sharing")):
            ask(cyclops, ["collect", "--into", f"{live}/fleet", "--symfs", f"{data}/root", "--day", day, f"{data}/samples/{capture}.data"])
        for line in OF_FLEET.strip().splitlines():
            yield [*line.replace("FLEET", f"{live}/fleet").split(), "--program", engines.find_duckdb(cyclops)]
        counted = shutil.which("perf") and subprocess.run(["perf", "stat", "record", "-o", f"{live}/counted", "true"], stdout=subprocess.DEVNULL,
                                                          stderr=subprocess.DEVNULL, check=False).returncode == 0
        if counted and ask(cyclops, ["collect", "--into", f"{live}/fleet-counted", f"{live}/counted"], "csv")[0] == 0:
            for path in pathlib.Path(f"{live}/fleet-counted").glob("*/*/*"):
                (pathlib.Path(f"{live}/store") / path.relative_to(f"{live}/fleet-counted")).mkdir(parents=True)
            for line in OF_COUNTED.strip().splitlines():
                yield [*line.replace("FLEET", f"{live}/fleet-counted").replace("STORE", f"{live}/store").split(), "--program", engines.find_duckdb(cyclops)]
    made = [(RECORD, f"{live}/recorded", OF_LIVE), (MODEL, f"{live}/modelled", OF_MODELLED)]
    for how, path, lines in made[:2 if shutil.which(EMULATOR) else 1]:
        if ask(cyclops, [word.replace("LIVE", path).replace("DATA", str(data)) for word in shlex.split(how)])[0] != 0:
            continue
        function = hottest(cyclops, [path])
        for line in lines.strip().splitlines():
            yield [*line.split(), path, *([function] if line in OF_FUNCTION else [])]
    for turn, (capture, root) in enumerate(captures_of(data, is_few)):
        share = 1 if is_few or is_whole else SHARE if data in capture.parents else SHARE_OF_OTHERS
        symfs = ["--symfs", str(root)] if root.is_dir() else []
        function = hottest(cyclops, [*symfs, str(capture)])
        for line in OF_CAPTURES.strip().splitlines()[turn % share::share]:
            words = [str(capture) if word == "CAPTURE" else word for word in line.split()]
            if words[0] in OF_FUNCTION and function is None:
                continue
            yield [*words, *(symfs if words[0] != "export" else []), str(capture),
                   *([function] if words[0] in OF_FUNCTION else [])]


def forms_of(words, is_whole):
    return ("json",) if HEAVY & set(words) and not is_whole else ("json", "csv")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops")
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    given = parser.parse_args()
    cyclops = os.path.realpath(given.cyclops)
    checks = Checks()
    names = [name for name in harness.commands(cyclops) if name not in WITHOUT]
    schemas = {name: Schema(given.schemas / f"{name}.json", name) for name in names}
    asked, filled = {name: 0 for name in names}, Filled()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        everything = list(questions(cyclops, given.data.resolve(), folder, given.few, given.all or given.update))
        answers = pool.map(lambda words: [ask(cyclops, words, form) for form in forms_of(words, given.all)], everything)
        for words, (in_json, *in_csv) in zip(everything, answers):
            what = " ".join(words)
            if not in_json[1]:
                checks.expect(in_json[0] != 0 or "perf_event" in in_json[2], f"{what}: {in_json}")
                continue
            try:
                answer = json.loads(in_json[1])
            except ValueError as failure:
                checks.fail(f"{what}: not json: {failure}: {in_json[1][:200]!r}")
                continue
            asked[words[0]] += 1
            schema = schemas[words[0]]
            if given.update:
                update(schema, answer)
                continue
            filled.add(words, answer)
            for table in (value for value in answer.values() if isinstance(value, list)):
                del table[MOST_ROWS:]
            check_json(checks, schema, answer, what)
            for _, text, _ in in_csv:
                check_csv(checks, text, answer, what)
    if given.update:
        given.schemas.mkdir(exist_ok=True)
        for schema in schemas.values():
            schema.write()
        return
    if not given.few and harness.has_kernels(cyclops):
        filled.check(checks, given.all)
    for name, schema in schemas.items():
        checks.expect(asked[name] > 0 or name == "fleet", f"nothing was asked of cyclops {name}: add a question here")
        jsonschema.Draft202012Validator.check_schema(schema.of_now)
        checks.count("schemas")
    checks.finish()


if __name__ == "__main__":
    main()
