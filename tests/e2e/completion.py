#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What bash completes: every command, every option of each that has some, files.

usage: completion.py CYCLOPS SCRIPT
"""

import os
import re
import subprocess
import sys

from harness import ENVIRONMENT, Checks, need, run

OPTION = re.compile(rb"^ +(?:-[a-zA-Z], )?(--[a-z0-9-]+)", re.MULTILINE)

ASK = """
cyclops() { "$CYCLOPS" "$@"; }
source "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_cyclops
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completions(cyclops, script, *words):
    environment = {**ENVIRONMENT, "CYCLOPS": os.path.abspath(cyclops), "SCRIPT": script}
    done = subprocess.run(["bash", "-c", ASK, "bash", *words], env=environment, capture_output=True,
                          text=True, check=True)
    return set(done.stdout.split())


def main():
    cyclops, script = sys.argv[1:]
    need("bash")
    checks = Checks()
    listed = run(cyclops, "--list-commands").decode().splitlines()
    names = [line.split("\t")[0] for line in listed]
    checks.expect(len(names) > 10 and all(line.count("\t") == 2 for line in listed), f"list: {listed}")
    found = completions(cyclops, script, "cyclops", "")
    checks.expect(set(names) < found, f"commands: {found}")
    checks.expect(completions(cyclops, script, "cyclops", "ann") == {"annotate"}, "ann")
    checks.expect(completions(cyclops, script, "cyclops", "help", "qua") == {"quality"}, "help qua")
    checks.expect(completions(cyclops, script, "cyclops", "hot", "perf") == set(), "files are bash's")
    for name in names:
        if name == "help":
            continue  # it has no options, and words of its own
        options = {word.decode() for word in OPTION.findall(run(cyclops, name, "--help"))}
        checks.expect(options, f"{name}: no options")
        found = completions(cyclops, script, "cyclops", name, "--")
        checks.expect(found == options, f"{name}: {found ^ options}")
        checks.count("commands")
    return checks.finish()


sys.exit(main())
