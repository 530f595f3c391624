#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the files, folders and targets which pages for contributors name are there.

usage: check-docs.py [PAGE...]: docs/design.md, docs/performance.md and CONTRIBUTING.md

What stands in backticks counts if its first word ends as a file or with a slash, or if it begins with make. Words in capitals
are any: `src/NAME/meson.build`. A file without a folder may be in any one.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("docs/design.md", "docs/performance.md", "CONTRIBUTING.md")
# Folders that pages leave out in front of a path.
BEFORE = ("", "src/", "docs/", "tests/", "tests/e2e/")
PATH = re.compile(r"(?:[\w.*-]+/)+|(?:[\w.*-]+/)*[\w.*-]+\.(?:c|h|py|sh|md|json|csv|ts|build|cc|yml)")
ELSEWHERE = re.compile(r"\.\./|/|build|~")
FEWEST = 60  # fewer are found only if the pages are read wrongly


def spans(page):
    """What stands in backticks, and lines of commands."""
    text = page.read_text()
    yield from re.findall(r"`([^`]+)`", re.sub(r"\s+", " ", text))
    yield from (line.split("#")[0].strip() for line in text.splitlines() if line.startswith("    make"))


def files_there():
    """All files and folders of the tree."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = set(done.stdout.split("\n")) - {""}
    return files | {f"{folder}/" for file in files for folder in pathlib.PurePath(file).parents}


def is_there(path, files):
    before = BEFORE if "/" in path else ("*/", *BEFORE)
    pattern = re.sub(r"\b[A-Z]+\b(?!\.md)", "*", path)
    return any(fnmatch.fnmatchcase(file, folder + pattern) for folder in before for file in files)


def main():
    files = files_there()
    targets = {word for line in re.findall(r"^([a-z -]+):", (ROOT / "Makefile").read_text(), re.M) for word in line.split()}
    n, missing = 0, []
    for page in sys.argv[1:] or PAGES:
        for words in map(str.split, spans(ROOT / page)):
            if words[0] == "make" and len(words) > 1 and re.fullmatch("[a-z-]+", words[1]):
                n += 1
                missing += [] if words[1] in targets else [f"{page}: make {words[1]}"]
            elif PATH.fullmatch(words[0]) and not ELSEWHERE.match(words[0]):
                n += 1
                missing += [] if is_there(words[0], files) else [f"{page}: {words[0]}"]
    for name in missing:
        print(f"not there: {name}")
    print(f"{'FAIL' if missing else 'ok'} docs: {n} files, folders and targets are named")
    return bool(missing) or n < FEWEST


if __name__ == "__main__":
    sys.exit(main())
