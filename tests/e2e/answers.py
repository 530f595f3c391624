#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the sentences of an answer rest on: a part of the records, a file whose end is missing, a CPU that is not known.

usage: answers.py CYCLOPS DATA_DIR
"""

import os
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, NO_DATA, Checks

CUT = 100000  # bytes: most records of the capture are in them, its features are not
DEEP = "sym==chase_memory && op=load && tot>200"


def answer_of(cyclops, data, *words):
    """The sentences that an answer begins with, each on a line."""
    done = subprocess.run([cyclops, *words, "--symfs", os.path.join(data, "root")], env={**ENVIRONMENT, "COLUMNS": "400"},
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, NO_DATA):
        raise SystemExit(f"{words}: {done.stderr}")
    return done.stdout.split("\n\n", maxsplit=1)[0].splitlines()


def check_cut(checks, cyclops, data, folder):
    """Without the end of the file no level is known: loads of 200 cycles are memory latency all the same."""
    path = os.path.join(folder, "cut.data")
    with open(os.path.join(data, "samples/chase.data"), "rb") as whole, open(path, "wb") as cut:
        cut.write(whole.read(CUT))
    unknown, known = answer_of(cyclops, data, "report", path), answer_of(cyclops, data, "report", "--cpu", "neoverse-n1", path)
    checks.expect(unknown[0].startswith("Memory latency in chase_system_cache (chase.c:36): "), f"{unknown}")
    checks.expect(known[0] == unknown[0].replace("Memory", "LLC"), f"{known}; {unknown}")
    checks.expect(unknown[1] == known[1] and "accumulators" not in unknown[1], f"{known}; {unknown}")
    checks.expect(unknown[-1] == "Doubt: the CPU is not known (the end of the file is missing), so data sources are not known: "
                  "give --cpu NAME.", f"{unknown}")
    checks.expect(not any("Doubt" in line for line in known), f"{known}")
    checks.count("captures without an end")


def check_selected(checks, cyclops, data):
    """A share is of the records that were selected, and the sentence says so."""
    path = os.path.join(data, "samples/chase.data")
    for command in ("report", "hot", "mem", "quality"):
        part, whole = (answer_of(cyclops, data, command, *words, path) for words in (("--select", DEEP), ()))
        checks.expect(part[0].startswith("Of the selected records: "), f"{command}: {part}")
        checks.expect(not any("selected" in line for line in whole), f"{command}: {whole}")
        checks.count("commands that were given --select")


def main():
    cyclops, data = sys.argv[1:]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_cut(checks, cyclops, data, folder)
    check_selected(checks, cyclops, data)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
