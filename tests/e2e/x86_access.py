#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares what isa_access() says of x86-64 instructions with the operands that objdump writes.

usage: x86_access.py ACCESS_OF [--verbose] [FILE...]

Without files: libraries of this machine, all of their text, and every opcode of every map with
every prefix that tells opcodes apart, in the legacy, VEX and EVEX encodings. Bytes are those of
objdump's "QWORD PTR"; what is read and what is written follows from the mnemonic, here by itself.
What is not compared is listed here, and counted.
"""

import argparse
import collections
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
BLOCK = 16
# CALL and JMP: Intel's CPUs ignore 0x66, and read an offset of 8 bytes with W where they are far.
OTHER_SIZE = re.compile(rb"\x66\xff|[\xf2\xf3\x66]?\x48\xff[\x1c\x2c]", re.S)
WAIT = 0x9B  # an instruction that objdump takes for a prefix of some
NO_INSTRUCTION = (0xFFFFFFFF, 0xFFFFFFFF)
LOAD, STORE, ATOMIC, PREFETCH, VECTOR, STRIDED, CACHE = 1, 2, 4, 64, 128, 512, 1024

DEFAULT_FILES = [f"/lib/x86_64-linux-gnu/{name}" for name in
                 ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libzstd.so.1", "libz.so.1")]

SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "OWORD": 16,
         "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}
SIZED = re.compile(r"(BYTE|WORD|DWORD|FWORD|QWORD|TBYTE|OWORD|XMMWORD|YMMWORD|ZMMWORD) (?:PTR|BCST) ")

# Mnemonics that write what they name first, and do not read it; those that only read it.
WRITES = re.compile(r"""(?:v|k)?mov.*|set.*|fst.*|fnst.*|fist.*|fbstp|v?pextr.*|v?extract.*|vpmov.*|v?stmxcsr
    |vpmaskmov.*|vmaskmov.*|vp?compress.*|vcvtps2ph|str|sldt|smsw|stos|ins|vp?scatter.*|wru?ss[dq]
    |vmptrst|vmread|vmclear|sttilecfg""", re.X)
READS = re.compile(r"""cmp[bwlqsx]?|test|bt|push|call|jmp|mul|i?div|imul|f(?:i|b)?ld.*
    |fi?(?:add|sub|mul|div|com|subr|divr|comp).*|v?ldmxcsr|lldt|lmsw|ltr|ver[rw]|vmwrite|vmptrld|vmxon|cmps|lods
    |scas|outs|xlat.*|ptwrite|bound|ldtilecfg|v?u?comis[sdh]|v?ptest|vtestp[sd]""", re.X)
NO_DATA = re.compile(r"lea|nop|ud[012]|invlpg|bnd.*|clzero|monitor.*|endbr.*")
HINTS = re.compile(r"prefetch.*|v(?:gather|scatter)pf.*")
LINES = re.compile(r"cl(?:flush|flushopt|wb|demote)")
UNSIZED = re.compile(r"(?:xsave|xrstor).*|enqcmds?|movdir64b|v?maskmovdqu|maskmovq|f?n?stenv|fldenv|f?n?save|frstor"
                     r"|fxsave.*|fxrstor.*|tile.*|pf.*|pi2f[dw]|pmulhrw|pavgusb|pswapd|[ls][gi]dt|(?:ld|st)tilecfg|l[defgs]s|aes.*kl|bound")
# What accesses the stack besides.
STACK = re.compile(r"(?P<writes>pushf?|call|enter)?(?(writes)|(?:popf?|retf?|leave))[wq]?")
PREFIX = re.compile(r"lock|rep[nz]*e?|repnz|data16|notrack|bnd|xacquire|xrelease|addr32|rex[.A-Z]*|[c-g]s|ss|\{[a-z0-9]+\}")


def text_of(path):
    """Raw bytes and text of each instruction, as objdump has them."""
    command = ["objdump", "-d", "-w", "-M", "intel", "-z", "-j", ".text", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 3:
                yield bytes.fromhex(parts[1]), parts[2]


def opcode_blocks():
    """Every opcode, with an address made of a base and an index behind it."""
    for reg in range(8):
        tail = bytes([reg << 3 | 4, 0x13])  # [rbx+rdx]
        for prefix in (b"", b"\x66", b"\xf3", b"\xf2"):
            for rex in (b"", b"\x48"):
                for escape in (b"", b"\x0f", b"\x0f\x38", b"\x0f\x3a"):
                    for opcode in range(256):
                        yield prefix + rex + escape + bytes([opcode]) + tail
    for reg in (1, 2, 3):
        tail = bytes([reg << 3 | 4, 0x13])
        for number in range(256 * 4 * 2):
            opcode, pp, wide = number & 255, number >> 8 & 3, number >> 10 << 7
            for length in (0, 1):
                for map_ in (1, 2, 3):
                    yield bytes([0xC4, 0xE0 | map_, wide | 0x78 | length << 2 | pp, opcode]) + tail
            for length in (0, 1, 2):
                for rest in (0x08, 0x09, 0x18):  # no mask, a mask, one element for all
                    for map_ in (1, 2, 3, 5, 6):
                        yield bytes([0x62, 0xF0 | map_, wide | 0x7C | pp, length << 5 | rest, opcode]) + tail


def disassemble_blocks(blocks):
    """The text of the instruction that each block begins with; None if it is none."""
    texts = [None] * len(blocks)
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(code.ljust(BLOCK, b"\x90") for code in blocks))
        file.flush()
        command = ["objdump", "-D", "-w", "-M", "intel", "-z", "-b", "binary", "-m", "i386:x86-64", file.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
            for line in process.stdout:
                parts = line.rstrip("\n").split("\t")
                if len(parts) == 3 and (at := int(parts[0].rstrip(":"), 16)) % BLOCK == 0:
                    texts[at // BLOCK] = parts[2]
    return texts


def split(text):
    """(prefixes, mnemonic, operands) of objdump's text."""
    words = text.split(" # ")[0].split("<")[0].split()
    prefixes = []
    while words and PREFIX.fullmatch(words[0]):
        prefixes.append(words.pop(0))
    return (prefixes, words[0], " ".join(words[1:])) if words else (prefixes, "", "")


