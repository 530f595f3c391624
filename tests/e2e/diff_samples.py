#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares modelled runs of which the difference is known.

usage: diff_samples.py CYCLOPS DATA_DIR

The same program sampled with other seeds has not changed: chance makes a finding in one of a hundred
comparisons. Its fixed twin has changed, in the functions that were fixed, and only there.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need, run

SEEDS = range(1, 7)
PROGRAMS = ("copies", "multiply", "sharing")
MAX_ALARMS = 2  # of 45 pairs with two tables, at one of a hundred

# Before, after: the functions that changed, with the sign of the change, and those whose change is
# about as large as the samples can tell.
TWINS = [
    ("sharing", "padded", {"compare": -1}, {"count_up": -1}),
    ("padded", "sharing", {"compare": 1}, {"count_up": 1}),
    ("stride", "stride-ahead", {"walk": -1}, {}),
    ("stride", "stride", {}, {}),
]


def changes(cyclops, before, after, *options, kind="functions"):
    """Certain changes of a kind: name to sign."""
    output = run(cyclops, "diff", "--format", "json", "--all", *options, before, after)
    rows = json.loads(output).get(kind, [])
    return {row["name"]: 1 if row["change"] > 0 else -1 for row in rows if row["certainty"] == "certain"}


def check_twins(checks, cyclops, data):
    for before, after, wanted, allowed in TWINS:
        files = [os.path.join(data, "samples", name + ".data") for name in (before, after)]
        found = changes(cyclops, *files, "--symfs", os.path.join(data, "root"))
        checks.expect(wanted.items() <= found.items() <= (wanted | allowed).items(),
                      f"{before} and {after}: {found}, not {wanted}")
        checks.count("twins")


def check_shared(checks, cyclops, data):
    """A struct that two threads contended for is found again where it is larger and lies elsewhere."""
    symbols = ("--symfs", os.path.join(data, "root"))
    sharing, padded, stride = (os.path.join(data, "samples", name + ".data") for name in ("sharing", "padded", "stride"))
    for before, after, sign in ((sharing, padded, -1), (padded, sharing, 1)):
        found = changes(cyclops, before, after, *symbols, kind="shared")
        checks.expect(found == {"account": sign, "all lines": sign}, f"shared data: {found}")
        checks.count("shared data compared")
    output = json.loads(run(cyclops, "diff", "--format", "json", *symbols, stride, stride))
    checks.expect("shared" not in output, f"nothing is shared in stride: {output.get('shared')}")


def check_gates(checks, cyclops, data):
    """Exit statuses, for programs that run programs."""
    before, after = (os.path.join(data, "samples", name + ".data") for name in ("padded", "sharing"))
    for condition, status in (("total > 5%", 3), ("total < -5%", 0), ("function:compare > 50 %", 3),
                              ("prepare > -1", 0), ("time > 10%", 3), ("shared:account > 1000", 3),
                              ("all lines < 0", 0)):
        done = subprocess.run([cyclops, "diff", before, after, "--symfs", os.path.join(data, "root"),
                               "--fail-if", condition], env=ENVIRONMENT, capture_output=True, check=False)
        checks.expect(done.returncode == status, f"{condition}: {done.returncode} {done.stderr.decode()}")
        checks.count("gates")


