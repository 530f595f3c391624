#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that Parquet files have what csv has: every column of every row, read by the tests' own reader.

usage: parquet.py [--captures N] CYCLOPS MAKE-CAPTURE PARQUET-ROWS

Tables of `export` and of the commands that ask a capture, on made-up captures (N of them), on those in tests/data, and
on those in the folder that the variable CYCLOPS_CAPTURES names. The bytes are the same for any number of threads.
"""

import argparse
import csv
import io
import os
import pathlib
import pty
import random
import re
import subprocess
import tempfile

import profiles
from harness import ENVIRONMENT, NO_DATA, Checks, real_captures, run

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"

TABLES = ("spe", "samples", "branches", "counts")

# Commands whose tables are compared, each with all it has.
ANSWERS = [["hot", "--all"], ["mem", "--all"], ["c2c", "--all"], ["quality"], ["report"], ["cycles"], ["calls"], ["blocks"]]

# Numbers, as the readers here write lists of them: entries are separated by ";", the numbers of one by "/".
NUMBERS = re.compile(r"[\d/;]+$")

# What csv does not write of a text: control characters, and those that change the direction of text.
UNSAFE = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def rows_of(text):
    """The head and the columns of csv."""
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    return rows[0], list(zip(*rows[1:], strict=True)) or [()] * len(rows[0])


def as_in_csv(value, csv_value):
    """A value of Parquet as csv has it: addresses are numbers there, and call chains and branch stacks lists of them."""
    if csv_value.startswith("0x") and NUMBERS.match(value):
        return ":".join("/".join(f"{int(number):#x}" for number in entry.split("/")) for entry in value.split(";"))
    return UNSAFE.sub("\ufffd", value)


def difference(csv_text, parquet_text):
    """What differs, or None."""
    head, columns = rows_of(csv_text)
    parquet_head, parquet_columns = rows_of(parquet_text)
    if head != parquet_head:
        return f"columns {parquet_head}, in csv {head}"
    for name, column, parquet_column in zip(head, columns, parquet_columns, strict=True):
        if len(column) != len(parquet_column):
            return f"{len(parquet_column)} rows, in csv {len(column)}"
        for row, (wanted, value) in enumerate(zip(column, parquet_column, strict=True)):
            if value != wanted and as_in_csv(value, wanted) != wanted:
                return f"row {row}, {name}: {value!r}, in csv {wanted!r}"
    return None


class Comparison:
    def __init__(self, options, folder, checks):
        self.cyclops = options.cyclops
        self.reader = options.parquet_rows
        self.folder = folder
        self.checks = checks

    def compare(self, what, csv_text, path):
        found = difference(csv_text, run(self.reader, path))
        self.checks.count("rows", csv_text.count(b"\n") - 1)
        self.checks.expect(found is None, f"{what}: {found}")

    def export(self, capture, *options):
        """A table of records."""
        path = self.folder / "export.parquet"
        words = [self.cyclops, "export", *options, capture]
        done = subprocess.run([*words, "--format", "csv"], capture_output=True, env=ENVIRONMENT, check=False)
        if done.returncode == NO_DATA:
            return
        run(*words, "--format", "parquet", "-o", path)
        self.compare(" ".join(map(str, words[1:])), done.stdout, path)
        one = path.read_bytes()
        run(*words, "--format", "parquet", "-j", 1, "-o", path)
        self.checks.expect(path.read_bytes() == one, f"{words[1:]}: other bytes with one thread")

    def spe_parser(self, capture, *options):
        """The files of spe-parser."""
        for kind in ("csv", "parquet"):
            run(self.cyclops, "export", capture, "--format", "spe-parser", "--type", kind, *options, "-o", self.folder / "sp")
        for name in ("ldst", "br", "other"):
            paths = [self.folder / f"sp-{name}.{kind}" for kind in ("csv", "parquet")]
            self.checks.expect(paths[0].exists() == paths[1].exists(), f"{capture}: {paths[1]} is there or not, unlike csv")
            if paths[0].exists():
                self.compare(f"spe-parser's {name} {options} {capture}", paths[0].read_bytes(), paths[1])

    def answer(self, capture, command):
        """All tables of an answer, a file for each."""
        folders = [self.folder / name for name in ("csv", "parquet")]
        for folder in folders:
            folder.mkdir(exist_ok=True)
            for file in folder.iterdir():
                file.unlink()
            done = subprocess.run([self.cyclops, *command, capture, "--format", folder.name, "-o", f"{folder}/"],
                                  capture_output=True, env=ENVIRONMENT, check=False)
            if done.returncode == NO_DATA:
                return
            self.checks.expect(done.returncode == 0, f"{command} {capture}: {done.stderr.decode()}")
        names = [sorted(file.stem for file in folder.iterdir()) for folder in folders]
        self.checks.expect(names[0] == names[1], f"{command} {capture}: tables {names[1]}, in csv {names[0]}")
        for name in names[0]:
            self.compare(f"{' '.join(command)} {capture}: {name}", (folders[0] / f"{name}.csv").read_bytes(),
                         folders[1] / f"{name}.parquet")


def made_up(make_capture, folder, i):
    """A capture of its own kind for each number."""
    draw = random.Random(i)
    path = folder / f"made-{i}.data"
    options = ["--seed", i, "--records", draw.choice([0, 1, 7, 3000]), "--samples", draw.choice([0, 1, 1000]),
               "--memory-samples", draw.choice([0, 500]), "--cpus", draw.choice([1, 3, 8]),
               "--chunk", draw.choice([2048, 65536, "1M"])]
    options += [word for word in ("--branches", "--sharing", "--no-context", "--kernel-map", "--info-v2") if draw.random() < 0.5]
    run(make_capture, *options, "--output", path)
    return path


def check_names(compared, make_capture):
    """Functions whose names are of quotes, ends of lines, escape sequences or no UTF-8: as csv has them, and not without some of them."""
    profiles.make_strange(make_capture, compared.folder)
    capture, options = compared.folder / "names.data", ["--symfs", "/"]
    run(make_capture, "--output", capture, "--records", 3000, "--samples", 3000, "--binary", compared.folder / "prog", "--symbols")
    for table in TABLES:
        compared.export(capture, "--table", table, *options)
    for command in ANSWERS:
        compared.answer(capture, [*command, *options])
    path = compared.folder / "names.parquet"
    run(compared.cyclops, "export", capture, "--table", "samples", "--format", "parquet", *options, "-o", path)
    head, columns = rows_of(run(compared.reader, path))
    found = {name for name in columns[head.index("symbol")] if name != ""}
    compared.checks.expect(len(found) == len(profiles.NAMES), f"strange names: {len(found)} in Parquet: {sorted(found)}")
    compared.checks.count("strange names", len(found))


def check_metadata(compared, capture):
    """Keys of a file, and the capture's hash as xxhsum gives it, where that is installed."""
    path = compared.folder / "meta.parquet"
    run(compared.cyclops, "export", capture, "--format", "parquet", "-o", path)
    metas = dict(line.split("=", 1) for line in run(compared.reader, "--meta", path).decode().splitlines())
    names = {"cyclops.schema", "cyclops.version", "cyclops.command", "cyclops.table", "cyclops.modelled", "cyclops.host",
             "cyclops.capture_xxh64", "cyclops.columns"}
    compared.checks.expect(names <= set(metas), f"{capture}: keys {sorted(metas)}")
    compared.checks.expect(metas.get("cyclops.table") == "spe", f"{capture}: {metas}")
    try:
        words = subprocess.run(["xxhsum", "-H64", capture], capture_output=True, check=True).stdout.split()
    except FileNotFoundError:
        return
    compared.checks.expect(metas["cyclops.capture_xxh64"] == words[0].decode(), f"{capture}: hash {metas}, xxhsum {words}")


