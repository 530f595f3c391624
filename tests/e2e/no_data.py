#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Exit status 4: the capture is sound, but has nothing of the kind that was asked for.

usage: no_data.py CYCLOPS MAKE-CAPTURE

Each command that reads a capture is asked what the capture has, and what it lacks.
"""

import os
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run, table_of

DONE, NO_DATA = 0, 4

# Captures: with everything, with samples alone, with SPE records alone, with neither.
CAPTURES = {"full": (3000, 200), "samples": (0, 100), "spe": (500, 0), "empty": (0, 0)}

# With code that is here.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "root", "opt", "demo", "demo")

# What each command is asked: (status, capture, words).
ASKED = {
    "report": [(DONE, "full", ""), (DONE, "samples", ""), (NO_DATA, "empty", "")],
    "hot": [(DONE, "full", ""), (DONE, "full", "--event l1d-refill"), (NO_DATA, "samples", "--event l1d-refill"),
            (NO_DATA, "samples", "--elapsed"), (NO_DATA, "samples", "--arguments"),
            (DONE, "full", "--select comm=nobody"), (NO_DATA, "empty", "")],
    "annotate": [(DONE, "full", ""), (NO_DATA, "empty", "")],
    "calls": [(DONE, "code", "--symfs /"), (NO_DATA, "full", ""), (NO_DATA, "empty", "")],
    "blocks": [(DONE, "code", "--symfs /"), (NO_DATA, "full", ""), (NO_DATA, "empty", "")],
    "mem": [(DONE, "full", ""), (NO_DATA, "samples", ""), (NO_DATA, "samples", "--by function"), (NO_DATA, "empty", "")],
    "c2c": [(DONE, "full", ""), (DONE, "spe", ""), (NO_DATA, "samples", ""), (NO_DATA, "empty", ""),
            (NO_DATA, "samples", "--physical")],
    "addr": [(DONE, "full", ""), (NO_DATA, "samples", ""), (NO_DATA, "samples", "--by page"), (NO_DATA, "empty", "")],
    "quality": [(DONE, "full", ""), (DONE, "samples", ""), (NO_DATA, "empty", "")],
    "cycles": [(DONE, "full", "--template neoverse-n1"), (DONE, "samples", "--template haswell"),
               (NO_DATA, "spe", "--template haswell"), (NO_DATA, "empty", "--template haswell")],
    "export": [(DONE, "full", "--table spe"), (DONE, "full", "--table samples"), (NO_DATA, "samples", "--table spe"),
               (NO_DATA, "spe", "--table samples"), (NO_DATA, "samples", "--format spe-parser"), (NO_DATA, "empty", "")],
    "dump": [(DONE, "full", ""), (DONE, "full", "--packets"), (NO_DATA, "samples", "--packets")],
}


def main():
    cyclops, maker = (os.path.abspath(word) for word in sys.argv[1:])
    checks = Checks()
    listed = [line.split("\t") for line in run(cyclops, "--list-commands").decode().splitlines()]
    others = [name for name, reads, _ in listed if reads != "capture"]
    with tempfile.TemporaryDirectory() as folder:
        for name, (records, samples) in CAPTURES.items():
            run(maker, "--output", os.path.join(folder, name), "--records", records, "--samples", samples)
        run(maker, "--output", os.path.join(folder, "code"), "--records", 300, "--samples", 100, "--branches",
            "--symbols", "--binary", os.path.realpath(PROGRAM))
        for command, cases in table_of(cyclops, ASKED, others):
            for status, capture, words in cases:
                line = [command, *words.split(), capture]
                done = subprocess.run([cyclops, *line], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, check=False)
                checks.expect(done.returncode == status, f"{' '.join(line)}: status {done.returncode}: {done.stderr}")
                checks.count("questions")
            checks.expect({DONE, NO_DATA} <= {status for status, *_ in cases}, f"{command}: too few cases")
    return checks.finish()


sys.exit(main())
