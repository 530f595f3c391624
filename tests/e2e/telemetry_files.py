#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arm's telemetry files by --catalog: facts of the catalog, put into the two forms Arm publishes.

usage: telemetry_files.py CYCLOPS CATALOG

A file of Arm's takes the place of the catalog's own facts of that core, and has to say the same:
the metrics and their formulas, the groups, the walk down the tree with counts made up here.
"""

import json
import pathlib
import sys
import tempfile

from harness import Checks, run

CYCLOPS = sys.argv[1]
CATALOG = pathlib.Path(sys.argv[2])

# What cores of Arm's catalog have besides: an event that no core's PMU can count, and a metric of it.
SYSTEM_EVENT = {"title": "A system's", "description": "x", "accesses": ["PMU"], "architecture_defined": False,
                "product_defined": False, "system": True}
SYSTEM_METRIC = {"title": "Of it", "formula": "SYS_ONLY / CPU_CYCLES * 100", "description": "x",
                 "units": "percent of cycles", "events": ["SYS_ONLY", "CPU_CYCLES"], "sample_events": ["SYS_ONLY"]}


def event_of(event, is_new):
    impdef = event.get("impdef", False)
    published = {"code": event["code"], "title": event["name"], "description": "Counts {{link('Event', 'X')}}.",
                 "accesses": ["PMU", "ETE"]}
    if is_new:
        return {**published, "architecture_defined": not impdef, "product_defined": impdef}
    return {**published, "common": not impdef, "architectural": not impdef, "impdef": impdef}


def published(cpu, is_new):
    """The facts in the form of 2025 (a schema is named), or in that of 2023."""
    tree = cpu["topdown"]
    metrics = {metric["name"]: {"title": metric["label"], "formula": metric["expr"], "description": "x",
                                "units": metric["unit"], "events": metric.get("events", []),
                                "sample_events": metric.get("sample_events", [])}
               for metric in cpu["metrics"]}
    groups = {group["name"]: {"title": group["label"], "description": "x", "metrics": list(group["metrics"])}
              for group in cpu["groups"]}
    events = {event["name"]: event_of(event, is_new) for event in cpu["events"]}
    nodes = [{"name": node["metric"], "group": node["group"], "next_items": node["next_metrics"] + node["next_groups"],
              "sample_events": node["sample_events"]} for node in tree["nodes"]]
    if is_new:
        events["SYS_ONLY"] = SYSTEM_EVENT
        metrics["of_the_system"] = SYSTEM_METRIC
        next(iter(groups.values()))["metrics"].append("of_the_system")
    method = {"topdown_methodology": {"title": "Topdown", "description": "x",
                                      "metric_grouping": {"stage_1": tree["stage_1"], "stage_2": tree["stage_2"]},
                                      "decision_tree": {"root_nodes": tree["roots"], "metrics": nodes}}}
    return {
        **({"$schema": "v1.0.schema.json"} if is_new else {"_type": "PMU_Specification"}),
        "document": {"timestamp": "x", "copyright": "x", "license": "Apache-2.0", "description": "x"},
        "product_configuration": {
            "product_name": cpu["name"], "part_num": cpu["match"][0]["part"],
            "major_revision": "1" if is_new else 1, "minor_revision": "0" if is_new else 0,
            "implementer": cpu["match"][0]["implementer"], "architecture": "armv9.2", "pmu_architecture": "pmu_v3",
            "num_slots": cpu.get("slots") or cpu.get("slots_in_source") or 0, "num_bus_slots": 0},
        "events": events, "metrics": metrics,
        "groups": {"function": {"Other": {"title": "Other", "description": "x", "events": list(events)}},
                   "metrics": groups},
        "methodologies": method,
    }


def made_up(cpu):
    """Counts in the form of perf stat -x: each its own, so that no two metrics are alike."""
    lines = []
    for i, event in enumerate(cpu["events"]):
        count = {"CPU_CYCLES": 1000000, "INST_RETIRED": 700000}.get(event["name"], 1000 + 997 * i % 200000)
        lines.append(f"{count};;{event['name']};1000000;100.00;;")
    return "\n".join(lines) + "\n"


def answer(cpu_id, path, counts):
    """What the program says of the metrics, the groups and the counts; the catalog's own words left out."""
    options = ["--cpu", cpu_id, "--format", "json"] + (["--catalog", path] if path else [])
    metrics = json.loads(run(CYCLOPS, "list", "metrics", *options))["metrics"]
    for metric in metrics:
        for word in ("origin", "label", "better", "here"):
            metric.pop(word, None)
    groups = json.loads(run(CYCLOPS, "list", "groups", *options))["groups"]
    stat = json.loads(run(CYCLOPS, "stat", "--import", counts, *options))
    # Arm's file has no thresholds for its metrics, nor revisions with formulas of their own
    walk = [(row["metric"], row.get("share"), row.get("of")) for row in stat.get("topdown", [])]
    return {"metrics": metrics, "groups": groups, "walk": walk, "values": stat["metrics"]}


def check(checks, cpu, folder):
    counts = folder / "counts.csv"
    counts.write_text(made_up(cpu))
    own = answer(cpu["id"], None, counts)
    for is_new in (False, True):
        path = folder / "telemetry.json"
        path.write_text(json.dumps(published(cpu, is_new), indent=4))
        theirs = answer(cpu["id"], path, counts)
        for what, value in own.items():
            checks.expect(value == theirs[what], f"{cpu['id']}: {what}: {theirs[what]}, wanted {value}")
        checks.count("metrics beside the catalog's", len(own["metrics"]))
        checks.count("nodes walked beside the catalog's", len(own["walk"]))
    checks.count("cores in two forms")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((CATALOG / "cpu").glob("*.json")):
            cpu = json.loads(path.read_text())
            if cpu.get("topdown") and cpu.get("metrics") and cpu["match"] and "part" in cpu["match"][0]:
                check(checks, cpu, pathlib.Path(folder))
    checks.finish()


if __name__ == "__main__":
    main()
