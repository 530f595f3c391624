#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What prefetch hints gain on this machine: prefetch_gain.py [--clang CLANG] [--runs N] CYCLOPS WRITE-SAMPLES.

A program that walks through more memory than caches hold is measured, and samples of its loads are written: at their addresses
in its code, with the time of an iteration that was measured, and each a miss of DRAM's latency, as a CPU without a prefetcher of its
own would have them. The hints out of them go into the program, which has to compute the same; both are run in turn. The ratios
of their CPU time are printed and not judged: the CPU's own prefetcher fetches constant strides, too, and decides what is left.
"""

import argparse
import os
import pathlib
import statistics
import tempfile

from harness import Checks, need, run, skip
from prefetch import DRAM, GHZ, TELL_LOADS_APART, Walk, ahead, compile_program, export, hints, loads, prefetches, write_capture

STRIDES = {"list": 128, "column": 4096 + 64, "dense": 64}
DRAM_CYCLES, SAMPLES = 290, 400
ITERATIONS = 20_000_000  # in a run, about


def measured(program, walk):
    """Nanoseconds of an iteration, and the sum that the program prints."""
    rounds = max(1, ITERATIONS * STRIDES[walk] // (128 << 20))
    time, total = run(program, walk, str(rounds)).split()
    return float(time), total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("write_samples", type=os.path.abspath)
    arguments = parser.parse_args()
    if os.uname().machine != "x86_64":
        skip("LLVM inserts prefetches for x86 alone, and no compiler for it is here")
    need("objdump")
    need(arguments.clang)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-prefetch-gain-") as name:
        folder = pathlib.Path(name)
        source = "prefetch_gain_program.c"
        plain = compile_program(folder, arguments.clang, *TELL_LOADS_APART, source=source, name="plain")
        walks = {walk: Walk(stride, measured(plain, walk)[0], DRAM_CYCLES, SAMPLES, DRAM) for walk, stride in STRIDES.items()}
        write_capture(arguments.write_samples, folder / "loads.data", plain, walks, loads(plain, walks))
        _, profile, messages = export(arguments.cyclops, folder / "loads.data", "--ghz", str(GHZ))
        (folder / "hints.prof").write_text(profile)
        hinted = compile_program(folder, arguments.clang, *TELL_LOADS_APART, "-mllvm",
                                 f"-prefetch-hints-file={folder / 'hints.prof'}", source=source, name="hinted")
        for walk in STRIDES:
            there, wanted, truth = prefetches(hinted).get(walk), hints(profile).get(walk), ahead(walks[walk])
            checks.expect(wanted is not None and abs(wanted - truth) <= 0.1 * truth + STRIDES[walk],
                          f"{walk}: the hint is {wanted}, expected about {truth}: {messages}")
            checks.expect(there == wanted, f"{walk}: {there} bytes ahead in the code, the hint is {wanted}")
            ratios = []
            for _ in range(arguments.runs):
                (before, total), (after, again) = (measured(program, walk) for program in (plain, hinted))
                checks.expect(total == again, f"{walk}: computes {again}, without hints {total}")
                ratios.append(after / before)
            print(f"{walk}: a stride of {STRIDES[walk]} bytes, hint {wanted} bytes ahead: {statistics.median(ratios):.3f} of the CPU "
                  f"time without hints ({min(ratios):.3f} to {max(ratios):.3f}, {arguments.runs} runs in turn, "
                  f"{walks[walk].ns:.1f} ns an iteration)")
            checks.count("runs in turn", arguments.runs)
    checks.finish()


if __name__ == "__main__":
    main()