def direction(name, operands):
    if "[" not in operands.split(",")[0] and not re.search(r"PTR [a-z]s:", operands.split(",")[0]):
        return LOAD
    if WRITES.fullmatch(name):
        return STORE
    return LOAD if READS.fullmatch(name) else LOAD | STORE


def gathered(name, operands, size):
    """Elements of a gather or scatter: as many as the shorter of numbers and data allows."""
    widths = {"x": 16, "y": 32, "z": 64}
    index = {"d": 4, "q": 8}[re.match(r"vp?(?:gather|scatter)([dq])", name)[1]]
    addresses = widths[re.search(r"\[.*?([xyz])mm", operands)[1]] // index
    data = widths[re.search(r"\b([xyz])mm", re.sub(r"\[.*?\]", "", operands))[1]]
    return min(addresses, data // size) * size


def wanted(text):
    """
    (bytes, flags without VECTOR) of an instruction; None for bytes or flags that the text does not
    tell. None if it is no instruction.
    """
    prefixes, name, operands = split(text)
    if not name or "bad)" in text or "bad}" in text or name.startswith("."):
        return None
    for pattern, flags in ((NO_DATA, 0), (HINTS, PREFETCH), (LINES, CACHE)):
        if pattern.fullmatch(name):
            return 0, flags
    if UNSIZED.fullmatch(name):
        return None, None
    sizes = [SIZES[word] for word in SIZED.findall(operands)]
    if not sizes:
        if (found := STACK.fullmatch(name)) and "[" not in operands:
            return None, STORE if found["writes"] else LOAD
        return (None, None) if "[" in operands or re.search(r"[a-z]s:", operands) else (0, 0)
    if re.fullmatch(r"vp?(?:gather|scatter)[dq].*", name):
        return gathered(name, operands, sizes[0]), (STORE if "scatter" in name else LOAD) | STRIDED
    flags = LOAD | STORE if name in ("push", "pop", "call", "movs") else direction(name, operands)
    if name in ("movs", "cmps", "stos", "lods", "scas", "ins", "outs") and any(p.startswith("rep") for p in prefixes):
        return 0, flags
    if name == "xchg" or "lock" in prefixes or re.fullmatch(r"a(?:add|and|or|xor)|cmp.+xadd", name):
        flags |= ATOMIC
    return sizes[0], flags


def ask(access_of, blocks):
    stream = b"".join(code[:BLOCK].ljust(BLOCK, b"\x90") for code in blocks)
    answer = subprocess.run([access_of, "x86_64"], input=stream, stdout=subprocess.PIPE, check=True)
    return list(struct.iter_unpack("<II", answer.stdout))


def compare(name, blocks, texts, answers, options, is_real):
    """Prints how many were equal, and which were not; returns (not equal, equal with memory)."""
    counts, wrong = collections.Counter(), []
    for code, text, found in zip(blocks, texts, answers):
        expected = wanted(text) if text is not None else None
        if expected is None:
            counts["no instructions"] += 1
        elif expected[1] is None or code[0] == WAIT or OTHER_SIZE.match(code):
            counts["without a size in the text"] += 1
        elif found == NO_INSTRUCTION and not is_real:
            counts["not known"] += 1
            if options.verbose:
                print(f"  {code[:8].hex()} {text}: not known")
        elif (expected[0] is not None and found[0] != expected[0]) or found[1] & ~VECTOR != expected[1]:
            wrong.append((code, text, found, expected))
        else:
            counts["equal, with memory" if expected[1] else "equal, without memory"] += 1
    print(f"{name}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    for code, text, found, expected in wrong[:None if options.verbose else 20]:
        print(f"  {code[:8].hex()} {text}: found {found}, wanted {expected}")
    return len(wrong), counts["equal, with memory"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("access_of")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if shutil.which("objdump") is None or "elf64-x86-64" not in subprocess.run(
            ["objdump", "-i"], text=True, capture_output=True, check=False).stdout:
        print("skipped: no objdump of x86")
        sys.exit(SKIPPED)
    results = []
    for path in options.files or [path for path in DEFAULT_FILES if os.path.exists(path)]:
        seen = dict(text_of(path))
        results.append(compare(os.path.basename(path), list(seen), list(seen.values()),
                               ask(options.access_of, list(seen)), options, True))
    if not options.files:
        blocks = list(opcode_blocks())
        results.append(compare("opcodes", blocks, disassemble_blocks(blocks), ask(options.access_of, blocks), options,
                               False))
    n_wrong, n_equal = map(sum, zip(*results))
    if n_wrong or not n_equal:
        sys.exit(f"{n_wrong} of {n_equal + n_wrong} instructions are decoded otherwise")
    print(f"ok x86 access: {n_equal} that access memory")


main()
