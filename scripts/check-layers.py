#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rooms of src/ against the table of docs/design.md, that headers stand alone, and that
each exported name is defined once.

usage: check-layers.py [SOURCE_ROOT]    CC names the compiler

The table says of each folder with sources what it may include. Both ways: what is included must be
allowed, what is allowed must be included. No folders may use each other in a circle, and none may
have more files or lines than LIMITS says. Rooms are static libraries: of two functions with one name,
the linker takes the first it finds and says nothing, so no two files of src/ and model/ may define
the same one, unless the build takes only one of the two files.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

# Limits of files and lines for a room, and the larger rooms that are excepted.
LIMITS = (25, 5000)
LARGE = {"base": "one helper a file", "isa": "tables of two instruction sets",
         "process": "one timeline, in small steps",
         "table": "how any table is laid out and written"}

# The plugin of the machine model, which is beside src/.
PLUGIN = "model (plugin)"

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ROW = re.compile(r"^\| `([a-z0-9_/]+)/` \|.*\| ([^|]*) \|$", re.MULTILINE)

# What a file exports: a function with its body, a variable with its value. Code at the left margin.
FUNCTION = re.compile(r"^(?!static\b)[A-Za-z_][\w *]*?[ *](\w+)\([^;{}#]*\)\n\{", re.MULTILINE)
VARIABLE = re.compile(r"^(?!static\b)[A-Za-z_][\w *]*[ *](\w+)(?:\[[^\]\n]*\])* = ", re.MULTILINE)
ATTRIBUTE = re.compile(r"\b__attribute__\(\(.*?\)\) ?")

# Files that stand in for others of their folder where a library is missing.
STAND_INS = "_none.c"


def allowed_includes(root):
    """By room: the rooms that the table lets it use."""
    text = (root / "docs" / "design.md").read_text()
    table = text.split("## Rooms\n", 1)[1].split("\n## ", 1)[0]
    return {room: [name for name in uses.split(", ") if name] for room, uses in ROW.findall(table)}


def room_of(src, path):
    return str(path.relative_to(src).parent)


def included_rooms(root, path):
    """Yields line number, included file, and its room (None: not written from the source root)."""
    src = root / "src"
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        target = pathlib.Path(match[1])
        if (src / target).exists() or target.name in ("version.h", "catalog_date.h"):
            yield line, match[1], str(target.parent)
        elif (root / target).exists():
            yield line, match[1], PLUGIN
        elif (root / "include" / target).exists():
            continue  # of the library, for all
        else:
            yield line, match[1], None


def wrong_includes(root, paths, allowed):
    """Yields a line for each include that is not in the table, and each entry without an include."""
    used = collections.defaultdict(set)
    for path in paths:
        room = room_of(root / "src", path)
        if room not in allowed:
            yield f"{path}: folder {room} is not in the table of docs/design.md"
            continue
        for line, what, target in included_rooms(root, path):
            if target is None:
                yield f'{path}:{line}: "{what}" is not written from the source root'
            elif target != room:
                used[room].add(target)
                if target not in allowed[room]:
                    yield f'{path}:{line}: {room} may not include "{what}"'
    for room, targets in allowed.items():
        for target in targets:
            if target not in used[room]:
                yield f"docs/design.md: {room} uses nothing of {target}"


def circles(allowed):
    """Yields a line for each room in a cycle of includes."""
    for room in allowed:
        seen, rest = set(), list(allowed[room])
        while rest:
            target = rest.pop()
            if target not in seen:
                seen.add(target)
                rest += allowed.get(target, [])
        if room in seen:
            yield f"docs/design.md: {room} uses itself by way of others"


def too_large(src, paths):
    """Yields a line for each room over the limits."""
    files, lines = collections.Counter(), collections.Counter()
    for path in paths:
        files[room_of(src, path)] += 1
        lines[room_of(src, path)] += path.read_text().count("\n")
    for room in files:
        if room not in LARGE and (files[room] > LIMITS[0] or lines[room] > LIMITS[1]):
            yield f"src/{room}: {files[room]} files, {lines[room]} lines: is it two rooms?"


def exported_names(text):
    """Yields each function and variable that C source defines for other files, with its line."""
    text = ATTRIBUTE.sub("", text)
    for pattern in (FUNCTION, VARIABLE):
        for match in pattern.finditer(text):
            yield match[1], text.count("\n", 0, match.start()) + 1


def defined_twice(sources):
    """Yields a line for each exported name that two files define."""
    places = collections.defaultdict(list)
    for path in sources:
        if not path.name.endswith(STAND_INS):
            for name, line in exported_names(path.read_text()):
                places[name].append(f"{path}:{line}")
    for name, where in places.items():
        if len(where) > 1 and name != "main":  # each program has its own
            yield f"{where[0]}: {name} is also defined at {', '.join(where[1:])}"


def errors_alone(src, header):
    """Yields compiler errors of a file that includes only this header."""
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-D_GNU_SOURCE", "-Wall",
               "-Werror", "-fsyntax-only", "-I", str(src), "-I", str(src.parent), "-I", str(src.parent / "include"), "-x", "c", "-"]
    source = f'#include "{header.relative_to(src)}"\n'
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        yield f"{header}: does not compile alone"
        yield done.stderr.rstrip()


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    src = root / "src"
    headers = sorted(src.rglob("*.h"))
    paths = headers + sorted(src.rglob("*.c"))
    if not headers:
        sys.exit(f"check-layers: no headers below {src}")
    allowed = allowed_includes(root)
    wrong = [*wrong_includes(root, paths, allowed), *circles(allowed), *too_large(src, paths)]
    sources = [*sorted(src.rglob("*.c")), *sorted((root / "model").rglob("*.c"))]
    wrong += defined_twice(sources)
    wrong += [line for header in headers for line in errors_alone(src, header)]
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(1)
    print(f"ok layers: {len(allowed)} rooms, {len(paths)} files, {len(headers)} headers stand alone")


main()
