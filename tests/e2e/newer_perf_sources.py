#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what `cyclops c2c` takes each SPE record for with what a perf newer than 6.1 makes of it, on every Arm CPU of
the catalog: data sources that one CPU alone has, events of SPEv1p4, and CPUs with and without the capability to tell
that nothing was snooped.

usage: newer_perf_sources.py [--seeds N] [--records N] [--recorded FILE | --record FILE] CYCLOPS MAKE-CAPTURE

The perf is the one that is found first in PATH; scripts/new-perf.sh makes one. With --recorded its answers come from a
file that --record wrote, so that no such perf is needed. Each record has a cache line of its own, on which another
thread stores, so that the counters of a line are those of one record.
"""

import argparse
import csv
import json
import os
import random
import re
import struct
import tempfile

import perf_file
import spe_bytes as spe
from harness import Checks, csv_rows, need, run
from newer_perf import need_newer

AUXTRACE_INFO = 70
BLOCK_MAGIC = struct.pack("<Q", 0x1010101010101010)
CODE, STORES, DATA, CODE_STEP, LINE = 0xAAAAC0000000, 0xAAAAC0080000, 0xFFFF40000000, 4, 64
SNOOPED = 1 << 23
PERF_LINE = re.compile(r"^ *([0-9a-f]+) +([0-9a-f]+) \|.*?\| *.*? ([0-9a-f]+) *$")

# Bits of an events packet that say where data came from, and others that must not matter.
EVENTS = (2, 3, 8, 9, 10, 19, 20, 21, 22, 23)
OTHERS = (0, 1, 4, 5, 6, 7, 11, 12, 16, 17, 18, 24, 25)

# CPUs whose data sources perf 7.3 knows, and those that we take for one of them: DIFFERENCE.
PERF_KNOWS = {(0x41, 0xD0C), (0x41, 0xD40), (0x41, 0xD49), (0x41, 0xD4F), (0x41, 0xD81), (0x41, 0xD87), (0x41, 0xD4C),
              (0x41, 0xD4E), (0x41, 0xD85), (0x41, 0xD44), (0x41, 0xD4B), (0x41, 0xD4D), (0x41, 0xD82), (0x41, 0xD84),
              (0x41, 0xD89), (0x4E, 0x010), (0x48, 0xD06), (0xC0, 0xAC4)}
PERF_LACKS = {(0x41, 0xD83), (0x6D, 0xD49)}

# Of perf's union perf_mem_data_src.
LOAD, STORE = 2, 4
LEVEL = {"none": 1 << 5, "hit": 1 << 6, "miss": 1 << 7, "l1": 1 << 8, "lfb": 1 << 9, "l2": 1 << 10, "l3": 1 << 11, "ram": 1 << 12,
         "ram1": 1 << 13, "ram2": 1 << 14, "cce1": 1 << 15, "cce2": 1 << 16}
SNOOP_HIT, SNOOP_HITM, REMOTE, PEER = 4 << 19, 16 << 19, 1 << 37, 2 << 38
COUNTERS = ("load_fill_buffer", "load_l1", "load_l2", "load_llc", "hitm_local", "hitm_remote", "peer_local",
            "peer_remote", "load_remote_hit", "load_dram_local", "load_dram_remote")


def counters_of(source):
    """What perf c2c counts for a load with this data_src."""
    def has(*names):
        return any(source & LEVEL[name] for name in names)

    found = dict.fromkeys(COUNTERS, 0)
    is_hitm, is_peer, is_far = source & SNOOP_HITM, source & PEER, bool(source & REMOTE)
    if has("hit"):
        found["load_fill_buffer"] = int(has("lfb"))
        found["load_l1"] = int(has("l1"))
        for level, counter in (("l2", "load_l2"), ("l3", "load_llc")):
            if has(level):
                found["hitm_local" if is_hitm else counter] += 1
                found["peer_local"] += int(bool(is_peer))
        found["load_dram_local"] = int(has("ram"))
        found["load_dram_remote"] = int(has("ram1", "ram2") or is_far)
    if has("cce1", "cce2") or is_far:
        found["hitm_remote" if is_hitm and not source & SNOOP_HIT else "load_remote_hit"] += int(
            bool(source & (SNOOP_HIT | SNOOP_HITM) or is_peer))
        found["peer_remote"] += int(bool(is_peer))
    return found


def stores_of(source):
    """The same for a store."""
    return {"store_l1_hit": int(source & LEVEL["hit"] and source & LEVEL["l1"] != 0),
            "store_l1_miss": int(source & LEVEL["miss"] and source & LEVEL["l1"] != 0),
            "store_any_level": int(source & LEVEL["none"] != 0)}


class Case:
    """Records of one CPU, each with a line of its own."""

    def __init__(self, part, name, seed, n):
        self.midr = part[0] << 24 | 0xF << 16 | part[1] << 4 | 1
        self.maker, self.name, self.key = part[0], name, f"{name}:{seed}"
        self.has_list, self.is_unknown = part in PERF_KNOWS, part in PERF_LACKS
        self.has_snooped = seed % 2 == 0  # of the capability mask: perf then says that nothing was snooped
        r = random.Random(self.key)
        self.packets, self.store_events = [], []
        for i in range(n):
            bits = sum(1 << bit for bit in EVENTS if r.random() < 0.25) | sum(1 << bit for bit in OTHERS if r.random() < 0.2)
            self.store_events.append(sum(1 << bit for bit in EVENTS if r.random() < 0.2) | 2)
            source = i % 24 - 4
            record = [spe.code(spe.PC, CODE + CODE_STEP * i, 0), spe.context(2, 4000),
                      spe.operation(spe.LDST, r.choice((0, 4, 0x10, 0x14, 0x20, 0x38, 0x88, 0x30, 0x40, 0x06, 0x16))),
                      spe.events(bits, 4), spe.counter(spe.TOTAL, 50), spe.counter(spe.ISSUE, 9),
                      spe.address(spe.VA, DATA + LINE * i)]
            if source >= 0:
                record.append(spe.source(source, r.choice((1, 2))))
            self.packets.append(b"".join(record))

    def bytes(self, first_tick):
        """With a store by another thread to each line."""
        out, tick = b"", first_tick
        for i, packets in enumerate(self.packets):
            tick += 20
            out += packets + spe.timestamp(tick)
            out += b"".join([spe.code(spe.PC, STORES + CODE_STEP * i, 0), spe.context(2, 4001),
                             spe.operation(spe.LDST, 1), spe.events(self.store_events[i], 4), spe.counter(spe.TOTAL, 5),
                             spe.counter(spe.ISSUE, 2), spe.address(spe.VA, DATA + LINE * i + 8), spe.timestamp(tick + 10)])
        return out


def write_capture(template, midr, filter_of, trace, path):
    """The template with another CPU, an event filter made of its own, and these records in place of its own."""
    data = bytearray(template)
    for position, kind, size in perf_file.records(template):
        if kind == AUXTRACE_INFO:
            at = data.index(BLOCK_MAGIC, position, position + size)
            struct.pack_into("<Q", data, at + 24, midr)
            mask, = struct.unpack_from("<Q", data, at + 48)
            struct.pack_into("<Q", data, at + 48, filter_of(mask))
    chunk = perf_file.chunks(template)[0]
    ticks = re.search(rb"\x71(.{8})", template[chunk.start:chunk.end], re.S)
    packets = trace.bytes(struct.unpack("<Q", ticks[1])[0])
    assert len(packets) <= chunk.size, f"{len(packets)} bytes do not fit in {chunk.size}"
    data[chunk.start:chunk.end] = packets.ljust(chunk.size, b"\0")
    with open(path, "wb") as file:
        file.write(data)


def sources_of_perf(path):
    """data_src by instruction."""
    text = run("perf", "script", "-i", path, "--itrace=M", "-F", "addr,ip,data_src").decode()
    found = {}
    for line in text.splitlines():
        m = PERF_LINE.match(line)
        if m:
            found[int(m[3], 16)] = int(m[2], 16)
    return found


# DIFFERENCE: perf takes another cluster of the chip for a remote cache, what the own L2 had modified for contended, and memory
# of another socket for a cache, too, if SNOOPED is set.
HISILICON = {
    "PEER_CLUSTER": lambda is_hitm: {"hitm_local" if is_hitm else "load_llc": 1, "peer_local": 1},
    "PEER_CLUSTER_HITM": lambda is_hitm: {"hitm_local": 1, "peer_local": 1},
    "L2_HITM": lambda is_hitm: {"load_l2": 1},
    "REMOTE_MEM": lambda is_hitm: {"load_dram_remote": 1},
}


def wanted_of(source, row, knows_source, maker):
    """
    The counters of perf's data_src, without what stands in docs/differences.md. DIFFERENCE: perf also counts
    remote memory, and a remote cache, where the source names a place on this chip and REMOTE-ACCESS is set. It counts
    no HITM of a load that missed in all caches, nor a peer beside HITM.
    """
    if maker == 0x48 and row["source"] in HISILICON:
        return {**dict.fromkeys(COUNTERS, 0), **HISILICON[row["source"]](bool(source & SNOOP_HITM))}
    is_hitm = bool(source & SNOOP_HITM)
    is_near = knows_source and row["source"] != "REMOTE" or not source & (SNOOP_HIT | SNOOP_HITM)
    wanted = counters_of(source & ~REMOTE if is_near and not row["source"].startswith("REMOTE") else source)
    if not row["source"].startswith("REMOTE"):
        wanted["load_dram_remote"] = 0
    if knows_source or not source & (SNOOP_HIT | SNOOP_HITM) or wanted["load_l1"] or wanted["load_fill_buffer"]:
        if wanted["load_l1"] or wanted["load_fill_buffer"]:
            wanted.update(load_remote_hit=0, hitm_remote=0)
        return wanted
    is_far = bool(source & REMOTE)
    if is_hitm:
        place = "remote" if is_far else "local"
        return {**dict.fromkeys(COUNTERS, 0), f"hitm_{place}": 1, f"peer_{place}": 1}
    return wanted


def compare(checks, case, theirs, rows, lines):
    for pc, source in sorted(theirs.items()):
        number = (pc - CODE) // CODE_STEP
        row, line = rows[pc], lines.get(DATA + number * LINE)
        knows_source = row["source"] != "" and not row["source"].startswith("0x")
        if not source & LOAD:
            continue
        if row["source"] and case.is_unknown:
            checks.count("loads of CPUs that perf does not know")
            continue
        if not row["source"] and case.has_list:
            checks.count("loads without a source, which perf takes for 0")  # DIFFERENCE
            continue
        if not checks.expect(line is not None, f"{case.name}: record {number} is in no line"):
            continue
        wanted = wanted_of(source, row, knows_source, case.maker)
        ours = {counter: line[counter] for counter in COUNTERS}
        checks.count("loads")
        if ours != wanted:
            checks.fail(f"{case.name}: source {row['source']} events {row['events']} ({row['subclass']}): perf {source:#x}: "
                        f"{ {c: (ours[c], wanted[c]) for c in COUNTERS if ours[c] != wanted[c]} } (cyclops, perf)")


def run_case(checks, cyclops, template, case, path, recorded):
    """Compares, and returns perf's answers: one for each record."""
    write_capture(template, case.midr, lambda mask: mask | SNOOPED if case.has_snooped else mask & ~SNOOPED, case, path)
    if recorded:
        answers = [int(source, 16) for source in recorded[case.key]]
    else:
        found = sources_of_perf(path)
        answers = [found.get(base + CODE_STEP * i, 0) for base in (CODE, STORES) for i in range(len(case.packets))]
    theirs = {CODE + CODE_STEP * i: source for i, source in enumerate(answers[:len(case.packets)])}
    lines = {int(line["address"], 16): line for line in
             json.loads(run(cyclops, "c2c", "--all", "--line-size", LINE, "--format", "json", path))["lines"]}
    rows = {int(row["pc"], 16): row for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path)}
    compare(checks, case, theirs, rows, lines)
    for i, source in enumerate(answers[len(case.packets):]):
        if case.is_unknown:
            break
        line, wanted = lines[DATA + LINE * i], stores_of(source)
        ours = {counter: line[counter] for counter in wanted}
        checks.count("stores")
        checks.expect(ours == wanted, f"{case.name}: store with events {case.store_events[i]:#x}: {ours}, perf {source:#x} {wanted}")
    return [f"{source:x}" for source in answers]


