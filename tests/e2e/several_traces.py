#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures with several AUX areas of several PMUs: two SPE PMUs of different CPUs, and SPE beside a trace of
another kind.

usage: several_traces.py CYCLOPS MAKE-CAPTURE

Each packet of two SPE PMUs is compared with perf's text, each record with its thread, CPU and time with
perf script's. Then areas of another trace are put between those of SPE: every answer has to be that of the
capture without them, and says how much of what was not read.
"""

import os
import re
import struct
import sys
import tempfile

import perf_file
from harness import Checks, csv_rows, need, run

N_RECORDS = 6000
PACKET = re.compile(rb"^\.  [0-9a-f]{8}: .*$|^\. \.\.\. ARM SPE data: .*$", re.M)
FIELDS = "pid,tid,cpu,time,ip,addr"
LINE = re.compile(r"^ *(-?\d+)/(-?\d+) +\[(-?\d+)\] +(\d+)\.(\d{9}): +([0-9a-f]+) +([0-9a-f]+)")
AUXTRACE_INFO, CORESIGHT, CPU_0 = 70, 3, 0
OTHER_BYTES = 4096
QUESTIONS = (("export", "--table", "spe", "--format", "csv"), ("dump", "--packets"), ("mem", "--format", "csv"),
             ("hot", "--format", "csv"), ("c2c", "--format", "csv"))


def number(text):
    return int(text, 16) if text else 0


def compare_with_perf(checks, cyclops, path, version):
    packets = PACKET.findall(run(cyclops, "dump", "--packets", path))
    theirs = PACKET.findall(run("perf", "script", "-D", "-i", path))
    checks.expect(packets == theirs, f"{version}: packets differ from perf's")
    checks.count("packets", len(packets))
    lines = run("perf", "script", "--itrace=i1i", "-F", FIELDS, "--ns", "-i", path).decode().splitlines()
    expected = sorted((int(m[1]), int(m[2]), int(m[3]), int(m[4]) * 10**9 + int(m[5]), int(m[7], 16)) for m in
                      map(LINE.match, lines) if m)
    found = sorted((int(r["pid"]), int(r["tid"]), int(r["cpu"]), int(r["time_ns"]), number(r["pc"])) for r in csv_rows(
        cyclops, "export", "--table", "spe", "--format", "csv", path))
    checks.expect(found == expected, f"{version}: {len(found)} records, perf has {len(expected)}: "
                  f"{[(a, b) for a, b in zip(found, expected) if a != b][:1]}")
    checks.expect(len(found) == N_RECORDS, f"{version}: {len(found)} records of {N_RECORDS}")
    checks.count("records", len(found))


def with_other_trace(data):
    """The capture's bytes with an area of CoreSight behind each one of SPE, in buffers of their own."""
    header = perf_file.RECORD_HEADER
    position, length = struct.unpack_from("<QQ", data, 40)
    other = bytes((0x00, 0x0F, 0xFF, 0xFF)) * (OTHER_BYTES // 4)
    info = header.pack(AUXTRACE_INFO, 0, 24) + struct.pack("<IIQ", CORESIGHT, 0, 0)
    out, n_areas, offsets = bytearray(info), 0, {}
    for at, kind, size in perf_file.records(data):
        out += data[at:at + size]
        if kind == perf_file.AUXTRACE:
            cpu = perf_file.AUXTRACE_BODY.unpack_from(data, at + header.size)[5]
            offset = offsets.get(cpu, 0)
            out += header.pack(kind, 0, header.size + perf_file.AUXTRACE_BODY.size)
            out += perf_file.AUXTRACE_BODY.pack(OTHER_BYTES, offset, 0, 1000 + cpu, 0xFFFFFFFF, cpu, 0) + other
            offsets[cpu] = offset + OTHER_BYTES
            n_areas += 1
    # the table of features and what it points to move by what was added
    grown, end = len(out) - length, position + length
    features = [bit for bit in range(256) if data[72 + bit // 8] >> bit % 8 & 1]
    tail = bytearray(data[end:])
    for i in range(len(features)):
        where = struct.unpack_from("<Q", tail, 16 * i)[0]
        struct.pack_into("<Q", tail, 16 * i, where + grown)
    head = bytearray(data[:position])
    struct.pack_into("<Q", head, 48, len(out))
    return bytes(head + out + tail), n_areas * OTHER_BYTES


def compare_mixed(checks, cyclops, path, folder):
    with open(path, "rb") as file:
        data, n_bytes = with_other_trace(file.read())
    mixed = os.path.join(folder, "mixed.data")
    with open(mixed, "wb") as file:
        file.write(data)
    for question in QUESTIONS:
        ours, alone = run(cyclops, *question, mixed), run(cyclops, *question, path)
        checks.expect(ours == alone, f"{' '.join(question)} of a capture with another trace is another one")
        checks.count("answers")
    rows = csv_rows(cyclops, "report", "--format", "csv", "--table", "capture", mixed)
    checks.expect(rows[0]["other_trace"] == "CoreSight ETM", f"other_trace: {rows[0]['other_trace']}")
    checks.expect(int(rows[0]["other_trace_bytes"]) == n_bytes, f"other_trace_bytes: {rows[0]['other_trace_bytes']}")
    said = run(cyclops, "quality", mixed).decode()
    checks.expect(f"{n_bytes} bytes of CoreSight ETM traces were not decoded" in said, "quality does not say it")


def main():
    cyclops, maker = sys.argv[1:]
    checks = Checks()
    need("perf")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "two.data")
        run(maker, "--output", path, "--records", N_RECORDS, "--cpus", 5, "--two-pmus", "--only-perf61", "--chunk", 4096)
        compare_with_perf(checks, cyclops, path, "two PMUs")
        compare_mixed(checks, cyclops, path, folder)
    checks.finish()


if __name__ == "__main__":
    main()
