#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
False and true sharing by instructions of x86, whose operands say how far accesses reach.

usage: c2c_x86.py CYCLOPS WRITE-ACCESSES

Two threads meet on a line in each case. What they do there is the same but for the size of an access:
it makes them meet on the same bytes, or not.
"""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import small_elf
from harness import Checks, run

BASE = 0x10000000
PID = 500
LD, ST, L1, PEER = 0, 1, 0, 9
MACHINE_AT, X86_64 = 18, 62

# Code, what a record says of it, and the bytes that it accesses.
INSTRUCTIONS = {
    "mov %al,(%rdi)": (b"\x88\x07", ST, 1), "mov %eax,(%rdi)": (b"\x89\x07", ST, 4),
    "mov %rax,(%rdi)": (b"\x48\x89\x07", ST, 8), "mov (%rsi),%al": (b"\x8a\x06", LD, 1),
    "mov (%rsi),%eax": (b"\x8b\x06", LD, 4), "mov (%rsi),%rax": (b"\x48\x8b\x06", LD, 8),
    "movups (%rsi),%xmm0": (b"\x0f\x10\x06", LD, 16), "vmovups (%rsi),%ymm0": (b"\xc5\xfc\x10\x06", LD, 32),
    "movzwl (%rsi),%eax": (b"\x0f\xb7\x06", LD, 2),
}

# Writer and its offset, reader and its offset, verdict.
CASES = [
    ("mov %eax,(%rdi)", 16, "movups (%rsi),%xmm0", 0, "false-sharing"),
    ("mov %eax,(%rdi)", 16, "vmovups (%rsi),%ymm0", 0, "true-sharing"),
    ("mov %eax,(%rdi)", 0, "mov (%rsi),%eax", 4, "false-sharing"),
    ("mov %rax,(%rdi)", 0, "mov (%rsi),%eax", 4, "true-sharing"),
    ("mov %al,(%rdi)", 1, "mov (%rsi),%al", 0, "false-sharing"),
    ("mov %al,(%rdi)", 1, "movzwl (%rsi),%eax", 0, "true-sharing"),
    ("mov %rax,(%rdi)", 8, "mov (%rsi),%rax", 0, "false-sharing"),
    ("mov %rax,(%rdi)", 7, "mov (%rsi),%rax", 0, "true-sharing"),
]


def words(code):
    code += b"\xc3".ljust(-len(code) % 4 or 4, b"\x90")
    return list(struct.unpack(f"<{len(code) // 4}I", code))


def build(path):
    """A program with a function for each instruction; returns their addresses."""
    names = {text: f"f{number}" for number, text in enumerate(INSTRUCTIONS)}
    at = small_elf.write(path, {names[text]: words(code) for text, (code, _, _) in INSTRUCTIONS.items()})
    with open(path, "r+b") as file:
        file.seek(MACHINE_AT)
        file.write(struct.pack("<H", X86_64))
    return {text: at[name] for text, name in names.items()}


def records(case, at, n=400):
    """Two threads on two cpus, by turns; the reader often gets the line from the other core."""
    writer, w_offset, reader, r_offset, _ = case
    rng = random.Random(str(case))
    for cpu, (text, offset) in enumerate(((writer, w_offset), (reader, r_offset))):
        kind = INSTRUCTIONS[text][1]
        for i in range(n):
            is_peer = kind == LD and rng.random() < 0.3
            yield (f"{cpu} {PID} {PID + cpu} {1000000 + 1000 * i + 100 * cpu:x} {at[text]:x} {BASE + offset:x} {kind:x} "
                   f"{PEER if is_peer else L1:x} {150 if is_peer else 5:x}")


def check_case(checks, tools, folder, program, at, case):
    cyclops, write_accesses = tools
    path = os.path.join(folder, "a.data")
    subprocess.run([write_accesses, path, program, "x86_64"], input="\n".join(records(case, at)).encode() + b"\n",
                   check=True)
    lines = json.loads(run(cyclops, "c2c", "--all", "--symfs", "/", "--format", "json", path))["lines"]
    if not checks.expect(len(lines) == 1, f"{case}: {len(lines)} lines"):
        return
    found = {(access["offset"], access["op"], access.get("size")) for access in lines[0]["accesses"]}
    expected = {(case[1], "store", INSTRUCTIONS[case[0]][2]), (case[3], "load", INSTRUCTIONS[case[2]][2])}
    checks.expect(found == expected, f"{case}: accesses {found}, expected {expected}")
    checks.expect(lines[0]["verdict"] == case[4], f"{case}: {lines[0]['verdict']}")
    checks.count("cases")


def main():
    tools = list(map(os.path.abspath, sys.argv[1:3]))
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-c2c-x86-") as folder:
        program = os.path.join(folder, "program")
        at = build(program)
        for case in CASES:
            check_case(checks, tools, folder, program, at, case)
    checks.finish()


if __name__ == "__main__":
    main()
