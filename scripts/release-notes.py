#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the changelog says of a version, for its release.

usage: release-notes.py VERSION     of 0.2.0, or of Unreleased
       release-notes.py --check     the version of the build is a semantic one, and versions of the changelog stand in order

Versions are semantic (semver.org). What the first number promises is said at the start of CHANGELOG.md.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
# As semver.org gives it: no leading zeros, then what precedes a release, then what built it.
SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
                      r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?")


def sections(text):
    """By version: its date (None: none), and what is said of it."""
    found = list(HEADING.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {match[1]: (match[2], text[match.end():end].strip() + "\n") for match, end in zip(found, ends)}


def version_of_build():
    return re.search(r"^\s*version: '([^']+)'", (ROOT / "meson.build").read_text(), re.MULTILINE)[1]


def numbers(version):
    return tuple(int(number) for number in SEMANTIC.fullmatch(version).groups()[:3])


def faults(text, version):
    """Yields what is wrong with the changelog, beside this version of the build."""
    found = sections(text)
    released = [name for name in found if name != "Unreleased"]
    for name in [*released, version]:
        if not SEMANTIC.fullmatch(name):
            yield f"'{name}' is no semantic version"
            return
    for name in released:
        if found[name][0] is None:
            yield f"{name} has no date"
    if [numbers(name) for name in released] != sorted(map(numbers, released), reverse=True):
        yield f"versions are not in order: {', '.join(released)}"
    if version not in found and "Unreleased" not in found:
        yield f"nothing is said of {version}, which is built"
    if released and numbers(version) < numbers(released[0]):
        yield f"{released[0]} is released, and {version} is built"


def tag():
    """The tag of what is checked out, or None."""
    done = subprocess.run(["git", "-C", ROOT, "describe", "--exact-match", "--tags"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or None if done.returncode == 0 else None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = (ROOT / "CHANGELOG.md").read_text()
    if sys.argv[1] != "--check":
        found = sections(text).get(sys.argv[1])
        if found is None:
            sys.exit(f"CHANGELOG.md says nothing of {sys.argv[1]}; it has {', '.join(sections(text))}")
        sys.stdout.write(found[1])
        return
    wrong = list(faults(text, version_of_build()))
    name = tag()
    if name is not None and re.fullmatch(r"v\d.*", name):
        if name != f"v{version_of_build()}":
            wrong.append(f"tag {name}, but {version_of_build()} is built")
        if name[1:] not in sections(text):
            wrong.append(f"tag {name}, and nothing is said of it")
    for what in wrong:
        print(f"CHANGELOG.md: {what}")
    if wrong:
        sys.exit(1)
    print(f"ok release notes: {version_of_build()}")


if __name__ == "__main__":
    main()
