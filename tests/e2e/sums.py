#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Adds up the rows of `cyclops export` and expects the same from `cyclops hot`.

usage: sums.py CYCLOPS MAKE-CAPTURE

By process, thread, cpu, source, set of events and, for samples, module and place: number of
records, period or latency, and share. On made-up captures, and on those in the folder that the
variable CYCLOPS_CAPTURES names.
"""

import math
import os
import sys
import tempfile

from harness import Checks, Failed, csv_rows, real_captures, run

SPE = "arm_spe"

# Key of `hot`, its column, and the column of the export: of both tables, or of samples only.
KEYS = [
    ("process", "pid", "pid", True),
    ("thread", "tid", "tid", True),
    ("cpu", "cpu", "cpu", True),
    ("source", "source", "source", True),
    ("event", "events", "events", True),
    ("module", "path", "module", False),
    ("place", "offset", "offset", False),
]


# Of perf_event.h's mem_lvl, in bits 5 and up of a data source: those that the captures have.
LEVELS = {0x08: "L1", 0x10: "LFB", 0x20: "L2", 0x40: "L3"}


def level_of(data_src):
    """The source as `hot` names it."""
    return "".join(name for bit, name in LEVELS.items() if int(data_src or "0", 0) >> 5 & bit)


def exported(cyclops, path):
    """Rows of both tables; `heavy` is what they weigh."""
    rows = csv_rows(cyclops, "export", "--table", "spe", path)
    for row in rows:
        row["event"] = SPE
        row["heavy"] = int(row["total_lat"] or 0)
    for row in csv_rows(cyclops, "export", "--table", "samples", path):
        row["events"] = row["event"]
        row["heavy"] = int(row["period"] or 0)
        row["source"] = level_of(row["data_src"])
        rows.append(row)
    return rows


def expected_sums(rows, column, with_spe):
    """{(event, key): (records, weight)}"""
    sums = {}
    for row in rows:
        if row["event"] == SPE and not with_spe:
            continue
        key = (row["event"], row.get(column, ""))
        n, heavy = sums.get(key, (0, 0))
        sums[key] = (n + 1, heavy + row["heavy"])
    return sums


def hot_sums(cyclops, path, key, column, only_event, with_spe):
    """
    The same from `hot`, and the shares. A column for the event stands only where there are several;
    outside all modules, places are told apart by address there.
    """
    sums, shares = {}, {}
    for row in csv_rows(cyclops, "hot", "--by", key, "--all", "--format", "csv", path):
        event = row.get("event", only_event)
        if int(row["samples"]) == 0 or (event == SPE and not with_spe):
            continue  # without samples: a place that calls others
        is_outside = column == "offset" and row["module"] in ("", "[unknown]")
        place = (event, "" if is_outside else row[column])
        n, heavy = sums.get(place, (0, 0))
        weight = row["latency_cycles"] if event == SPE else row["period"]
        sums[place] = (n + int(row["samples"]), heavy + int(weight or 0))
        shares[place] = shares.get(place, 0.0) + float(row["share"] or 0)
    return sums, shares


def check_shares(checks, name, sums, shares):
    totals = {}
    for (event, _), (_, heavy) in sums.items():
        totals[event] = totals.get(event, 0) + heavy
    for place, (_, heavy) in sums.items():
        share = heavy / totals[place[0]] if totals[place[0]] else 0.0
        checks.expect(math.isclose(shares[place], share, abs_tol=1e-9),
                      f"{name}: {place}: share {shares[place]}, expected {share}")


def check_capture(checks, cyclops, path):
    try:
        rows = exported(cyclops, path)
    except Failed as failure:
        print(f"skipped: {failure}")
        return
    events = {row["event"] for row in rows}
    only_event = next(iter(events), "")
    for key, column, source, with_spe in KEYS:
        name = f"{os.path.basename(path)}: by {key}"
        expected = expected_sums(rows, source, with_spe)
        found, shares = hot_sums(cyclops, path, key, column, only_event, with_spe)
        differences = {place: (found.get(place), expected.get(place))
                       for place in found.keys() | expected.keys()
                       if found.get(place) != expected.get(place)}
        checks.expect(not differences, f"{name}: {len(differences)} differ (found, expected): "
                      f"{list(differences.items())[:3]}")
        if not differences:
            check_shares(checks, name, found, shares)
        checks.count("groups", len(expected))
    checks.count("rows", len(rows))
    checks.count("captures")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, maker = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for seed, options in enumerate((["--cpus", 5], ["--no-context"], ["--only-perf61"])):
            path = os.path.join(folder, f"{seed}.data")
            run(maker, "--output", path, "--seed", seed, "--records", 3000, "--samples", 500, *options)
            check_capture(checks, cyclops, path)
    for path in real_captures():
        check_capture(checks, cyclops, path)
    checks.finish()


if __name__ == "__main__":
    main()
