#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The dynamic linker writes few pages before the program begins: what it relocates is written at each start, and private memory of
each run. With LLVM's tables as they come it is 1.6 MB in 75 000 addresses.

usage: relocations.py PROGRAM
"""

import re
import shutil
import subprocess
import sys

from harness import Checks, skip

PAGE = 4096
LIMIT_BYTES = 800 * 1024

ENTRY = re.compile(r"^([0-9a-f]{8,16})(\s|$)")


def pages_of(program):
    """Pages that have an address to relocate. readelf writes packed ones in full."""
    lines = subprocess.run(["readelf", "-rW", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {int(entry[1], 16) // PAGE for entry in map(ENTRY.match, lines) if entry}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("readelf"):
        skip("needs readelf")
    checks = Checks()
    pages = pages_of(sys.argv[1])
    checks.count("pages", len(pages))
    checks.expect(pages, "no relocations were read")
    checks.expect(len(pages) * PAGE <= LIMIT_BYTES, f"{len(pages)} pages are written at each start, {LIMIT_BYTES // PAGE} wanted")
    checks.finish()


if __name__ == "__main__":
    main()
