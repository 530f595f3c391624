#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what cyclops and perf 6.1 read from the same made-up captures.

usage: differential.py [--seeds N] [--first SEED] [--records N] CYCLOPS MAKE-CAPTURE

Compared are the text of each SPE packet, letter for letter; each SPE record with its thread,
cpu, time, addresses, latency and data source; and each PMU sample with its call chain. Traces
are those of make-capture, or wild ones (spe_bytes.py), or either with damaged bytes. Where
perf is known to answer something else than the bytes say, docs/differences.md has the reason,
and what is left out here is marked by DIFFERENCE.
"""

import argparse
import collections
import os
import random
import re
import tempfile

import perf_file
import spe_bytes
from harness import Checks, csv_rows, need, run

PROGRAM_START = 0xAAAAC0000000  # where make-capture's program lies
FIRST_TICKS = 0x6450000000
GAP_TICKS = 50
REGIONS = (PROGRAM_START, 0xFFFF40000000)
THREADS = (4000, 4001, 4002, 4003, 4010, 4011, 4012, 4013, 4020, 4021, 4022, 4023)
STRANGERS = (77, 0x7FFFFFFF)  # threads that only context packets know
NO_THREAD = -1

WORD = (1 << 64) - 1
TEXT_COLUMN = 62
OPERATIONS = {b"LD", b"ST", b"B", b"OTHER", b"SVE-OTHER"}
ALIGNMENT = re.compile(rb"^.{11}:  2[0-3] .* PAD$")
PACKET = re.compile(rb"^\.  [0-9a-f]{8}: .*$|^\. \.\.\. ARM SPE data: .*$", re.M)
SPE_FIELDS = "pid,tid,cpu,time,event,addr,weight,ip,phys_addr,data_src"
SPE_LINE = re.compile(
    r"^ *(-?\d+)/(-?\d+) +\[(-?\d+)\] +(\d+)\.(\d{9}): +instructions: +"
    r"([0-9a-f]+) +([0-9a-f]+) \|.*\|BLK +[^ ]+ +(\d+) +([0-9a-f]+) +([0-9a-f]+)$"
)
SAMPLE_FIELDS = "pid,tid,cpu,time,event,period,ip,sym,dso"
SAMPLE_LINE = re.compile(
    r"^ *(-?\d+)/(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +(\d+) +(\S+): +([0-9a-f]+) (\S+) \((.*)\)$"
)

# The parts of union perf_mem_data_src.
OP_LOAD, OP_STORE = 2, 4
HIT, MISS = 2, 4
L1, L2, L3, RAM = (8, 1), (32, 2), (64, 3), (128, 13)  # mem_lvl, mem_lvl_num
NOT_AVAILABLE = (1, 15)
SNOOP_NA, SNOOP_NONE, SNOOP_HIT = 1, 2, 4
SNOOPX_PEER = 2
TLB_WALKER = 32

# Data sources of Neoverse N1 as perf 6.1 tells them: level, hit, snoop, peer, remote.
SOURCES = {
    0x0: (L1, SNOOP_NONE, 0, 0),
    0x8: (L2, SNOOP_NONE, 0, 0),
    0x9: (L2, 0, SNOOPX_PEER, 0),
    0xA: (L3, 0, SNOOPX_PEER, 0),
    0xB: (L3, SNOOP_HIT, 0, 0),
    0xC: (L3, 0, SNOOPX_PEER, 0),
    0xE: (RAM, SNOOP_NONE, 0, 0),
}
SOURCE_NUMBERS = {"L1D": 0, "L2": 8, "PEER_CORE": 9, "LOCAL_CLUSTER": 10, "SYS_CACHE": 11,
                  "PEER_CLUSTER": 12, "REMOTE": 13, "DRAM": 14}


def data_src(op, lvl=0, lvl_num=0, snoop=0, snoopx=0, remote=0, tlb=0):
    return (op | lvl << 5 | snoop << 19 | tlb << 26 | lvl_num << 33 | remote << 37 | snoopx << 38)


def expected_data_src(row):
    """What perf 6.1 makes of a record on Neoverse N1: docs/reference/spe-packets.md, 8 and 10.3."""
    is_memory = row["op"] in ("LD", "ST") or (row["op"] == "OTHER" and row["subclass"] == "SVE")
    if not is_memory:
        return 0
    events = row["events"].split(":")
    tlb = 0
    if "TLB-ACCESS" in events or "TLB-REFILL" in events:
        tlb = TLB_WALKER | (MISS if "TLB-REFILL" in events else HIT)
    if row["op"] == "ST":
        lvl, lvl_num = NOT_AVAILABLE
        return data_src(OP_STORE, lvl, lvl_num, SNOOP_NA, tlb=tlb)
    text = row["source"]
    number = SOURCE_NUMBERS[text] if text in SOURCE_NUMBERS else int(text, 16) if text else 0
    if number == 0xD:
        lvl, lvl_num = NOT_AVAILABLE
        return data_src(OP_LOAD, lvl, lvl_num, 0, SNOOPX_PEER, 1, tlb)
    if number not in SOURCES:
        return data_src(OP_LOAD, tlb=tlb)
    (lvl, lvl_num), snoop, snoopx, remote = SOURCES[number]
    return data_src(OP_LOAD, lvl | HIT, lvl_num, snoop, snoopx, remote, tlb)


def signed(word, bits):
    return word - (1 << bits) if word >> (bits - 1) else word


def hexadecimal(text):
    return int(text, 16) if text else 0


class Capture:
    """A made-up capture and how it was made."""

    def __init__(self, seed, n_records, tools, folder):
        self.random = random.Random(seed)
        self.cyclops, maker = tools
        self.path = os.path.join(folder, f"{seed}.data")
        self.is_wild = seed % 2 == 1
        self.is_damaged = seed % 5 in (3, 4)
        self.with_ends = self.is_wild and seed % 3 == 0
        self.has_context = self.is_wild or seed % 4 != 0
        self.n_cpus = self.random.choice((1, 2, 3, 4, 7))
        self.options = self.draw_options(seed, n_records)
        run(maker, "--output", self.path, *self.options)
        if self.is_wild or self.is_damaged:
            self.rewrite()
        kind = ("wild" if self.is_wild else "plain") + (" with END" if self.with_ends else "")
        self.name = f"seed {seed}: {kind}{', damaged' if self.is_damaged else ''}: " + " ".join(
            str(option) for option in self.options)

    def draw_options(self, seed, n_records):
        r = self.random
        chunk = r.choice((1024, 4096, 65536, 200_000, 1 << 20))
        options = ["--seed", seed, "--records", n_records, "--cpus", self.n_cpus, "--chunk", chunk,
                   "--samples", n_records // 8, "--kernel-share", r.choice((0, 15, 50))]
        if not self.has_context:
            options.append("--no-context")
        if r.random() < 0.5:
            options.append("--only-perf61")
        return options

    def rewrite(self):
        """Puts other bytes where the trace is."""
        with open(self.path, "rb") as file:
            data = bytearray(file.read())
        if self.is_wild:
            self.make_wild(data)
        if self.is_damaged:
            self.damage(data)
        with open(self.path, "wb") as file:
            file.write(data)

    def make_wild(self, data):
        wild = spe_bytes.Wild(self.random, REGIONS, THREADS + STRANGERS)
        share = 0.3 if self.with_ends else 0.0
        traces = [spe_bytes.Trace(wild, FIRST_TICKS, 2 * GAP_TICKS, share) for _ in range(self.n_cpus)]
        for chunk in perf_file.chunks(data):
            data[chunk.start : chunk.end] = traces[chunk.cpu].chunk(chunk.size)

    def damage(self, data):
        """
        Changes single bytes and short runs. DIFFERENCES: the end of a chunk is spared, because a
        packet cut by it is lost to perf; there is no timestamp of all ones, where perf stops.
        """
        r = self.random
        for chunk in perf_file.chunks(data):
            for _ in range(chunk.size // 3000 + 1):
                n = r.choice((1, 1, 1, 1, 2, 8, 30))
                if chunk.size < 128 + n:
                    continue
                at = chunk.start + r.randrange(chunk.size - 128 - n)
                data[at : at + n] = r.randbytes(n) if r.random() < 0.8 else b"\xfe" * n


def compare_packets(capture, checks):
    """Returns the lines, and whether they are the same."""
    theirs = PACKET.findall(run("perf", "script", "-D", "-i", capture.path))
    ours = PACKET.findall(run(capture.cyclops, "dump", "--packets", capture.path))
    checks.count("lines of SPE packets", len(theirs))
    if ours != theirs:
        at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]),
                  min(len(ours), len(theirs)))
        checks.fail(f"{capture.name}: packet line {at} of {len(ours)}; perf has {len(theirs)}\n"
                    f"     cyclops: {ours[at : at + 1]}\n     perf:    {theirs[at : at + 1]}")
    return theirs


def read_perf_records(capture):
    output = run("perf", "script", "-i", capture.path, "--itrace=i1i", "--ns", "-F", SPE_FIELDS).decode()
    rows = []
    for line in output.splitlines():
        if match := SPE_LINE.match(line):
            pid, tid, cpu, s, ns, addr, src, weight, ip, pa = match.groups()
            rows.append((int(pid), int(tid), int(cpu), int(s) * 10**9 + int(ns), int(ip, 16),
                         int(addr, 16), int(pa, 16), int(weight), int(src, 16)))
        elif "instructions:" in line:
            raise ValueError("cannot read: " + line)
    return rows


def read_our_records(capture, no_time):
    """
    Rows of the table as perf would have them: what is absent is 0 there. Two lists: the threads
    of the second are those of switch records, perf's are not. DIFFERENCES: a thread that no other
    record knows; context 0 in user code, because that is the number of the idle task; after
    damage a record without context, for which perf takes the thread of the one before.
    """
    sure, unsure = [], []
    for row in csv_rows(capture.cyclops, "export", "--table", "spe", "--format", "csv", capture.path):
        is_sure = not (capture.has_context or capture.is_damaged)
        is_sure |= hexadecimal(row["context"]) in THREADS
        rows = sure if is_sure else unsure
        rows.append((int(row["pid"] or NO_THREAD), int(row["tid"] or NO_THREAD), int(row["cpu"]),
                     int(row["time_ns"] or no_time), hexadecimal(row["pc"]),
                     hexadecimal(row["vaddr"]), hexadecimal(row["paddr"]),
                     int(row["total_lat"] or 0), expected_data_src(row)))
    return sure, unsure


def without_early_pids(rows, no_time):
    """DIFFERENCE: perf may meet records that end with END before it knows their processes."""
    return [(None, *row[1:]) if row[3] == no_time else row for row in rows]


def time_without_ticks(capture):
    """What perf takes for the time of a record that ends with END: that of 0 ticks."""
    line = re.search(r"TIME_CONV.*", run(capture.cyclops, "dump", capture.path).decode()).group()
    conv = {name: int(value, 0) for name, value in re.findall(r"(\w+)=(\w+)", line)}
    ticks = conv["cycles"] + (-conv["cycles"] & conv["mask"]) & WORD
    whole, rest = divmod(ticks, 1 << conv["shift"])
    return conv["zero"] + whole * conv["mult"] + (rest * conv["mult"] >> conv["shift"]) & WORD


def bag(rows, columns):
    return collections.Counter(row[columns] for row in rows)


THREADLESS = slice(2, None)


def compare_damaged(capture, ours, unsure, theirs, packets, checks):
    """
    Each of our records must be one of perf's, which has more. DIFFERENCES: an operation that
    comes twice adds up in perf, also with one of another kind; alignment packets count from the
    start of the trace, with perf from that of the file, so that one may swallow other bytes.
    """
    counts = [count_records(texts) for texts in packets_by_cpu(capture, packets)]
    n_ours, n_theirs, unlike = map(sum, zip(*counts))
    n_alignments = sum(bool(ALIGNMENT.match(line)) for line in packets)
    found = [len(ours) + len(unsure), len(theirs)]
    checks.expect(found[1] == n_theirs and abs(found[0] - n_ours) <= 2 * n_alignments,
                  f"{capture.name}: {found} records, of {n_ours}, {n_theirs} expected")
    unlike += 2 * n_alignments
    missing = bag(ours, slice(None)) - bag(theirs, slice(None))
    missing += bag(unsure, THREADLESS) - (bag(theirs, THREADLESS) - bag(ours, THREADLESS))
    checks.expect(missing.total() <= unlike, f"{capture.name}: {missing.total()} records that perf "
                  f"does not have, expected {unlike}: {list(missing.elements())[:3]}")
    checks.count("SPE records among damage", found[0])
    checks.count("partial records that only perf delivers", found[1] - found[0])


def compare_records(capture, packets, checks):
    no_time = time_without_ticks(capture)
    theirs = without_early_pids(read_perf_records(capture), no_time)
    ours, unsure = read_our_records(capture, no_time)
    ours = without_early_pids(ours, no_time)
    if capture.is_damaged:
        compare_damaged(capture, ours, unsure, theirs, packets, checks)
        return
    name = f"perf ({capture.name})"
    is_sure = [row[1] in THREADS or not capture.has_context for row in theirs]
    checks.equal("SPE records", ours, [row for row, sure in zip(theirs, is_sure) if sure], name)
    checks.equal("SPE records of unknown threads", [row[THREADLESS] for row in unsure],
                 [row[THREADLESS] for row, sure in zip(theirs, is_sure) if not sure], name)


def packets_by_cpu(capture, lines):
    """The texts of packets, in the order of each CPU's trace."""
    with open(capture.path, "rb") as file:
        cpus = iter([chunk.cpu for chunk in perf_file.chunks(file.read())])
    traces = collections.defaultdict(list)
    for line in lines:
        if b"ARM SPE data" in line:
            trace = traces[next(cpus)]
        else:
            trace.append(line[TEXT_COLUMN:])
    return traces.values()


