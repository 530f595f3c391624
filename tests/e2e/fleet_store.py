#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A dataset in an S3 store answers as it does in a folder: copied there by `cyclops fleet push`, which is killed now and then, and
asked by DuckDB and ClickHouse through their own clients. The store is moto, on this machine alone.

usage: fleet_store.py [--kills N] [--captures N] CYCLOPS MAKE-CAPTURE DATA

pip brings moto, DuckDB with its extension httpfs, and chDB where they are not there; what cannot be had is named and skipped.
"""

import argparse
import collections
import csv
import io
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import engines
import fleet_engines
import harness
from harness import ENVIRONMENT, Checks, run

# The newest DuckDB whose extension httpfs is a package, too.
DUCKDB = "1.5.5"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
QUESTIONS = (["top"], ["latency"], ["coverage"], ["hosts"], ["sharing", "--true-sharing"], ["changed", "--from", "2026-11-26", "--to", "2026-11-27"])


def duckdb_with_httpfs(folder):
    """DuckDB and the file of its extension."""
    where = os.path.join(folder, "engines-httpfs")
    program = os.path.join(where, "duckdb_cli", "duckdb")
    extension = os.path.join(where, "duckdb_extension_httpfs", "extensions", f"v{DUCKDB}", "httpfs.duckdb_extension")
    if not os.path.exists(extension):
        engines.pip(where, f"duckdb-cli=={DUCKDB}", f"duckdb-extension-httpfs=={DUCKDB}")
    if not engines.runs(program) or not os.path.exists(extension):
        harness.skip(f"pip does not bring DuckDB {DUCKDB} and its extension httpfs")
    return program, extension


def moto(folder):
    """A Python that has moto, in an environment of its own: it needs many packages."""
    where = os.path.join(folder, "engines-moto")
    python = os.path.join(where, "bin", "python3")
    if subprocess.run([python, "-c", "import moto.server"], capture_output=True, check=False).returncode != 0 if os.path.exists(python) else True:
        subprocess.run([sys.executable, "-m", "venv", where], check=True, capture_output=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "moto[server]"], env={**harness.ENVIRONMENT, **engines.PIP, "HOME": where},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            harness.skip("pip does not bring moto[server]")
    return python


class Store:
    """An S3 server on a port that was free, and a bucket in it."""

    def __init__(self, python, log):
        with open(log, "w", encoding="utf-8") as out:
            self.server = subprocess.Popen([python, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stdout=out, stderr=out,  # pylint: disable=consider-using-with
                                           stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **KEYS, "HOME": os.path.dirname(log)})
        self.url = None
        while self.url is None:
            if self.server.poll() is not None:
                raise SystemExit(f"FAIL moto ended: {pathlib.Path(log).read_text(encoding='utf-8')}")
            found = re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", pathlib.Path(log).read_text(encoding="utf-8"))
            self.url = found and found.group(0)
            time.sleep(0.05)
        with urllib.request.urlopen(urllib.request.Request(self.url + "/bucket", method="PUT")) as answer:
            answer.read()

    def setup(self, extension, path, secret="testing"):
        """Statements for DuckDB's client."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"LOAD '{extension}';\nCREATE SECRET store (TYPE s3, KEY_ID 'testing', SECRET '{secret}', REGION 'us-east-1', "
                       f"ENDPOINT '{self.url.removeprefix('http://')}', URL_STYLE 'path', USE_SSL false);\n")
        return str(path)

    def names(self):
        """Of all that it has, by table."""
        names, token = [], ""
        while token is not None:
            with urllib.request.urlopen(f"{self.url}/bucket?list-type=2{token}") as answer:
                text = answer.read().decode()
            names += re.findall("<Key>([^<]*)</Key>", text)
            more = re.search("<NextContinuationToken>([^<]*)<", text)
            token = more and f"&continuation-token={more.group(1)}"
        return collections.Counter(name.split("/")[1] for name in names)


def ask(cyclops, dataset, question, *words):
    text = run(cyclops, "fleet", question[0], dataset, "--format", "csv", "--all", *question[1:], *words)
    return list(csv.DictReader(io.StringIO(text.decode())))


def pushed(cyclops, folder, words):
    text = run(cyclops, "fleet", "push", folder, "s3://bucket/fleet", "--format", "csv", *words)
    return {row["table"]: (int(row["copied"]), int(row["there"])) for row in csv.DictReader(io.StringIO(text.decode()))}


