#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes point down the layers of docs/design.md, and that headers stand alone.

usage: check-layers.py [SOURCE_ROOT]    CC names the compiler
"""

import os
import pathlib
import re
import subprocess
import sys

# What each folder of src/ may include, besides itself; model/ is the one outside.
GROUND = ["base", "batch"]
MAY_INCLUDE = {
    "base": [],
    "batch": ["base"],
    "count": ["base"],
    "isa": ["base"],
    "table": ["base"],
    "spe": GROUND,
    "capture": [*GROUND, "spe", "table"],
    "process": [*GROUND, "spe", "table", "capture"],
    "symbol": [*GROUND, "isa", "spe", "table", "capture", "process"],
    "cpu": [*GROUND, "count", "spe", "table", "capture"],
}
BELOW = list(MAY_INCLUDE)
MAY_INCLUDE["collect"] = [*BELOW, "model"]  # what a run under the model left
MAY_INCLUDE["analysis"] = BELOW
MAY_INCLUDE["command"] = [*BELOW, "collect", "analysis"]

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def wrong_includes(src, path):
    """Yields a line for each include of the file that its layer may not have."""
    layer = path.relative_to(src).parts[0]
    if layer not in MAY_INCLUDE:
        yield f"{path}: folder {layer} has no place among the layers"
        return
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        folder, slash, _ = match[1].partition("/")
        if not slash:
            yield f'{path}:{line}: "{match[1]}" is not written from the source root'
        elif folder != layer and folder not in MAY_INCLUDE[layer]:
            yield f'{path}:{line}: {layer} may not include "{match[1]}"'


def errors_alone(src, header):
    """Yields the compiler's complaints about a file that includes the header and nothing else."""
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-D_GNU_SOURCE", "-Wall",
               "-Werror", "-fsyntax-only", "-I", str(src), "-x", "c", "-"]
    source = f'#include "{header.relative_to(src)}"\n'
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        yield f"{header}: does not compile alone"
        yield done.stderr.rstrip()


def main():
    src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
    headers = sorted(src.rglob("*.h"))
    sources = sorted(src.rglob("*.c"))
    if not headers:
        sys.exit(f"check-layers: no headers below {src}")
    wrong = [line for path in headers + sources for line in wrong_includes(src, path)]
    wrong += [line for header in headers for line in errors_alone(src, header)]
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(1)
    print(f"ok layers: {len(headers) + len(sources)} files, {len(headers)} headers stand alone")


main()
