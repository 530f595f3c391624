#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the index of the CPU catalog: the facts of all CPUs that the program has from its start.

usage: catalog-index.py OUT.c OUT.json FILE...

The files are those of catalog/. The index lacks the long lists of events and metrics. It is made as constants of C, since reading
it took a third of the time of a short command, and in the form that --catalog reads (catalog/schema.md), for the test that both are equal.
"""

import csv
import json
import pathlib
import sys

CPU_KEYS = ("id", "name", "aliases", "cache_line", "own_cache_lines", "load_to_use_cycles", "errata")
# Values of spe.data_source that stand for no encoding, as src/cpu/catalog_read.c has them.
NO_ENCODING = ("none", "not-in-linux-decode-list", "unknown")
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


def text(value):
    return json.dumps(value)  # of these texts, a text of C, too


def array(name, type_, rows):
    """A static array, and how a structure refers to it: its address, and the number of its items."""
    if not rows:
        return "", "NULL", 0
    return f"static const {type_} {name}[] = {{\n" + "".join(f"\t{row},\n" for row in rows) + "};\n\n", name, len(rows)


def code(entry, key):
    return str(int(entry[key], 0))


def part(entry):
    name = text(entry["name"]) if "name" in entry else "NULL"
    return f"{{ {{ {code(entry, 'implementer')}, {code(entry, 'part')} }}, {name} }}"


def source_value(value):
    known = value.get("spe_parser")
    return (f"{{ .value = {code(value, 'value')}, .name = {text(value['name'])}, .level = SOURCE_{words_of(value['level'])}, "
            f".is_modified = {int(value.get('modified') is True)}, .spe_parser = {int(known is not None)}, "
            f".spe_parser_name = {text(known) if known is not None else 'NULL'} }}")


def words_of(word):
    """The last part of an enumerator: src/cpu/cpu.h and src/cpu/errata.h name them like the words of the catalog."""
    return word.upper().replace("-", "_")


class Source:
    """The index as C: what catalog_read() would make of it as JSON. A test compares both."""

    def __init__(self):
        self.arrays, self.n = [], 0

    def array(self, type_, rows):
        self.n += 1
        declared, name, n = array(f"list_{self.n}", type_, rows)
        self.arrays.append(declared)
        return name, n

    def encoding(self, source):
        values, n = self.array("struct cpu_source", [source_value(value) for value in source["values"]])
        by_value = {int(value["value"], 0): i for i, value in enumerate(source["values"])}
        slots = [f"&{values}[{by_value[i]}]" if i in by_value else "NULL" for i in range(max(by_value) + 1)]
        index, n_slots = self.array("struct cpu_source *const", slots)
        return f"{{ {text(source['id'])}, {values}, {n}, {index}, {n_slots} }}"

    def cpu(self, cpu, encodings):
        spe = cpu["spe"]
        word = spe.get("data_source")
        is_known = word is not None and word not in NO_ENCODING and spe.get("data_source_verified") is not False
        aliases, n_aliases = self.array("char *const", [text(alias) for alias in cpu.get("aliases", [])])
        parts, n_parts = self.array("struct named_part", [part(entry) for entry in cpu["match"]])
        events, n_events = self.array("struct spe_event", [f"{{ {event['bit']}, {text(event['name'])} }}" for event in spe.get("events", [])])
        errata, n_errata = self.array("struct cpu_erratum", [
            f"{{ {text(e['id'])}, ERRATUM_{words_of(e['affects'])}, {text(e['what'])}, {text(e['fixed_in']) if e.get('fixed_in') else 'NULL'} }}"
            for e in cpu.get("errata", [])])
        n_counted, n_metrics, n_programmable, slots, is_architectural, unit = cpu["counts"]
        return (f"{{ .id = {text(cpu['id'])}, .name = {text(cpu['name'])}, .aliases = {aliases}, .parts = {parts}, "
                f".encoding = {f'&encodings[{encodings.index(word)}]' if is_known else 'NULL'}, .spe_events = {events}, .errata = {errata}, "
                f".n_aliases = {n_aliases}, .n_parts = {n_parts}, .n_spe_events = {n_events}, .n_errata = {n_errata}, "
                f".cache_line = {cpu.get('cache_line') or 0}, .own_cache_lines = {cpu.get('own_cache_lines') or 0}, "
                f".load_to_use = {cpu.get('load_to_use_cycles') or 0}, .spe_ernd = {0 if spe.get('ernd') is None else spe['ernd'] + 1}, "
                f".counts = {{ {n_counted}, {n_metrics}, {n_programmable}, {slots}, {int(is_architectural)}, {text(unit)} }}, "
                f".lacks_spe = {int(spe.get('supported') == 'no')} }}")

    def maker(self, maker):
        events, n = self.array("uint16_t", [code(event, "code") for event in maker.get("latency_events", [])])
        return f"{{ {text(maker.get('arch', ''))}, {text(maker.get('cpuid', ''))}, {text(maker['weight'])}, {events}, {n} }}"

    def write(self, index):
        lists = {"encodings": ("struct encoding", [self.encoding(source) for source in index["sources"]])}
        encodings = [source["id"] for source in index["sources"]]
        lists |= {
            "cpus": ("struct cpu", [self.cpu(cpu, encodings) for cpu in index["cpus"]]),
            "names": ("struct named_part", [part(row) for row in index["names"]]),
            "implementers": ("struct implementer", [
                f"{{ {code(row, 'implementer')}, {text(row['name'])}, {int(row['pmu_arch'] not in ('', 'pmuv3'))} }}"
                for row in index["implementers"]]),
            "makers": ("struct cpu_maker", [self.maker(maker) for maker in index["makers"]]),
            "thresholds": ("struct cpu_threshold", [
                f"{{ {text(name)}, {entry['value'] if isinstance(entry, dict) else entry} }}" for name, entry in index["thresholds"].items()]),
        }
        declared = [array(name, type_, rows) for name, (type_, rows) in lists.items()]
        fields = "".join(f"\t.{name} = {address}, .n_{name} = {n},\n" for name, (_, address, n) in zip(lists, declared))
        return ('#include "cpu/internal.h"\n\n#include "cpu/errata.h"\n\n' + "".join(self.arrays) + "".join(words for words, _, _ in declared) +
                f"const struct catalog_index catalog_index = {{\n{fields}}};\n")


def main():
    as_source, as_json, *inputs = map(pathlib.Path, sys.argv[1:])
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
    as_source.write_text(Source().write(index))
    for cpu in index["cpus"]:
        del cpu["counts"]  # no key of a file: a test compares them with what reading the whole file gives
    as_json.write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
