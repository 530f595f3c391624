#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the manual pages name the options that there are, and no others, and how wide they are.

usage: manual_options.py CYCLOPS

Every command that --list-commands knows has a page, which cyclops(1) names. What a command takes is what its --help lists. Each option must stand in the command's manual page or
in that of cyclops; and each option that a page describes must be one of a command's. Pages with their examples
fit 100 columns, --help fits 80.
"""

import os
import re
import subprocess
import sys

LISTED = re.compile(r"^ +(?:-(\w), )?--([a-z][a-z-]*)", re.M)  # a line of --help
DESCRIBED = re.compile(r"^     (?:-(\w), )?--([a-z][a-z-]*)", re.M)  # a tag of a page


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def too_wide(width, *command):
    """Lines that do not fit."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": str(width), "MANWIDTH": str(width)}
    text = subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode()
    return [line for line in re.sub(".\b", "", text).splitlines() if len(line) > width]


def main():
    cyclops = sys.argv[1]
    listed = [line.split("\t")[0] for line in run(cyclops, "--list-commands").splitlines()]
    commands = [name for name in listed if name != "help"]
    options = {c: set(LISTED.findall(run(cyclops, c, "--help"))) for c in commands}
    common = set(DESCRIBED.findall(run(cyclops, "help")))
    pages = {c: set(DESCRIBED.findall(run(cyclops, "help", c))) for c in commands}
    faults = [f"cyclops(1) does not name cyclops-{c}(1)" for c in commands
              if f"cyclops-{c}(1)" not in run(cyclops, "help")]
    for command in commands:
        for letter, name in sorted(options[command] - pages[command] - common):
            faults.append(f"{command}: --{name}{f' (-{letter})' if letter else ''} is not in its page or in cyclops(1)")
        for _, name in sorted(pages[command] - options[command]):
            faults.append(f"{command}: the manual describes --{name}, which is not there")
    for _, name in sorted(common - set.union(*options.values())):
        faults.append(f"cyclops: the manual describes --{name}, which no command has")
    for command in ("", *commands):
        faults += [f"cyclops help {command}: wider than 100: {line}" for line in too_wide(100, cyclops, "help", *filter(None, [command]))]
        faults += [f"{command} --help: wider than 80: {line}" for line in too_wide(80, cyclops, *filter(None, [command]), "--help")]
    print("\n".join(faults) or f"{sum(map(len, options.values()))} options, all described")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
