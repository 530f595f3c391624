#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the manual pages, and of Markdown, and compares what they print.

usage: manual_examples.py [--update] [--needs PROGRAM] CYCLOPS DATA_DIR PAGE...

An example stands in a literal display of the EXAMPLES section, in Markdown in an indented block: a
line "$ COMMAND", then the expected output. A line "..." stands for any number of lines. The commands
run in a folder of links, so they may write files of their own; examples of one page see each other's.
The links are to the files of DATA_DIR; in Markdown to those of the checkout, which DATA_DIR is
part of, and "build" to the folder of CYCLOPS: such commands run as printed after "make". Numbers
with a unit in the text of Markdown have to stand in what a command of the page prints, and all its
commands have to succeed: one that checks a gain (--fail-if) holds, whatever --update writes.
--update writes what was printed into the pages (the number of lines around a "..." is kept), but no error where there was none: a
program that the command needs may be missing.
--needs skips the test where a program is not installed.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ANY = "..."
SKIPPED = 77  # what the test runner takes for "skipped"
TIMEOUT_S = 600
MANUAL_COLUMNS = "95"  # five less than a screen has: displays are indented
ENVIRONMENT = {"TZ": "UTC", "NO_COLOR": "1", "HOME": "/proc/nohome"}
# A program's stack begins below its environment, and its start reads that: PATH and PWD are as long
# everywhere, so that a program on the machine model takes the same cycles everywhere.
PATH_BYTES = 6000
FOLDER_BYTES = 200


class Example:
    """A command with the lines expected, and where those stand in the page."""

    def __init__(self, command, first):
        self.command = command
        self.first = first
        self.expected = []


def unescape(line):
    """The text of a line of mdoc in a literal display."""
    return line.removeprefix(r"\&").replace(r"\e", "\\").replace(r"\-", "-")


def escape(line):
    line = line.replace("\\", r"\e")
    return r"\&" + line if line[:1] in (".", "'") else line


INDENT = " " * 4  # of a block in Markdown
NUMBER = re.compile(r"(?<![\d.])\d[\d.]* (?:%|[GM] cycles|cycles|ms|µs)")


def read_markdown(lines):
    """A block of code that begins with a command; empty lines in the block belong to it."""
    examples = []
    in_block = False
    for number, line in enumerate(lines):
        if line.startswith(INDENT + "$ "):
            examples.append(Example(line.removeprefix(INDENT + "$ "), number + 1))
            in_block = True
        elif line and not line.startswith(INDENT):
            in_block = False
        elif in_block:
            examples[-1].expected.append(line.removeprefix(INDENT))
    for example in examples:
        while example.expected and not example.expected[-1]:
            example.expected.pop()
    return examples


def indent(line):
    return INDENT + line if line else line


def read_examples(lines):
    """Those of a manual page."""
    examples = []
    in_section = in_display = False
    for number, line in enumerate(lines):
        if line.startswith(".Sh "):
            in_section = line == ".Sh EXAMPLES"
        elif in_section and line.startswith(".Bd "):
            in_display = True
        elif line == ".Ed":
            in_display = False
        elif in_display and line.startswith("$ "):
            examples.append(Example(unescape(line[2:]), number + 1))
        elif in_display and examples:
            examples[-1].expected.append(unescape(line))
    return examples


def unprinted_numbers(lines, outputs):
    """Numbers that the text of a page in Markdown claims, but that none of its commands prints."""
    prose = " ".join(line for line in lines if not line.startswith(INDENT))
    printed = "\n".join("\n".join(lines) for lines, _ in outputs)
    return [number for number in NUMBER.findall(prose)
            if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\w)", printed)]


def matches(expected, printed):
    """Does the list of lines fit the pattern? A pattern is cut at its "..." lines."""
    if ANY not in expected:
        return expected == printed
    at = expected.index(ANY)
    head, rest = expected[:at], expected[at + 1 :]
    if printed[:at] != head:
        return False
    return any(matches(rest, printed[i:]) for i in range(at, len(printed) + 1))


