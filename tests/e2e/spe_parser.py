#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks the three files of `cyclops export --format spe-parser`.

usage: spe_parser.py CYCLOPS MAKE-CAPTURE

First with records whose rows are known (docs/reference/spe-interop.md, section 1.2), then with
many records: their rows are put together here from the words of `cyclops dump --packets`.
"""

import os
import random
import sys
import tempfile

import perf_file
import spe_bytes as spe
from harness import Checks, run

HEADERS = {
    "ldst": "cpu op pc el atomic excl ar subclass sve_evl sve_pred sve_sg event issue_lat total_lat "
            "vaddr xlat_lat paddr data_source context ts",
    "br": "cpu op pc el condition indirect event issue_lat total_lat br_tgt br_tgt_lvl pbt pbt_lvl "
          "context ts",
    "other": "cpu op pc el subclass sve_evl sve_pred sve_fp condition event issue_lat total_lat "
             "context ts",
}
TEXT_COLUMN = 62

# Bits of an events packet.
RETIRED, L1D_ACCESS, TLB_ACCESS, NOT_TAKEN, LLC_ACCESS, LLC_REFILL, REMOTE = (
    1 << bit for bit in (1, 2, 4, 6, 8, 9, 10))
LOAD_EVENTS = RETIRED | L1D_ACCESS | TLB_ACCESS

# (packets, file, row)
KNOWN = [
    ([spe.code(spe.PC, 0xFFBBF3DA99A6A0, 2), spe.context(2, 0x5480), spe.operation(spe.LDST, 0),
      spe.events(LOAD_EVENTS), spe.counter(spe.ISSUE, 24), spe.counter(spe.TOTAL, 38),
      spe.address(spe.VA, 0xFF083E7FCCBCA8), spe.counter(spe.XLAT, 1), spe.source(0),
      spe.timestamp(20685196991554)],
     "ldst", "0,LD,0xffffbbf3da99a6a0,2,false,false,false,GP-REG,0,false,false,"
     "RETIRED:L1D-ACCESS:TLB-ACCESS,24,38,0xffff083e7fccbca8,1,,L1D,0x5480,20685196991554"),
    ([spe.code(spe.PC, 0xFFBBF3DA99A6C4, 2), spe.operation(spe.LDST, 0),
      spe.events(LOAD_EVENTS | LLC_ACCESS | LLC_REFILL | REMOTE), spe.counter(spe.ISSUE, 24),
      spe.counter(spe.TOTAL, 1028), spe.counter(spe.XLAT, 4), spe.source(13), spe.timestamp(7)],
     "ldst", "0,LD,0xffffbbf3da99a6c4,2,false,false,false,GP-REG,0,false,false,RETIRED:L1D-ACCESS:"
     "TLB-ACCESS:LLC-ACCESS:LLC-REFILL:REMOTE-ACCESS,24,1028,,4,,REMOTE,,7"),
    ([spe.code(spe.PC, 0xAAAAE4C10F90, 0), spe.operation(spe.LDST, 0x2D),
      spe.address(spe.VA, 0xAAAAEC29F150), spe.address(spe.PA, 0x8032C955A43 | 1 << 63),
      spe.timestamp(8)],
     "ldst", "0,ST,0xaaaae4c10f90,0,false,false,false,SVE,128,true,false,,0,0,0xaaaaec29f150,0,"
     "0x8032c955a43,,,8"),
    ([spe.code(spe.PC, 0xAAAAE4C10F94, 0), spe.operation(spe.LDST, 0x16), spe.timestamp(9)],
     "ldst", "0,LD,0xaaaae4c10f94,0,true,false,true,,0,false,false,,0,0,,0,,,,9"),
    ([spe.code(spe.PC, 0xFFC0C28685447C, 2), spe.operation(spe.BRANCH, 1),
      spe.events(RETIRED | NOT_TAKEN), spe.counter(spe.ISSUE, 32), spe.counter(spe.TOTAL, 33),
      spe.code(spe.TARGET, 0xFFC0C286854480, 2), spe.timestamp(10)],
     "br", "0,B,0xffffc0c28685447c,2,true,false,RETIRED:NOT-TAKEN,32,33,0xffffc0c286854480,2,,0,,10"),
    ([spe.code(spe.PC, 0x7FFDBF2143E0, 0), spe.operation(spe.BRANCH, 1), spe.events(RETIRED),
      spe.counter(spe.ISSUE, 41), spe.counter(spe.TOTAL, 42), spe.code(spe.TARGET, 0x7FFDBF214408, 0),
      spe.timestamp(3913207673451)],
     "br", "0,B,0x7ffdbf2143e0,0,true,false,RETIRED,41,42,0x7ffdbf214408,0,,0,,3913207673451"),
    ([spe.code(spe.PC, 0xFF8000084072AC, 2), spe.operation(spe.OTHER, 0), spe.END],
     "other", "0,OTHER,0xffff8000084072ac,2,OTHER,0,false,false,false,,0,0,,0"),
    ([spe.code(spe.PC, 0xFF8000084072B0, 1), spe.operation(spe.OTHER, 0x0A),
      spe.events(LOAD_EVENTS | 1 << 7 | 1), spe.timestamp(11)],
     "other", "0,OTHER,0xff8000084072b0,1,SVE,32,false,true,false,EXCEPTION-GEN:MISPRED:RETIRED,0,0,,11"),
    # DIFFERENCE: reserved payloads of class "other": their bit 0 is no condition, though spe-parser takes it for one.
    *(([spe.code(spe.PC, 0x400000, 0), spe.operation(spe.OTHER, payload), spe.timestamp(13)],
       "other", "0,OTHER,0x400000,0,OTHER,0,false,false,false,,0,0,,13") for payload in (0x11, 0x81, 0x09, 0x89, 0x10)),
    # The condition of the defined ones, with FP and ASE, and none of SME.
    *(([spe.code(spe.PC, 0x400000, 0), spe.operation(spe.OTHER, payload), spe.timestamp(14)],
       "other", f"0,OTHER,0x400000,0,OTHER,0,false,false,{value},,0,0,,14")
      for payload, value in ((0x01, "true"), (0x07, "true"), (0x06, "false"), (0x88, "false"))),
    # Without an operation there is no row.
    ([spe.code(spe.PC, 0xAAAAE4C10F98, 0), spe.events(RETIRED), spe.timestamp(12)], None, None),
]

SOURCES = {0: "L1D", 8: "L2D", 9: "PEER-CPU", 10: "LOCAL-CLUSTER", 11: "LL-CACHE",
           12: "PEER-CLUSTER", 13: "REMOTE", 14: "DRAM"}
EVENTS = ("EXCEPTION-GEN", "RETIRED", "L1D-ACCESS", "L1D-REFILL", "TLB-ACCESS", "TLB-REFILL",
          "NOT-TAKEN", "MISPRED", "LLC-ACCESS", "LLC-REFILL", "REMOTE-ACCESS", "ALIGNMENT",
          "SVE-PARTIAL-PRED", "SVE-EMPTY-PRED")
MEMORY_EVENTS = EVENTS[2:6] + EVENTS[8:11]
SUBCLASSES = ("GP-REG", "SIMD-FP", "UNSPEC-REG", "NV-SYSREG", "MTE-TAG", "MEMCPY", "MEMSET", "GCS")


class Record:
    """The texts of the packets of one record, by their first word; the last one counts."""

    def __init__(self):
        self.words = {}

    def add(self, text):
        words = text.split()
        name = words[0]
        if name == "LAT":
            name = " ".join(words[::2])  # "LAT TOT"
        elif name in ("LD", "ST", "B", "OTHER", "SVE-OTHER", "SME-OTHER", "OP-TYPE"):
            name = "OP"
        elif name == "EVENTS":  # too many for words: no name is left out there
            bits = int(words[1], 16)
            known = [*range(12), 17, 18]
            words = ["EV"] + [event for event, bit in zip(EVENTS, known) if bits >> bit & 1]
            name = "EV"
        self.words[name] = words

    def number(self, name):
        return int(self.words[name][1]) if name in self.words else 0

    def code(self, name):
        """Address and level of a code address."""
        if name not in self.words:
            return "", 0
        value, level = self.words[name][1], int(self.words[name][2].removeprefix("el"))
        return "0xff" + value[2:] if level == 2 else value, level

    def data(self, name, level=0):
        if name not in self.words:
            return ""
        value = self.words[name][1]
        return "0xff" + value[2:] if level == 2 else value

    def events(self):
        return [event for event in EVENTS if event in self.words.get("EV", ())]

    def context(self):
        return self.words["CONTEXT"][1] if "CONTEXT" in self.words else ""

    def after(self, word):
        """The number that follows a word of the operation."""
        op = self.words["OP"]
        return int(op[op.index(word) + 1]) if word in op else 0


def boolean(value):
    return "true" if value else "false"


def ldst_row(cpu, r):
    op = r.words["OP"]
    pc, level = r.code("PC")
    subclass = "SVE" if "SVE-SME-REG" in op else next((word for word in SUBCLASSES if word in op), "")
    return "ldst", [cpu, op[0], pc, level, *(boolean(word in op) for word in ("AT", "EXCL", "AR")),
                    subclass, r.after("EVLEN"), boolean("PRED" in op), boolean("SG" in op),
                    ":".join(r.events()), r.number("LAT ISSUE"), r.number("LAT TOT"),
                    r.data("VA", level), r.number("LAT XLAT"), r.data("PA"),
                    SOURCES.get(r.number("DATA-SOURCE") & 0xFFFF, "") if "DATA-SOURCE" in r.words else "",
                    r.context(), r.number("TS")]


def branch_row(cpu, r):
    op = r.words["OP"]
    return "br", [cpu, "B", *r.code("PC"), boolean("COND" in op), boolean("IND" in op),
                  ":".join(r.events()), r.number("LAT ISSUE"), r.number("LAT TOT"), *r.code("TGT"),
                  *r.code("PBT"), r.context(), r.number("TS")]


def other_row(cpu, r):
    op = r.words["OP"]
    is_sve = op[0] == "SVE-OTHER"
    events = sorted(event for event in r.events() if event not in MEMORY_EVENTS)
    return "other", [cpu, "OTHER", *r.code("PC"), "SVE" if is_sve else "OTHER", r.after("EVLEN"),
                     boolean(is_sve and "PRED" in op), boolean(is_sve and "FP" in op),
                     boolean("COND-SELECT" in op), ":".join(events), r.number("LAT ISSUE"),
                     r.number("LAT TOT"), r.context(), r.number("TS")]


def expected_rows(cyclops, path):
    """Rows by file, from the words of the dump."""
    with open(path, "rb") as file:
        cpus = iter([chunk.cpu for chunk in perf_file.chunks(file.read())])
    rows = {name: [] for name in HEADERS}
    records = {}
    cpu = None
    dump = run(cyclops, "dump", "--packets", "--wording", "full", path).decode()
    for line in dump.splitlines():
        text = line[TEXT_COLUMN:]
        if "ARM SPE data" in line:
            cpu = next(cpus)
        elif text and text != "PAD":
            record = records.setdefault(cpu, Record())
            record.add(text)
            if text == "END" or text.startswith("TS "):
                make = {"LD": ldst_row, "ST": ldst_row, "B": branch_row}
                if "OP" in record.words:
                    name, row = make.get(record.words["OP"][0], other_row)(cpu, record)
                    rows[name].append(",".join(map(str, row)))
                del records[cpu]
    return rows


def exported_rows(checks, cyclops, path, folder):
    """Rows by file, without the headers, which are checked."""
    prefix = os.path.join(folder, "out")
    run(cyclops, "export", "--format", "spe-parser", "-o", prefix, path)
    rows = {}
    for name, columns in HEADERS.items():
        file = f"{prefix}-{name}.csv"
        rows[name] = []
        if not os.path.exists(file):
            continue
        with open(file, encoding="ascii") as stream:
            text = stream.read()
        header, *rows[name] = text.splitlines()
        checks.expect(header == ",".join(f'"{column}"' for column in columns.split()),
                      f"{name}: header {header}")
        checks.expect(text.endswith("\n") and "\r" not in text, f"{name}: ends of lines")
        checks.expect(len(rows[name]) > 0, f"{name}: a file without rows")
        os.remove(file)
    return rows


def make(maker, folder, *options):
    path = os.path.join(folder, "capture.data")
    run(maker, "--output", path, *options)
    with open(path, "rb") as file:
        return path, bytearray(file.read())


def check_known(checks, tools, folder):
    """Each record alone, then all of them together."""
    cyclops, maker = tools
    path, data = make(maker, folder, "--cpus", 1, "--records", 20)
    chunk = perf_file.chunks(data)[0]
    together = []
    for packets, name, row in [*KNOWN, (None, None, None)]:
        trace = b"".join(packets) if packets else b"".join(together)
        data[chunk.start : chunk.end] = trace.ljust(chunk.size, b"\0")
        with open(path, "wb") as file:
            file.write(data)
        expected = {file: [] for file in HEADERS}
        for _, other, text in KNOWN if packets is None else [(None, name, row)]:
            if other:
                expected[other].append(text)
        found = exported_rows(checks, cyclops, path, folder)
        checks.expect(found == expected, f"known records: {found}, expected {expected}")
        checks.count("known records")
        together += packets or []


def check_made_up(checks, tools, folder, seed):
    """Many records, as make-capture makes them (in order) and wild ones."""
    cyclops, maker = tools
    path, data = make(maker, folder, "--seed", seed, "--cpus", 3, "--records", 4000, "--chunk", 8192)
    for is_wild in (False, True):
        if is_wild:
            wild = spe.Wild(random.Random(seed), (0xAAAAC0000000, 0xFFFF40000000), (4000, 77))
            traces = [spe.Trace(wild, 1000, 100, 0.1) for _ in range(3)]
            for chunk in perf_file.chunks(data):
                data[chunk.start : chunk.end] = traces[chunk.cpu].chunk(chunk.size)
            with open(path, "wb") as file:
                file.write(data)
        found = exported_rows(checks, cyclops, path, folder)
        expected = expected_rows(cyclops, path)
        for name in HEADERS:
            checks.expect(is_wild or found[name] == expected[name], f"{name}: order of rows")
            checks.equal(f"rows of {name}", found[name], expected[name])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_known(checks, sys.argv[1:], folder)
        for seed in range(3):
            check_made_up(checks, sys.argv[1:], folder, seed)
    checks.finish()


if __name__ == "__main__":
    main()