def parts():
    """(implementer, part, name) of the 64-bit CPUs that midr.csv lists."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "catalog", "midr.csv"), encoding="utf-8") as file:
        rows = [(int(row["implementer"], 16), int(row["part"], 16), row["cpu"]) for row in csv.DictReader(file)]
    return [row for row in rows if row[0] != 0x41 or row[1] >= 0xD00]


def chosen(is_small):
    """All CPUs, or those whose sources are known, and two others."""
    known = [row for row in parts() if row[:2] in PERF_KNOWS | PERF_LACKS]
    return [*known, (0x41, 0xD0B, "Cortex-A76"), (0xC0, 0xAC3, "AmpereOne")] if is_small else parts()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--records", type=int, default=96)
    parser.add_argument("--recorded", help="perf's answers, instead of perf")
    parser.add_argument("--record", help="write perf's answers there")
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    recorded, answers = None, {}
    if args.recorded:
        with open(args.recorded, encoding="ascii") as file:
            recorded = json.load(file)
    else:
        need_newer()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "template.data")
        run(args.make_capture, "--output", path, "--cpus", 1, "--records", 5 * args.records, "--chunk", "8M", "--info-v2",
            "--sharing", "--data", 1 << 20)
        with open(path, "rb") as file:
            template = file.read()
        for implementer, part, name in chosen(args.recorded or args.record):
            for seed in range(args.seeds):
                case = Case((implementer, part), name, seed, args.records)
                answers[case.key] = run_case(checks, args.cyclops, template, case, os.path.join(folder, "case.data"), recorded)
            checks.count("CPUs")
    if args.record:
        with open(args.record, "w", encoding="ascii") as file:
            file.write("{\n" + ",\n".join(f'"{key}": {json.dumps(value, separators=(",", ":"))}'
                                         for key, value in answers.items()) + "\n}\n")
    checks.finish()


if __name__ == "__main__":
    main()
