#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What microbenchmarks count on the machine model is what catalog/expected.json says: every event of every case
that the model counts. The formulas are evaluated here a second time.

usage: kernel_model.py [--all] CYCLOPS    --all: every case; else some that are quick
"""

import argparse
import json
import pathlib
import tempfile

from harness import Checks, run, skip

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUNNER = "src/kernel/runner/cyclops-kernel-aarch64"
QUICK = ("chase-l1", "chase-tlb2", "prefetch-l1", "fill-l2", "splits", "sharing-apart", "constant-branch", "callchain",
         "blocks", "barriers", "exclusives", "square-root")

# Arrays that share a level, by microbenchmark.
ARRAYS = {"triad": 3, "copy": 2}
PAGE, LINE, INTERVAL = 4096, 64, 1 << 20


def sizes_of_model():
    """Bytes of data by level, and the pages of TLBs."""
    model = json.loads((SOURCE / "catalog/model/neoverse-n1.json").read_text())["parameters"]
    of = {row["name"]: row["value"] for row in model}
    bytes_of = {"l1": of["l1d_bytes"] // 2, "l2": max(of["l2_bytes"] // 4, 2 * of["l1d_bytes"]),
                "llc": max(of["system_cache_bytes"] // 2, 2 * of["l2_bytes"]), "dram": 2 * of["system_cache_bytes"]}
    pages = {"tlb2": (of["dtlb_entries"] + of["l2tlb_entries"]) // 4, "walk": 2 * of["l2tlb_entries"]}
    return bytes_of, pages


def values_of(case, usual, sizes):
    bytes_of, pages = sizes
    values, level = dict(usual[case["kernel"]]), case.get("level")
    if level in pages:
        values.update(stride=PAGE + LINE, lines=pages[level])
    elif level:
        values["lines"] = bytes_of[level] // LINE // ARRAYS.get(case["kernel"], 1)
    values.update(case.get("parameters", {}))
    return values


def counted(cyclops, case, values, folder):
    """Counts of the region, by event."""
    counts = folder / "counts.json"
    parameters = [f"{name}={value}" for name, value in values.items()]
    run(cyclops, "model", "-o", folder / "perf.data", "--counts", counts, "-c", INTERVAL, "--",
        pathlib.Path(cyclops).parent / RUNNER, case["kernel"], *parameters)
    rows = [row for row in json.loads(counts.read_text())["regions"] if row["region"] == case["kernel"]]
    found = {}
    for row in rows:
        found.setdefault(row["event"], row["count"])
    return found


def limits(row, values, expected):
    tolerance = expected["tolerances"][row["kind"]]
    value = lambda key: eval(row[key], {"__builtins__": {}}, values)  # noqa: E731
    if row["kind"] == "never":
        least, most = 0, tolerance * values["iterations"]
    elif row["kind"] == "range":
        least, most = value("least") * (1 - tolerance), value("most") * (1 + tolerance)
    else:
        least, most = value("count") * (1 - tolerance), value("count") * (1 + tolerance)
    return least, most + expected["overhead"]


def check_case(case, values, found, expected, checks):
    for row in case["expect"]:
        if "aarch64" not in row.get("architectures", ["aarch64"]):
            continue
        names = [event for name in row["events"]
                 for event in (expected["sets"][name[1:]] if name.startswith("@") else [name])]
        for name in names:
            if name not in found:
                continue
            least, most = limits(row, values, expected)
            checks.expect(least <= found[name] <= most,
                          f"{case['name']}: {name}: {found[name]}, not {least:.0f} to {most:.0f}")
            checks.count("events")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops")
    given = parser.parse_args()
    if not (pathlib.Path(given.cyclops).parent / RUNNER).exists():
        skip("no cyclops-kernel for AArch64; aarch64-linux-gnu-gcc builds it")
    usual = {}
    for row in json.loads(run(given.cyclops, "list", "kernels", "--format", "json"))["parameters"]:
        usual.setdefault(row["kernel"], {})[row["parameter"]] = row["default"]
    expected = json.loads((SOURCE / "catalog/expected.json").read_text())
    checks, sizes = Checks(), sizes_of_model()
    with tempfile.TemporaryDirectory() as folder:
        for case in expected["cases"]:
            if not given.all and case["name"] not in QUICK:
                continue
            values = values_of(case, usual, sizes)
            check_case(case, values, counted(given.cyclops, case, values, pathlib.Path(folder)), expected, checks)
            checks.count("cases")
    checks.finish()


if __name__ == "__main__":
    main()