def on_a_terminal(*command):
    """Exit status and words of a program whose standard output is a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    os.close(theirs)
    os.close(ours)
    return done.returncode, done.stderr.decode()


def check_refusals(compared, capture):
    """What Parquet cannot do is said, and leaves no file."""
    path = compared.folder / "none.parquet"
    words = [compared.cyclops, "export", capture, "--format", "parquet"]
    status, said = on_a_terminal(*words)
    compared.checks.expect(status == 2 and "not for a terminal" in said, f"terminal: {status}, {said}")
    done = subprocess.run([compared.cyclops, "report", capture, "--format", "parquet", "-o", path], capture_output=True,
                          env=ENVIRONMENT, check=False)
    said = done.stderr.decode()
    compared.checks.expect(done.returncode == 2 and "a file holds one table" in said and "--table" in said,
                          f"several tables: {done.returncode}, {said}")
    compared.checks.expect(not path.exists(), "a file is left where there was an error")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--captures", type=int, default=4)
    parser.add_argument("--few", action="store_true", help="without captures of others: for a slow build")
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("make_capture", type=os.path.abspath)
    parser.add_argument("parquet_rows", type=os.path.abspath)
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        compared = Comparison(options, pathlib.Path(name), checks)
        own = sorted(DATA.glob("*.data"))
        captures = own + [made_up(options.make_capture, compared.folder, i) for i in range(options.captures)] + \
            [pathlib.Path(path) for path in real_captures() if not options.few]
        for i, capture in enumerate(captures):
            for table in TABLES:
                compared.export(capture, "--table", table)
            compared.answer(capture, ANSWERS[i % len(ANSWERS)])
        compared.export(own[0], "--table", "spe", "--select", "op=load")
        spe = made_up(options.make_capture, compared.folder, 3)
        run(options.make_capture, "--records", 140000, "--output", spe)
        compared.export(spe, "--table", "spe")
        compared.spe_parser(spe)
        compared.spe_parser(DATA / "demo.data", "--symbols", "--symfs", DATA / "root")
        check_names(compared, options.make_capture)
        check_metadata(compared, spe)
        check_refusals(compared, spe)
        checks.finish()


if __name__ == "__main__":
    main()
