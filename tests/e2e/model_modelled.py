#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that is printed of a modelled capture says so: model_modelled.py CYCLOPS DATA_DIR.

Each command that reads a capture, in each of its formats, on a sample capture: the word "modelled"
in the text, a member of the json, a line or a column of the csv. And none of it on a capture that
was recorded, where CYCLOPS_CAPTURES says where there is one.
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys

from harness import ENVIRONMENT, Failed, real_captures, table_of

# Commands that answer with what a capture holds, each with the words behind its capture; a command in
# none of the two lists fails the test.
ASKED = {
    "report": [[]],
    "hot": [[], ["--by", "line,source"], ["--elapsed"]],
    "annotate": [["compare"]],
    "blocks": [["compare"]],
    "mem": [[], ["--table", "sources"]],
    "c2c": [[]],
    "addr": [[]],
    "quality": [[]],
    "diff": [[]],
    "export": [["--table", "spe"]],
}
# Commands that need samples of the PMU, which the modelled capture above has not.
OF_SAMPLES = {
    "cycles": [[], ["--tree", "all"]],
}
# Commands that read no capture, or many (e2e/collect); `dump`, which says what the bytes say; and `calls`: these have no branch stacks.
NOT_ASKED = ("collect", "fleet", "run", "stat", "record", "list", "catalog", "doctor", "kernel", "latency", "model", "help", "dump", "calls")
FORMATS = ("text", "csv", "json")
NO_TEXT = ("export",)


def answer(cyclops, data, words, form, capture):
    """What the command prints."""
    files = [capture, capture] if words[0] == "diff" else [capture]
    command = [cyclops, words[0], "--format", form, "--symfs", data / "root",
               *(["-i"] if words[0] in ("annotate", "blocks") else []), *files, *words[1:]]
    done = subprocess.run(list(map(str, command)), env=ENVIRONMENT, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def says_so(form, text):
    if form == "json":
        return json.loads(text)["modelled"] is True
    if form == "text" or text.startswith("# "):
        return "modelled" in text
    rows = list(csv.DictReader(io.StringIO(text)))
    return bool(rows) and all(row.get("modelled") == "true" for row in rows)


def check(cyclops, data, capture, is_modelled, commands):
    n = 0
    for words in commands:
        for form in FORMATS:
            if form == "text" and words[0] in NO_TEXT:
                continue
            text = answer(cyclops, data, words, form, capture)
            if says_so(form, text) != is_modelled:
                raise Failed(f"{' '.join(words)} as {form} of {capture}: {text[:300]!r}")
            n += 1
    return n


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    recorded = [path for path in real_captures() if os.path.getsize(path) < 10_000_000][:1]
    commands = [[name, *words] for name, lists in table_of(cyclops, ASKED, (*NOT_ASKED, *OF_SAMPLES)) for words in lists]
    n = check(cyclops, data, data / "samples/sharing.data", True, commands)
    n += check(cyclops, data, data / "cycles.data", True,
               [[name, *words] for name, lists in OF_SAMPLES.items() for words in lists])
    for capture in recorded:
        n += check(cyclops, data, capture, False, [["report"], ["hot"]])
    print(f"{n} answers of {', '.join(sorted({words[0] for words in commands}))} say what they are")


if __name__ == "__main__":
    main()