def check_messages(checks, cyclops, duckdb, folder, setup, dataset):
    with open(os.path.join(folder, "nothing.sql"), "w", encoding="utf-8") as file:
        file.write("SET autoinstall_known_extensions = false;\nSET autoload_known_extensions = false;\n")
    for why, words in (("No files found", ["top", "s3://bucket/none", "--setup", setup]),
                       ("httpfs", ["top", "s3://bucket/fleet", "--setup", os.path.join(folder, "nothing.sql")]),
                       ("404", ["push", dataset, "s3://no-such-bucket/fleet", "--setup", setup])):
        done = subprocess.run([cyclops, "fleet", *words, "--program", duckdb], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == 1 and why in done.stderr, f"{words}: {done.returncode}: {done.stderr}")
        checks.count("messages")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kills", type=int, default=5)
    p.add_argument("--captures", type=int, default=20)
    p.add_argument("cyclops")
    p.add_argument("maker")
    p.add_argument("data")
    o = p.parse_args()
    checks = Checks()
    cyclops, data = os.path.abspath(o.cyclops), os.path.abspath(o.data)
    beside = os.path.dirname(cyclops)
    duckdb, extension = duckdb_with_httpfs(beside)
    python = moto(beside)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(python, os.path.join(folder, "moto.log"))
        try:
            setup = store.setup(extension, os.path.join(folder, "store.sql"))
            words = ["--program", duckdb, "--setup", setup]
            dataset = os.path.join(folder, "fleet")
            made = []
            for i in range(o.captures):
                made.append(os.path.join(folder, f"made-{i}.data"))
                run(o.maker, "-o", made[-1], "--seed", i, "--records", 1000, "--samples", 200)
            collect = [cyclops, "collect", "--into", dataset]
            run(*collect, "--day", "2026-11-26", *made)
            run(*collect, "--day", "2026-11-27", "--symfs", f"{data}/root", f"{data}/samples")
            wanted = [ask(cyclops, dataset, question, "--program", duckdb) for question in QUESTIONS]
            rest = random.Random(6)
            for _ in range(o.kills):
                with subprocess.Popen([cyclops, "fleet", "push", dataset, "s3://bucket/fleet", *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, start_new_session=True) as pushing:
                    time.sleep(rest.uniform(0, 2))
                    os.killpg(pushing.pid, signal.SIGKILL)
                    checks.count("killed pushes", int(pushing.wait() == -signal.SIGKILL))
                names = store.names()
                checks.expect(names["captures"] == 0 or min(names["samples"], names["symbols"]) == o.captures + 7,
                              f"captures before what they commit: {names}")
            copied = pushed(cyclops, dataset, words)
            checks.expect(copied["captures"][0] + copied["captures"][1] == o.captures + 7, f"pushed: {copied}")
            checks.expect(all(row[0] == 0 for row in pushed(cyclops, dataset, words).values()), "copied what was there")
            for question, rows in zip(QUESTIONS, wanted):
                checks.expect(ask(cyclops, "s3://bucket/fleet", question, *words) == rows, f"DuckDB in the store: {question}")
                checks.count("answers of DuckDB")
            chdb = fleet_engines.clickhouse(cyclops, folder)
            for question, rows in zip(QUESTIONS, wanted) if chdb else ():
                os.environ.update(KEYS)
                ENVIRONMENT.update(KEYS)
                found = ask(cyclops, f"{store.url}/bucket/fleet", question, "--engine", "clickhouse", "--program", chdb)
                checks.expect(len(found) == len(rows) and all(fleet_engines.alike(a, b) for x, y in zip(found, rows)
                                                              for a, b in zip(x.values(), y.values())), f"ClickHouse in the store: {question}")
                checks.count("answers of ClickHouse")
            run(*collect, "--again", "--day", "2026-11-27", f"{data}/samples")
            copied = pushed(cyclops, dataset, words)
            checks.expect(0 < sum(row[0] for row in copied.values()) <= 5 * 7, f"pushed again: {copied}")
            run(cyclops, "fleet", "compact", dataset, "--keep", "1", "--program", duckdb)
            copied = pushed(cyclops, dataset, words)
            checks.expect(copied["captures"] == (2, 0), f"merged ones pushed: {copied}")
            for question in (["top"], ["latency"]):
                checks.expect(ask(cyclops, "s3://bucket/fleet", question, *words) == ask(cyclops, dataset, question, "--program", duckdb),
                              f"merged, in the store: {question}")
            check_messages(checks, cyclops, duckdb, folder, setup, dataset)
        finally:
            store.server.kill()
            store.server.wait()
    checks.finish()


if __name__ == "__main__":
    main()
