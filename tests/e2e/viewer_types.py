#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Types of the viewer's sources: of all mistakes, the one that is put in is found, and no other.

usage: viewer_types.py PACKAGES

PACKAGES is where the build put the sources and what npm got for them.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import Checks

SKIPPED = 77

WRONG = 'export const wrong: number = "a text";\n'
ERROR = "src/wrong.ts(1,14): error TS2322"


def main():
    packages = pathlib.Path(sys.argv[1]).resolve()
    tsc = packages / "node_modules" / ".bin" / "tsc"
    if not tsc.exists():
        print("skipped: npm could not get its packages")
        sys.exit(SKIPPED)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(packages / "src", folder / "src")
        shutil.copy(packages / "tsconfig.json", folder)
        (folder / "node_modules").symlink_to(packages / "node_modules")
        (folder / "src" / "wrong.ts").write_text(WRONG)
        done = subprocess.run([tsc, "--noEmit"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        errors = [line for line in done.stdout.splitlines() if "error TS" in line]
        checks.expect(done.returncode != 0 and len(errors) == 1 and errors[0].startswith(ERROR),
                      f"wanted {ERROR} alone: {done.returncode}, {done.stdout}{done.stderr}")
        checks.count("sources", len(list((folder / "src").rglob("*.ts"))))
    checks.finish()


if __name__ == "__main__":
    main()
