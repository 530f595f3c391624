#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what the csv and json formats wrote with Python's own readers: usage: PROGRAM."""

import csv
import io
import json
import subprocess
import sys


def unsafe(char):
    return ord(char) < 0x20 and char not in "\t\n\r" or 0x7F <= ord(char) < 0xA0


def expected_texts(in_csv):
    """The texts of the sample: each byte but NUL, then one that may complete a character."""
    for byte in range(1, 256):
        text = bytes([byte, 0xA9]).decode(errors="surrogateescape")
        text = "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text)
        if in_csv:
            text = "".join("\ufffd" if unsafe(char) else char for char in text)
        yield text + ',"'


def split_tables(rows):
    """Lists of rows by the name in the "# table NAME" line before them."""
    tables = {}
    for row in rows:
        if row[0].startswith("# table "):
            name = row[0].removeprefix("# table ")
            tables[name] = []
        else:
            tables[name].append(row)
    return tables


def check_csv(text):
    tables = split_tables(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert list(tables) == ["hot", "calls", "lines", "accesses", "summary", "texts"], list(tables)
    for name, (header, *rows) in tables.items():
        assert all(len(row) == len(header) for row in rows), name
    header, *rows = tables["texts"]
    assert header == ["text", "number", "number_trust"], header
    assert [row[0] for row in rows] == list(expected_texts(True))
    assert [float(row[1]) for row in rows] == [byte / 3 for byte in range(1, 256)]
    return sum(len(rows) for rows in tables.values())


def reject_duplicates(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def check_json(text):
    whole = json.loads(text, object_pairs_hook=reject_duplicates)
    assert whole["schema"] == 2 and whole["modelled"] is False
    assert [row["text"] for row in whole["texts"]] == list(expected_texts(False))
    assert [row["number"] for row in whole["texts"]] == [byte / 3 for byte in range(1, 256)]
    assert whole["hot"][0]["pc"] == "0xffff800000001000"
    assert whole["hot"][1]["share_trust"] == "scaled"
    assert [len(line["accesses"]) for line in whole["lines"]] == [2, 0, 2]
    assert whole["summary"]["SPE"]["bytes"] == 3 << 20
    assert whole["notes"]["texts"] == ['quotes " and \\ and \n and \ufffd']
    assert whole["columns"]["hot"]["time_ns"]["unit"] == "ns"
    return len(whole)


def main():
    for name, check in ("csv", check_csv), ("json", check_json):
        done = subprocess.run([sys.argv[1], name], capture_output=True, check=True)
        print(f"ok {name}: {check(done.stdout.decode())} read back")


main()
