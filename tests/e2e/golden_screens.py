#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what commands show of the samples with the reviewed screens in tests/data/screens/: at 80, 100 and
160 columns, in a pipe and on a terminal.

usage: golden_screens.py [--update] CYCLOPS DATA_DIR

--update writes the screens that are shown now: look at the difference before it goes in. On a terminal the escape
character is shown as ^[.
"""

import argparse
import collections
import difflib
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios

from harness import ENVIRONMENT, Checks

GATE = 3  # the status where a condition of --fail-if is met
MOST_OF_COMMAND, MOST_BYTES = 16, 300_000
TERMINAL = {**ENVIRONMENT, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "PAGER": "cat"}
PIPE = {**ENVIRONMENT, "LC_ALL": "C.UTF-8"}
SYMBOLS = "--symfs root"

# By name of the file: columns, on a terminal or not, and the command.
SCREENS = {
    # Each command once, as it is piped.
    "report-demo": (100, False, f"report {SYMBOLS} demo.data"),
    "report-sharing": (100, False, f"report {SYMBOLS} samples/sharing.data"),
    "report-chase": (100, False, f"report {SYMBOLS} samples/chase.data"),
    "report-copies": (100, False, f"report {SYMBOLS} samples/copies.data"),
    "report-multiply": (100, False, f"report {SYMBOLS} samples/multiply.data"),
    "report-padded": (100, False, f"report {SYMBOLS} samples/padded.data"),
    "report-stride": (100, False, f"report {SYMBOLS} samples/stride.data"),
    "report-stride-ahead": (100, False, f"report {SYMBOLS} samples/stride-ahead.data"),
    "report-all": (100, False, f"report --all {SYMBOLS} samples/chase.data"),
    "report-no-symbols": (100, False, "report samples/chase.data"),
    "hot-demo": (100, False, f"hot {SYMBOLS} demo.data"),
    "hot-sharing": (100, False, f"hot {SYMBOLS} samples/sharing.data"),
    "hot-elapsed": (100, False, f"hot --elapsed {SYMBOLS} samples/chase.data"),
    "hot-time": (100, False, f"hot --by time {SYMBOLS} samples/chase.data"),
    "hot-no-symbols": (100, False, "hot samples/chase.data"),
    "mem-sharing": (100, False, f"mem {SYMBOLS} samples/sharing.data"),
    "mem-chase": (100, False, f"mem {SYMBOLS} samples/chase.data"),
    "addr-sharing": (100, False, f"addr {SYMBOLS} samples/sharing.data"),
    "addr-chase": (100, False, f"addr {SYMBOLS} samples/chase.data"),
    "c2c-sharing": (100, False, f"c2c {SYMBOLS} samples/sharing.data"),
    "c2c-padded": (100, False, f"c2c {SYMBOLS} samples/padded.data"),
    "annotate-sharing": (100, False, f"annotate {SYMBOLS} samples/sharing.data compare"),
    "annotate-stride": (100, False, f"annotate {SYMBOLS} samples/stride.data walk"),
    "blocks-graph": (100, False, f"blocks {SYMBOLS} --cfg text executions.data"),
    "quality-chase": (100, False, f"quality {SYMBOLS} samples/chase.data"),
    "diff-sharing": (100, False, f"diff {SYMBOLS} samples/padded.data samples/sharing.data"),
    "stat-stride": (100, False, "stat --import counts/stride.csv --cpu neoverse-n1"),
    # For a comment on a change: Markdown, with gates.
    "report-sharing-markdown": (100, False, f"report --format markdown {SYMBOLS} samples/sharing.data"),
    "mem-gates-markdown": (100, False, "mem --format markdown --fail-if dram_share>20% --fail-if loads<10 "
                           f"{SYMBOLS} samples/chase.data"),
    "diff-gates-markdown": (100, False, "diff --format markdown --fail-if total>5% --fail-if function:compare>200% "
                            f"{SYMBOLS} samples/padded.data samples/sharing.data"),
    "stat-gates-markdown": (100, False, "stat --format markdown --fail-if ipc<1.5 --import counts/stride.csv --cpu neoverse-n1"),
    "diff-gates": (100, False, "diff --fail-if total>5% --fail-if time>1s "
                   f"{SYMBOLS} samples/padded.data samples/sharing.data"),
    # Narrow, on a terminal, and the narrowest pipe.
    "report-demo-80-tty": (80, True, f"report {SYMBOLS} demo.data"),
    "hot-demo-80-tty": (80, True, f"hot {SYMBOLS} demo.data"),
    "mem-chase-80-tty": (80, True, f"mem {SYMBOLS} samples/chase.data"),
    "addr-chase-80-tty": (80, True, f"addr {SYMBOLS} samples/chase.data"),
    "c2c-sharing-80-tty": (80, True, f"c2c {SYMBOLS} samples/sharing.data"),
    "annotate-sharing-80-tty": (80, True, f"annotate {SYMBOLS} samples/sharing.data compare"),
    "report-chase-80": (80, False, f"report {SYMBOLS} samples/chase.data"),
    # As wide as engineers have it.
    "report-demo-100-tty": (100, True, f"report {SYMBOLS} demo.data"),
    "report-chase-160-tty": (160, True, f"report {SYMBOLS} samples/chase.data"),
    "mem-chase-160-tty": (160, True, f"mem {SYMBOLS} samples/chase.data"),
    "annotate-stride-160-tty": (160, True, f"annotate {SYMBOLS} samples/stride.data walk"),
    "hot-demo-160": (160, False, f"hot {SYMBOLS} demo.data"),
    "quality-sharing-160-tty": (160, True, f"quality {SYMBOLS} samples/sharing.data"),
}


def read_all(descriptor):
    """What a terminal is written to, until the last writer closes it: then Linux answers with EIO."""
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def on_terminal(command, columns, folder):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    with subprocess.Popen(command, cwd=folder, env=TERMINAL, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        shown = read_all(ours)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n").replace("\x1b", "^["), child.returncode


def in_pipe(command, columns, folder):
    done = subprocess.run(command, cwd=folder, env={**PIPE, "COLUMNS": str(columns)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


def shown_width(line):
    """Columns that a line takes: escapes of colours take none."""
    while "^[[" in line:
        head, _, tail = line.partition("^[[")
        line = head + tail.partition("m")[2]
    return len(line)


def check_screen(checks, cyclops, data, name, update):
    columns, is_terminal, words = SCREENS[name]
    path = data / "screens" / f"{name}.txt"
    shown, status = (on_terminal if is_terminal else in_pipe)([str(cyclops), *words.split()], columns, data)
    text = f"$ cyclops {words}\n{shown}"
    checks.expect(status in ((0, GATE) if "--fail-if" in words else (0,)), f"{name}: exit status {status}: {shown}")
    messages = ("cyclops: ", "^[[1mcyclops:")  # of stderr, which are not cut
    wide = [line for line in shown.splitlines() if shown_width(line) > columns and not line.startswith(messages)]
    checks.expect(not wide or "markdown" in words.split(), f"{name}: wider than {columns} columns: {wide}")
    checks.count("screens")
    if update:
        path.write_text(text, encoding="utf-8")
        return
    reviewed = path.read_text(encoding="utf-8") if path.exists() else ""
    change = "\n".join(difflib.unified_diff(reviewed.splitlines(), text.splitlines(), "reviewed", "now", lineterm="", n=1))
    checks.expect(reviewed == text, f"{name} has changed; if that is wanted: "
                  f"golden_screens.py --update CYCLOPS DATA_DIR\n{change}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("data", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    checks = Checks()
    folder = arguments.data / "screens"
    folder.mkdir(exist_ok=True)
    for name in SCREENS:
        check_screen(checks, arguments.cyclops, arguments.data, name, arguments.update)
    files = sorted(folder.glob("*.txt"))
    checks.expect({path.stem for path in files} == set(SCREENS), f"screens without a command: {files}")
    number = collections.Counter(words.split()[0] for _, _, words in SCREENS.values())
    checks.expect(max(number.values()) <= MOST_OF_COMMAND and sum(path.stat().st_size for path in files) <= MOST_BYTES,
                  f"too much to review: {number}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
