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


# What a CPU gets from another file, as add_missing() of src/cpu/pmu.c has it.
SHARED_KEYS = ("events", "metrics", "groups", "topdown", "drilldown", "variants", "penalties")
SPE_EVENTS = {"SAMPLE_POP", "SAMPLE_FEED", "SAMPLE_FILTRATE", "SAMPLE_COLLISION"}
SPE_RATIOS = ("spe_sampling_ratio", "spe_filter_ratio", "spe_collision_ratio")


def with_missing(cpu, other):
    return cpu | {key: other[key] for key in SHARED_KEYS if other.get(key) and not cpu.get(key)}


def counts(cpu, cpus):
    """What `list cpus` says of a CPU: events, metrics, counters, slots, whether they are those of any PMUv3, the unit of the first metric
    of its tree. A test compares it with what reading the whole file gives."""
    is_pmuv3 = cpu["pmu_arch"] == "pmuv3" if isinstance(cpu.get("pmu_arch"), str) else cpu.get("arch", "arm").startswith("arm")
    if cpu.get("same_as"):
        cpu = with_missing(cpu, cpus[cpu["same_as"]])
    is_architectural = is_pmuv3 and "pmu_arch" in cpu and not cpu.get("events")
    if is_architectural:
        cpu = with_missing(cpu, cpus["generic-pmuv3"])
    names = {event["name"].upper() for event in cpu.get("events", [])}
    ratios = cpu["spe"].get("ratios") or {}
    n_ratios = sum(name in ratios for name in SPE_RATIOS) if SPE_EVENTS <= names else 0
    roots = (cpu.get("topdown") or {}).get("roots") or []
    units = [metric.get("unit", "") for root in roots[:1] for metric in cpu["metrics"] if metric["name"].lower() == root.lower()]
    return [len(cpu.get("events", [])), len(cpu.get("metrics", [])) + n_ratios, (cpu.get("counters") or {}).get("programmable") or 0,
            cpu.get("slots") or 0, is_architectural, units[0] if units else ""]


def brief(cpu, cpus):
    out = pick(cpu, CPU_KEYS)
    out["match"] = [m for m in cpu["match"] if "implementer" in m]
    out["spe"] = pick(cpu["spe"], SPE_KEYS)
    out["counts"] = counts(cpu, cpus)
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
    cpus = {cpu["id"]: cpu for cpu in folder["cpu"]}
    index = {
        **general,
        "schema": 1,
        "sources": folder["sources"],
        "cpus": [brief(cpu, cpus) for cpu in folder["cpu"]],
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
