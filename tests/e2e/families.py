#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures of shapes that no other test has: many threads, few or many places, records without context or with
more events, of 16 to 64 bytes, thousands of contended lines, 256 CPUs, one huge buffer, call chains, branch stacks.

usage: families.py [--records N] CYCLOPS MAKE-FAMILY

Answers are the same for one worker and for seven; there are as many samples at each address, and accesses of each
kind, as perf says; and the first pairs of functions of c2c are those of all pairs.
"""

import argparse
import re
import subprocess
import tempfile

from c2c_perf import TRACE
from harness import Checks, csv_rows, need, run

QUESTIONS = (["report", "--format", "csv"], ["hot", "--format", "csv", "--by", "thread,instruction"],
             ["mem", "--format", "csv"], ["c2c", "--format", "json"], ["quality", "--format", "csv"],
             ["export", "--format", "csv"])


def families(make_family):
    """Its names, as it lists them."""
    usage = subprocess.run([make_family], capture_output=True, text=True, check=False).stderr
    return [line.split()[0] for line in usage.splitlines()[1:]]


def same_for_any_workers(checks, cyclops, name, file):
    for question in QUESTIONS:
        one, seven = (run(cyclops, *question, f"-j{jobs}", file) for jobs in (1, 7))
        checks.count("answers of one and seven workers")
        checks.expect(one == seven, f"{name}: {question[0]} depends on the number of workers")


def samples_of_perf(checks, cyclops, name, file):
    """Each address as often as in `perf script`."""
    theirs = run("perf", "script", "--itrace=i1i", "-F", "ip", "-G", "-i", file).decode().split()
    ours = [row.get("pc", row.get("ip")).removeprefix("0x") for row in csv_rows(cyclops, "export", "--format", "csv", file)]
    checks.equal(f"addresses of {name}", ours, theirs, "perf")


def counts_of_perf(checks, cyclops, name, file):
    """The counters of `perf c2c`."""
    report = run("perf", "c2c", "report", "--stdio", "--no-source", "-i", file).decode()
    counts = {row["counter"]: row["records"]
              for row in csv_rows(cyclops, "c2c", "--format", "csv", "--table", "trace", file)}
    for words, counter in TRACE:
        # DIFFERENCE: perf takes records without context to be of whoever drained the buffer, cyclops of who ran.
        if name == "no-context" and counter == "no_mapping":
            continue
        found = re.search(rf"^ *{re.escape(words)} +: +(\d+)$", report, re.M)
        checks.count("counters of perf c2c")
        checks.expect(found is not None and found[1] == counts[counter],
                      f"{name}: {words}: perf has {found and found[1]}, cyclops {counts[counter]}")


def first_pairs(checks, cyclops, name, file):
    """The pairs of the first findings, and of all."""
    first, every = (csv_rows(cyclops, "c2c", "--format", "csv", "--table", "pairs", "--top", top, file)
                    for top in ("20", "300"))
    checks.equal("pairs of functions", first, every[:20], "a longer list")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=6000)
    parser.add_argument("cyclops")
    parser.add_argument("make_family")
    arguments = parser.parse_args()
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory() as directory:
        for name in families(arguments.make_family):
            file = f"{directory}/{name}.data"
            run(arguments.make_family, name, str(arguments.records), file)
            same_for_any_workers(checks, arguments.cyclops, name, file)
            samples_of_perf(checks, arguments.cyclops, name, file)
            if name in ("chains", "loads", "stacks", "samples"):
                continue
            counts_of_perf(checks, arguments.cyclops, name, file)
            first_pairs(checks, arguments.cyclops, name, file)
        checks.expect_failure("is no number", arguments.make_family, "dense", f"{directory}/exchanged.data", "1000")
    checks.expect(checks.counts["pairs of functions"] >= 60, "too few pairs of functions")
    checks.finish()


if __name__ == "__main__":
    main()
