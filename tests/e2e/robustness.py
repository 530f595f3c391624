#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Cuts captures short and changes their bytes, and runs everything that commands do on them.

usage: robustness.py [--cases N] DAMAGE-SESSIONS MAKE-CAPTURE CORPUS...

DAMAGE-SESSIONS is tests/corpus/damage_captures.c with tests/fuzz/session_fuzz.c: half of the
cases are cuts, half are changes, spread over made-up captures, the folders CORPUS, and the one
that the variable CYCLOPS_CAPTURES names. A crash, a hang, a leak or a byte that is not accounted
for ends it; with sanitizers also a bad access.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import perf_file
import spe_bytes
from harness import ENVIRONMENT, run

# Options of make-capture, and whether the trace is to be a wild one.
MADE_UP = [
    (["--records", 300, "--samples", 50, "--cpus", 2, "--chunk", 4096, "--info-v2"], False),
    (["--records", 300, "--cpus", 3, "--chunk", 1024, "--kernel-map"], True),
    (["--samples", 100, "--cpus", 2], False),
]


def make_captures(maker, folder):
    for number, (options, is_wild) in enumerate(MADE_UP):
        path = os.path.join(folder, f"{number}.data")
        run(maker, "--output", path, *options)
        if not is_wild:
            continue
        with open(path, "rb") as file:
            data = bytearray(file.read())
        wild = spe_bytes.Wild(random.Random(1), (0xAAAAC0000000, 0xFFFF40000000), (4000, 77))
        wild.with_repeats = True
        for chunk in perf_file.chunks(data):
            trace = spe_bytes.Trace(wild, 0x6450000000, 100, 0.1)
            data[chunk.start : chunk.end] = trace.chunk(chunk.size)
        with open(path, "wb") as file:
            file.write(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="600", help="N, or FIRST-END")
    parser.add_argument("damage_sessions")
    parser.add_argument("make_capture")
    parser.add_argument("corpora", nargs="+")
    args = parser.parse_args()
    environment = dict(ENVIRONMENT)
    if "CYCLOPS_CAPTURES" in os.environ:
        environment["CYCLOPS_CAPTURES"] = os.environ["CYCLOPS_CAPTURES"]
    with tempfile.TemporaryDirectory() as folder:
        make_captures(args.make_capture, folder)
        done = subprocess.run([args.damage_sessions, args.cases, folder, *args.corpora],
                              env=environment, check=False)
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main()
