#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the index of the CPU catalog: the facts of all CPUs that the program loads at its start.

usage: catalog-index.py OUT FILE...

The files are those of catalog/. The index has the form that --catalog reads (catalog/schema.md);
it lacks the long lists of events and metrics.
"""

import csv
import json
import pathlib
import sys

CPU_KEYS = ("id", "name", "aliases", "cache_line", "own_cache_lines", "load_to_use_cycles", "errata")
SPE_KEYS = ("data_source", "data_source_verified", "events", "ernd", "supported")


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def pick(source, keys):
    return {key: source[key] for key in keys if key in source}


def brief(cpu):
    out = pick(cpu, CPU_KEYS)
    out["match"] = [m for m in cpu["match"] if "implementer" in m]
    out["spe"] = pick(cpu["spe"], SPE_KEYS)
    return out


def main():
    out, *inputs = map(pathlib.Path, sys.argv[1:])
    folder = {"cpu": [], "sources": []}
    tables, general = {}, {}
    for path in sorted(inputs):
        if path.suffix == ".csv":
            tables[path.stem] = read_csv(path)
        elif path.parent.name not in folder:
            general |= json.loads(path.read_text())
        else:
            folder[path.parent.name].append(json.loads(path.read_text()))
    index = {
        **general,
        "schema": 1,
        "sources": folder["sources"],
        "cpus": [brief(cpu) for cpu in folder["cpu"]],
        "names": [
            {"implementer": row["implementer"], "part": row["part"], "name": row["cpu"]}
            for row in tables["midr"]
            if not row["data_file_id"]
        ],
        "implementers": tables["implementers"],
    }
    # each start of the program reads it: no blanks
    out.write_text(json.dumps(index, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
