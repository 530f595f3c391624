#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`cyclops collect` and `cyclops fleet`: what a dataset answers is what cyclops says of the same captures, each counted once.

usage: collect.py [--kills N] [--captures N] CYCLOPS MAKE-CAPTURE DATA PAGE

Captures of DATA, and N that are made here, are collected: again, twice under other days, cut short, by collectors that are
killed (N times), by several at once; beside parts of other versions of the tables, and parts that nobody committed. The
weights of functions are compared with `hot`, of each capture alone, and added up. The examples of PAGE run, too.
"""

import argparse
import base64
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import engines
from harness import ENVIRONMENT, Checks, run

FAILED, USAGE, NO_DATA = 1, 2, 4


class Fleet:
    """A dataset, and who asks it."""

    def __init__(self, cyclops, duckdb, root):
        self.cyclops, self.duckdb, self.root = cyclops, duckdb, str(root)

    def collect(self, *words):
        return list(csv.DictReader(io.StringIO(run(self.cyclops, "collect", "--format", "csv", "--all", "--into", self.root,
                                                   *words).decode())))

    def ask(self, question, *words):
        text = run(self.cyclops, "fleet", question, self.root, "--program", self.duckdb, "--format", "csv", "--all", *words)
        return list(csv.DictReader(io.StringIO(text.decode())))

    def sql(self, text):
        """The engine's own answer to any question."""
        done = subprocess.run([self.duckdb, "-init", "/dev/null", "-batch", "-bail", "-csv", "-nullvalue", ""], input=text, text=True,
                              capture_output=True, env=ENVIRONMENT, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def files(self, table):
        return f"read_parquet('{self.root}/{table}/*/*/part-*.parquet', hive_partitioning = false, union_by_name = true)"

    def paths(self, table):
        return sorted(pathlib.Path(self.root, table).rglob("part-*.parquet"))


def of_hot(cyclops, path, interval, *words):
    """By (function, module, is it of SPE): weight and records, as hot says."""
    sums = collections.Counter()
    for row in csv.DictReader(io.StringIO(run(cyclops, "hot", "--format", "csv", "--all", *words, path).decode())):
        if row["samples"] == "0":
            continue  # a caller that was not sampled itself
        is_spe = row["latency_cycles"] != ""
        weight = int(row["latency_cycles"]) * interval if is_spe else int(row["period"])
        sums[row["function"], row["module"], is_spe, "weight"] += weight
        sums[row["function"], row["module"], is_spe, "records"] += int(row["samples"])
    return sums


def of_fleet(fleet, *words):
    sums = collections.Counter()
    for row in fleet.ask("top", *words):
        key = row["function"], row["module"], row["event"] == "spe"
        sums[(*key, "weight")] += int(row["weight"])
        sums[(*key, "records")] += int(row["records"])
    return sums


def check_answers(checks, fleet, captures, words):
    """The whole dataset is the sum of its captures."""
    wanted = collections.Counter()
    intervals = {row["file"]: int(row["spe_interval"] or 1) for row in fleet.sql(f"SELECT file, spe_interval FROM {fleet.files('captures')}")}
    for path in captures:
        wanted += of_hot(fleet.cyclops, path, intervals[os.path.basename(path)], *words)
    found = +of_fleet(fleet)
    checks.equal("weights and records of functions", sorted(found.items()), sorted(wanted.items()), "hot")
    return wanted


def of_c2c(cyclops, path, words):
    """By (object, type): cost in cycles, records, loads, stores, atomics, peer, HITM of the lines that are findings of c2c."""
    sums = collections.Counter()
    text = run(cyclops, "c2c", "--format", "csv", "--top", 1000, "--table", "lines", *words, path).decode()
    for row in csv.DictReader(io.StringIO(text)):
        if row["finding"] == "":
            continue
        key = row["object"], row["object_type"]
        sums[(*key, "cost_cycles")] += round(float(row["lost_cycles"]))
        for what, names in (("records", ["records"]), ("loads", ["loads"]), ("stores", ["stores"]), ("atomics", ["atomics"]),
                            ("peer", ["peer_local", "peer_remote"]), ("hitm", ["hitm_local", "hitm_remote"])):
            sums[(*key, what)] += sum(int(row[name]) for name in names)
    return sums


def check_sharing(checks, cyclops, maker, duckdb, folder, data, words):
    """Contention of several captures is what c2c says of each, added up."""
    fleet = Fleet(cyclops, duckdb, folder / "sharing")
    captures = [f"{data}/samples/sharing.data", f"{data}/samples/padded.data"]
    for seed in range(2):
        captures.append(str(folder / f"sharing-{seed}.data"))
        run(maker, "-o", captures[-1], "--seed", seed, "--records", 3000, "--sharing", "--data", "16K")
    fleet.collect(*words, *captures)
    found = collections.Counter()
    rows = fleet.ask("sharing", "--true-sharing")
    for row in rows:
        for what in ("cost_cycles", "records", "loads", "stores", "atomics", "peer", "hitm"):
            found[row["object"], row["type"], what] += int(row[what])
    wanted = sum((of_c2c(cyclops, path, words) for path in captures), collections.Counter())
    checks.equal("contention", sorted((+found).items()), sorted((+wanted).items()), "c2c")
    first = next(row for row in rows if row["object"] == "account")
    checks.equal("contended object", [first[name] for name in ("member", "module", "verdict", "writer", "reader", "captures")],
                 ["account.limit", "sharing", "false-sharing", "count_up", "compare", "1"], "c2c")
    checks.expect(all(row["verdict"] == "false-sharing" for row in fleet.ask("sharing")), "verdicts of sharing")
    fleet.collect(*words, "--again", *captures)
    checks.expect(fleet.ask("sharing", "--true-sharing") == rows, "contention when collected anew")


def state_of(rows):
    return collections.Counter(row["state"] for row in rows)


def tables_of(fleet):
    """All bytes of a dataset but the row that says when."""
    return {str(path.relative_to(fleet.root)): path.read_bytes() for table in ("samples", "symbols") for path in fleet.paths(table)}


def check_again(checks, fleet, captures, words):
    """Collected twice is collected once, and anew is the same."""
    before = tables_of(fleet)
    many = captures * (200 // len(captures))  # as a pattern of the shell gives
    checks.expect(state_of(fleet.collect(*words, *many)) == {"there": len(many)}, "not all are there")
    checks.expect(state_of(fleet.collect(*words, "-j", "1", "--again", *captures)) == {"collected": len(captures)}, "not anew")
    after = tables_of(fleet)
    samples = [name for name in before if name.startswith("samples/")]
    checks.expect(len(samples) == len(captures) and all(before[name] == after[name] for name in samples),
                  "other bytes when collected anew")
    checks.count("collected again", len(captures))


def check_twice(checks, fleet, captures, words, wanted):
    """Under another day, as if a clock had been put right; and as another host's copy."""
    fleet.collect(*words, "--day", "2031-01-02", *captures[:2])
    fleet.collect(*words, "--host", "copy-of-it", captures[1])
    checks.expect(+of_fleet(fleet) == wanted, "duplicates count")
    rows = fleet.ask("coverage")
    checks.expect((sum(int(row["twice"]) for row in rows), sum(int(row["captures"]) for row in rows)) == (3, len(captures)),
                  f"coverage: {rows}")
    checks.count("duplicates", 3)


def check_uncommitted(checks, fleet, wanted):
    """Samples without their capture's row, and halves of files that no collector names so."""
    path = fleet.paths("captures")[0]
    other = [p for p in fleet.paths("samples") if p.name == path.name and p.parent == pathlib.Path(
        str(path.parent).replace("/captures/", "/samples/"))][0]
    orphan = other.parent / ("part-" + "0" * 32 + ".parquet")
    fleet.sql(f"COPY (SELECT * REPLACE (12345 AS part) FROM '{other}') TO '{orphan}' (FORMAT parquet)")
    (other.parent / ".cyclops-1-0").write_bytes(other.read_bytes()[:100])
    checks.expect(+of_fleet(fleet) == wanted, "a part without its capture counts")
    checks.count("uncommitted parts", 2)
    orphan.unlink()


def check_versions(checks, fleet, wanted):
    """Parts of an older version that lack columns, and of a newer one that has more, side by side."""
    for table, change in (("samples", "SELECT * EXCLUDE (walks)"), ("captures", "SELECT * EXCLUDE (boot_ns)"),
                          ("samples", "SELECT *, 'later' AS unheard_of"), ("captures", "SELECT * REPLACE (4 AS schema_version), 7 AS more")):
        path = fleet.paths(table)[0 if "EXCLUDE" in change else 1]
        fleet.sql(f"COPY ({change} FROM '{path}') TO '{path}.new' (FORMAT parquet)")
        os.replace(f"{path}.new", path)
    checks.expect(+of_fleet(fleet) == wanted, "versions side by side give another answer")
    rows = fleet.ask("coverage")
    checks.expect(max(int(row["newest_schema"]) for row in rows) == 4, f"coverage does not tell versions: {rows}")
    checks.count("versions", 3)


def check_cut(checks, cyclops, duckdb, folder, capture, words):
    """A capture that was cut short gives what can be read of it, and says so; an empty one nothing."""
    fleet = Fleet(cyclops, duckdb, folder / "cut")
    whole = pathlib.Path(capture).read_bytes()
    for share in (0.3, 0.7):
        (folder / f"cut-{share}.data").write_bytes(whole[:int(len(whole) * share)])
    (folder / "nothing.data").write_bytes(b"")
    rows = fleet.collect(*words, "--host", "h", "--day", "2026-11-26", folder / "cut-0.3.data", folder / "cut-0.7.data")
    checks.expect(all(row["state"] == "collected" and row["damaged"] == "true" for row in rows), f"cut short: {rows}")
    wanted = sum((of_hot(cyclops, folder / f"cut-{share}.data", 1, *words) for share in (0.3, 0.7)), collections.Counter())
    found = +of_fleet(fleet)
    checks.expect({key: n for key, n in found.items() if key[3] == "records"} ==
                  {key: n for key, n in wanted.items() if key[3] == "records"}, "records of captures that were cut short")
    done = subprocess.run([cyclops, "collect", "--into", fleet.root, folder / "nothing.data"], env=ENVIRONMENT, capture_output=True, check=False)
    checks.expect(done.returncode == FAILED and b"nothing.data" in done.stderr, f"an empty file: {done}")
    checks.count("captures cut short", 3)


def check_kills(checks, cyclops, duckdb, folder, captures, n):
    """Collectors die at any moment. What the dataset has then are whole captures; in the end it has each of them once."""
    fleet = Fleet(cyclops, duckdb, folder / "killed")
    rest = random.Random(4)
    alone = {os.path.basename(path): None for path in captures}
    begun = time.monotonic()
    run(cyclops, "collect", "--into", folder / "timed", "--day", "2026-11-26", *captures)
    whole_s = time.monotonic() - begun
    kills = 0
    for i in range(n):
        with subprocess.Popen([cyclops, "collect", "-j", "2", "--again", "--into", fleet.root, "--day", "2026-11-26", *captures], env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as collector:
            time.sleep(rest.uniform(0, whole_s))
            collector.send_signal(signal.SIGKILL)
            kills += collector.wait() == -signal.SIGKILL
        if fleet.paths("captures") and (i % 10 == 9 or i == n - 1):
            counted = {row["file"]: int(row["records"]) for row in fleet.sql(
                f"SELECT c.file, sum(s.n) AS records FROM {fleet.files('captures')} AS c JOIN {fleet.files('samples')} AS s ON s.part = c.part "
                "GROUP BY c.file")}
            checks.expect(all(alone[name] in (None, records) for name, records in counted.items()), f"parts of captures: {counted}")
            alone.update(counted)
    checks.count("killed collectors", kills)
    fleet.collect("--day", "2026-11-26", *captures)
    timed = Fleet(cyclops, duckdb, folder / "timed")
    checks.expect(+of_fleet(fleet) == +of_fleet(timed), "after the kills: another answer")


def check_many(checks, cyclops, duckdb, folder, captures):
    """Several collectors at once, of captures that overlap."""
    fleet = Fleet(cyclops, duckdb, folder / "many")
    every = [subprocess.Popen([cyclops, "collect", "--into", fleet.root, "--day", "2026-11-26", *some], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
             for some in (captures, captures[::-1], captures[::2], captures[1:])]
    checks.expect([one.wait() for one in every] == [0] * len(every), "a collector of several failed")
    checks.expect(+of_fleet(fleet) == +of_fleet(Fleet(cyclops, duckdb, folder / "timed")), "several collectors: another answer")
    checks.count("collectors at once", len(every))


def committed(fleet):
    """How often each capture has a row, and the parts that count: of a dataset in any state."""
    return collections.Counter(row["capture"] for row in fleet.sql(f"SELECT capture FROM {fleet.files('captures')}"))


def check_compact(checks, cyclops, maker, duckdb, folder, captures, data, words, kills):
    """Merged, killed while merging, asked meanwhile, collected again: the answers stay the same."""
    fleet = Fleet(cyclops, duckdb, folder / "compact")
    fleet.collect("--day", "2026-11-26", *captures)
    fleet.collect(*words, "--day", "2026-11-27", f"{data}/samples/sharing.data", f"{data}/samples/chase.data")
    questions = (["top"], ["coverage"], ["latency"], ["sharing", "--true-sharing"], ["hosts"],
                 ["changed", "--from", "2026-11-26", "--to", "2026-11-27"])
    wanted = [fleet.ask(*question) for question in questions]
    check_gates(checks, fleet)

    def counted(rows):
        """What was merged and not yet removed is there twice, and coverage says so."""
        return [{name: value for name, value in row.items() if name != "twice"} for row in rows]

    rest = random.Random(5)
    command = [cyclops, "fleet", "compact", fleet.root, "--program", duckdb, "--keep", "1"]
    killed = 0
    for i in range(kills):
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as merging:
            time.sleep(rest.uniform(0, 2))
            os.killpg(merging.pid, signal.SIGKILL)
            killed += merging.wait() == -signal.SIGKILL
        question = i % len(questions)
        checks.expect(counted(fleet.ask(*questions[question])) == counted(wanted[question]), f"after a kill: {questions[question]}")
    checks.count("killed compactions", killed)
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL) as merging:
        while merging.poll() is None:
            checks.expect(fleet.ask("top") == wanted[0], "asked while it merges: another answer")
            checks.count("questions beside a merge")
        checks.expect(merging.returncode == 0, "a compaction failed")
    checks.expect([fleet.ask(*question) for question in questions] == wanted, "after merging: another answer")
    checks.expect(all(path.parent.name == "host=_merged" for path in fleet.paths("captures")), "small files are left")
    checks.expect(max(committed(fleet).values()) == 1, "a capture is there twice")
    checks.expect(state_of(fleet.collect("--day", "2026-11-26", *captures)) == {"there": len(captures)}, "merged ones are not there")
    checks.expect(state_of(fleet.collect("--day", "2026-11-26", "--again", *captures[:2])) == {"collected": 2}, "not collected again")
    checks.expect([counted(fleet.ask(*question)) for question in questions] == [counted(rows) for rows in wanted], "collected again: another answer")
    late = str(folder / "late.data")
    run(maker, "-o", late, "--seed", 99, "--records", 1000)
    fleet.collect("--day", "2026-11-26", late)
    late_sums = of_fleet(fleet)
    run(*command)
    checks.expect(of_fleet(fleet) == late_sums and len(fleet.paths("captures")) == 3, "merged with late ones: another answer")
    checks.count("merged captures", len(captures) + 3)


def check_growing(checks, cyclops, maker, duckdb, folder):
    """A day that grows: when eight files of it are merged ones, they become one, and no capture is lost or counted twice."""
    fleet = Fleet(cyclops, duckdb, folder / "growing")
    made = []
    for turn in range(8):
        for i in range(2):
            made.append(str(folder / f"growing-{turn}-{i}.data"))
            run(maker, "-o", made[-1], "--seed", 2 * turn + i, "--records", 100)
        fleet.collect("--day", "2026-11-26", *made[-2:])
        run(cyclops, "fleet", "compact", fleet.root, "--program", duckdb, "--keep", "1")
        checks.expect(len(fleet.paths("captures")) == turn + 1, f"merged files behind turn {turn}: {fleet.paths('captures')}")
    wanted = of_fleet(fleet)
    text = run(cyclops, "fleet", "compact", fleet.root, "--program", duckdb, "--keep", "1", "--format", "csv").decode()
    checks.equal("merged files", [(r["captures"], r["merged_again"]) for r in csv.DictReader(io.StringIO(text))], [("0", "8")], "eight")
    checks.expect(len(fleet.paths("captures")) == 1 and len(fleet.paths("samples")) == 1, "merged files are left")
    checks.expect(of_fleet(fleet) == wanted and set(committed(fleet).values()) == {1} and len(committed(fleet)) == len(made), "merged again: another answer")
    checks.expect(state_of(fleet.collect("--day", "2026-11-26", *made)) == {"there": len(made)}, "merged again: not there")
    text = run(cyclops, "fleet", "compact", fleet.root, "--program", duckdb, "--keep", "1").decode()
    checks.expect(text == "Nothing is left to merge.\n", f"nothing to merge: {text}")


def check_push(checks, cyclops, duckdb, folder, dataset):
    """To a store, here one of files, by DuckDB: what is there is not copied again. fleet_store.py does it with S3."""
    store = folder / "store"
    for path in pathlib.Path(dataset).rglob("part-*.parquet"):
        (store / path.relative_to(dataset)).parent.mkdir(parents=True, exist_ok=True)
    setup = folder / "setup.sql"
    setup.write_text("SELECT 'captures' AS what;\n", encoding="ascii")
    words = ["fleet", "push", dataset, f"file://{store}/", "--program", duckdb, "--setup", setup, "--format", "csv"]
    first, again = (list(csv.DictReader(io.StringIO(run(cyclops, *words).decode()))) for _ in range(2))
    files = {str(path.relative_to(dataset)): path.read_bytes() for path in pathlib.Path(dataset).rglob("part-*.parquet")}
    checks.expect({str(path.relative_to(store)): path.read_bytes() for path in store.rglob("part-*.parquet")} == files, "files in the store")
    checks.expect(sum(int(row["copied"]) for row in first) == sum(int(row["there"]) for row in again) == len(files) > 0, f"pushed: {first}, {again}")
    there, here = Fleet(cyclops, duckdb, f"file://{store}"), Fleet(cyclops, duckdb, dataset)
    checks.expect(there.ask("top", "--setup", setup) == here.ask("top"), "in the store: another answer")
    for why, more in (("push needs", [dataset]), ("push needs", [dataset, "folder"]), ("DuckDB alone", [dataset, "s3://a/b", "--engine", "spark"])):
        done = subprocess.run([cyclops, "fleet", "push", *more], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == USAGE and why in done.stderr, f"push {more}: {done.stderr}")
    checks.count("files of a store", len(files))


def check_counts(checks, cyclops, duckdb, folder):
    """What `perf stat record` counted is what `export --table counts` has of the same captures."""
    fleet, captures = Fleet(cyclops, duckdb, folder / "counted"), []
    for i in range(2):
        captures.append(str(folder / f"counted-{i}.data"))
        done = shutil.which("perf") and subprocess.run(["perf", "stat", "record", "-o", captures[-1], "-e", "task-clock,page-faults", "true"],
                                                       env=ENVIRONMENT, capture_output=True, check=False)
        if not done or done.returncode != 0:
            print("skipped: counts (perf stat record does not count here)")
            return
    fleet.collect(*captures)
    wanted = collections.Counter()
    for path in captures:
        for row in csv.DictReader(io.StringIO(run(cyclops, "export", "--table", "counts", "--format", "csv", path).decode())):
            wanted[row["event"]] += int(row["counted"])
    checks.equal("counts", {row["event"]: round(float(row["events"])) for row in fleet.ask("counts")}, dict(wanted), "export")
    hosts = fleet.ask("counts", "--by", "host", "--event", "page-faults")
    checks.expect(len(hosts) == 1 and hosts[0]["host"] and hosts[0]["captures"] == "2", f"counts by host: {hosts}")


def check_html(checks, fleet, folder):
    """The page has the rows that are printed."""
    page = folder / "top.html"
    done = subprocess.run([fleet.cyclops, "fleet", "top", fleet.root, "--program", fleet.duckdb, "--format", "csv", "--html", page], env=ENVIRONMENT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 and "without" in done.stderr:
        print("skipped: pages (built without the viewer)")
        return
    blocks = re.findall(r'<script type="application/gzip" id="block-[0-9]*">([^<]*)</script>', page.read_text(encoding="utf-8"))
    tables = json.loads(gzip.decompress(base64.b64decode(blocks[0])))
    text = json.dumps(tables)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    checks.expect(len(blocks) == 1 and rows and all(json.dumps(row["function"]) in text and row["weight"] in text for row in rows), "rows of the page")
    checks.count("rows of a page", len(rows))


def check_questions(checks, fleet):
    """Each question has an answer, and messages for what is wrong."""
    ids = fleet.sql(f"SELECT DISTINCT unnest(build_ids) AS id FROM {fleet.files('captures')} ORDER BY id LIMIT 2")
    for words in (["top", "--event", "spe"], ["latency"], ["coverage"], ["hosts"], ["history", "--function", "chase_memory"],
                  ["changed", "--from", ids[0]["id"], "--to", ids[1]["id"]]):
        rows = fleet.ask(*words)
        checks.expect(rows or words[0] == "hosts", f"{words}: no rows")
        checks.count("questions")
    for status, why, words in (
            (USAGE, "there is no question 'none'", ["none", fleet.root]), (USAGE, "--function", ["history", fleet.root]),
            (USAGE, "--from", ["changed", fleet.root]), (NO_DATA, "it has no table", ["top", fleet.root + "/none"]),
            (FAILED, "duckdb-cli", ["top", fleet.root, "--program", "/nonexistent/duckdb"]),
            (FAILED, "duckdb failed", ["top", fleet.root, "--program", fleet.duckdb, "--setup", __file__]),
            (NO_DATA, "no captures of this machine", ["top", fleet.root, "--program", fleet.duckdb, "--host", "it's nobody"])):
        done = subprocess.run([fleet.cyclops, "fleet", *words], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == status and why in done.stderr, f"{words}: {done.returncode}: {done.stderr}")
        checks.count("messages")


def check_gates(checks, fleet):
    """Conditions of --fail-if are about the numbers of the answers."""
    sides = ["--from", "2026-11-26", "--to", "2026-11-27", "--event", "spe"]
    changes = {row["function"]: float(row["change"]) for row in fleet.ask("changed", *sides)}
    shares = {row["function"]: float(row["share"]) for row in fleet.ask("top", "--event", "spe")}
    function, share = max(shares.items(), key=lambda item: item[1])
    rising, change = max(changes.items(), key=lambda item: item[1])
    for words, condition, status, value in (
            (["top", "--event", "spe"], f"share({function}) > {share * 0.9}", 3, share), (["top", "--event", "spe"], f"share({function}) > {share * 1.1}", 0, share),
            (["changed", *sides], f"change({rising}) > {change * 0.9}", 3, change), (["changed", *sides], f"change({rising}) < 0", 0, change),
            (["hosts"], "hosts > 0", 0, 0), (["top"], f"share({function}) > 1%", USAGE, None), (["top", "--event", "spe"], "share(none) > 1%", FAILED, None),
            (["changed", *sides], "increase > 1%", NO_DATA, None)):
        done = subprocess.run([fleet.cyclops, "fleet", words[0], fleet.root, "--program", fleet.duckdb, "--format", "json", *words[1:], "--fail-if", condition],
                              env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == status, f"{words} {condition}: {done.returncode} {done.stderr}")
        if value is not None:
            measured = json.loads(done.stdout)["gates"][0]["measured"]
            checks.expect(abs(measured - value) <= 1e-12, f"{condition}: {measured}, not {value}")
        checks.count("gates")


def check_page(checks, cyclops, duckdb, data, page):
    """The examples of the manual page, with duckdb where a shell finds it."""
    tester = pathlib.Path(__file__).parent / "manual_examples.py"
    done = subprocess.run([sys.executable, tester, cyclops, data, page], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": os.path.dirname(duckdb) + ":" + os.environ["PATH"]})
    checks.expect(done.returncode == 0, f"examples of {page}: {done.stdout}{done.stderr}")
    checks.count("pages")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kills", type=int, default=6)
    p.add_argument("--captures", type=int, default=6)
    p.add_argument("cyclops")
    p.add_argument("maker")
    p.add_argument("data")
    p.add_argument("page")
    o = p.parse_args()
    checks = Checks()
    cyclops, data = os.path.abspath(o.cyclops), os.path.abspath(o.data)
    duckdb = engines.duckdb(cyclops)
    words = ["--symfs", f"{data}/root"]
    captures = sorted(map(str, [*pathlib.Path(data, "samples").glob("*.data"), *pathlib.Path(data).glob("*.data")]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fleet = Fleet(cyclops, duckdb, folder / "fleet")
        rows = fleet.collect(*words, data)
        checks.expect(sorted(row["file"] for row in rows) == captures and state_of(rows) == {"collected": len(captures)},
                      f"collected: {state_of(rows)}")
        wanted = check_answers(checks, fleet, captures, words)
        check_questions(checks, fleet)
        check_again(checks, fleet, captures, words)
        check_twice(checks, fleet, captures, words, wanted)
        check_uncommitted(checks, fleet, wanted)
        check_versions(checks, fleet, wanted)
        check_sharing(checks, cyclops, o.maker, duckdb, folder, data, words)
        check_cut(checks, cyclops, duckdb, folder, f"{data}/demo.data", words)
        made = []
        for i in range(o.captures):
            made.append(str(folder / f"made-{i}.data"))
            run(o.maker, "-o", made[-1], "--seed", i, "--records", 3000, "--samples", 500, "--memory-samples", 200)
        check_kills(checks, cyclops, duckdb, folder, made, o.kills)
        check_many(checks, cyclops, duckdb, folder, made)
        check_html(checks, fleet, folder)
        check_push(checks, cyclops, duckdb, folder, str(folder / "many"))
        check_counts(checks, cyclops, duckdb, folder)
        check_growing(checks, cyclops, o.maker, duckdb, folder)
        check_compact(checks, cyclops, o.maker, duckdb, folder, made, data, words, o.kills // 2)
    check_page(checks, cyclops, duckdb, data, os.path.abspath(o.page))
    checks.finish()


if __name__ == "__main__":
    main()
