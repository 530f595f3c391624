#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Progress is shown on a terminal only, and nothing of it stays there.

usage: progress.py CYCLOPS MAKE-CAPTURE

Whether a bar is drawn depends on how long the work takes, so none is waited for: what a terminal shows in the
end is compared with what a pipe gets. What the bar looks like is tested in tests/unit/cli/progress_test.c.
"""

import os
import re
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run

ASKED = (["report"], ["hot"], ["mem"], ["c2c"], ["addr"], ["quality"], ["export", "--table", "spe"])
CLEAR = "\x1b[K"  # to the end of the line


def on_screen(text):
    """What stays on a terminal: a carriage return goes back to the start of the line, CLEAR empties its rest."""
    lines = []
    for line in text.split("\n"):
        shown, column = [], 0
        for part in re.split(r"(\r|\x1b\[K)", line):
            if part == "\r":
                column = 0
            elif part == CLEAR:
                del shown[column:]
            else:
                shown[column:column + len(part)] = part
                column += len(part)
        lines.append("".join(shown))
    return [line for line in lines if line]


def ask_on_terminal(command):
    """Standard output of a command and what it wrote to a terminal, which is its standard error."""
    master, slave = os.openpty()
    with subprocess.Popen(command, env={**ENVIRONMENT, "TERM": "xterm"}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=slave) as child:
        os.close(slave)
        written = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            written += more
        child.wait()
    os.close(master)
    return written.decode().replace("\r\n", "\n"), child.returncode


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, maker = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    checks.expect(on_screen(f"\rreading 5 %{CLEAR}\rreading 9 %{CLEAR}\r{CLEAR}end\n") == ["end"], "this test is wrong")
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "capture.data")
        run(maker, "--output", capture, "--records", 200000, "--samples", 2000)
        for words in ASKED:
            piped = subprocess.run([cyclops, *words, capture], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            checks.expect("\r" not in piped.stderr and "\x1b" not in piped.stderr, f"{words} in a pipe: {piped.stderr!r}")
            written, status = ask_on_terminal([cyclops, *words, capture])
            checks.expect(status == piped.returncode, f"{words}: status {status} on a terminal, {piped.returncode} else")
            checks.expect(" ".join(on_screen(written)).split() == piped.stderr.split(),
                          f"{words}: a terminal shows {written!r}, a pipe gets {piped.stderr!r}")
            checks.count("commands")
    return checks.finish()


sys.exit(main())
