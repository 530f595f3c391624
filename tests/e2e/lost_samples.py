#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Estimates of captures that lost samples to collisions: lost_samples.py CYCLOPS WRITE_LOST [SEEDS].

In each of SEEDS (default 40) captures of write_lost.c one load was executed 100 000 times, and samples of it were
lost most. Where the losses were counted, in the capture or in a file, estimates are scaled and their limits hold the
truth 19 times out of 20; where AUX records alone tell of them there is a lower limit, and all commands say so.
"""

import collections
import json
import os
import pathlib
import sys
import tempfile

from harness import Checks, csv_rows, folded, run

TRUE_LOADS, INTERVAL = 100_000, 384
SLOW = "0x100"  # offset of the load
HELD = 0.93  # of limits, at least
SHARING = pathlib.Path(__file__).resolve().parent.parent / "data/samples/sharing.data"
COMMANDS = ("report", "mem", "hot", "addr")


def rows(cyclops, path, *words):
    return csv_rows(cyclops, *words, "--format", "csv", "--all", path)


def loads(cyclops, path, *options):
    """Rows of the load: by event, by `mem`, and over all."""
    found = rows(cyclops, path, "hot", "--event", "load", "--by", "place", "--table", "hot", *options)
    found += rows(cyclops, path, "mem", "--by", "place", "--table", "mem", *options)
    found += rows(cyclops, path, "mem", "--table", "region", *options)
    return found


def check_counted(checks, what, cyclops, path, counts, options):
    """The estimate is scaled; returns whether its limits hold the truth."""
    held = []
    taken, lost = counts
    for row in loads(cyclops, path, *options):
        checks.count("limits")
        n = int(row["samples"])
        estimated, scaled = float(row["estimated_operations"]), n * INTERVAL * (taken + lost) / taken
        checks.expect(abs(estimated / scaled - 1) < 0.005, f"{what}: {n} records, {estimated}, not {scaled}")
        checks.expect(row["estimated_operations_trust"] == "scaled", f"{what}: {row}")
        held.append(float(row["estimated_low"]) <= TRUE_LOADS <= float(row["estimated_high"]))
        for rate in ("bytes_per_s", "derived_latency_ns"):
            checks.expect(row.get(rate, "") == "" or row[f"{rate}_trust"] == "at-least", f"{what}: {rate}: {row}")
    checks.expect(len(held) == 3 and len(set(held)) == 1, f"{what}: three views, {held}")
    return held[0]


def check_flagged(checks, what, cyclops, path):
    held = []
    for row in loads(cyclops, path):
        checks.count("limits")
        checks.expect(int(row["estimated_operations"]) == int(row["samples"]) * INTERVAL, f"{what}: {row}")
        checks.expect(row["estimated_operations_trust"] == "at-least" and row["estimated_high"] == "", f"{what}: {row}")
        checks.expect(row.get("derived_latency_ns", "") == "", f"{what}: {row}")
        held.append(float(row["estimated_low"]) <= TRUE_LOADS)
    return held[0]


def check_words(checks, cyclops, folder, write_lost):
    """Each command says it once, in a note."""
    for mode, options, words in (("flags", (), "how many was not counted"),
                                 ("sampled", (), "SPE samples were lost (1"),
                                 ("flags", ("--counts", folder / "counts"), "SPE samples were lost (1")):
        (folder / "counts").write_bytes(run(write_lost, folder / "a.data", 7, mode))
        for command in COMMANDS:
            found = folded(cyclops, command, *options, folder / "a.data")
            checks.expect(found.count(words) == 1, f"{command} {mode} {options}: '{words}' {found.count(words)} times")
        found = folded(cyclops, "quality", *options, folder / "a.data")
        checks.expect("collisions" in found, "quality")
    (folder / "other").write_text("5,,cycles,100,100.00,,\n")
    for bad, why in ((folder / "other", "has none of SAMPLE_COLLISION"), (folder / "none", "none")):
        checks.expect_failure(why, cyclops, "mem", "--counts", bad, folder / "a.data")


def check_shares(checks, cyclops, folder):
    """A tenth of the samples was lost: that much more of the latency may wait for the line, or less."""
    (folder / "tenth").write_text("100,,SAMPLE_COLLISION,100,100.00,,\n900,,SAMPLE_FEED,100,100.00,,\n")
    for command in ("c2c", "report"):
        whole, lossy = (json.loads(run(cyclops, command, *options, "--format", "json", SHARING))["findings"][0]
                        for options in ((), ("--counts", folder / "tenth")))
        share, wanted = whole["share"], whole["share_error"] + 0.1 * max(whole["share"], 1 - whole["share"])
        checks.expect(lossy["share"] == share and abs(lossy["share_error"] - wanted) < 1e-9, f"{command}: {lossy}, not {wanted}")
        checks.count("shares")


def counts_of(listing):
    words = [line.split(",") for line in listing.decode().splitlines()]
    return tuple(int(word[0]) for word in words)


def main():
    cyclops, write_lost = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    checks, held = Checks(), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, counts = folder / "a.data", folder / "counts"
        for seed in range(n_seeds):
            listing = run(write_lost, path, seed, "sampled")
            held["sampled"] += check_counted(checks, f"seed {seed}, sampled", cyclops, path, counts_of(listing), ())
            counts.write_bytes(run(write_lost, path, seed, "flags"))
            held["given"] += check_counted(checks, f"seed {seed}, given", cyclops, path, counts_of(listing),
                                           ("--counts", counts))
            held["flags"] += check_flagged(checks, f"seed {seed}", cyclops, path)
        check_words(checks, cyclops, folder, write_lost)
        check_shares(checks, cyclops, folder)
    for mode, n in held.items():
        print(f"{mode}: {n} of {n_seeds} limits hold the truth ({n / n_seeds:.1%})")
        checks.expect(n >= HELD * n_seeds, f"{mode}: limits claim too much")
    checks.finish()


if __name__ == "__main__":
    main()
