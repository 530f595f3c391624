#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole method on this machine, where it has no counters: what can be said, and no more.

usage: run_live.py CYCLOPS PROGRAM

PROGRAM is record_program.c. Where the CPU counts, the answer is another one: skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import harness

BLIND = "this says where time goes, not why"
LEAST_SAMPLES = 30  # as src/run/method.c


def run(cyclops, folder, name, *program):
    done = subprocess.run([cyclops, "run", "--format", "json", "--folder", name, "--", *program], cwd=folder,
                          env=harness.ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        harness.skip(f"nothing can be measured here: {done.stderr}")
    # What the program prints comes first.
    answer = json.loads(done.stdout[done.stdout.index('{"schema"'):])
    if "topdown" in answer or "stalled in the backend" in done.stdout:
        harness.skip("this machine has counters")
    return answer, [note for notes in answer["notes"].values() for note in notes]


def check_busy(checks, answer, notes):
    """Hot functions with their places, and that nobody knows why they are hot."""
    kinds = [finding["kind"] for finding in answer["findings"]]
    sampled = [finding for finding in answer["findings"] if finding["from"] == "samples"]
    checks.expect(any(BLIND in note for note in notes), f"busy: nothing is said of counters: {notes}")
    if checks.expect(sampled, f"busy: no function stands out: {kinds}, {notes}"):
        first = sampled[0]
        checks.expect("work_a" in first["claim"] and first["place"].startswith("work_a+"), f"busy: the first is {first}")
        checks.expect(0.5 < first["share"] < 0.95, f"busy: work_a has {first['share']}")
    checks.count("programs")


def check_waiting(checks, answer, notes):
    """A program that sleeps: that it waits comes first, and of its few samples nothing is said.

    How long it takes to start, and so how many samples there are, is the machine's choice.
    """
    kinds = [finding["kind"] for finding in answer["findings"]]
    samples = answer["capture"][0]["samples"]
    is_said = any(f"Too few samples: {samples} sample" in note for note in notes)
    checks.expect(kinds[:1] == ["waiting"], f"sleep: {kinds}, not that it waits")
    checks.expect(is_said == (samples < LEAST_SAMPLES), f"sleep: of {samples} samples: {notes}")
    if samples < LEAST_SAMPLES:
        checks.expect(kinds == ["waiting"], f"sleep: {kinds} from {samples} samples")
    checks.count("programs")


def check_time(checks, folder, cyclops):
    """The time that was counted is that of the run, also for what compares runs."""
    text = subprocess.run([cyclops, "diff", "--format", "json", "waiting", "waiting"], cwd=folder,
                          env=harness.ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    rows = json.loads(text)["totals"]
    times = [row["a"] for row in rows if row["name"] == "time"]
    checks.expect(len(times) == 1 and times[0] >= 0.4e9, f"the time of a sleep of 0.4 s: {times}")


def check_sweep(checks, folder, cyclops):
    """Each value is in the environment and in the arguments; what fails is not compared."""
    done = subprocess.run([cyclops, "run", "--sweep", "N=0,x y,3", "--format", "json", "--folder", "sweep", "--",
                           "sh", "-c", "echo \"$N:{N}\" >> said; test \"$N\" != 3"], cwd=folder,
                          env=harness.ENVIRONMENT, capture_output=True, text=True, check=False)
    if not checks.expect(done.returncode == 0, f"sweep: {done.returncode} {done.stderr}"):
        return
    rows = json.loads(done.stdout)["sweep"]
    with open(os.path.join(folder, "said"), encoding="utf-8") as file:
        said = file.read().split("\n")
    checks.expect(said == ["0:0", "x y:x y", "3:3", ""], f"sweep: the program saw {said}")
    checks.expect([row["value"] for row in rows] == ["0", "x y", "3"], f"sweep: {rows}")
    checks.expect([row.get("status") for row in rows] == [None, None, 1], f"sweep: {rows}")
    checks.expect(rows[0]["speed"] == 1 and rows[2].get("speed") is None, f"sweep: {rows}")
    for words, why in (("N", "no name"), ("=1", "no name"), ("1N=2", "no name"), ("N=", "empty"), ("N=1,", "empty")):
        bad = subprocess.run([cyclops, "run", "--sweep", words, "--", "true"], cwd=folder, env=harness.ENVIRONMENT,
                             capture_output=True, text=True, check=False)
        checks.expect(bad.returncode == 2 and why in bad.stderr, f"--sweep {words}: {bad.returncode} {bad.stderr}")
    checks.count("sweeps")


def check_events(checks, folder, cyclops):
    """Without counters the doctor says so in a line, and remembers nothing."""
    state = os.path.join(folder, "state")
    done = subprocess.run([cyclops, "doctor", "--events"], env={**harness.ENVIRONMENT, "XDG_STATE_HOME": state},
                          capture_output=True, text=True, check=False)
    checks.expect(done.returncode == 1 and done.stdout == "", f"doctor --events: {done.returncode} {done.stdout}")
    checks.expect(done.stderr.count("\n") == 1 and "events cannot be checked" in done.stderr, done.stderr)
    checks.expect(not os.path.exists(state), "doctor --events remembers what it did not see")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    harness.need("sleep")
    checks = harness.Checks()
    cyclops, program = (os.path.abspath(word) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        check_busy(checks, *run(cyclops, folder, "busy", program, "busy", "1000"))
        check_waiting(checks, *run(cyclops, folder, "waiting", shutil.which("sleep"), "0.4"))
        check_time(checks, folder, cyclops)
        check_sweep(checks, folder, cyclops)
        check_events(checks, folder, cyclops)
    checks.finish()


if __name__ == "__main__":
    main()
