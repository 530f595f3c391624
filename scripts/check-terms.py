#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what users read against the list of terms, docs/terms.md.

usage: check-terms.py [SOURCE_ROOT]    CC names the compiler

Words of the column "not" of its last table may not occur: not in string literals of the program, not
in the catalog's labels and descriptions, not in manual pages and pages for users. The head of each column
of a table consists of terms, and of the plain words that the page lists. Code in `quotes`, examples
and names in upper case are not words.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

PAGE = "docs/terms.md"
PAGES = ("README.md", "docs/gallery.md", "docs/tutorial.md", "docs/man/*.1")

ROW = re.compile(r"^\| (.*?) \| (.*?) \|(?: (.*?) \|)?$", re.MULTILINE)
PLAIN = re.compile(r"^Plain words in column heads: (.*?)\.$", re.MULTILINE | re.DOTALL)

# A comment, a character, a string, or any other byte of C.
C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])+'|("(?:\\.|[^"\\])*")|(?:PRI|SCN)\w+|\s+|.""", re.DOTALL)

# A column after the preprocessor: its name, the head or a null pointer, its unit, the type of its cells, its
# flags. Without a head of its own, a column for programs has only a name, which never changes.
STRING = r'(?:"(?:\\.|[^"\\])*"\s*)+'
NOTHING = r"(?:NULL|\(\(void \*\)0\))"
COLUMN = re.compile(rf"({STRING}),\s*({STRING}|{NOTHING}),\s*{STRING},\s*CELL_[A-Z]+\b([^{{}}\"]*)")


def terms_of(page):
    """Words that heads may use, and words that nobody may use, with what to say instead."""
    wanted, _, unwanted = page.partition("\n## Not these words\n")
    rows = [match[1] for match in ROW.finditer(wanted) if match[1] not in ("term", "---")]
    words = {word.lower() for row in rows for word in re.findall(r"[^\s,()`]+", row)}
    words |= {word.lower() for word in re.split(r",\s*", " ".join(PLAIN.search(wanted)[1].split()))}
    banned = [(word, match[1]) for match in ROW.finditer(unwanted) if match[1] not in ("say", "---")
              for word in match[2].split(", ")]
    return words, banned


def literals(text):
    """Yields line and text of string literals of C; what the compiler joins is one."""
    line, joined, at = 1, "", 0
    for match in C_TOKEN.finditer(text):
        token = match[0]
        if match[1]:
            at = at if joined else line
            joined += token[1:-1]
        elif not token.isspace() and not token.startswith(("/*", "//", "PRI", "SCN")) and joined:
            yield at, joined
            joined = ""
        line += token.count("\n")


def labels(value):
    """Yields the texts of a catalog file."""
    if isinstance(value, list):
        for each in value:
            yield from labels(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name in ("label", "description") and isinstance(each, str):
                yield 1, each
            else:
                yield from labels(each)


def prose(path):
    """Yields lines and text of a page, without code: paragraphs, so that phrases may be broken."""
    is_manual = path.suffix == ".1"
    paragraph, start, is_code = [], 1, False
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if is_manual and line.startswith((".Bd", ".Ed")) or line.startswith("```"):
            is_code = not line.startswith(".Ed") and not (line.startswith("```") and is_code)
        is_text = not is_code and not line.startswith(("    ", "$")) and line not in ("", ".Pp")
        if is_text:
            start = start if paragraph else number
            paragraph.append(re.sub(r"^\.[A-Z]\w+\s?", "", line) if is_manual else re.sub(r"`[^`]*`", "", line))
        elif paragraph:
            yield start, " ".join(paragraph)
            paragraph = []


def texts(root):
    """Yields each text that a user may read: path, line, text."""
    for path in [*sorted((root / "src").rglob("*.[ch]")), *sorted((root / "model").rglob("*.[ch]"))]:
        yield from ((path, *each) for each in literals(path.read_text()))
    for path in sorted((root / "catalog").rglob("*.json")):
        yield from ((path, *each) for each in labels(json.loads(path.read_text())))
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            if path != root / PAGE:
                yield from ((path, *each) for each in prose(path))


def banned_words(root, banned):
    """Yields a line for each use of a word that the list forbids."""
    patterns = [(re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE), word, better) for word, better in banned]
    for path, line, text in texts(root):
        for pattern, word, better in patterns:
            if pattern.search(text):
                yield f'{path}:{line}: "{word}": {PAGE} says {better}'


def heads(root):
    """Yields the head of each column that the sources define."""
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-D_GNU_SOURCE", "-E", "-P", "-I", str(root / "src"),
               "-I", str(root)]
    for path in sorted((root / "src").rglob("*.c")):
        if "CELL_" not in path.read_text():
            continue
        done = subprocess.run([*command, str(path)], text=True, capture_output=True, check=False)
        for match in COLUMN.finditer(done.stdout):
            if re.fullmatch(NOTHING, match[2]) and "COLUMN_MACHINE_ONLY" in match[3]:
                continue
            head = match[1] if re.fullmatch(NOTHING, match[2]) else match[2]
            yield path, "".join(re.findall(r'"((?:\\.|[^"\\])*)"', head)).replace("_", " ")


def unknown_heads(root, words):
    """Yields a line for each column head with a word that is neither a term nor a plain one."""
    for path, head in heads(root):
        rest = [word for word in re.findall(r"[^\W\d_]{2,}|[A-Z]\w+", re.sub(r"\\x[0-9a-f]{2}|%\w+", "", head))
                if word.lower() not in words]
        if rest:
            yield f'{path}: head "{head}": {", ".join(rest)} not in {PAGE}'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    words, banned = terms_of((root / PAGE).read_text())
    found = list(heads(root))
    wrong = [*banned_words(root, banned), *sorted(set(unknown_heads(root, words)))]
    for line in wrong:
        print(line)
    if wrong or not found:
        sys.exit(1)
    print(f"ok terms: {len(words)} words, {len(banned)} that are not used, {len(found)} column heads")


main()