def count_records(texts):
    """
    How many records cyclops and perf deliver of a trace, and how many may differ because of
    their operations. DIFFERENCE: bytes that are no packet make cyclops drop the record around
    them (spe/decode.h); perf delivers what it has of it, for each such byte, once it has seen a
    whole record, and does the same for operations of the reserved class.
    """
    ours = theirs = unlike = n_operations = 0
    has_pc = after_damage = False
    for text in texts:
        if text.startswith(b"PC "):
            has_pc = True
        elif text.partition(b" ")[0] in OPERATIONS:
            n_operations += 1
        elif text.startswith(b"OP-TYPE"):
            theirs += theirs > 0
            n_operations = 2
        elif text == b"Bad packet!":
            theirs += theirs > 0
            has_pc, after_damage, n_operations = False, True, 0
        elif text == b"END" or text.startswith(b"TS "):
            theirs += 1
            ours += has_pc or not after_damage
            unlike += n_operations > 1
            has_pc, after_damage, n_operations = False, False, 0
    return ours, theirs, unlike


def read_perf_samples(capture):
    output = run("perf", "script", "--no-itrace", "--ns", "-G", "-i", capture.path, "-F", SAMPLE_FIELDS)
    rows = []
    for line in output.decode().splitlines():
        match = SAMPLE_LINE.match(line)
        if not match:
            raise ValueError("cannot read: " + line)
        pid, tid, cpu, s, ns, period, event, ip, symbol, dso = match.groups()
        rows.append((int(pid), int(tid), int(cpu), int(s) * 10**9 + int(ns), event, int(period),
                     int(ip, 16), symbol.replace("[unknown]", ""), dso))
    return rows


