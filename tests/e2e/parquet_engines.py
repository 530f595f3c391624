#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that engines read the Parquet files of `cyclops export`, each column of each row equal to csv's, and use bounds and filters.

usage: parquet_engines.py [--captures N] [--engines NAME,NAME] [--packages DIR] CYCLOPS MAKE-CAPTURE MAKE-FAMILY

pyarrow, DuckDB, Polars, chDB, DataFusion and Spark, which pip installs into DIR, a virtual environment that is kept. Spark
reads each file twice: by its own reader, and by parquet-java. An engine that cannot be installed is skipped by name. The
captures are N that are made up, of all families and read as of all CPUs in turn, those of tests/data, which have readings of
counters, and those in the folder that the variable CYCLOPS_CAPTURES names.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, NO_DATA, Checks, real_captures, run, skip
from parquet import DATA, TABLES, as_in_csv, made_up, rows_of

PACKAGES = {"pyarrow": "pyarrow", "duckdb": "duckdb", "polars": "polars", "chdb": "chdb", "datafusion": "datafusion",
            "spark": "pyspark"}

# Reads a file by an engine and prints it as csv. Runs in the virtual environment.
READER = '''
import csv, sys

def by_pyarrow(path):
    import pyarrow.parquet
    return columns_of(pyarrow.parquet.read_table(path))

def columns_of(table):
    return table.column_names, [table[name].to_pylist() for name in table.column_names]

def by_duckdb(path):
    import duckdb
    found = duckdb.sql(f"select * from '{path}'")
    return found.columns, list(zip(*found.fetchall())) or [()] * len(found.columns)

def by_polars(path):
    import polars
    frame = polars.read_parquet(path)
    return frame.columns, [frame[name].to_list() for name in frame.columns]

def by_chdb(path):
    import chdb
    asked = f"select * from file('{path}', Parquet) settings input_format_parquet_preserve_order=1"
    names, columns = columns_of(chdb.query(asked, "ArrowTable"))
    return names, [[value.decode() if isinstance(value, bytes) else value for value in column] for column in columns]

def by_datafusion(path):
    import datafusion, pyarrow
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_parquet("t", path)
    frame = context.sql("select * from t")
    return columns_of(pyarrow.Table.from_batches(frame.collect(), schema=frame.schema()))

def session_of_spark():
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
               .config("spark.driver.memory", "1g").getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    return session

def by_spark(path, is_vectorized="true"):
    session = session_of_spark()
    session.conf.set("spark.sql.parquet.enableVectorizedReader", is_vectorized)
    frame = session.read.parquet(path)
    return frame.columns, list(zip(*frame.collect())) or [()] * len(frame.columns)

def by_parquet_java(path):
    return by_spark(path, "false")

def word(value):
    if isinstance(value, (list, tuple)):
        return ";".join("/".join(map(word, parts_of(entry))) for entry in value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

def parts_of(entry):
    return entry.values() if isinstance(entry, dict) else entry if isinstance(entry, tuple) else [entry]

for engine, path, out in zip(*[iter(sys.argv[1:])] * 3):
    names, columns = globals()[engine](path)
    with open(out, "w", newline="", errors="surrogateescape") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*[map(word, column) for column in columns]))
'''

# What DuckDB skips of a file by its bounds, and what DuckDB and parquet-java find in the bloom filter of build-ids, of those that
# are there and of one that is not. Runs in the virtual environment.
SKIPPER = """
import json, sys

def scan_of(operators):
    for operator in operators:
        found = operator if "row_groups_scanned" in operator else scan_of(operator.get("children", []))
        if found:
            return found

def bounds_of_duckdb(rows, profile):
    import duckdb
    engine = duckdb.connect()
    first, last = engine.execute(f"select min(time_ns), max(time_ns) from '{rows}'").fetchone()
    engine.execute("pragma enable_profiling='json'")
    engine.execute(f"pragma profiling_output='{profile}'")
    n, = engine.execute(f"select count(total_lat) from '{rows}' where time_ns > {last - (last - first) // 10}").fetchone()
    engine.close()
    scan = scan_of(json.load(open(profile))["operator"])
    return [n, scan["row_groups_scanned"], scan["total_row_groups_to_scan"]] if scan else None

def filters_of_duckdb(symbols):
    import duckdb
    ids = [row[0] for row in duckdb.sql(f"select distinct build_id from '{symbols}'").fetchall()]
    return [not duckdb.sql(f"select * from parquet_bloom_probe('{symbols}', 'build_id', '{i}')").fetchall()[0][2]
            for i in (*ids, ABSENT)]

def filters_of_parquet_java(symbols):
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    ids = [row[0] for row in session.read.parquet(symbols).select("build_id").distinct().collect()]
    java = session._jvm
    file = java.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
        java.org.apache.hadoop.fs.Path(symbols), session._jsc.hadoopConfiguration())
    reader = java.org.apache.parquet.hadoop.ParquetFileReader.open(file)
    column = next(c for c in reader.getFooter().getBlocks().get(0).getColumns() if c.getPath().toDotString() == "build_id")
    bloom = reader.readBloomFilter(column)
    return [bloom.findHash(bloom.hash(java.org.apache.parquet.io.api.Binary.fromString(i))) for i in (*ids, ABSENT)]

ABSENT = "0" * 40
print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
"""


def install(folder, package):
    """Is the package in the virtual environment, or can it be installed?"""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", package], capture_output=True, check=False)
    return done.returncode == 0


