#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the short form of CPU files: what a report asks of a CPU, without its long lists.

usage: catalog-costs.py OUT_DIR FILE...

Of each FILE, ID.json, OUT_DIR/ID.costs.json has numbers, words, penalties, and the events that penalties of any file
are about. cpu_costs_open() reads it: parsing all events and metrics takes longer than a small capture.
"""

import json
import pathlib
import sys


def costs(cpu, names):
    out = {key: value for key, value in cpu.items() if not isinstance(value, (dict, list))}
    events = [event for event in cpu.get("events", []) if event["name"] in names]
    if "events" in cpu:
        # one stands for the list: a file without events gets those of other files
        out["events"] = [{key: value for key, value in event.items() if key != "description"} for event in events or cpu["events"][:1]]
    if "penalties" in cpu:
        out["penalties"] = cpu["penalties"]
    return out


def main():
    folder, *paths = map(pathlib.Path, sys.argv[1:])
    cpus = {path.stem: json.loads(path.read_text()) for path in paths}
    names = {penalty["event"] for cpu in cpus.values() for penalty in cpu.get("penalties", [])}
    for name, cpu in cpus.items():
        (folder / f"{name}.costs.json").write_text(json.dumps(costs(cpu, names), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
