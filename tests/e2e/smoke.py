#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Each command once, in each of its forms: that it ends as it should and says something.

usage: smoke.py CYCLOPS DATA_DIR

A few seconds, for whoever changes things; what is said is for the other tests. DATA_DIR is
tests/data. Nothing here needs an emulator: of the model only what it says without one. Where the
kernel does not let programs be measured, the commands that measure have to say that.
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, Failed, table_of

DONE, FAILED, MISUSED = 0, 1, 2
FORMS = ("text", "csv", "json")

# Words of each command; CAPTURE, SAMPLES (of the PMU), STACKS (of branches), COUNTS and ROOT stand for those of the test data, OUT for a path.
ASKED = {
    "report": ["--symfs", "ROOT", "CAPTURE"],
    "hot": ["--symfs", "ROOT", "CAPTURE"],
    "annotate": ["--symfs", "ROOT", "CAPTURE"],
    "blocks": ["--symfs", "ROOT", "CAPTURE"],
    "calls": ["--symfs", "ROOT", "STACKS"],
    "mem": ["--symfs", "ROOT", "CAPTURE"],
    "c2c": ["--symfs", "ROOT", "CAPTURE"],
    "addr": ["--symfs", "ROOT", "CAPTURE"],
    "quality": ["--symfs", "ROOT", "CAPTURE"],
    "cycles": ["--symfs", "ROOT", "SAMPLES"],
    "diff": ["--symfs", "ROOT", "CAPTURE", "CAPTURE"],
    "export": ["CAPTURE"],
    "collect": ["--into", "OUT", "CAPTURE"],
    "fleet": ["top", "--print-sql", "OUT"],
    "dump": ["--packets", "CAPTURE"],
    "stat": ["--import", "COUNTS"],
    "list": ["cpus"],
    "catalog": [],
    "doctor": [],
    "latency": ["--sizes", "4K..64K", "--samples", "10"],
    "kernel": ["--validate", "page-faults"],
    "help": ["report"],
    "run": ["--folder", "OUT", "--", "/bin/true"],
    "record": ["-e", "cpu-clock", "-o", "OUT", "--", "/bin/true"],
    "model": ["--emulator", "/nonexistent", "-o", "OUT", "--", "ROOT/opt/demo/demo"],
}
NO_TEXT = ("export",)
NO_FORMS = ("catalog", "dump", "fleet", "help", "record", "model")
WRITES_FILE = ("record",)
# Those that may end with another status, by what this machine is like.
MEASURES = ("run", "record")
JUDGES = ("doctor", "kernel")
WITHOUT_EMULATOR = ("model",)


def start(cyclops, *words):
    return subprocess.run([cyclops, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=ENVIRONMENT, check=False)


def is_of(form, text):
    """Is there something in it, of this form?"""
    if form == "json":
        return len(json.loads(text)) > 1
    if form == "csv":
        return sum(1 for row in csv.reader(io.StringIO(text)) if row) > 1
    return len(text.split()) > 3


def check_form(checks, cyclops, name, words, form, out):
    """One run in one form."""
    command = [name, *words] if form is None else [name, "--format", form, *words]
    done = start(cyclops, *command)
    what = " ".join(command)
    checks.count("runs")
    if name in WITHOUT_EMULATOR:
        checks.expect(done.returncode == MISUSED and "/nonexistent" in done.stderr,
                      f"{what}: exit status {done.returncode}: {done.stderr}")
        return
    if name in MEASURES and done.returncode == FAILED and "perf_event" in done.stderr:
        print(f"left out: {name}: {done.stderr.strip()}")
        return
    allowed = (DONE, FAILED) if name in JUDGES else (DONE,)
    if not checks.expect(done.returncode in allowed, f"{what}: exit status {done.returncode}: {done.stderr}"):
        return
    if name in WRITES_FILE:
        checks.expect(os.path.getsize(out) > 0, f"{what}: an empty file")
        return
    try:
        checks.expect(is_of(form or "text", done.stdout), f"{what}: nothing is said: {done.stdout!r}")
    except ValueError as failure:
        checks.fail(f"{what}: not {form}: {failure}: {done.stdout[:200]}")


def check_command(checks, cyclops, data, name, words):
    done = start(cyclops, name, "--help")
    checks.expect(done.returncode == DONE and f"cyclops {name}" in done.stdout, f"{name} --help: {done}")
    done = start(cyclops, name, "--no-such-option")
    checks.expect(done.returncode == MISUSED and "--no-such-option" in done.stderr, f"{name}, misused: {done}")
    forms = (None,) if name in NO_FORMS else FORMS[1:] if name in NO_TEXT else FORMS
    for form in forms:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            places = {"CAPTURE": f"{data}/samples/sharing.data", "SAMPLES": f"{data}/cycles.data", "COUNTS": f"{data}/counts/stride.csv",
                      "STACKS": f"{data}/calls.data", "ROOT": f"{data}/root", "OUT": out}
            command = [word.replace("ROOT/", places["ROOT"] + "/") if "/" in word else places.get(word, word)
                       for word in words]
            check_form(checks, cyclops, name, command, form, out)
    checks.count("commands")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, data = (os.path.realpath(word) for word in sys.argv[1:])
    checks = Checks()
    try:
        for name, words in table_of(cyclops, ASKED):
            check_command(checks, cyclops, data, name, words)
    except Failed as failure:
        checks.fail(failure)
    checks.finish()


if __name__ == "__main__":
    main()