def engines_here(folder, asked):
    """The readers that can run, by name."""
    found = []
    for engine, package in PACKAGES.items():
        if engine not in asked:
            continue
        if install(folder, package):
            found += [engine, "parquet_java"] if engine == "spark" else [engine]
        else:
            print(f"skipped: {engine}: pip cannot install {package}")
    if not found:
        skip("no engine could be installed")
    return found


def export(cyclops, capture, table, folder, number, cpu):
    """Writes both files; None if there are no such records. Of made-up captures the CPU is one of many."""
    words = [cyclops, "export", "--table", table, capture, *(["--cpu", cpu] if cpu else [])]
    done = subprocess.run([*words, "--format", "csv"], capture_output=True, env=ENVIRONMENT, check=False)
    if done.returncode == NO_DATA:
        return None
    path = folder / f"{number}-{table}.parquet"
    run(*words, "--format", "parquet", "-o", path)
    return path, done.stdout


def is_same_number(value, wanted):
    """Engines write numbers that are not whole in their own ways."""
    return "." in value and wanted != "" and float(value) == float(wanted)


def families_of(make_family):
    """Names of the shapes that captures have."""
    usage = subprocess.run([make_family], capture_output=True, text=True, check=False).stderr
    return [line.split()[0] for line in usage.splitlines()[1:]]


def made_captures(options, folder):
    """(capture, CPU): by turns of make-capture and of a family."""
    families, made = families_of(options.make_family), []
    cpus = [line.split(",")[0] for line in run(options.cyclops, "list", "cpus", "--format", "csv").decode().splitlines()[1:]]
    for i in range(options.captures):
        if i % 2 == 0:
            path = made_up(options.make_capture, folder, i // 2)
        else:
            path = folder / f"family-{i}.data"
            run(options.make_family, families[i // 2 % len(families)], 1000 + 100 * i, path)
        made.append((path, cpus[i % len(cpus)]))
    return made


def difference(csv_text, found):
    """What differs, or None. Truth values of some engines are numbers."""
    head, columns = rows_of(csv_text)
    rows = list(csv.reader(io.StringIO(found, newline="")))
    if head != rows[0] or len(rows) - 1 != len(columns[0]):
        return f"{len(rows) - 1} rows of {rows[0]}, in csv {len(columns[0])} of {head}"
    for row, values in enumerate(zip(*columns)):
        for name, wanted, value in zip(head, values, rows[row + 1], strict=True):
            is_truth = wanted in ("true", "false") and value == str(int(wanted == "true"))
            if (value != wanted and not is_truth and as_in_csv(value, wanted) != wanted and
                    not (name == "scaled" and is_same_number(value, wanted))):
                return f"row {row}, {name}: {value!r}, in csv {wanted!r}"
    return None


def check_skipping(options, checks, python, engines, folder):
    """Engines skip row groups by their bounds, and find build-ids by their filter."""
    def ask(*words):
        done = subprocess.run([python, "-c", SKIPPER, *words], capture_output=True, text=True, check=False)
        checks.expect(done.returncode == 0, f"{words[0]}: {done.stderr[-600:]}")
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None

    if "duckdb" in engines:
        capture, rows = folder / "long.data", folder / "long.parquet"
        run(options.make_capture, "--bytes", "24M", "--output", capture)
        run(options.cyclops, "export", "--table", "spe", "--format", "parquet", "-o", rows, capture)
        found = ask("bounds_of_duckdb", rows, folder / "profile.json")
        if found is None:
            print("skipped: this DuckDB does not say how many row groups it reads")
        else:
            checks.expect(found[0] > 0 and 0 < found[1] < found[2], f"DuckDB reads {found[1]} of {found[2]} row groups")
    run(options.cyclops, "collect", DATA / "samples" / "sharing.data", "--into", folder / "dataset")
    symbols = next((folder / "dataset" / "symbols").rglob("*.parquet"))
    for engine in sorted({"duckdb", "parquet_java"} & set(engines)):
        found = ask(f"filters_of_{engine}", symbols)
        checks.expect(found is None or (len(found) > 1 and found == [True] * (len(found) - 1) + [False]),
                      f"{engine}: build-ids that are there and one that is not, by the filter: {found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--captures", type=int, default=3)
    parser.add_argument("--engines", default=",".join(PACKAGES), help="some of the engines (all)")
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("make_capture", type=os.path.abspath)
    parser.add_argument("make_family", type=os.path.abspath)
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packages = (options.packages or folder / "packages").resolve()
        engines = engines_here(packages, options.engines.split(","))
        others = [*sorted(DATA.glob("*.data")), *real_captures()]
        captures = [*made_captures(options, folder), *((path, None) for path in others)]
        files = [export(options.cyclops, capture, table, folder, i, cpu)
                 for i, (capture, cpu) in enumerate(captures) for table in TABLES]
        files = [file for file in files if file is not None]
        for engine in engines:
            words = [word for path, _ in files for word in (f"by_{engine}", path, folder / f"{path.stem}.{engine}")]
            done = subprocess.run([packages / "bin" / "python", "-c", READER, *words], capture_output=True, check=False)
            if not checks.expect(done.returncode == 0, f"{engine}: {done.stderr.decode()[-600:]}"):
                continue
            for path, csv_text in files:
                found = difference(csv_text, (folder / f"{path.stem}.{engine}").read_text(errors="surrogateescape"))
                checks.expect(found is None, f"{engine}, {path.stem}: {found}")
                checks.count(f"files by {engine}")
        check_skipping(options, checks, packages / "bin" / "python", engines, folder)
        checks.finish()


if __name__ == "__main__":
    main()
