#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`-o DIR/`: a file for each table; what is written is what goes to standard output. A file is replaced as a whole.

usage: output_folder.py CYCLOPS DATA
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run

# Commands with the words that name what they read, below DATA.
ASKED = {
    "report": ["samples/sharing.data"], "hot": ["samples/stride.data"], "mem": ["samples/stride.data"],
    "c2c": ["samples/sharing.data"], "addr": ["samples/stride.data"], "quality": ["samples/stride.data"],
    "annotate": ["samples/stride.data"], "diff": ["samples/sharing.data", "samples/padded.data"],
    "stat": ["--import", "counts/stride.csv"],
}
# Tables of sentences for people, which programs have no need of.
EXTENSIONS = {"text": "txt", "markdown": "md"}
# What stands at the end of a document, and may stand in each file.
SAID_AGAIN = {"", "modelled: these numbers are simulated, not measured", "*modelled: these numbers are simulated, not measured*"}


def sections(text):
    """Rows by table of what csv writes to standard output; a single table has no name there."""
    found, name = {}, None
    for row in csv.reader(text.splitlines()):
        line = row[0] if row else ""
        if line.startswith("# table "):
            name = line.removeprefix("# table ")
        elif not line.startswith("# "):
            found.setdefault(name, []).append(row)
    return found


def without_modelled(rows):
    """A table on its own says in its last column that numbers are simulated."""
    return [row[:-1] for row in rows] if rows and rows[0][-1] == "modelled" else rows


def ask(cyclops, data, command, *words):
    line = [os.path.join(data, word) if "/" in word else word for word in ASKED[command]]
    symbols = [] if command == "stat" else ["--symfs", os.path.join(data, "root")]
    return [cyclops, command, *symbols, *line, *words]


def check_csv(checks, cyclops, data, command, folder):
    expected = sections(run(*ask(cyclops, data, command, "--format", "csv")).decode())
    run(*ask(cyclops, data, command, "--format", "csv", "-o", folder + "/"))
    files = sorted(os.listdir(folder))
    if list(expected) == [None]:
        expected = {files[0].removesuffix(".csv"): expected[None]}
    checks.equal(f"{command}: files", files, sorted(f"{name}.csv" for name in expected))
    for name, rows in expected.items():
        with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as file:
            ours = without_modelled(list(csv.reader(file)))
        checks.equal(f"{command}: rows of {name}", ours, without_modelled(rows))


def check_json(checks, cyclops, data, command, folder):
    """A document for each table that json has, with its own part of what describes them."""
    expected = json.loads(run(*ask(cyclops, data, command, "--format", "json")))
    for _ in range(2):  # the second time the files are there
        run(*ask(cyclops, data, command, "--format", "json", "-o", folder))
    tables = [name for name in expected if name in expected["columns"]]
    files = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    checks.equal(f"{command}: documents", files, sorted(f"{name}.json" for name in tables))
    for name in tables:
        with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
            ours = json.load(file)
        checks.expect(ours[name] == expected[name] and ours["columns"][name] == expected["columns"][name],
                      f"{command}: {name}.json has another table")
        alone = {key: ours[key] == expected[key] for key in ("schema", "cyclops", "command", "modelled")}
        checks.expect(all(alone.values()) and not set(tables) & ours.keys() - {name}, f"{command}: {name}.json: {alone}")


def check_people(checks, cyclops, data, command, folder):
    """All lines of the whole answer stand in one of the files, and no others."""
    for form, extension in EXTENSIONS.items():
        whole = run(*ask(cyclops, data, command, "--format", form, "--width", "100")).decode().splitlines()
        run(*ask(cyclops, data, command, "--format", form, "--width", "100", "-o", folder))
        names = [name for name in os.listdir(folder) if name.endswith("." + extension)]
        lines = [line for name in names for line in open(os.path.join(folder, name), encoding="utf-8").read().splitlines()]
        checks.expect({*lines} - SAID_AGAIN == {*whole} - SAID_AGAIN and len(names) > 0,
                      f"{command} --format {form}: {set(lines) ^ set(whole)}")
        checks.count(f"files of {form}", len(names))