def check_words(checks, cyclops, data):
    """What people read first: the time before sums of what overlaps, no figure surer than it is."""
    names = [os.path.join(data, "samples", name + ".data") for name in ("stride", "stride-ahead")]
    counts = os.path.join(data, "counts", "stride.csv")
    symbols = ("--symfs", os.path.join(data, "root"))
    rows = json.loads(run(cyclops, "diff", "--format", "json", *symbols, *names))["totals"]
    share = next(-100 * row["change_share"] for row in rows if row["name"] == "time")
    text = run(cyclops, "diff", *symbols, *names).decode()
    answer, tables = text[:text.index("Totals")], text[text.index("Totals"):]
    answer = answer.removeprefix("modelled: these numbers are simulated, not measured\n")
    checks.expect(answer.startswith(f"Time: b takes {share:.1f} % less than a"), f"headline: {answer}")
    checks.expect("arm_spe: b takes" not in text, f"a sum of latencies is no time: {text}")
    checks.expect("arm_spe: summed latency of sampled operations; they overlap" in tables, f"totals: {tables}")
    checks.expect("(95 %)" in text, f"no level of +-: {text}")
    after = os.path.join(data, "counts", "stride-ahead.csv")
    metrics = json.loads(run(cyclops, "diff", "--format", "json", "--all", counts, after))["metrics"]
    lines = run(cyclops, "diff", "--all", counts, after).decode().splitlines()
    for row in metrics:
        shown = [f"{row[key]:.4g}" for key in ("a", "b", "change") if key in row]
        checks.expect(any(row["name"] in line and set(shown) <= set(line.split()) for line in lines),
                      f"{row['name']}: {shown} not in {lines}")
        checks.count("metrics in four digits")
    for arguments, status, wanted in (
            ([*names, *symbols, "--fail-if", "time < -1%"], 3, "time < -1%: error not known: one run each"),
            ([*names, *symbols, "--fail-if", "arm_spe < -1%"], 3, "arm_spe"),
            ([*names, *symbols, "--fail-if", "icp < -3%"], 1, "there are time, arm_spe"),
            ([counts, names[0], *symbols], 4, "no data of the same kind")):
        done = subprocess.run([cyclops, "diff", *arguments], env=ENVIRONMENT, capture_output=True, check=False)
        said = (done.stdout + done.stderr).decode()
        checks.expect(done.returncode == status and wanted in said, f"{arguments}: {done.returncode} {said}")
        checks.count("answers in words")


def check_messages(checks, cyclops, data, folder):
    """What is wrong with two captures that are read at the same time: of A first, and of A alone where there is no answer."""
    whole = pathlib.Path(data, "samples", "sharing.data").read_bytes()
    a, b, none = (pathlib.Path(folder, name) for name in ("a.data", "b.data", "none.data"))
    a.write_bytes(whole[:-5000])
    b.write_bytes(whole[:-9000])
    none.write_bytes(b"PERFILE2" + bytes(len(whole) - 8))
    for pair, wanted in (((a, b), [a, b]), ((b, a), [b, a]), ((none, a), [none]), ((a, none), [a, none])):
        said = [subprocess.run([cyclops, "diff", f"-j{jobs}", *pair], env=ENVIRONMENT, capture_output=True, check=False)
                for jobs in (1, 2, 7)]
        lines = said[0].stderr.decode().splitlines()
        files = [path for line in lines for path in (a, b, none) if str(path) in line]
        checks.expect(list(dict.fromkeys(files)) == wanted and files == sorted(files, key=wanted.index),
                      f"{[path.name for path in pair]}: {lines}")
        checks.expect(all((one.returncode, one.stdout, one.stderr) == (said[0].returncode, said[0].stdout, said[0].stderr) for one in said),
                      f"{[path.name for path in pair]}: not the same for any number of threads: {said}")
        checks.count("pairs of damaged captures")


def check_seeds(checks, cyclops, data, folder):
    alarms = []
    root = os.path.join(data, "root")
    for program in PROGRAMS:
        files = [os.path.join(folder, f"{program}{seed}") for seed in SEEDS]
        for seed, path in zip(SEEDS, files):
            run(cyclops, "model", "--seed", seed, "--interval", 1024, "-o", path, "--",
                os.path.join(root, "opt", "kernels", program))
        for pair in itertools.combinations(files, 2):
            for kind in ("functions", "shared"):
                found = changes(cyclops, *pair, kind=kind)
                alarms += [(program, found)] if found else []
            checks.count("pairs of runs with nothing changed")
    checks.expect(len(alarms) <= MAX_ALARMS, f"between seeds: {alarms}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    checks = Checks()
    check_twins(checks, *sys.argv[1:])
    check_shared(checks, *sys.argv[1:])
    check_gates(checks, *sys.argv[1:])
    check_words(checks, *sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        check_messages(checks, *sys.argv[1:], folder)
    need("qemu-aarch64")
    with tempfile.TemporaryDirectory() as folder:
        check_seeds(checks, *sys.argv[1:], folder)
    checks.finish()


if __name__ == "__main__":
    main()
