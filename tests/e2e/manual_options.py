#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the manual pages name the options that there are, and no others.

usage: manual_options.py CYCLOPS COMMAND...

What a command takes is what its --help lists. Each option must stand in the command's manual page or
in that of cyclops; and each option that a page describes must be one of a command's.
"""

import re
import subprocess
import sys

LISTED = re.compile(r"^ +(?:-(\w), )?--([a-z][a-z-]*)", re.M)  # a line of --help
DESCRIBED = re.compile(r"^     (?:-(\w), )?--([a-z][a-z-]*)", re.M)  # a tag of a page


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    cyclops, *commands = sys.argv[1:]
    options = {c: set(LISTED.findall(run(cyclops, c, "--help"))) for c in commands}
    common = set(DESCRIBED.findall(run(cyclops, "help")))
    pages = {c: set(DESCRIBED.findall(run(cyclops, "help", c))) for c in commands}
    faults = []
    for command in commands:
        for letter, name in sorted(options[command] - pages[command] - common):
            faults.append(f"{command}: --{name} (-{letter or ' '}) is not in the manual")
        for _, name in sorted(pages[command] - options[command]):
            faults.append(f"{command}: the manual describes --{name}, which is not there")
    for _, name in sorted(common - set.union(*options.values())):
        faults.append(f"cyclops: the manual describes --{name}, which no command has")
    print("\n".join(faults) or f"{sum(map(len, options.values()))} options, all described")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