def read_perf_chains(capture):
    output = run("perf", "script", "--no-itrace", "-i", capture.path, "-F", "ip").decode()
    return [tuple(int(word, 16) for word in chain.split()) for chain in output.split("\n\n") if chain.strip()]


def compare_samples(capture, checks):
    rows = csv_rows(capture.cyclops, "export", "--table", "samples", "--format", "csv", capture.path)
    ours = [(int(row["pid"]), int(row["tid"]), int(row["cpu"]), int(row["time_ns"]), row["event"],
             int(row["period"]), int(row["ip"], 16), row["symbol"], row["module"]) for row in rows]
    checks.equal("PMU samples", ours, read_perf_samples(capture), f"perf ({capture.name})")
    # perf shows the frames of a program as offsets.
    chains = [tuple(int(word, 16) - PROGRAM_START for word in row["callchain"].split(":")) for row in rows]
    checks.equal("call chains", chains, read_perf_chains(capture), f"perf ({capture.name})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("cyclops")
    parser.add_argument("make_capture")
    args = parser.parse_args()
    need("perf")
    checks = Checks()
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            capture = Capture(seed, args.records, (args.cyclops, args.make_capture), folder)
            packets = compare_packets(capture, checks)
            compare_records(capture, packets, checks)
            compare_samples(capture, checks)
        checks.count("captures")
    checks.finish()


if __name__ == "__main__":
    main()
