#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares each SPE record with what a perf newer than 6.1 makes of it, on every Arm CPU of the catalog: the text of its packets,
its addresses, latency, thread, CPU and time, kind of operation and of branch, the events that perf makes of it, and what
AUXTRACE_INFO says of each CPU (metadata of version 2). Data sources: newer_perf_sources.py.

usage: newer_perf_records.py [--seeds N] [--records N] CYCLOPS MAKE-CAPTURE

The perf is the one that is found first in PATH; scripts/new-perf.sh makes one. Records have all 256 payloads of each class of
operations, events of 1 to 8 bytes with every bit, packets with short and extended headers, and addresses of each level. Each has a
PC of its own, so that what perf says is about one record.
"""

import argparse
import collections
import os
import random
import re
import tempfile

import spe_bytes as spe
from differential import PACKET
from harness import Checks, csv_rows, run
from newer_perf import need_newer
from newer_perf_sources import LOAD, STORE, parts, write_capture

CODE, DATA, STEP = 0xAAAAC0000000, 0xFFFF40000000, 4
THREADS = (4000, 4001)
FIELDS = "pid,tid,cpu,time,event,flags,addr,weight,ip,phys_addr,data_src"
LINE = re.compile(r"^ *(-?\d+)/(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +([\w-]+): +(.*?) +([0-9a-f]+) +([0-9a-f]+) \|.*?\|BLK +\S+ +(\d+) +"
                  r"([0-9a-f]+) +([0-9a-f]+) *$")


class Trace:
    """Records of one CPU: each operation in turn, the rest as it comes."""

    def __init__(self, key, n, first):
        self.random = random.Random(key)
        self.records = [self.record(i, first + i) for i in range(n)]

    def record(self, number, operation):
        r = self.random
        level, is_secure, is_long = r.choice((0, 0, 1, 2, 3)), r.random() < 0.1, r.random() < 0.1
        kind, payload = operation // 256 % 3, operation % 256
        packets = [spe.code(spe.PC, CODE + STEP * number, 0, extended=is_long), spe.context(r.choice((1, 2)), r.choice(THREADS)),
                   spe.operation(kind, payload)]
        size = r.choice((1, 2, 4, 8))
        bits = 1 << r.randrange(8 * size) if r.random() < 0.3 else r.getrandbits(8 * size) & r.getrandbits(8 * size)
        packets.append(spe.events(bits, size))
        packets += [spe.counter(index, r.choice((0, 1, 4095, 65535, r.getrandbits(12))), is_long) for index in (spe.TOTAL, spe.ISSUE)]
        if kind == spe.LDST:
            packets += [spe.counter(spe.XLAT, r.getrandbits(6)), spe.address(spe.VA, DATA + r.getrandbits(30) | r.getrandbits(8) << 56, is_long),
                        spe.address(spe.PA, r.getrandbits(40) | r.getrandbits(4) << 56 | r.getrandbits(2) << 62),
                        spe.source(r.getrandbits(4), r.choice((1, 2)))]
        if kind == spe.BRANCH:
            packets += [spe.code(index, CODE + 4 * r.getrandbits(20), level, is_secure, is_long) for index in (spe.TARGET, spe.PREVIOUS)]
        if r.random() < 0.1:
            packets.append(spe.counter(r.randrange(3, 32), r.getrandbits(16)))
        return b"".join(packets)

    def bytes(self, first_tick):
        return b"".join(packets + spe.timestamp(first_tick + 50 * (i + 1)) for i, packets in enumerate(self.records))


def records_of_perf(path):
    """By PC: the names of the events, and the line that has all: `memory` of loads and stores, else `instructions`."""
    names, lines = collections.defaultdict(collections.Counter), {}
    for line in run("perf", "script", "-i", path, "--itrace=i1iMbfmta", "--ns", "-F", FIELDS).decode().splitlines():
        m = LINE.match(line)
        if not m:
            raise ValueError(f"cannot read: {line}")
        names[int(m[11], 16)][m[6]] += 1
        if m[6] == "instructions" or m[6] == "memory" and int(m[9], 16) & (LOAD | STORE):
            lines[int(m[11], 16)] = m if m[6] == "memory" else lines.get(int(m[11], 16), m)
    return names, lines


# What perf makes of the events of a record.
MADE = {"L1D-ACCESS": "l1d-access", "L1D-REFILL": "l1d-miss", "LLC-ACCESS": "llc-access", "LLC-REFILL": "llc-miss",
        "TLB-ACCESS": "tlb-access", "TLB-REFILL": "tlb-miss", "REMOTE-ACCESS": "remote-access"}


def events_in_perf(row):
    found = {MADE[event] for event in row["events"].split(":") if event in MADE} | {"instructions"}
    return found | ({"branch"} if row["op"] == "B" else set()) | ({"memory"} if row["op"] in ("LD", "ST") else set())


def check_flags(checks, name, row, flags):
    """
    Of a branch: conditional, mispredicted, not taken. perf has no word for some pairs of these, and says whether it is a call or a
    return, which the table does not (the text of the packet does). DIFFERENCE: branches without a condition are taken.
    """
    word, _, rest = flags.partition("(")[0].strip().partition("/")
    events = row["events"].split(":")
    checks.expect(word == "" or (word in ("jcc", "bco", "bro")) == ("COND" in row["subclass"]), f"{name}: {row}: perf {flags}")
    checks.equal("branches", [("miss" in rest, "not_taken" in rest)], [("MISPRED" in events, "NOT-TAKEN" in events)], name)
    is_taken = "not_taken" not in rest or "COND" not in row["subclass"]
    checks.expect(row["taken"] == ("true" if is_taken else "false"), f"{name}: {row}: perf {flags}")


def compare_records(checks, name, cyclops, path):
    names, lines = records_of_perf(path)
    rows = csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path)
    checks.equal("records", [int(row["pc"], 16) for row in rows], list(lines), f"perf ({name})")
    for row in rows:
        pc = int(row["pc"], 16)
        m, theirs = lines[pc], set(names[pc])
        address = row["target"] if row["op"] == "B" else row["vaddr"]
        ours = (row["pid"], row["tid"], row["cpu"], int(row["time_ns"]), int(address or "0", 16), int(row["total_lat"]),
                int(row["paddr"] or "0", 16))
        checks.expect(ours == (m[1], m[2], str(int(m[3])), int(m[4]) * 10**9 + int(m[5]), int(m[8], 16), int(m[10]), int(m[12], 16)),
                      f"{name}: {row}: perf: {m[0]}")
        # DIFFERENCE: perf takes calls, returns, and operations of SVE, SME and vectors for memory
        theirs -= {"memory"} if row["op"] not in ("LD", "ST") else set()
        checks.equal("events", sorted(events_in_perf(row)), sorted(theirs), f"perf ({name}: {row})")
        operation = {"LD": LOAD, "ST": STORE}.get(row["op"], 0)
        checks.expect(int(m[9], 16) & (LOAD | STORE) == operation, f"{name}: {row}: perf: {m[0]}")
        if row["op"] == "B":
            check_flags(checks, name, row, m[7])


def compare_packets(checks, name, cyclops, path):
    """DIFFERENCE: of a reserved operation of class "other" perf prints what its buffer happened to hold."""
    theirs = PACKET.findall(run("perf", "script", "-D", "-i", path))
    ours = PACKET.findall(run(cyclops, "dump", "--packets", "--wording", "full", path))
    checks.expect(len(ours) == len(theirs), f"{name}: {len(ours)} lines of packets, perf has {len(theirs)}")
    for left, right in zip(ours, theirs):
        if left.endswith(b"(0)") and b"OP-TYPE" in left:
            checks.count("packets that perf has no words for")
        elif left != right:
            checks.fail(f"{name}: {left}, perf: {right}")
    checks.count("packets", len(theirs))


METADATA = (("version", "Header version"), ("pmu", "PMU type v2"), ("cpu", "CPU #"), ("midr", "MIDR"), ("pmu", "PMU Type"),
            ("min_interval", "Min Interval"), ("event_filter", "Event Filter"))


def compare_metadata(checks, name, cyclops, path):
    theirs = run("perf", "script", "-D", "-i", path).decode(errors="replace")
    ours = re.search(r" AUXTRACE_INFO (.*)", run(cyclops, "dump", path).decode())[1]
    found = [(field, int(value, 0)) for field, value in re.findall(r"(\w+)=(\w+)", ours) if field != "type"]
    wanted = [(field, int(re.search(rf"^ +{re.escape(title)} *:(\w+)", theirs, re.M)[1], 0)) for field, title in METADATA]
    checks.equal("values of metadata", found, wanted, f"perf ({name})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--records", type=int, default=768, help="of each CPU; 768 have each operation once")
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    need_newer()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "template.data")
        run(args.make_capture, "--output", path, "--cpus", 1, "--records", 3 * args.records, "--chunk", "64M", "--info-v2",
            "--data", 1 << 20)
        with open(path, "rb") as file:
            template = file.read()
        for implementer, part, name in parts():
            for seed in range(args.seeds):
                key = f"{name}:{seed}"
                path = os.path.join(folder, "case.data")
                write_capture(template, implementer << 24 | 0xF << 16 | part << 4 | 1, lambda _, key=key: random.Random(key).getrandbits(64),
                              Trace(key, args.records, seed), path)
                compare_packets(checks, key, args.cyclops, path)
                compare_records(checks, key, args.cyclops, path)
                compare_metadata(checks, key, args.cyclops, path)
            checks.count("CPUs")
    checks.finish()


if __name__ == "__main__":
    main()
