#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
SPE records of the pointer chase, whose loads, sources, latencies and addresses are known, on the machine model.

usage: kernel_spe.py CYCLOPS MODEL    MODEL: catalog/model/neoverse-n1.json

Of the records of its one load: their number times the interval is the number of loads; the data source is that of
the level; execution and translation take what the model was told; addresses are places of the ring, at the stride,
inside of its memory. Captures of the model have no registers, and SPE records none, so that addresses can only be
compared with where the ring is.
"""

import collections
import csv
import io
import json
import os
import sys
import tempfile

import harness
from harness import Checks, run

INTERVAL, ITERATIONS, LINE, WARM_UP = 1024, 300000, 64, 1000
LLC_BYTES = 8 << 20
RUNNER = "src/kernel/runner/cyclops-kernel-aarch64"


def levels_of(model):
    """By level: lines, data source, cycles of execution and translation, by how much they vary."""
    cache = "system_cache"
    return {
        "l1": (model["l1d_bytes"] // 2 // LINE, "L1D", model["latency_load"], 0),
        "l2": (2 * model["l1d_bytes"] // LINE, "L2", model["l2_cycles"] + model["l2_finish"], 0),
        "llc": (LLC_BYTES // 2 // LINE, "SYS_CACHE", model[f"{cache}_cycles"] + model[f"{cache}_finish"], model[f"{cache}_spread"]),
        "dram": (2 * LLC_BYTES // LINE, "DRAM", None, None),  # the counters are saturated there
    }


def records_of(cyclops, folder, lines):
    """Of the load of the chase, which is executed most often."""
    capture = os.path.join(folder, "chase.data")
    run(cyclops, "model", "-c", INTERVAL, "--no-jitter", "--set", "huge_pages=1", "--set", f"system_cache_bytes={LLC_BYTES}",
        "-o", capture, "--", os.path.join(os.path.dirname(cyclops), RUNNER), "chase", f"lines={lines}", f"iterations={ITERATIONS}")
    text = run(cyclops, "export", "--table", "spe", "--format", "csv", capture).decode()
    loads = [row for row in csv.DictReader(io.StringIO(text)) if row["op"] == "LD"]
    pc = collections.Counter(row["pc"] for row in loads).most_common(1)[0][0]
    return [row for row in loads if row["pc"] == pc]


def check_level(checks, rows, name, level):
    lines, source, cycles, spread = level
    n, loads = len(rows), ITERATIONS + max(lines, WARM_UP)
    checks.expect(abs(n * INTERVAL - loads) < 0.03 * loads, f"{name}: {n} records stand for {n * INTERVAL} loads, not {loads}")
    there = [row for row in rows if row["source"] == source]
    # the first round finds some of what was written before
    checks.expect(len(there) > (0.99 if name in ("l1", "l2") else 0.75) * n, f"{name}: {len(there)} of {n} records from {source}")
    addresses = [int(row["vaddr"], 16) for row in rows]
    checks.expect(all(address % LINE == min(addresses) % LINE for address in addresses), f"{name}: addresses off the stride")
    checks.expect(max(addresses) - min(addresses) < lines * LINE, f"{name}: addresses outside of the ring")
    if cycles is not None:
        mean = sum(int(row["total_lat"]) - int(row["issue_lat"]) for row in there) / len(there)
        checks.expect(abs(mean - cycles) <= 0.05 * cycles + spread, f"{name}: {mean} cycles, the model has {cycles}")
    checks.count("records", n)
    checks.count("levels")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops = os.path.abspath(sys.argv[1])
    if not harness.has_kernels(cyclops):
        harness.skip("no machine model here, or no microbenchmarks for it")
    with open(sys.argv[2], encoding="utf-8") as file:
        model = {p["name"]: p["value"] for p in json.load(file)["parameters"]}
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, level in levels_of(model).items():
            check_level(checks, records_of(cyclops, folder, level[0]), name, level)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
