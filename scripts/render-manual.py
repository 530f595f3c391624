#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders manual pages as plain text, 78 columns wide, for `cyclops help`.

usage: render-manual.py MANDOC VERSION FOLDER PAGE...

FOLDER gets a text for each page, NAME.txt for NAME.1. The text is ASCII, so that it reads the same in every locale, and
has no overstrikes.
"""

import pathlib
import re
import subprocess
import sys


def render(mandoc, version, page):
    return subprocess.run(
        [mandoc, "-mdoc", "-T", "ascii", "-I", f"os=cyclops {version}", page],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def main():
    mandoc, version, folder, *pages = sys.argv[1:]
    for page in pages:
        name = pathlib.Path(page).with_suffix(".txt").name
        (pathlib.Path(folder) / name).write_text(re.sub(r".\x08", "", render(mandoc, version, page)))


if __name__ == "__main__":
    main()
