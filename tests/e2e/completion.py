#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What shells complete: every command, every option of each that has some, files.

usage: completion.py CYCLOPS FOLDER

FOLDER has the completions. Shells that are not installed are left out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run, skip

OPTION = re.compile(rb"^ +(?:-[a-zA-Z], )?(--[a-z0-9-]+)", re.MULTILINE)

# For each shell, how it is asked to complete the last of some words. It prints a line for each, and
# may put a description behind ":" or a tab.
BASH = """
cyclops() { "$CYCLOPS" "$@"; }
source "$FOLDER/cyclops.bash"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_cyclops
printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh's completion works in an editor alone: what it is given stands in for it.
ZSH = """
cyclops() { "$CYCLOPS" "$@"; }
_describe() { print -rl -- ${(M)${(P)2}:#${words[CURRENT]}*}; }
_files() { }
complete() { local -a words=("$@"); local CURRENT=$#; source "$FOLDER/cyclops.zsh"; }
complete "$@"
"""
FISH = """
function cyclops; $CYCLOPS $argv; end
source $FOLDER/cyclops.fish
complete -C (string join ' ' -- $argv)
"""
SHELLS = {
    "bash": lambda words: ["bash", "-c", BASH, "bash", *words],
    "zsh": lambda words: ["zsh", "-f", "-c", ZSH, "zsh", *words],
    "fish": lambda words: ["fish", "--no-config", "-c", FISH, *words],
}


def check_shell(checks, cyclops, folder, shell, names, home):
    environment = {**ENVIRONMENT, "CYCLOPS": os.path.abspath(cyclops), "FOLDER": os.path.abspath(folder), "HOME": home}

    def completions(*words):
        done = subprocess.run(SHELLS[shell](words), env=environment, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, cwd=home)
        checks.expect(done.returncode == 0, f"{shell} {words}: {done.returncode} {done.stderr}")
        return {re.split("[:\t]", line)[0] for line in done.stdout.splitlines() if line}

    found = completions("cyclops", "")
    checks.expect(set(names) <= found, f"{shell}: commands: {set(names) - found}")
    checks.expect(completions("cyclops", "ann") == {"annotate"}, f"{shell}: ann {completions('cyclops', 'ann')}")
    checks.expect(completions("cyclops", "help", "qua") == {"quality"}, f"{shell}: help qua {completions('cyclops', 'help', 'qua')}")
    checks.expect(completions("cyclops", "hot", "no-such-file") == set(), f"{shell}: files are the shell's")
    for name in names:
        if name == "help":
            continue  # it has no options, and words of its own
        options = {word.decode() for word in OPTION.findall(run(cyclops, name, "--help"))}
        checks.expect(options, f"{name}: no options")
        found = completions("cyclops", name, "--")
        checks.expect(found == options, f"{shell} {name}: {found ^ options}")
        checks.count(f"commands in {shell}")


def check_listed(checks, cyclops, names):
    """Options for programs: four fields in a line, the name first."""
    for name in names:
        for line in [] if name == "help" else run(cyclops, name, "--list-options").decode().splitlines():
            fields = line.split("\t")
            checks.expect(len(fields) == 4 and re.fullmatch("[a-z][a-z0-9-]*", fields[0]) and len(fields[1]) < 2 and
                          fields[3] and "  " not in fields[3], f"{name} --list-options: {line!r}")
            checks.count("options")


def main():
    cyclops, folder = sys.argv[1:]
    checks = Checks()
    listed = run(cyclops, "--list-commands").decode().splitlines()
    names = [line.split("\t")[0] for line in listed]
    checks.expect(len(names) > 10 and all(line.count("\t") == 2 for line in listed), f"list: {listed}")
    check_listed(checks, cyclops, names)
    present = [shell for shell in SHELLS if shutil.which(shell)]
    if not present:
        skip("no shell is installed")
    for shell in present:
        with tempfile.TemporaryDirectory() as home:  # fish writes there
            check_shell(checks, cyclops, folder, shell, names, home)
    print(f"left out: {', '.join(set(SHELLS) - set(present)) or 'no shell'}")
    return checks.finish()


sys.exit(main())
