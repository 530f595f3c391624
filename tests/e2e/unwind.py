#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Call chains out of copied stacks: against the truth, frame pointers, and perf on the same file.

usage: unwind.py CYCLOPS WITHOUT_FRAME_POINTERS WITH_FRAME_POINTERS

The programs are builds of unwind_program.c. The kernel's clock is sampled, so any machine will do
whose kernel lets us.
"""

import collections
import csv
import io
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import harness
import recorded

CALLS = 360000
# Each way to leaf() has a part of its time.
WAYS = ("direct", "large", "recursive", "aligned", "compare", "signalled")


def record(cyclops, path, options, program):
    """What was said while recording."""
    done = subprocess.run([cyclops, "record", "-o", path, "-e", "cpu-clock:u", "-F", recorded.frequency(2500), *options, "--",
                           program, str(CALLS)], env=harness.ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        harness.skip(f"nothing can be recorded here: {done.stderr}")


def hot(cyclops, path, *options):
    done = subprocess.run([cyclops, "hot", "--format", "csv", "--all", *options, path], env=harness.ENVIRONMENT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise harness.Failed(f"hot {path}: {done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def inclusive(rows):
    """Share with callees, by function."""
    found = collections.Counter()
    for row in rows:
        found[row["function"]] += float(row["total_share"])
    return found


def n_samples(rows):
    return sum(int(row["samples"]) for row in rows)


def limit_of(n):
    """Four standard deviations of a way's share of `n` samples, and a hundredth."""
    return 4 * math.sqrt(1 / 6 * 5 / 6 / n) + 0.01


def chains(cyclops, path):
    """Functions of a chain, outermost first: how many samples."""
    done = subprocess.run([cyclops, "export", "--format", "folded", "--value", "samples", path], env=harness.ENVIRONMENT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise harness.Failed(f"export {path}: {done.stderr}")
    found = collections.Counter()
    for line in done.stdout.splitlines():
        chain, _, n = line.rpartition(" ")
        found[tuple(chain.split(";"))] += int(n)
    return found


def check_truth(checks, cyclops, what, path, rows):
    """Of the samples below leaf(), each way has its part within four standard deviations; all is below main().

    What raise() spends on the way into the kernel and back, and what waits there for an interrupt (the first instruction
    of handler() has it then), is no part of the six ways, and may be long.
    """
    below_leaf = {chain: n for chain, n in chains(cyclops, path).items() if "leaf" in chain}
    n = sum(below_leaf.values())
    shares = inclusive(rows)
    checks.expect(shares["signalled"] - shares["handler"] > -1e-9,
                  f"{what}: handler has {shares['handler']}, its caller signalled {shares['signalled']}")
    limit = limit_of(n)
    for way in WAYS:
        share = sum(samples for chain, samples in below_leaf.items() if way in chain) / n
        checks.expect(abs(share - 1 / 6) < limit, f"{what}: {way} has {share:.4f} of {n}, not {1 / 6:.4f} +- {limit:.4f}")
        checks.count("ways")
    checks.expect(shares["main"] > 0.95, f"{what}: main has {shares['main']}")


def perf_inclusive(path):
    """The same shares by perf, and how many samples."""
    text = harness.run("perf", "script", "-i", path, "-F", "period,ip,sym", "--no-inline", "--max-stack", "127").decode()
    total, n, found = 0, 0, collections.Counter()
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        period = int(lines[0].split()[0])
        names = {" ".join(line.split()[1:]) for line in lines[1:]}
        total, n = total + period, n + 1
        for name in names:
            found[name] += period
    return collections.Counter({name: period / total for name, period in found.items()}), n


def check_perf(checks, path, rows):
    """The functions of the program, exactly: sums of the same samples."""
    theirs, n = perf_inclusive(path)
    ours = inclusive(rows)
    if theirs["main"] < 0.5:
        print("this perf does not unwind: not compared with it")
        return
    checks.expect(n == n_samples(rows), f"perf has {n} samples, we have {n_samples(rows)}")
    for name in ("main", "leaf", "handler", *WAYS):
        checks.expect(abs(ours[name] - theirs[name]) < 1e-9, f"{name}: {ours[name]}, perf has {theirs[name]}")
        checks.count("functions compared with perf")


# The C library has no frame pointers: what it calls has lost its callers.
WAYS_BY_POINTERS = ("direct", "large", "recursive", "aligned")


def parts(cyclops, path):
    """Samples below each of the ways that frame pointers show."""
    found = collections.Counter()
    for chain, n in chains(cyclops, path).items():
        found.update({way: n for way in WAYS_BY_POINTERS if way in chain and chain[-1] in ("leaf", "spin")})
    return found


def check_pointers(checks, copied, pointers):
    """The ways have the same parts of their sum."""
    totals = copied.total(), pointers.total()
    limit = 4 * math.sqrt(1 / 4 * 3 / 4 * sum(1 / n for n in totals)) + 0.01
    for way in WAYS_BY_POINTERS:
        shares = copied[way] / totals[0], pointers[way] / totals[1]
        checks.expect(abs(shares[0] - shares[1]) < limit,
                      f"{way}: {shares[1]} of {totals[1]} by frame pointers, {shares[0]} of {totals[0]} by copied stacks")
        checks.count("ways by frame pointers")


def check_short(checks, cyclops, path):
    """Stacks that were copied in part: the chains are short, and it is said of how many."""
    rows, said = hot(cyclops, path)
    cut = re.search(r"not enough of the stack was copied.*\((\d+) times\)", said)
    checks.expect(cut is not None, f"nothing is said of stacks that are cut: {said}")
    n_cut = int(cut.group(1)) if cut else 0
    shares, n = inclusive(rows), n_samples(rows)
    # What has a large frame has no callers in so short a copy, but it has its own. Frames of signals may be as large.
    checks.expect(0.9 * shares["large"] < n_cut / n < 1 / 2, f"{n_cut} of {n} chains are cut, large has {shares['large']}")
    limit = 4 * math.sqrt(2 / 6 / n) + 0.01  # of a difference of two ways
    checks.expect(abs(shares["large"] - shares["direct"]) < limit,
                  f"large has {shares['large']}, direct {shares['direct']} of {n}")
    checks.expect(abs(1 - n_cut / n - shares["main"]) < 0.05, f"main has {shares['main']}, {n_cut} of {n} are cut")


def check_threads(checks, cyclops, path):
    texts = [harness.run(cyclops, "hot", "--callers", "--format", "csv", "-j", n, path) for n in (1, 5)]
    checks.expect(texts[0] == texts[1], "-j 1 and -j 5 differ")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    checks = harness.Checks()
    cyclops, without, with_pointers = (os.path.abspath(word) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        copied, short, pointers = (os.path.join(folder, name) for name in ("copied", "short", "pointers"))
        record(cyclops, copied, ["--call-graph", "dwarf"], without)
        rows, _ = hot(cyclops, copied)
        check_truth(checks, cyclops, "copied stacks", copied, rows)
        check_threads(checks, cyclops, copied)
        record(cyclops, short, ["--call-graph", "dwarf,2048"], without)
        check_short(checks, cyclops, short)
        record(cyclops, pointers, ["--call-graph", "fp"], with_pointers)
        check_pointers(checks, parts(cyclops, copied), parts(cyclops, pointers))
        if shutil.which("perf") is not None:
            check_perf(checks, copied, rows)
    checks.finish()


if __name__ == "__main__":
    main()
