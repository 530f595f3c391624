#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders docs/terms.md as plain text, 78 columns wide, for `cyclops help terms`.

usage: render-terms.py TERMS OUT

Like the manual pages, the text is ASCII.
"""

import pathlib
import sys
import textwrap

WIDTH = 78
TERM = 2  # columns before a term
MEANING = 8  # and before what it means
SPELLED = {"±": "+-", "≥": ">=", "…": "..."}


def ascii_of(text):
    for sign, spelled in SPELLED.items():
        text = text.replace(sign, spelled)
    return text.replace("`", "")


def wrap(text, indent):
    blank = " " * indent
    return textwrap.fill(text, WIDTH, initial_indent=blank, subsequent_indent=blank)


def rows(lines):
    """The lines of the page, tables made into terms and what they mean."""
    paragraph, before = [], ""
    for line in [*lines, ""]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        is_row = line.startswith("|")
        if (is_row or not line) and paragraph:
            yield wrap(" ".join(paragraph), 0) + "\n"
            paragraph = []
        if line.startswith("#"):
            yield line.lstrip("# ").upper() + "\n"
        elif is_row and cells[0] in ("term", "say"):
            before = "not: " if cells[1] == "not" else ""
        elif is_row and cells[0] != "---":
            source = f" ({cells[2]})" if "".join(cells[2:]) else ""
            yield wrap(cells[0], TERM)
            yield wrap(before + cells[1] + source, MEANING)
        elif not is_row and line and not line.startswith("<!--"):
            paragraph.append(line)
        elif not line:
            yield ""


def main():
    page, out = map(pathlib.Path, sys.argv[1:])
    text = "\n".join(rows(ascii_of(page.read_text()).splitlines())) + "\n"
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    out.write_text(text.strip("\n") + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
