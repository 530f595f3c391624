#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops latency on the machine model: what it measures there is what the model's parameters were taken from, table
4.4 of the SPE white paper (lat_mem_rd on a Neoverse N1 at 2.8 GHz, without and with -t).

usage: model_latency.py [--all] CYCLOPS

The larger sizes, which take most of the time, with --all. Needs cyclops for AArch64 (scripts/build-arm64.sh). The clock that programs see there moves in steps of 1 us.
"""

import os
import pathlib
import sys
import tempfile

from harness import Checks, csv_rows, has_model, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARM64 = pathlib.Path(os.environ.get("CYCLOPS_ARM64", ROOT / "build-arm64" / "cyclops"))

# How the model is set, size, ns that the paper prints. With huge pages all translations hit the TLB; the system cache
# is smaller then, so that less has to be touched until lines come from DRAM. With small ones, lines in random order, they are beyond the first-level TLB at 512K, and beyond the second at 24M, of which it holds a
# fifth. From DRAM with -t the paper has 135 ns at 1 GiB, where walks read the system cache: kernel_checks.py, 129.9 ns.
PRINTED = {
    ("huge_pages=1", "system_cache_bytes=8388608"): {"32K": 1.429, "512K": 5.0, "6M": 36.6, "16M": 101},
    ("huge_pages=0",): {"32K": 1.429, "512K": 5.7, "24M": 45},
}
LARGE = {"16M", "24M"}
WITHIN = 0.06  # rounded to "~5.0", and the lines at the limits of a page are far


def main():
    *options, cyclops = sys.argv[1:] or sys.exit(__doc__)
    if options not in ([], ["--all"]):
        sys.exit(__doc__)
    cyclops = os.path.abspath(cyclops)
    if not has_model():
        skip("qemu-aarch64 is not installed")
    if not ARM64.exists():
        skip("no cyclops for AArch64; scripts/build-arm64.sh builds it")
    checks = Checks()
    for settings, printed in PRINTED.items():
        pages = settings[0]
        printed = {size: ns for size, ns in printed.items() if options or size not in LARGE}
        words = [word for setting in settings for word in ("--set", setting)]
        with tempfile.TemporaryDirectory() as folder:
            rows = csv_rows(cyclops, "model", *words, "-o", os.path.join(folder, "m.data"), "--", ARM64,
                            "latency", "--sizes", ",".join(printed), "--format", "csv", "--table", "sizes")
        for row, (size, ns) in zip(rows, printed.items(), strict=True):
            print(f"{pages} {size:>4}: {float(row['ns']):.3f} ns, printed {ns}")
            checks.expect(abs(float(row["ns"]) - ns) <= WITHIN * ns, f"{pages}, {size}: {row['ns']} ns, printed {ns}")
            # the clock of the core is found by a chain of additions
            checks.expect(abs(float(row["core_hz"]) - 2.8e9) <= 0.02 * 2.8e9, f"{pages}, {size}: {row['core_hz']} Hz")
            checks.count("points of table 4.4")
    checks.finish()


main()
