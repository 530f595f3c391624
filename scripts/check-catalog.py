#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files of catalog/ as catalog/schema.md describes.

usage: check-catalog.py [CATALOG_DIR]
"""

import csv
import json
import pathlib
import re
import sys

CPU_KEYS = {
    "schema", "id", "name", "vendor", "aliases", "match", "arch", "pmu_arch", "data_revision", "counters",
    "dispatch_width", "slots", "slots_in_source", "cache_line", "linux_pmu_names", "spe", "events", "metrics",
    "groups", "topdown", "drilldown",
}
CPU_KEYS_OPTIONAL = {
    "fetch_width", "same_as", "variants", "note", "thresholds", "unnamed_events_skipped", "errata", "own_cache_lines",
    "penalties", "kernel_events", "reorder_entries",
    "outstanding_lines", "l1i_lines", "itlb_entries", "dtlb_entries", "l2tlb_entries", "load_to_use_cycles", "source_of",
}
NEEDS_SOURCE = {"dispatch_width", "fetch_width", "reorder_entries", "outstanding_lines", "l1i_lines", "itlb_entries",
                "dtlb_entries", "l2tlb_entries", "load_to_use_cycles"}
SPE_KEYS = {
    "supported", "sample_events_in_pmu", "ratios", "data_source", "data_source_verified",
    "data_source_loads_only", "events",
}
SPE_KEYS_OPTIONAL = {"ernd"}
PENALTY_KEYS = {"event", "issue", "kind", "cycles", "source"}
PENALTY_KEYS_OPTIONAL = {"estimate", "upper_bound"}
SIDES = {"frontend", "backend", "bad_speculation"}
ERRATUM_KEYS = {"id", "affects", "what", "fixed_in", "note"}
ERRATUM_EFFECTS = {"spe-bias"}
WALK_THRESHOLDS = {"coverage", "cpu_utilization", "tie", "slots_sum", "part", "cost"}
MAKER_KEYS_OPTIONAL = {"arch", "cpuid", "latency_events"}
ANY_CPU = "linux-generic"
NO_ENCODING = {"none", "not-in-linux-decode-list", "unknown"}
SPE_PARSER = {
    "L1D", "L2D", "PEER-CPU", "LOCAL-CLUSTER", "LL-CACHE", "PEER-CLUSTER", "REMOTE", "DRAM", None,
}
CLASSES = set(
    "cycles work stall flush fetch branch l1i l1d l2 l3 llc remote itlb dtlb tlb memory bus atomic prefetch barrier "
    "opmix sve sme exception spe trace chain software other".split()
)
REVISION = re.compile(r"r([0-9]|1[0-5])p([0-9]|1[0-5])")
TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_.]*)|(\d+(?:\.\d+)?)|([-+*/()]))")


class Checker:
    """Collects errors, each with its file."""

    def __init__(self):
        self.faults = []
        self.where = ""

    def expect(self, condition, text):
        if not condition:
            self.faults.append(f"{self.where}: {text}")

    def unique(self, what, names):
        seen = set()
        for name in names:
            self.expect(name not in seen, f"{what} '{name}' stands twice")
            seen.add(name)
        return seen

    def known(self, what, names, among):
        for name in names:
            self.expect(name in among, f"{what}: no '{name}'")


def no_duplicate_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice in {keys}")
    return dict(pairs)


def load(path):
    return json.loads(path.read_text(), object_pairs_hook=no_duplicate_keys)


def parse_expression(text):
    """Returns the identifiers of an infix expression; raises ValueError if it is none."""
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError(f"cannot read '{text[at:]}'")
        tokens.append(m)
        at = m.end()
    identifiers = set()
    depth, wants_value = 0, True
    for m in tokens:
        name, number, sign = m.groups()
        if wants_value:
            if name:
                identifiers.add(name)
            if name or number:
                wants_value = False
            elif sign == "(":
                depth += 1
            else:
                raise ValueError(f"'{sign}' where a value should stand")
        elif sign == ")":
            depth -= 1
            if depth < 0:
                raise ValueError("a ')' too many")
        elif sign in set("+-*/"):
            wants_value = True
        else:
            raise ValueError(f"'{m.group().strip()}' where an operator should stand")
    if wants_value or depth:
        raise ValueError("it ends too early")
    return identifiers


def check_expression(check, where, text, events, has_slots):
    """Returns the events of the expression, without SLOTS."""
    try:
        identifiers = parse_expression(text)
    except ValueError as e:
        check.expect(False, f"{where}: expr '{text}': {e}")
        return set()
    if "SLOTS" in identifiers and "SLOTS" not in events:
        check.expect(not has_slots, f"{where}: uses SLOTS although `slots` is a number")
        identifiers.discard("SLOTS")
    check.known(where, identifiers, events)
    return identifiers


def check_metrics(check, cpu, events):
    names = check.unique("metric", [m["name"] for m in cpu["metrics"]])
    groups = check.unique("group", [g["name"] for g in cpu["groups"]])
    has_slots = cpu["slots"] is not None
    for m in cpu["metrics"]:
        where = f"metric {m['name']}"
        used = check_expression(check, where, m["expr"], events, has_slots)
        check.expect(used == set(m["events"]), f"{where}: `events` differs from the names in `expr`")
        check.known(where, m["sample_events"], events)
        check.known(where, m["groups"], groups)
        check.expect(m["better"] in ("higher", "lower", "neutral"), f"{where}: better: {m['better']}")
    for g in cpu["groups"]:
        check.known(f"group {g['name']}", g["metrics"], names)
    for name, samples in cpu["drilldown"].items():
        check.known("drilldown", [name], names)
        check.known(f"drilldown {name}", samples, events)
    for variant in cpu.get("variants", []):
        check.known("variant", variant["expr"], names)
        for name, text in variant["expr"].items():
            check_expression(check, f"variant of {name}", text, events, has_slots)
        check.expect(int(variant["midr_min"], 16) <= int(variant["midr_max"], 16), "variant: empty range")
    return names, groups


def check_topdown(check, tree, metrics, groups, events):
    for stage in ("stage_1", "stage_2"):
        check.known(stage, tree[stage], groups)
    check.known("roots", tree["roots"], metrics)
    for node in tree["nodes"]:
        where = f"node {node['metric']}"
        check.known(where, [node["metric"], *node["next_metrics"]], metrics)
        check.known(where, [g for g in [node["group"], *node["next_groups"]] if g is not None], groups)
        check.known(where, node["sample_events"], events)


def check_spe(check, spe, encodings):
    check.known("spe", spe, SPE_KEYS | SPE_KEYS_OPTIONAL)
    check.expect(spe.get("ernd") in (None, 0, 1), "spe.ernd: 0, 1 or null")
    check.known("spe.supported", [spe["supported"]], ("yes-optional-in-silicon", "unknown-check-sysfs", "no"))
    check.known("spe.data_source", [spe["data_source"]], NO_ENCODING | encodings)
    bits = check.unique("spe.events bit", [e["bit"] for e in spe.get("events", [])])
    check.expect(all(0 <= bit < 64 for bit in bits), "spe.events: bits are 0 to 63")
    check.unique("spe.events name", [e["name"] for e in spe.get("events", [])])


def check_errata(check, errata):
    check.unique("erratum", [e["id"] for e in errata])
    for e in errata:
        where = f"erratum {e['id']}"
        check.expect(set(e) == ERRATUM_KEYS, f"{where}: its keys are {', '.join(sorted(ERRATUM_KEYS))}")
        check.known(f"{where}: affects", [e["affects"]], ERRATUM_EFFECTS)
        check.expect(
            e["fixed_in"] is None or REVISION.fullmatch(e["fixed_in"]), f"{where}: fixed_in: {e['fixed_in']}"
        )
        check.expect(e["what"] and e["note"], f"{where}: says nothing")


def check_penalties(check, penalties, events):
    check.unique("penalty", [p["event"] for p in penalties])
    for p in penalties:
        where = f"penalty {p['event']}"
        check.known(f"{where}: missing key", PENALTY_KEYS, p)
        check.known(f"{where}: unknown key", p, PENALTY_KEYS | PENALTY_KEYS_OPTIONAL)
        check.known(where, [p["event"]], events)
        check.known(f"{where}: kind", [p["kind"]], SIDES)
        check.expect(is_number(p["cycles"]) and p["cycles"] > 0, f"{where}: cycles: {p['cycles']}")
        check.expect(p["source"], f"{where}: has no source")
    kinds = {}
    for p in penalties:
        check.expect(
            kinds.setdefault(p["issue"], p["kind"]) == p["kind"], f"issue {p['issue']}: of two kinds"
        )


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_thresholds(check, thresholds, names):
    check.known("threshold", thresholds, names)
    for name, entry in thresholds.items():
        value = entry.get("value") if isinstance(entry, dict) else entry
        check.expect(is_number(value), f"threshold {name}: {value} is no number")


def check_usual_thresholds(check, root, cpus):
    """Default thresholds: each has a source, and all that walking the tree needs are there."""
    thresholds = root["thresholds"]
    metrics = {m["name"] for cpu in cpus.values() for m in cpu["metrics"]}
    check_thresholds(check, thresholds, metrics | WALK_THRESHOLDS)
    check.known("thresholds", WALK_THRESHOLDS, thresholds)
    for name, entry in thresholds.items():
        check.expect(isinstance(entry, dict) and entry.get("source"), f"threshold {name}: has no source")


def check_makers(check, makers):
    check.unique("maker", [(m.get("arch"), m.get("cpuid")) for m in makers])
    for m in makers:
        where = f"maker {m.get('cpuid', m.get('arch'))}"
        check.known(f"{where}: unknown key", m, {"weight"} | MAKER_KEYS_OPTIONAL)
        check.expect(m.get("arch") or m.get("cpuid"), "a maker without arch and cpuid")
        check.expect(m.get("weight"), f"{where}: has no weight")
        codes = check.unique(f"{where}: event", [int(e["code"], 16) for e in m.get("latency_events", [])])
        check.expect(all(code <= 0xFFFF for code in codes), f"{where}: an event has more than 16 bits")


def check_descriptions(check, descriptions, cpus):
    """Each is of an event that some CPU has, and fits a column."""
    known = {event["name"] for cpu in cpus.values() for event in cpu["events"]}
    for name, text in descriptions.items():
        check.expect(name in known, f"{name}: no CPU has this event")
        check.expect(text and len(text) <= 80, f"{name}: {len(text)} characters, wanted 1 to 80")


def check_cpu(check, cpu, encodings, ids):
    check.expect(cpu["schema"] == 1, f"schema {cpu['schema']}, wanted 1")
    check.expect(f"{cpu['id']}.json" == check.where, f"id '{cpu['id']}' differs from the file's name")
    check.known("missing key", CPU_KEYS, cpu)
    check.known("unknown key", cpu, CPU_KEYS | CPU_KEYS_OPTIONAL)
    events = check.unique("event", [e["name"] for e in cpu["events"]])
    for e in cpu["events"]:
        check.expect(int(e["code"], 16) < 1 << 64, f"event {e['name']}: code {e['code']}")
        check.known(f"event {e['name']}: class", [e["class"]], CLASSES)
    metrics, groups = check_metrics(check, cpu, events)
    if cpu["topdown"] is not None:
        check_topdown(check, cpu["topdown"], metrics, groups, events)
    check_spe(check, cpu["spe"], encodings)
    check_errata(check, cpu.get("errata", []))
    lines = cpu.get("own_cache_lines")
    check.expect(
        isinstance(lines, int) and lines > 0 or lines is None and cpu["id"] != ANY_CPU, f"own_cache_lines: {lines}"
    )
    latency = cpu.get("load_to_use_cycles", 1)
    check.expect(isinstance(latency, int) and 0 < latency < 100, f"load_to_use_cycles: {latency}")
    check_thresholds(check, cpu.get("thresholds", {}), metrics | WALK_THRESHOLDS)
    check_penalties(check, cpu.get("penalties", []), events)
    check.known("kernel_events", cpu.get("kernel_events", {}).values(), events)
    sources = cpu.get("source_of", {})
    check.known("source_of", sources, cpu)
    check.expect(all(sources.values()), "source_of: a source is empty")
    check.known("source_of lacks", [key for key in NEEDS_SOURCE if cpu.get(key) is not None], sources)
    if "same_as" in cpu:
        check.known("same_as", [cpu["same_as"]], ids)
        check.expect(not events and not metrics, "same_as: but it has events or metrics of its own")


def check_encoding(check, encoding):
    check.expect(f"{encoding['id']}.json" == check.where, "id differs from the file's name")
    check.expect(encoding["id"] not in NO_ENCODING, "id is a reserved word")
    values = check.unique("value", [int(v["value"], 0) for v in encoding["values"]])
    check.expect(all(0 <= v <= 0xFFFF for v in values), "a value has more than 16 bits")
    check.unique("name", [v["name"] for v in encoding["values"]])
    check.known("spe_parser", [v["spe_parser"] for v in encoding["values"]], SPE_PARSER)


def spoken_forms(name):
    """Names as the program compares them: letters and digits, with and without the first word."""
    short = re.sub(r"^[^ -]*[ -]*", "", name)
    return {re.sub(r"[^a-z0-9]", "", form.lower()) for form in (name, short)} - {""}


def check_names(check, cpus):
    """No two CPUs may share an id, name or alias."""
    owner = {}
    for cpu in cpus.values():
        matched = [m["name"] for m in cpu["match"] if "name" in m]
        names = [cpu["id"], cpu["name"], *cpu["aliases"], *matched]
        for name in set().union(*map(spoken_forms, names)):
            check.expect(name not in owner, f"'{name}' names both {cpu['id']} and {owner.get(name)}")
            owner[name] = cpu["id"]


def check_midr(check, rows, implementers, cpus):
    """midr.csv and the `match` lists must agree."""
    parts = check.unique("part", [(int(r["implementer"], 16), int(r["part"], 16)) for r in rows])
    check.expect(all(i <= 0xFF and p <= 0xFFF for i, p in parts), "implementer or part too large")
    check.known("implementers.csv", {i for i, _ in parts if i != 0x3F}, implementers)
    by_table = {
        (int(r["implementer"], 16), int(r["part"], 16)): r["data_file_id"] for r in rows if r["data_file_id"]
    }
    by_match = {}
    for cpu in cpus.values():
        for m in cpu["match"]:
            if "implementer" in m:
                key = (int(m["implementer"], 16), int(m["part"], 16))
                check.expect(key not in by_match, f"{cpu['id']} and {by_match.get(key)} match the same part")
                by_match[key] = cpu["id"]
    for key in by_table.keys() | by_match.keys():
        check.expect(
            by_table.get(key) == by_match.get(key),
            f"{key[0]:#x},{key[1]:#x}: the table says {by_table.get(key)}, the CPU files say {by_match.get(key)}",
        )


def check_listed(check, root):
    """Every file must be listed in meson.build, which embeds it in the program."""
    listed = set(re.findall(r"'((?:cpu|sources)/[^']+\.json)'", (root / "meson.build").read_text()))
    there = {f"{p.parent.name}/{p.name}" for p in [*root.glob("cpu/*.json"), *root.glob("sources/*.json")]}
    for name in sorted(listed ^ there):
        check.expect(False, f"'{name}' is {'not there' if name in listed else 'not listed'}")


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


TREE_KEYS = {"schema", "id", "name", "match", "slots", "cycles", "stalled", "instructions", "source", "nodes"}
TREE_KEYS_OPTIONAL = {"reference_ghz"}
NODE_KEYS = {
    "event": {"code", "period", "precise", "penalty", "unit", "source", "in_cycles", "adds"},
    "branch": {"adds", "cap", "side"},
    "formula": {"adds", "side", "formula"},
}
NODE_KEYS_ANY = {"name", "kind", "parent", "note", "title"}
FORMULA_KINDS = {"sum", "wrong-path", "average", "busiest", "underuse", "empty-slots", "remainder", "collisions", "halted"}


def names_in_formula(formula):
    """The nodes that a formula names."""
    for key, value in formula.items():
        if key == "ports":
            for port in value:
                yield from port["events"]
        elif key not in ("kind", "tick_ns"):
            yield from value if isinstance(value, list) else [value]


def check_node(check, node, before, names, events):
    where = f"node {node['name']}"
    check.known(f"{where}: kind", [node["kind"]], NODE_KEYS)
    check.known(f"{where}: unknown key", node, NODE_KEYS_ANY | NODE_KEYS.get(node["kind"], set()))
    if "parent" in node:
        check.expect(node["parent"] in before, f"{where}: parent {node['parent']} does not stand before it")
    if node["kind"] == "event":
        check.expect(re.fullmatch(r"0x[0-9a-f]{1,8}", node.get("code", "")), f"{where}: code: {node.get('code')}")
        check.expect((node.get("penalty") is not None) == ("unit" in node), f"{where}: a penalty has a unit, cycles or ns")
        check.expect(not node.get("adds") or "penalty" in node, f"{where}: adds to its branch, but costs nothing")
    if "cap" in node:
        check.known(f"{where}: cap", [node["cap"]], events)
    if node["kind"] == "formula":
        check.known(f"{where}: formula", [node["formula"]["kind"]], FORMULA_KINDS)
        check.known(f"{where}: formula", names_in_formula(node["formula"]), names)


def check_tree(check, tree, cpus):
    check.expect(tree["schema"] == 1, f"schema {tree['schema']}, wanted 1")
    check.expect(f"{tree['id']}.json" == check.where, f"id '{tree['id']}' differs from the file's name")
    check.known("missing key", TREE_KEYS, tree)
    check.known("unknown key", tree, TREE_KEYS | TREE_KEYS_OPTIONAL)
    check.known("match", tree["match"].get("cpu", []), cpus)
    nodes = tree["nodes"]
    names = check.unique("node", [n["name"] for n in nodes])
    events = {n["name"] for n in nodes if n["kind"] == "event"}
    check.unique("code", [n["code"] for n in nodes if "code" in n])
    check.known("tree", [tree["cycles"], tree["stalled"], tree["instructions"]], names)
    for at, node in enumerate(nodes):
        check_node(check, node, {n["name"] for n in nodes[:at]}, names, events)
    # an Arm core's own events: names and codes are those of its catalog file
    for cpu in (cpus[name] for name in tree["match"].get("cpu", []) if name in cpus):
        codes = {e["name"]: int(e["code"], 16) for e in cpu["events"]}
        for node in nodes:
            if node["kind"] == "event":
                check.expect(
                    codes.get(node["name"]) == int(node.get("code", "-1"), 16),
                    f"{node['name']}: code {node.get('code')}, the CPU's file has {codes.get(node['name'])}",
                )


EXPECTED_KEYS = {"schema", "tolerances", "overhead", "unverified", "sets", "cases"}
CASE_KEYS = {"name", "kernel", "expect"}
CASE_KEYS_OPTIONAL = {"level", "parameters", "what"}
EXPECTED_KINDS = {"exact": {"count"}, "lines": {"count"}, "never": set(), "range": {"least", "most"}}


def events_of_row(row, sets):
    """The names of its events, those of sets included."""
    for name in row["events"]:
        yield from sets.get(name[1:], []) if name.startswith("@") else [name]


# Of the kernel, on any machine.
SOFTWARE_EVENTS = {"page-faults", "minor-faults", "major-faults", "context-switches", "cpu-migrations", "task-clock"}


def check_expected(check, expected, cpus):
    """What microbenchmarks make events count. The program's test checks kernels, levels and formulas."""
    known = {e["name"] for cpu in cpus.values() for e in cpu["events"]}
    check.expect(set(expected) == EXPECTED_KEYS, f"keys {sorted(expected)}")
    check.expect(set(expected["tolerances"]) == set(EXPECTED_KINDS), "tolerances: not those of the kinds")
    for name, events in expected["sets"].items():
        check.known(f"set {name}", events, known)
    check.unique("case", [case["name"] for case in expected["cases"]])
    for case in expected["cases"]:
        where = f"case {case['name']}"
        check.known(f"{where}: missing key", CASE_KEYS, case)
        check.known(f"{where}: unknown key", case, CASE_KEYS | CASE_KEYS_OPTIONAL)
        for row in case["expect"]:
            keys = EXPECTED_KINDS.get(row["kind"])
            check.expect(keys is not None, f"{where}: kind {row['kind']}")
            check.expect(set(row) - {"kind", "events", "architectures"} == keys, f"{where}: keys {sorted(row)}")
            check.known(f"{where}: sets", [n[1:] for n in row["events"] if n.startswith("@")], expected["sets"])
            check.known(f"{where}: events", events_of_row(row, expected["sets"]), known | SOFTWARE_EVENTS)


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "catalog")
    check = Checker()
    encodings = {p.stem: load(p) for p in sorted(root.glob("sources/*.json"))}
    cpus = {p.stem: load(p) for p in sorted(root.glob("cpu/*.json"))}
    for name, encoding in encodings.items():
        check.where = f"{name}.json"
        check_encoding(check, encoding)
    for name, cpu in cpus.items():
        check.where = f"{name}.json"
        check_cpu(check, cpu, set(encodings), set(cpus))
    trees = {p.stem: load(p) for p in sorted(root.glob("cycles/*.json"))}
    for name, tree in trees.items():
        check.where = f"{name}.json"
        check_tree(check, tree, cpus)
    check.where = "expected.json"
    check_expected(check, load(root / check.where), cpus)
    check.where = "thresholds.json"
    check_usual_thresholds(check, load(root / check.where), cpus)
    check.where = "makers.json"
    check_makers(check, load(root / check.where)["makers"])
    check.where = "events.json"
    check_descriptions(check, load(root / check.where)["event_descriptions"], cpus)
    check.where = "names"
    check_names(check, cpus)
    check.where = "midr.csv"
    implementers = {int(r["implementer"], 16) for r in read_csv(root / "implementers.csv")}
    check_midr(check, read_csv(root / "midr.csv"), implementers, cpus)
    check.where = "meson.build"
    check_listed(check, root)
    for fault in check.faults:
        print(fault, file=sys.stderr)
    if not cpus or not trees or check.faults:
        sys.exit(f"{len(check.faults)} faults in {len(cpus)} CPU files and {len(trees)} trees")
    print(f"{len(cpus)} CPU files, {len(encodings)} encodings, {len(trees)} trees: as they should be")


if __name__ == "__main__":
    main()