def check_markdown(checks, cyclops, data, command):
    """Each table has as many cells in each row, and begins with its head."""
    text = run(*ask(cyclops, data, command, "--format", "markdown")).decode()
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("|") or (number > 0 and lines[number - 1].startswith("|")):
            continue
        cells = [len(re.split(r"(?<!\\)\|", row)) for row in lines[number:lines.index("", number)]]
        checks.expect(len(set(cells)) == 1 and re.fullmatch(r"(\| (:---|---:) )+\|", lines[number + 1]),
                      f"{command}: {cells} {lines[number + 1]}")
        checks.count("tables of Markdown", 1)
    checks.expect(not re.search(r"[\x00-\x08\x0b-\x1f]", text), f"{command}: control characters")


def check_errors(checks, cyclops, data, folder):
    capture = os.path.join(data, "samples", "stride.data")
    for words, status, said in (
            (["hot", "-o", os.path.join(folder, "none", "folder") + "/", capture], 1, b"cannot make the folder"),
            (["hot", "-o", os.path.join(folder, "file") + "/", capture], 1, b"cannot make the folder"),
            (["export", "-o", folder, capture], 2, b"name a file"),
            (["dump", "-o", folder, capture], 2, b"name a file"),
            (["hot", "-o", capture, capture], 2, b"is the capture itself")):
        done = subprocess.run([cyclops, *words], env=ENVIRONMENT, capture_output=True, check=False)
        checks.expect(done.returncode == status and said in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        checks.count("errors")


def check_half_files(checks, cyclops, data, folder):
    """What fails leaves the file as it was, and no other; a new answer has its rights."""
    capture = os.path.join(data, "samples", "stride.data")
    path = os.path.join(folder, "out")
    for before in (None, b"an older answer"):
        if before is not None:
            with open(path, "wb") as file:
                file.write(before)
            os.chmod(path, 0o640)
        for words in (["hot", "--table", "none"], ["mem", "--columns", "none"], ["hot", "--fail-if", "share(none) > 1 %"],
                      ["diff", "--fail-if", "none > 1 %", capture], ["export", "--select", "none"]):
            done = subprocess.run([cyclops, *words, "-o", path, capture], env=ENVIRONMENT, capture_output=True, check=False)
            files = os.listdir(folder)
            left = open(path, "rb").read() if files else None
            checks.expect(done.returncode in (1, 2) and left == before and len(files) == (before is not None),
                          f"{words}: status {done.returncode}, leaves {files}: {left!r}")
            checks.count("failures")
    run(cyclops, "hot", "-o", path, capture)
    checks.equal("rights", [os.stat(path).st_mode & 0o777], [0o640])
    checks.equal("files", os.listdir(folder), ["out"])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cyclops, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    for command in ASKED:
        with tempfile.TemporaryDirectory() as folder:
            check_csv(checks, cyclops, data, command, os.path.join(folder, "made"))
            check_json(checks, cyclops, data, command, folder)
            check_people(checks, cyclops, data, command, folder)
        check_markdown(checks, cyclops, data, command)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
            pass
        check_errors(checks, cyclops, data, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_half_files(checks, cyclops, data, folder)
    # the capture is not written over by a table of its name
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hot.csv")
        with open(os.path.join(data, "samples", "stride.data"), "rb") as file, open(path, "wb") as copy:
            copy.write(file.read())
        done = subprocess.run([cyclops, "hot", "--format", "csv", "-o", folder, path], env=ENVIRONMENT,
                              capture_output=True, check=False)
        checks.expect(done.returncode == 2 and b"is the capture itself" in done.stderr, f"{done.stderr}")
        json.loads(run(cyclops, "hot", "--format", "json", path))
    return checks.finish()


sys.exit(main())
