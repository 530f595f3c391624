#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
An optional viewer never ends the build, unless its sources are wrong: npm and esbuild that fail, crash or compute for
ever, by stand-ins of theirs.

usage: viewer_build.py BUILD_VIEWER VIEWER_DIR
"""

import pathlib
import subprocess
import sys
import tempfile

from harness import Checks

# The stand-in of esbuild, which that of npm brings.
GOOD = "exit 0"
BUNDLE = 'for word; do case $word in --outfile=*) echo "made" > "${word#--outfile=}";; esac; done'
FOR_EVER = "while :; do :; done"

# By case: npm, esbuild; is there a viewer; does an optional one end the build; words of what is said.
CASES = {
    "all is well": (GOOD, BUNDLE, True, False, ""),
    "npm fails": ("echo 'network unreachable'; exit 1", BUNDLE, False, False, "network unreachable"),
    "npm brings nothing": ("rm -r node_modules", BUNDLE, False, False, "No such file"),
    "esbuild crashes": (GOOD, "kill -ABRT $$", False, False, "Aborted"),
    "esbuild computes for ever": (GOOD, FOR_EVER, False, False, "CPU time limit"),
    "esbuild is for another machine": (GOOD, "echo 'Error: no such platform'; exit 1", False, False, "no such platform"),
    "the sources are wrong": (GOOD, "echo '[ERROR] Expected \")\" but found \";\"'; exit 1", False, True, "Expected"),
}

# The script, with a limit that a test can wait for.
RUN = """
import sys
sys.argv = sys.argv[1:]
code = open(sys.argv[0]).read()
assert "CPU_SECONDS = 600" in code
exec(compile(code.replace("CPU_SECONDS = 600", "CPU_SECONDS = 1"), sys.argv[0], "exec"))
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def stand_in(folder, npm, esbuild):
    """npm, which brings the other into the folder where it runs."""
    tools = folder / "tools"
    script(tools / "esbuild", esbuild)
    return script(folder / "npm", f"mkdir -p node_modules && cp -r {tools} node_modules/.bin\n{npm}")


def check(checks, build_viewer, viewer, case, required):
    npm, esbuild, is_made, is_end, said = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        out = folder / "viewer.html"
        done = subprocess.run([sys.executable, "-c", RUN, build_viewer, stand_in(folder, npm, esbuild), viewer,
                               folder / "work", out, required], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        fails = not is_made and (is_end or required == "--required")
        what = f"{case}, {required}: {done.returncode}, {done.stderr}"
        checks.count("viewers")
        checks.expect((done.returncode != 0) == fails, what)
        checks.expect(said in done.stderr, f"not '{said}': {what}")
        if not fails:
            checks.expect(out.exists() and ("made" in out.read_text()) == is_made, what)


def main():
    build_viewer, viewer = sys.argv[1:]
    checks = Checks()
    for case in CASES:
        for required in ("--optional", "--required"):
            check(checks, build_viewer, viewer, case, required)
    checks.finish()


if __name__ == "__main__":
    main()