def renewed(expected, printed):
    """The pattern with its lines taken from what was printed."""
    if ANY not in expected:
        return printed
    n_head = expected.index(ANY)
    n_tail = len(expected) - n_head - 1
    if n_head + n_tail >= len(printed):
        return printed
    return printed[:n_head] + [ANY] + printed[len(printed) - n_tail :]


ERROR = re.compile(r"(?:cyclops|sh): ")


def is_new_error(expected, printed, status):
    """Did a command fail with a message, which the page has not?"""
    return status != 0 and any(map(ERROR.match, printed)) and not any(map(ERROR.match, expected))


def path_with(folder):
    """PATH with the folder first, padded by a folder that is not there."""
    return f"{folder}:{os.environ['PATH']}:/nonexistent".ljust(PATH_BYTES, "/")


def folder_in(parent):
    """A new folder whose name fills the path, which the shell calls PWD."""
    parent = os.path.realpath(parent)
    folder = pathlib.Path(parent) / "".ljust(max(FOLDER_BYTES - len(parent) - 1, 1), "x")
    folder.mkdir()
    return folder


def run(example, folder, path, variables):
    done = subprocess.run(
        ["sh", "-c", example.command],
        cwd=folder,
        env={**ENVIRONMENT, **variables, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
    )
    return done.stdout.decode(errors="backslashreplace").splitlines(), done.returncode


def show_difference(page, example, printed, status):
    print(f"{page.name}:{example.first}: $ {example.command}  (exit status {status})")
    for line in difflib.unified_diff(example.expected, printed, "manual", "printed", lineterm=""):
        print("    " + line)


def links_of(cyclops, data, is_manual):
    """What the folder holds that commands run in: names, and the files that they lead to."""
    if is_manual:
        return {entry.name: entry for entry in data.iterdir()}
    checkout = data.resolve().parent.parent
    sources = {entry.name: entry for entry in checkout.iterdir() if not entry.name.startswith((".", "build"))}
    return {**sources, "build": cyclops.parent}


def check_page(page, cyclops, data, update):
    """Returns the number of examples and of those that failed."""
    lines = page.read_text().splitlines()
    is_manual = page.suffix != ".md"
    examples = read_examples(lines) if is_manual else read_markdown(lines)
    n_failed = 0
    with tempfile.TemporaryDirectory() as parent:
        folder = folder_in(parent)
        for name, target in links_of(cyclops, data, is_manual).items():
            os.symlink(target.resolve(), folder / name)
        variables = {"LC_ALL": "C", "COLUMNS": MANUAL_COLUMNS} if is_manual else {"LC_ALL": "C.UTF-8"}
        path = path_with(cyclops.parent)
        outputs = [run(example, folder, path, variables) for example in examples]
    for example, (printed, status) in reversed(list(zip(examples, outputs))):
        if matches(example.expected, printed):
            continue
        if update and is_new_error(example.expected, printed, status):
            print("not updated: the command fails where the page has no error (is a program missing?)")
        elif update:
            end = example.first + len(example.expected)
            lines[example.first : end] = map(
                escape if is_manual else indent, renewed(example.expected, printed)
            )
            continue
        show_difference(page, example, printed, status)
        n_failed += 1
    if not is_manual:
        for number in unprinted_numbers(lines, outputs):
            print(f"{page.name}: no command of this page prints the '{number}' that its text claims")
            n_failed += 1
        for example, (_, status) in zip(examples, outputs):
            if status:
                print(f"{page.name}: $ {example.command}: exit status {status}")
                n_failed += 1
    if update:
        page.write_text("\n".join(lines) + "\n")
    return len(examples), n_failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--needs", action="append", default=[])
    parser.add_argument("cyclops", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    for program in args.needs:
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            sys.exit(SKIPPED)
    if not (args.data / "demo.data").exists():
        print(f"{args.data / 'demo.data'} is not there")
        sys.exit(SKIPPED)
    results = [check_page(page, args.cyclops.resolve(), args.data, args.update) for page in args.pages]
    n, n_failed = (sum(column) for column in zip(*results))
    print(f"{n} examples, {n_failed} failed")
    if n == 0 or n_failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
