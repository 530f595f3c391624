#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Exit statuses of each command: 0 answered, 1 cannot, 2 wrong usage, 3 a gate failed, 4 no data of this kind.

usage: exit_status.py CYCLOPS MAKE-CAPTURE DATA

What cannot be asked of a command on every machine is left out: what counts and records here has tests of its own.
"""

import os
import shlex
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run, table_of

DONE, FAILED, USAGE, GATE, NO_DATA = range(5)

# Of a capture: the same for all commands that need no more.
CAPTURE = {DONE: "full", FAILED: "none.data", NO_DATA: "empty"}

# By command: what it is asked for each status. Wrong usage is an option that no command has.
ASKED = {
    "report": CAPTURE,
    "hot": {**CAPTURE, GATE: "full --fail-if 'samples > 0'"},
    "annotate": CAPTURE,
    "mem": {**CAPTURE, GATE: "full --fail-if 'loads > 0'"},
    "c2c": {**CAPTURE, GATE: "full --fail-if 'contended_load_share >= 0'"},
    "addr": CAPTURE,
    "quality": CAPTURE,
    "export": {**CAPTURE, DONE: "full --table spe"},
    "dump": {**CAPTURE, NO_DATA: "empty --packets"},
    "blocks": {FAILED: "none.data", NO_DATA: "full"},
    "calls": {FAILED: "none.data", NO_DATA: "full"},
    "cycles": {DONE: "full --template neoverse-n1", FAILED: "none.data --template neoverse-n1",
               NO_DATA: "empty --template haswell"},
    "diff": {DONE: "full full", FAILED: "full none.data", GATE: "a.csv b.csv --fail-if 'ipc > -100%'"},
    "stat": {DONE: "--import a.csv", FAILED: "--import none.csv", GATE: "--import a.csv --fail-if 'ipc < 9'",
             NO_DATA: "--import a.csv --fail-if 'time > 1'"},
    "run": {FAILED: "--folder none/folder -- true"},
    "record": {FAILED: "-o none/folder/x -- true"},
    "model": {FAILED: "-o none/folder/x -- none"},
    "list": {DONE: "cpus", FAILED: "cpus --catalog none.json"},
    "doctor": {FAILED: "--catalog none.json"},
    "help": {DONE: "hot"},
}


def ask(cyclops, folder, line, **more):
    return subprocess.run([cyclops, *line], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, **more)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, records, samples in (("full", 3000, 200), ("empty", 0, 0)):
            run(maker, "--output", os.path.join(folder, name), "--records", records, "--samples", samples)
        for name, file in (("a.csv", "stride.csv"), ("b.csv", "stride-ahead.csv")):
            os.symlink(os.path.join(data, "counts", file), os.path.join(folder, name))
        for command, asked in table_of(cyclops, ASKED):
            for status, words in {**asked, USAGE: "--no-such-option"}.items():
                line = [command, *shlex.split(words)]
                done = ask(cyclops, folder, line, stdout=subprocess.DEVNULL)
                checks.expect(done.returncode == status, f"{line}: status {done.returncode}, not {status}: {done.stderr}")
                checks.expect(bool(done.stderr) or status not in (FAILED, USAGE), f"{line}: says nothing")
                checks.count(f"status {status}")
            for status in {DONE, GATE} & asked.keys():
                line = [command, *shlex.split(asked[status])]
                with open("/dev/full", "wb") as full:
                    done = ask(cyclops, folder, line, stdout=full)
                checks.expect(done.returncode == FAILED and done.stderr,
                              f"{line} on a full disk: status {done.returncode}: {done.stderr}")
                checks.count("full disks")
    return checks.finish()


sys.exit(main())
