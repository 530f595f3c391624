#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the catalog says of a CPU gets into answers: names of its SPE events, faults, thresholds.

usage: cpu_facts.py CYCLOPS DATA

The demo's capture is of a Neoverse N1 r3p1; copies of it say that they are of other CPUs.
"""

import json
import pathlib
import re
import sys
import tempfile

from harness import Checks, run

CYCLOPS = sys.argv[1]
DATA = pathlib.Path(sys.argv[2])
DEMO = (DATA / "demo.data").read_bytes()
MIDR = b"0x00000000413fd0c1"

# MIDR; the CPU has the N1's names of events; what quality says of instructions that it favours.
CPUS = [
    (b"0x00000000413fd0c1", True, " (on Neoverse N1 before r4p1 targets of branches, erratum 1694299)"),
    (b"0x00000000414fd0c0", True, " (on Neoverse N1 before r4p1 targets of branches, erratum 1694299)"),
    (b"0x00000000414fd0c1", True, ""),
    (b"0x00000000411fd401", False, ""),
    (b"0x0000000099000000", False, ""),
]


def bias(path, *options):
    """Loads alone: what stands behind them was sampled too seldom, as if the CPU favoured loads."""
    rows = json.loads(run(CYCLOPS, "quality", path, "--select", "op=load", "--symfs", DATA / "root",
                          "--format", "json", *options))["quality"]
    return next(row["finding"] for row in rows if row["check"] == "bias").split(": a bias of the CPU")[1]


def check_midr(checks, path, midr, has_names, fault):
    # events of 16 bits, behind them a counter: bits 12 and 13 are the CPU's own
    named = re.sub(rb"\x52(.)([\0-\3])(?=[\x98\x99])", lambda m: b"\x52" + m[1] + bytes([m[2][0] | 0x30]), DEMO,
                   flags=re.DOTALL)
    path.write_bytes(named.replace(MIDR, midr))
    words = run(CYCLOPS, "dump", "--packets", "--wording", "full", path).decode()
    checks.equal("names of events", [(words.count(" LATE-PREFETCH IMPDEF:13\n") > 1000, " IMPDEF:12" in words)],
                 [(has_names, not has_names)], midr)
    path.write_bytes(DEMO.replace(MIDR, midr))
    checks.equal("faults", [bias(path)], [fault], midr)


def threshold(counts, *options):
    """Of cycles stalled in the backend, as the tree says it."""
    text = run(CYCLOPS, "stat", "--import", counts, "--cpu", "neoverse-n1", *options).decode()
    return re.search(r"backend stalled .* above (\d+) %", text)[1]


def main():
    checks = Checks()
    counts = DATA / "counts" / "stride.csv"
    with tempfile.TemporaryDirectory() as folder:
        capture, mine = pathlib.Path(folder) / "perf.data", pathlib.Path(folder) / "mine.json"
        for midr, has_names, fault in CPUS:
            check_midr(checks, capture, midr, has_names, fault)
        capture.write_bytes(DEMO)
        checks.equal("faults", [bias(capture, "--cpu", "neoverse-v1")], [""])
        mine.write_text(json.dumps({"schema": 1, "id": "neoverse-n1", "thresholds": {"backend_stalled_cycles": 21},
                                    "errata": [{"id": "7", "affects": "spe-bias", "what": "loads"}]}))
        checks.equal("faults", [bias(capture, "--catalog", mine)], [" (on Neoverse N1 loads, erratum 7)"])
        checks.equal("thresholds", [threshold(counts)], ["20"])
        checks.equal("thresholds", [threshold(counts, "--catalog", mine)], ["21"])
        mine.write_text(json.dumps({"schema": 1, "thresholds": {"backend_stalled_cycles": {"value": 22}}}))
        checks.equal("thresholds", [threshold(counts, "--catalog", mine)], ["22"])
    checks.finish()


main()
