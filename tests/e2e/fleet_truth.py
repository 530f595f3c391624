#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A simulated fleet answers what it was made of: every question of `cyclops fleet`, compared with what fleet_generator.py drew.

usage: fleet_truth.py [--rows N] [--hosts N] [--dataset DIR] [--compact] CYCLOPS

Sums and percentiles have to be equal to what was drawn. Shares, changes and hosts that differ are compared with what they were
drawn from, within the stated errors. How much CPU time each question took is printed. DIR keeps the dataset, or is
one that was made before.
"""

import argparse
import bisect
import csv
import importlib
import importlib.util
import io
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

import engines
import harness
from harness import Checks, run

HERE = os.path.dirname(os.path.abspath(__file__))


def python_with_arrow(cyclops):
    """A Python that can write the dataset: this one, or with what pip brings."""
    if all(importlib.util.find_spec(name) for name in ("numpy", "pyarrow")):
        return {}
    folder = os.path.join(os.path.dirname(os.path.abspath(cyclops)), "engines-arrow")
    if not os.path.isdir(os.path.join(folder, "pyarrow")) and not engines.pip(folder, "numpy", "pyarrow"):
        harness.skip("Python has no numpy and pyarrow, and pip does not bring them")
    return {"PYTHONPATH": folder}


class Fleet:
    def __init__(self, cyclops, duckdb, dataset):
        self.cyclops, self.duckdb, self.dataset = cyclops, duckdb, dataset
        with open(os.path.join(dataset, "truth.json"), encoding="utf-8") as file:
            self.truth = json.load(file)

    def ask(self, question, *words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = run(self.cyclops, "fleet", question, self.dataset, "--program", self.duckdb, "--format", "csv", "--all", *words).decode()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{seconds:8.1f} s of CPU time: {question} {' '.join(words)}", flush=True)
        return list(csv.DictReader(io.StringIO(text)))


def within(checks, what, rows, most_outside):
    """(difference, half of the 95 % interval) of many: about one in twenty may be outside."""
    outside = sum(abs(difference) > half for difference, half in rows)
    checks.expect(outside <= most_outside, f"{what}: {outside} of {len(rows)} are outside of their errors")
    checks.count(what, len(rows))


def limit(n):
    """Of n intervals of 95 %, more than this are outside in less than one of some thousand runs."""
    return 0.05 * n + 4 * (0.05 * 0.95 * n) ** 0.5 + 1


def check_top(checks, fleet, expected):
    names = [tuple(name) for name in fleet.truth["names"]]
    rows = fleet.ask("top")
    for event, (weights, records) in fleet.truth["functions"].items():
        scale = 1024 if event == "spe" else 1
        found = sorted((r["module"], r["function"], int(r["weight"]), int(r["records"])) for r in rows if r["event"] == event)
        wanted = sorted((m, f, w * scale, n) for (m, f), w, n in zip(names, weights, records) if n > 0)
        checks.equal("functions of top", found, wanted, "generator")
    shares = {(r["module"], r["function"]): r for r in rows if r["event"] == "cycles"}
    errors = [(float(r["share"]) - expected[names.index(name)], float(r["share_error"])) for name, r in shares.items()]
    within(checks, "shares of cycles, against what they were drawn from", errors, limit(len(errors)))


def drawn_shares(truth, generator):
    """What shares were drawn from, by build: of all hosts, one of which is bad."""
    names = [name for _, name in truth["names"]]
    out = {}
    for build in "abc":
        weights = []
        for is_bad in (False, True):
            shares = generator["SHARES"].copy()
            if build == "c":
                shares[names.index(truth["regression"][0])] *= truth["regression"][1]
            if is_bad:
                shares[names.index(truth["bad_function"][0])] *= truth["bad_function"][1]
            weights.append(shares / shares.sum())
        out[build] = weights[0] + (weights[1] - weights[0]) / truth["hosts"]
    return out


def check_changed(checks, fleet, drawn):
    names = [name for _, name in fleet.truth["names"]]
    builds = fleet.truth["builds"]
    for a, b in (("a", "c"), ("a", "b")):
        rows = [r for r in fleet.ask("changed", "--from", builds[a], "--to", builds[b], "--event", "cycles")]
        errors = [(float(r["change"]) - (drawn[b] - drawn[a])[names.index(r["function"])], float(r["change_error"])) for r in rows]
        within(checks, "changes between builds", errors, limit(len(errors)))
        significant = [r["function"] for r in rows if r["significant"] == "true"]
        regressed = fleet.truth["regression"][0]
        checks.expect((significant[:1] == [regressed]) if b == "c" else not significant, f"changed {a} to {b}: significant: {significant[:5]}")


def check_hosts(checks, fleet):
    rows = fleet.ask("hosts", "--event", "cycles")
    found = {(r["host"], r["function"]) for r in rows}
    checks.expect(found == {(fleet.truth["bad"], fleet.truth["bad_function"][0])}, f"hosts that differ: {sorted(found)[:5]}")
    # latencies weigh very differently: chance alone must show none
    found = {row["host"] for row in fleet.ask("hosts", "--event", "spe")}
    checks.expect(found <= {fleet.truth["bad"]}, f"hosts that differ by latency: {sorted(found)[:5]}")
    checks.count("hosts", fleet.truth["hosts"])


def quantile(counts, q):
    sums = list(itertools.accumulate(counts))
    return bisect.bisect_left(sums, q * sums[-1])


def check_latency(checks, fleet):
    found = sorted((f"{r['machine']} {r['source']}", int(r["records"]), int(r["p50"]), int(r["p90"]), int(r["p99"])) for r in fleet.ask("latency"))
    wanted = sorted((key, sum(h), quantile(h, 0.5), quantile(h, 0.9), quantile(h, 0.99)) for key, h in fleet.truth["latency"].items())
    checks.equal("percentiles of latency", found, wanted, "generator")


def check_history(checks, fleet, drawn):
    names = [name for _, name in fleet.truth["names"]]
    at = names.index(fleet.truth["regression"][0])
    rows = fleet.ask("history", "--function", names[at], "--event", "cycles")
    wanted = sorted((key.split()[1], v[0][at]) for key, v in fleet.truth["by_day"].items() if key.startswith("cycles ") and v[0][at] > 0)
    checks.equal("days of history", sorted((r["day"], int(r["weight"])) for r in rows if int(r["weight"])), wanted, "generator")
    days = sorted(r["day"] for r in rows if int(r["hosts"]) > 1)
    builds = {day: "abc"[min(2, i * 3 // fleet.truth["days"])] for i, day in enumerate(days)}
    errors = [(float(r["share"]) - drawn[builds[r["day"]]][at], float(r["share_error"])) for r in rows if r["day"] in builds]
    within(checks, "shares of days", errors, limit(len(errors)))


def check_coverage(checks, fleet):
    rows = fleet.ask("coverage")
    checks.expect(sum(int(r["captures"]) for r in rows) == fleet.truth["captures"], "captures of coverage")
    checks.expect(sum(int(r["twice"]) for r in rows) == fleet.truth["twice"], "captures that were collected twice")
    checks.count("days of coverage", len(rows))


def check_sharing(checks, fleet, contention):
    rows = fleet.ask("sharing")
    cost, peer, loads = fleet.truth["shared"]
    n, hosts = fleet.truth["captures"], fleet.truth["hosts"]
    found = [(r["object"], r["writer"], r["reader"], int(r["cost_cycles"]), int(r["peer"]), int(r["hitm"]), int(r["records"]), int(r["captures"]),
              int(r["hosts"])) for r in rows]
    checks.equal("contended objects", found, [("queue", "push", "pop", cost * 1024, peer, peer - 10 * n, 200 * n, n, hosts),
                                              ("", "fill", "drain", 50 * 1024 * n, 2 * n, 0, 9 * n, n, hosts)], "generator")
    share, error = float(rows[0]["share"]), float(rows[0]["share_error"])
    checks.expect(abs(share - cost / loads) < 1e-9 and abs(share - contention) < 2 * error, f"sharing: {share} ± {error}")
    checks.equal("with true sharing", [r["object"] for r in fleet.ask("sharing", "--true-sharing")], ["table", "queue", ""], "generator")


def check_counts(checks, fleet, generator):
    """Sums are exact; rates are within their errors of what they were drawn from."""
    truth = fleet.truth["counts"]
    found = {(r["day"], r["machine"], r["event"]): round(float(r["events"])) for r in fleet.ask("counts", "--by", "day")}
    wanted = {(*where.split(), event): n for where, counts in truth.items() for event, n in zip(("cycles", "instructions", "cache-misses"), counts)}
    checks.equal("counts by day", sorted(found.items()), sorted(wanted.items()), "generator")
    rows = {(r["machine"], r["event"]): r for r in fleet.ask("counts")}
    errors = []
    for machine, ipc in generator["IPC"].items():
        totals = [sum(counts[i] for where, counts in truth.items() if where.split()[1] == machine) for i in range(3)]
        for event, i in (("instructions", 1), ("cache-misses", 2)):
            row = rows[machine, event]
            rate, base = ("ipc", totals[0]) if i == 1 else ("pki", totals[1] / 1000)
            checks.expect(abs(float(row[rate]) - totals[i] / base) < 1e-6, f"{machine} {event}: {rate} {row[rate]}")
            if i == 2:
                checks.expect(abs(float(row["per_cycle"]) - totals[i] / totals[0]) < 1e-9, f"{machine} {event} per cycle: {row['per_cycle']}")
        ipc_drawn, mpki_drawn = ipc * math.exp(0.1**2 / 2), 1000 * generator["MISSES"] * math.exp(0.2**2 / 2)
        errors.append((float(rows[machine, "instructions"]["ipc"]) - ipc_drawn, float(rows[machine, "instructions"]["ipc_error"])))
        errors.append((float(rows[machine, "cache-misses"]["pki"]) - mpki_drawn, float(rows[machine, "cache-misses"]["pki_error"])))
        checks.expect(abs(float(rows[machine, "cache-misses"]["running"]) - 0.5) < 1e-9, "part of the time on a counter")
    within(checks, "rates of counts", errors, 1)
    hosts = fleet.ask("counts", "--by", "host", "--event", "instructions")
    checks.expect(len(hosts) == fleet.truth["hosts"] and sum(round(float(r["events"])) for r in hosts) == sum(n[1] for n in truth.values()),
                  "instructions by host")


def ask_everything(checks, fleet, generator):
    drawn = drawn_shares(fleet.truth, generator)
    days = fleet.truth["days"]
    part = [sum(min(2, d * 3 // days) == i for d in range(days)) / days for i in range(3)]
    check_top(checks, fleet, sum(drawn[b] * share for b, share in zip("abc", part)))
    check_changed(checks, fleet, drawn)
    check_hosts(checks, fleet)
    check_latency(checks, fleet)
    check_history(checks, fleet, drawn)
    check_coverage(checks, fleet)
    check_sharing(checks, fleet, generator["CONTENTION"] * math.exp(0.3**2 / 2))
    check_counts(checks, fleet, generator)


def dataset_of(options, folder, more):
    """The simulated fleet, drawn if it is not there; `more`: variables of the environment, for pyarrow."""
    dataset = options.dataset or os.path.join(folder, "fleet")
    if not os.path.exists(os.path.join(dataset, "truth.json")):
        subprocess.run([sys.executable, os.path.join(HERE, "fleet_generator.py"), "--rows", str(options.rows),
                        "--hosts", str(options.hosts), dataset], check=True, env={**os.environ, **more})
    return dataset


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rows", type=int, default=10**8)
    p.add_argument("--hosts", type=int, default=1000)
    p.add_argument("--dataset")
    p.add_argument("--compact", action="store_true", help="merge its small files, and ask once more")
    p.add_argument("cyclops")
    o = p.parse_args()
    duckdb = engines.duckdb(o.cyclops)
    more = python_with_arrow(o.cyclops)
    sys.path[:0] = [path for path in [more.get("PYTHONPATH")] if path]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        dataset = dataset_of(o, folder, more)
        generator = {}
        sys.path.insert(0, HERE)
        generator.update(vars(importlib.import_module("fleet_generator")))
        fleet = Fleet(os.path.abspath(o.cyclops), duckdb, dataset)
        ask_everything(checks, fleet, generator)
        if o.compact:
            run(fleet.cyclops, "fleet", "compact", dataset, "--program", duckdb, "--keep", "1")
            ask_everything(checks, fleet, generator)
    checks.finish()


if __name__ == "__main__":
    main()
