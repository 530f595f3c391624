#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What screens say of numbers that are not what one would take them for: latencies, filtered and
regular SPE records, events that nothing records.

usage: spe_notes.py CYCLOPS DATA_DIR

The captures are a real one with its SPE event configured otherwise: its records obey to a least
latency of one cycle, not to other filters.
"""

import json
import os
import struct
import sys
import tempfile

from harness import Checks, csv_rows, folded, real_captures, run

JITTER = 1 << 16
LOADS, STORES = 1 << 33, 1 << 34
L1D_REFILL = 1 << 3
FIRST_PMU = 6  # types below are the kernel's own
CONFIG, CONFIG1, CONFIG2 = 8, 56, 64  # offsets in perf_event_attr

LATENCY = "operations, which overlap"
PASSED = "totals, means and shares are of what passed"
BROKEN = "interval and totals are unreliable"
REGULAR = "loops in step with the interval are over- or undercounted"


def configured(data, **fields):
    """The capture with other fields in the attributes of its SPE event: {name: function of the old value}."""
    data = bytearray(data)
    entry_bytes, start, size = struct.unpack_from("<QQQ", data, 16)
    changed = 0
    for at in range(start, start + size, entry_bytes):
        if struct.unpack_from("<I", data, at)[0] < FIRST_PMU:
            continue
        for name, change in fields.items():
            offset = at + {"config": CONFIG, "config1": CONFIG1, "config2": CONFIG2}[name]
            struct.pack_into("<Q", data, offset, change(struct.unpack_from("<Q", data, offset)[0]))
            changed += 1
    assert changed == len(fields), "the capture has one SPE event"
    return data


def with_second(data):
    """The same with a second SPE event, which has a filter and no jitter; the first one has both."""
    data = bytearray(data)
    entry_bytes, start, size = struct.unpack_from("<QQQ", data, 16)
    entries = [data[at:at + entry_bytes] for at in range(start, start + size, entry_bytes)]
    second = bytearray(next(entry for entry in entries if struct.unpack_from("<I", entry, 0)[0] >= FIRST_PMU))
    struct.pack_into("<Q", second, CONFIG, struct.unpack_from("<Q", second, CONFIG)[0] & ~JITTER)
    struct.pack_into("<Q", second, CONFIG2, 100)
    struct.pack_into("<QQ", second, entry_bytes - 16, 0, 0)  # no ids
    struct.pack_into("<QQ", data, 24, len(data), size + entry_bytes)
    return data + b"".join(entries) + second


def check_stores(checks, cyclops, folder):
    """Where stores may be missing, nobody knows who wrote to a line that loads waited for."""
    with open(os.path.join(folder, "samples", "sharing.data"), "rb") as file:
        data = file.read()
    left_out = "stores may be missing"
    cases = [  # configuration, --select, and whether stores may be missing
        ({}, "cpu>=0", False), ({}, "op=load", True), ({}, "class=1", True), ({}, "tot>0", True),
        ({"config": lambda config: config | LOADS}, "cpu>=0", True),
        ({"config": lambda config: config | LOADS | STORES}, "cpu>=0", False),
        ({"config1": lambda _: L1D_REFILL}, "cpu>=0", True), ({"config2": lambda _: 100}, "cpu>=0", False),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "perf.data")
        for fields, select, is_missing in cases:
            with open(path, "wb") as file:
                file.write(configured(data, **fields))
            command = (cyclops, "c2c", "--symfs", os.path.join(folder, "root"), "--select", select, path)
            answer = json.loads(run(*command, "--format", "json"))
            line = next(line for line in answer["lines"] if int(line["address"], 16) == 0x402000)
            wanted = ("unknown", left_out) if is_missing else ("false-sharing", None)
            said = (line["verdict"], line.get("reason"))
            checks.expect(said == wanted, f"{list(fields)}, {select}: {said}, wanted {wanted}")
            text = folded(*command)
            checks.expect((f"may be contended: {left_out}" in text) == is_missing, f"{list(fields)}, {select}: {text[:200]}")
            checks.count("ways to leave out stores" if is_missing else "ways to have them")


def main():
    cyclops, folder = sys.argv[1], sys.argv[2]
    checks = Checks()
    with open(os.path.join(folder, "demo.data"), "rb") as file:
        data = file.read()
    captures = {
        "plain": data,
        "slow": configured(data, config2=lambda _: 100),
        "quick": configured(data, config2=lambda _: 1),
        "memory": configured(data, config=lambda config: config | LOADS | STORES),
        "loads": configured(data, config=lambda config: config | LOADS),
        "two": with_second(data),
        "regular": configured(data, config=lambda config: config & ~JITTER),
    }
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in captures.items():
            with open(os.path.join(scratch, name), "wb") as file:
                file.write(content)

        def shown(name, *words):
            text = run(cyclops, *words, "--symfs", os.path.join(folder, "root"), "-i", os.path.join(scratch, name))
            return " ".join(text.decode().split())

        screens = [("report",), ("hot",), ("hot", "--by", "line"), ("hot", "--event", "l1d-refill"), ("mem",),
                   ("mem", "--by", "function"), ("addr",), ("addr", "--by", "page"), ("annotate",), ("c2c",)]
        for screen in screens:
            words = " ".join(screen)
            checks.expect(PASSED not in shown("plain", *screen), f"{words}: nothing was filtered")
            checks.expect(f"(latency from 1 cycle): {PASSED}" in shown("quick", *screen), f"{words}: min-latency is said")
            checks.expect("header names this filter: latency from 100 cycles. " in shown("slow", *screen), f"{words}: records are quicker")
            checks.expect("header names this filter: only loads + stores. " in shown("memory", *screen), f"{words}: there are others")
            checks.expect("header names this filter: only loads. " in shown("loads", *screen), f"{words}: not all are loads")
            text = shown("two", *screen)
            checks.expect(": all operations; " in text and f": latency from 100 cycles): {PASSED}" in text,
                          f"{words}: the filter of the second event is said")

        for screen, has_latency in [(("report",), True), (("hot",), True), (("hot", "--by", "line"), True),
                                    (("hot", "--by-samples"), False), (("hot", "--event", "load"), False)]:
            text = shown("plain", *screen)
            checks.expect((LATENCY in " ".join(text.split()) or "latency is no run time" in text) == has_latency, f"{' '.join(screen)}: note on latencies")
            checks.expect(has_latency or "latency share" not in text, f"{' '.join(screen)}: heading of the share")

        # A total of what passed a filter is none of all operations.
        checks.expect("estimated" in shown("plain", "hot", "--event", "l1d-refill"), "estimate of all")
        for name in ("slow", "loads"):
            text = shown(name, "hot", "--event", "l1d-refill")
            checks.expect("estimated" not in text and "passed" in text, f"{name}: estimate of what passed")
            text = shown(name, "mem", "--table", "region")
            checks.expect("estimated (operations)" not in text and "passed filter" in text and BROKEN in text,
                          f"{name}: operations of the region")
            text = shown(name, "hot", "--event", "remote")
            checks.expect("SPE records has it" in text and BROKEN in text, f"{name}: none, or filtered")

        long = ("report", "--all", "--verbose")
        checks.expect(REGULAR not in shown("plain", *long), "report: has jitter")
        checks.expect(REGULAR in shown("two", *long), "report: the second event has no jitter")
        checks.expect("no jitter: loops in step" in shown("regular", "report"), "report: the answer says so")
        text = shown("regular", *long)
        checks.expect(f"jitter none: {REGULAR}" in text, "report: a fact that there is no jitter")
        checks.expect(text.count("the interval had no jitter: loops in step") ==
                   text.count(" confidence: ") > 0, "report: how sure findings are without jitter")

        # What is never recorded is not what never happens.
        total = "2 619 SPE records"
        checks.expect(f"none of {total} has it; not all CPUs record it" in shown("plain", "hot", "--event", "remote"),
                   "hot --event of what no record has")
        checks.expect(f"none of {total} matches; not all CPUs" in shown("plain", "hot", "--select", "event==remote"),
                   "hot --select of what no record has")
        text = shown("plain", "hot", "--event", "l1d-refill", "--select", "tid==1")
        checks.expect("no selected SPE record has it" in text, "an event that only others have")
        # Over a whole program the time by the stores is no latency of theirs.
        def derived(*words, name="plain"):
            rows = csv_rows(cyclops, "mem", "--table", "region", "--format", "csv", *words, os.path.join(scratch, name),
                            "--symfs", os.path.join(folder, "root"))
            return {row["access"]: row["derived_latency_ns"] != "" for row in rows}

        checks.expect(derived() == {"load": True, "store": False}, f"derived latency of all: {derived()}")
        checks.expect(not any(derived(name="slow").values()), f"derived latency of slow ones: {derived(name='slow')}")
        for select, has in (("op=load", True), ("op=load && tot>0", False), ("op=load && !(source=DRAM)", False)):
            checks.expect(derived("--select", select).get("load") == has, f"derived latency of {select}")
        region = derived("--region", "prepare")
        checks.expect(region and all(region.values()), f"derived latency of a region: {region}")

    # What helps where pointers are followed is not what helps elsewhere; what does is told of no other code.
    root, path = os.path.join(folder, "root"), os.path.join(folder, "samples", "chase.data")
    found = json.loads(run(cyclops, "report", "--format", "json", "--symfs", root, path))["findings"]
    chased = {finding["function"] for finding in found if "is loaded by the previous load" in finding.get("try", "")}
    checks.expect(chased == {"chase_memory", "chase_system_cache"}, f"pointers are followed in {chased}")
    checks.expect(any(finding["function"] == "link_nodes" for finding in found), "a finding of no such code")

    check_stores(checks, cyclops, folder)

    # Memory samples have data sources and weights; only the latter may be said to be without.
    for path in real_captures():
        if os.path.basename(path) == "perf.data.weight_struct":
            text = folded(cyclops, "hot", "--event", "mispredicted", path)
            checks.expect("no data source" not in text, f"{path}: has data sources")
            checks.expect("its samples have data sources: see cyclops mem" in text, f"{path}: what tells them")
            checks.count("captures of memory samples")
    checks.count("screens", len(screens) * len(captures))
    checks.finish()


if __name__ == "__main__":
    main()
