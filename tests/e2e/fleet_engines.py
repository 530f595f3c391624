#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Other engines answer each question of `cyclops fleet` as DuckDB does, whose answers fleet_truth.py compares with what was drawn.

usage: fleet_engines.py [--rows N] [--hosts N] [--dataset DIR] [--engines clickhouse,spark] CYCLOPS

ClickHouse runs as chDB, Spark as `spark-submit --master local[2]` of pyspark: pip brings both where they are not there. An
engine that cannot be had is named and skipped.
"""

import argparse
import csv
import io
import os
import stat
import sys
import tempfile

import engines
import fleet_truth
import harness
from harness import Checks, run

HERE = os.path.dirname(os.path.abspath(__file__))


def by_pip(cyclops, folder, module, *packages):
    """A folder for PYTHONPATH with the module; None where pip does not bring it."""
    folder = os.environ.get(f"CYCLOPS_{module.upper()}") or os.path.join(os.path.dirname(os.path.abspath(cyclops)), folder)
    if not os.path.isdir(os.path.join(folder, module)) and not engines.pip(folder, *packages):
        return None
    return folder


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def clickhouse(cyclops, folder):
    where = by_pip(cyclops, "engines-chdb", "chdb", "chdb", "chdb-core", "pyarrow", "pandas", "numpy", "python-dateutil", "six")
    return where and program(folder, "clickhouse",
                             f'PYTHONPATH="{where}" exec "{sys.executable}" "{HERE}/../tools/chdb_local.py" "$@"\n')


def spark(cyclops, folder):
    where = by_pip(cyclops, "engines-spark", "pyspark", "pyspark", "py4j")
    return where and program(folder, "spark-submit", f'export SPARK_HOME="{where}/pyspark" PYTHONPATH="{where}"\n'
                             'exec "$SPARK_HOME/bin/spark-submit" --conf spark.sql.shuffle.partitions=8 "$@"\n')


def alike(a, b):
    """Equal texts; numbers within rounding: Spark has decimal numbers of few digits in errors."""
    if a == b:
        return True
    try:
        return abs(float(a) - float(b)) <= 1e-5 * max(abs(float(a)), abs(float(b)), 1e-3)
    except ValueError:
        return False


def rows_of(cyclops, dataset, question, *words):
    text = run(cyclops, "fleet", question[0], dataset, "--format", "csv", "--all", *question[1:], *words)
    return sorted((tuple(row.items()) for row in csv.DictReader(io.StringIO(text.decode()))), key=lambda row: [v for k, v in row if not is_number(v)])


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def compare(checks, what, found, wanted):
    checks.expect(len(found) == len(wanted), f"{what}: {len(found)} rows, DuckDB {len(wanted)}")
    for row, other in zip(found, wanted):
        checks.expect(len(row) == len(other) and all(a[0] == b[0] and alike(a[1], b[1]) for a, b in zip(row, other)),
                      f"{what}: {row}, DuckDB {other}")
    checks.count(f"rows of {what.split(':')[0]}", len(wanted))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rows", type=int, default=10**6)
    p.add_argument("--hosts", type=int, default=100)
    p.add_argument("--dataset")
    p.add_argument("--engines", default="clickhouse,spark")
    p.add_argument("--master", default="local[2]", help="of Spark")
    p.add_argument("--compact", action="store_true", help="merge its small files before")
    p.add_argument("cyclops")
    o = p.parse_args()
    duckdb = engines.duckdb(o.cyclops)
    more = fleet_truth.python_with_arrow(o.cyclops)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        dataset = fleet_truth.dataset_of(o, folder, more)
        fleet = fleet_truth.Fleet(os.path.abspath(o.cyclops), duckdb, dataset)
        if o.compact:
            run(fleet.cyclops, "fleet", "compact", dataset, "--program", duckdb, "--keep", "1")
        builds, function = fleet.truth["builds"], fleet.truth["regression"][0]
        questions = (["top"], ["changed", "--from", builds["a"], "--to", builds["c"]], ["hosts", "--event", "cycles"], ["sharing", "--true-sharing"],
                     ["latency"], ["history", "--function", function], ["coverage"],
                     ["counts", "--by", "day"])
        for name in o.engines.split(","):
            engine = {"clickhouse": clickhouse, "spark": spark}[name](o.cyclops, folder)
            if engine is None:
                print(f"skipped: {name} is not there, and pip does not bring it")
                continue
            words = ["--engine", name, "--program", engine] + (["--master", o.master] if name == "spark" else [])
            for question in questions:
                print(f"{name}: {question[0]}", flush=True)
                compare(checks, f"{name}: {question[0]}", rows_of(fleet.cyclops, dataset, question, *words),
                        rows_of(fleet.cyclops, dataset, question, "--program", duckdb))
    if not checks.counts:
        harness.skip("none of the engines is there")
    checks.finish()


if __name__ == "__main__":
    main()
