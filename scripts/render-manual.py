#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders a manual page as plain text, 78 columns wide, for `cyclops help`.

usage: render-manual.py MANDOC PAGE VERSION OUT

The text is ASCII, so that it reads the same in every locale, and has no overstrikes.
"""

import pathlib
import re
import subprocess
import sys


def main():
    mandoc, page, version, out = sys.argv[1:]
    text = subprocess.run(
        [mandoc, "-mdoc", "-T", "ascii", "-I", f"os=cyclops {version}", page],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    pathlib.Path(out).write_text(re.sub(r".\x08", "", text))


if __name__ == "__main__":
    main()
