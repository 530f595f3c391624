#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Structs whose hot members should stand apart from the others: what `cyclops addr` says of arrays
with a known use.

usage: addr_splits.py CYCLOPS WRITE-ACCESSES
"""

import argparse
import json
import os
import random
import subprocess
import tempfile

from harness import Checks, need, run

A64 = "aarch64-linux-gnu-"
SOURCE = """
struct particle { double x, y, z; char name[40]; long created, owner; double mass; };
struct pair { long key, value; };
struct lonely { long hot; char cold[120]; };
struct rare { long hot; char cold[120]; };
struct even { long a, b, c, d; };

struct particle particles[500];
struct pair pairs[500];
struct lonely lonely;
struct rare rares[500];
struct even evens[500];

long _start(void) { return ((volatile long *)particles)[0]; }
"""

# Of each array: offsets in an element with how often they are accessed, of how many elements.
USES = {
    "particles": ({0: 400, 8: 300, 16: 200, 80: 3}, 88, 500),
    "pairs": ({0: 300, 8: 300}, 16, 500),
    "lonely": ({0: 300}, 128, 1),
    "rares": ({0: 40}, 128, 500),
    "evens": ({0: 100, 8: 100, 16: 100}, 32, 500),
}

# What there is to say: hot members, untouched ones, their bytes.
EXPECTED = {
    "struct particle": (88, 24, "x, y, z", 56, "name, created, owner", 903),
}


def build(folder):
    source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(A64 + "gcc", "-O1", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie",
        "-Wl,-Ttext-segment=0x400000", source, "-o", program)
    symbols = run(A64 + "nm", program).decode().split("\n")
    return {words[2]: int(words[0], 16) for words in map(str.split, symbols) if len(words) == 3}


def accesses(symbols):
    rng = random.Random(1)
    for name, (uses, size, n) in USES.items():
        for offset, count in uses.items():
            for _ in range(count):
                yield symbols[name] + rng.randrange(n) * size + offset


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cyclops")
    parser.add_argument("write_accesses")
    args = parser.parse_args()
    need(A64 + "gcc")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        symbols = build(folder)
        pc = symbols["_start"]
        lines = [f"0 500 500 {1000 + 10 * i:x} {pc:x} {va:x} 0 0 {5 + i % 7:x}"
                 for i, va in enumerate(accesses(symbols))]
        path = os.path.join(folder, "perf.data")
        subprocess.run([args.write_accesses, path, "/program"], input="\n".join(lines).encode(), check=True)
        answer = json.loads(run(args.cyclops, "addr", "--all", "--symfs", folder, "--format", "json", path))
    found = {row["type"]: (row["size"], row["hot_bytes"], row["hot"], row["untouched_bytes"], row["untouched"],
                           row["records"]) for row in answer["splits"]}
    checks.expect(found == EXPECTED, f"splits: {found}, expected {EXPECTED}")
    checks.count("structs", len(USES))
    checks.finish()


if __name__ == "__main__":
    main()
