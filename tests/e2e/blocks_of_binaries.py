#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Basic blocks of real programs, against their disassembly: each instruction is in exactly one block, and the target
of each direct branch begins one.

usage: blocks_of_binaries.py CYCLOPS WRITE-SAMPLES DATA_DIR [PROGRAM]...

Of the AArch64 programs of DATA_DIR, libraries of a cross compiler, and programs of this machine; PROGRAMs are others.
All code of a program is taken at once, up to MOST_BYTES. What branches is told by the text of the instructions.
"""

import csv
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

from harness import Checks, run

MOST_BYTES = 128 << 10
MAPPED = 0x1000000  # of the file, by write-samples
MACHINES = {183: ("aarch64", "0x00000000410fd0c0"), 62: ("x86_64", "GenuineIntel,6,85,4")}
PLACES = ("/usr/aarch64-linux-gnu/lib/*.so*", "/usr/bin/*")
MOST_OF_A_PLACE = 8
IP = 0x400000

# By machine: a branch with a target; what follows it begins a block (calls aside).
BRANCHES = {"aarch64": r"(b|b\.\w+|bc\.\w+|cbz|cbnz|tbz|tbnz)$", "x86_64": r"(bnd |notrack )*(j\w+|loop\w*|xbegin)$"}
CALLS = {"aarch64": r"bl$", "x86_64": r"(bnd )?call\w*$"}
ENDS = {"aarch64": r"(ret\w*|br|bra\w+|udf|eret\w*)$", "x86_64": r"(rep |repz |bnd |notrack )*(ret\w*|jmp\w*|lret\w*|iret\w*|hlt|ud[012])$"}


def text_of(path):
    """Machine, address, offset in the file, and size of .text; None: no such program."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\2\1" or len(data) < 64:
        return None
    kind, machine = struct.unpack_from("<HH", data, 16)
    at, size, count, names = struct.unpack_from("<Q", data, 40) + struct.unpack_from("<HHH", data, 58)
    if kind not in (2, 3) or machine not in MACHINES or not count:
        return None
    sections = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    strings = data[sections[names][4]:]
    for name, _, _, address, offset, length in sections:
        if strings[name:name + 6] == b".text\0" and offset < MAPPED and address % 4 == 0:
            return MACHINES[machine], address, offset, min(length, MOST_BYTES)
    return None


def programs(data):
    found = sorted(glob.glob(f"{data}/root/opt/*/*"))
    for place in PLACES:
        files = [path for path in glob.glob(place) if os.path.isfile(path) and not os.path.islink(path)]
        here = [path for path in sorted(files, key=lambda path: (os.path.getsize(path), path))
                if 30_000 < os.path.getsize(path) < 2_000_000 and text_of(path)]
        found += here[::max(1, len(here) // MOST_OF_A_PLACE)][:MOST_OF_A_PLACE]
    return [path for path in found if os.path.isfile(path) and text_of(path)]


def tables(text):
    return {part.partition("\n")[0]: list(csv.DictReader(part.partition("\n")[2].splitlines())) for part in text.split("# table ")[1:]}


def check_program(checks, cyclops, write_samples, folder, path):
    (arch, cpuid), address, offset, size = text_of(path)
    capture = os.path.join(folder, "a.data")
    lines = f"E cycles 0 0 0 100 0\nS 0 0 64 64 5000 {IP + offset:x} 0 3e8 0 0 0 0 2\n"
    subprocess.run([write_samples, capture, os.path.realpath(path), arch, cpuid], input=lines.encode(), check=True)
    words = ("--symfs", "/", "--format", "csv", "-i", capture, f"{address:#x}..{address + size:#x}")
    instructions = list(csv.DictReader(run(cyclops, "annotate", "--all", "--no-source", "--table", "instructions", *words)
                                       .decode().splitlines()))
    blocks = tables(run(cyclops, "blocks", *words).decode())["blocks"]
    starts = [int(row["address"], 0) for row in instructions]
    where, name = set(starts), os.path.basename(path)
    heads = {int(row["start"], 0) for row in blocks}
    checks.expect(sum(int(row["instructions"]) for row in blocks) == len(starts) and heads <= where,
                  f"{name}: {sum(int(row['instructions']) for row in blocks)} instructions in blocks, not {len(starts)}")
    for before, row in zip(blocks, blocks[1:]):
        if before["end"] != row["start"]:
            checks.fail(f"{name}: a block ends at {before['end']}, the next begins at {row['start']}")
    for row, behind in zip(instructions, starts[1:] + [0]):
        mnemonic, _, operands = row["instruction"].partition(" ") if "mnemonic" not in row else (row["mnemonic"], "", row["operands"])
        is_branch, is_call = re.match(BRANCHES[arch], mnemonic), re.match(CALLS[arch], mnemonic)
        target = re.search(r"(?:^|[, ])(0x[0-9a-f]+)$", operands.strip())
        if (is_branch or is_call) and target and int(target[1], 16) in where:
            checks.count("targets of direct branches")
            checks.expect(int(target[1], 16) in heads, f"{name}: {row['address']} {mnemonic} {operands}: no block begins there")
        if (is_branch or re.match(ENDS[arch], mnemonic)) and behind in where:
            checks.count("ends of blocks")
            checks.expect(behind in heads, f"{name}: no block begins behind {row['address']} {mnemonic} {operands}")
    checks.count(f"instructions of {arch}", len(starts))
    checks.count(f"programs of {arch}")


def main():
    cyclops, write_samples, data = map(os.path.abspath, sys.argv[1:4])
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-binaries-") as folder:
        for path in sys.argv[4:] or programs(data):
            check_program(checks, cyclops, write_samples, folder, path)
    checks.finish()


if __name__ == "__main__":
    main()
