#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our disassembly of whole text sections with that of binutils' objdump.

usage: disasm_vs_objdump.py DISASSEMBLE [--verbose] [FILE...]

Without files: AArch64 libraries of the cross compiler's, and libraries of this machine. Each
difference must be one of spelling that is listed here (and in docs/differences.md): what is left
when both texts are brought to one spelling must be equal. Prints how often each was needed.
"""

import argparse
import collections
import glob
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77

DEFAULT_FILES = [
    *(f"/usr/aarch64-linux-gnu/lib/{name}" for name in
      ("libc.so.6", "libm.so.6", "libgomp.so.1", "libitm.so.1", "libgcc_s.so.1")),
    *(f"/lib/x86_64-linux-gnu/{name}" for name in
      ("libm.so.6", "libz.so.1", "libzstd.so.1", "libelf.so.1", "liblzma.so.5")),
]

MACHINES = {183: ("a64", ["aarch64-linux-gnu-objdump", "objdump"]),
            62: ("x86_64", ["x86_64-linux-gnu-objdump", "objdump"])}

LINE = re.compile(r" *(?P<address>[0-9a-f]+):\t(?P<text>.*)")


def machine_of(path):
    """The ELF machine number of a file."""
    head = path.read_bytes()[:20]
    return int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" else 0


def text_section(objdump, path):
    """(address, bytes) of .text."""
    out = subprocess.run([objdump, "-h", "-w", path], text=True, capture_output=True, check=True)
    for line in out.stdout.splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == ".text":
            size, address, offset = int(words[2], 16), int(words[3], 16), int(words[5], 16)
            return address, path.read_bytes()[offset:offset + size]
    sys.exit(f"{path}: no .text")


def theirs(objdump, path):
    """{address: text} of objdump."""
    command = [objdump, "-d", "-w", "-j", ".text", "--no-show-raw-insn", "-z", path]
    out = subprocess.run(command, text=True, capture_output=True, check=True)
    found = {}
    for line in out.stdout.splitlines():
        if match := LINE.fullmatch(line):
            found[int(match["address"], 16)] = match["text"]
    return found


def ours(disassemble, isa, address, code):
    """{address: text} of cyclops."""
    out = subprocess.run([disassemble, isa, "att", f"{address:x}"], input=code,
                         capture_output=True, check=True)
    found = {}
    for line in out.stdout.decode().splitlines():
        words = line.split("\t")
        found[int(words[0], 16)] = words[5]
    return found


def plain(text):
    """Without names of addresses, remarks, runs of blanks; numbers decimal."""
    text = re.split(r"\s+(?:// |# )|\s+;\s", text)[0]
    text = re.sub(r"\b([0-9a-f]+) <[^>]*(?:<[^>]*>[^>]*)*>$", r"0x\1", text)
    text = re.sub(r"\s+", " ", text).strip().replace(", ", ",")
    return ANY_NUMBER.sub(
        lambda found: str(int(found[0], 16 if "x" in found[0] else 10)), text)


def spelled_out(match):
    """{v1.b-v3.b} as {v1.b,v2.b,v3.b}."""
    first, last, kind = int(match[2]), int(match[4]), match[3]
    count = (last - first) % 32 + 1
    return "{" + ",".join(f"{match[1]}{(first + i) % 32}{kind}" for i in range(count)) + "}"


def wrapped(bits):
    """Negative numbers as the unsigned ones of this many bits."""
    return lambda match: str(int(match[0]) % (1 << bits))


CARRYLESS = {"0": "lqlq", "1": "hqlq", "16": "lqhq", "17": "hqhq"}
CONDITIONS = {"hs": "cs", "lo": "cc"}
ANY_NUMBER = re.compile(r"(?<![\w%.])-?(?:0x[0-9a-f]+|\d+)\b(?!\.)")
NUMBER = re.compile(r"(?<![\w%.])-?\d+\b")
# Name, and what is replaced by what in both texts, in this order.
A64_RULES = [
    ("names of conditions: hs, lo for cs, cc", r"(?<=[.,])(hs|lo)$|(?<=^b\.)(hs|lo)\b|(?<=^bc\.)(hs|lo)\b",
     lambda match: CONDITIONS[match[0]]),
    ("names of system registers: capitals", r"^(?:mrs|msr|mrrs|msrr|sysl?) .*",
     lambda match: match[0].lower()),
    ("lists of registers: blanks in braces", r"\{ | \}", lambda match: match[0].strip()),
    ("lists of registers: ranges", r"\{([vz])(\d+)(\.\w+) ?- ?[vz](\d+)\.\w+\}",
     spelled_out),
    ("digits of floating-point constants", r"#-?\d+\.\d+(?:e[+-]\d+)?",
     lambda match: f"#{float(match[0][1:])}"),
    ("negative numbers as unsigned ones", r"(?<=#)-?\d+(?!\.)\b", wrapped(64)),
    ("negative numbers as unsigned ones, of 32 bits", r"(?<=#)\d{20}\b", wrapped(32)),
    ("aliases: uxtl, sxtl for shifts by 0", r"([us])shll(2?) (.*),#0$", r"\1xtl\2 \3"),
    ("aliases: bfc for bfi of xzr", r"^bfi (\w+),[wx]zr", r"bfc \1"),
    ("words that newer extensions use otherwise", r"^psel .*|^while.*", "word"),
    ("reserved prefetches: numbers", r"(prfm|prfum|prf[bhwd]) [^,]+", r"\1"),
    ("index register xzr left out", r",xzr(?:,lsl #\d)?\]", "]"),
]
X86_RULES = [
    ("names of prefixes: repz, repnz for rep, repne", r"\brep(?:nz|z|e)\b",
     lambda match: {"repz": "rep", "repe": "rep", "repnz": "repne"}[match[0]]),
    ("scale 1 left out", r",1\)", ")"),
    ("displacement 0 left out", r"(?<![\w])0\((?=[%,])", "("),
    ("segments and sizes of operands as prefixes",
     r"%[cdefgs]s:(?!\d)|\b(?:[cdefgs]s|data16|rex\.?\w*) ", ""),
    ("ports in parentheses", r"\(%dx\)", "%dx"),
    ("masks: blank before them", r" \{", "{"),
    ("mnemonics of the x87: fcompi, fucompi for fcomip, fucomip", r"^(fu?com)pi", r"\1ip"),
    ("names: wait for fwait", r"^fwait$", "wait"),
    ("aliases: nop for xchg %ax,%ax", r"xchg %ax,%ax", "nop"),
    ("order of the operands of xchg", r"^(xchg) (%\w+),(%\w+)$",
     lambda match: " ".join([match[1], *sorted(match.groups()[1:])])),
    ("aliases: pclmullqlqdq and such for pclmulqdq", r"^(v?)pclmulqdq \$(0|1|16|17),",
     lambda match: f"{match[1]}pclmul{CARRYLESS[match[2]]}dq "),
    ("notrack left out", r"^notrack ", ""),
    ("negative numbers as unsigned ones", NUMBER, wrapped(64)),
    ("negative numbers as unsigned ones, of 32 bits", NUMBER, wrapped(32)),
    ("negative numbers as unsigned ones, of 16 bits", NUMBER, wrapped(16)),
    ("negative numbers as unsigned ones, of 8 bits", NUMBER, wrapped(8)),
]


def without_suffix(their, our):
    """Our text without the letter for the size of its operands, if theirs has none."""
    mnemonic = re.match(r"(?:(?:lock|repz?|repnz|bnd|notrack|data16|[c-g]s|rex\S*) )*(\S+)", their)[1]
    return re.sub(rf"(?<!\S){re.escape(mnemonic)}[bwlq](?!\S)", mnemonic, our, count=1)


def explained(isa, their, our, counts):
    """Whether the texts are the same but for spelling; counts the rules that were needed."""
    if ".inst" in (their.split()[0], our.split()[0]):
        counts["no instruction for one of both"] += 1
        return True
    if our == "wait" and their.startswith("f") or their == "nothing" and our.startswith("fn"):
        counts["wait is an instruction of its own: fstcw is wait, fnstcw"] += their == "nothing"
        return their == "nothing" or their in ("fwait", "finit") or their.startswith("fst")
    if isa != "a64":
        before, our = our, without_suffix(their, our)
        counts["suffixes of sizes left out"] += before != our
    for name, pattern, replacement in A64_RULES if isa == "a64" else X86_RULES:
        if their == our:
            break
        before = their, our
        their, our = (re.sub(pattern, replacement, text) for text in before)
        counts[name] += before != (their, our)
    return their == our


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("disassemble")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or [p for p in map(pathlib.Path, DEFAULT_FILES) if p.exists()]
    n, n_wrong = 0, 0
    counts = collections.Counter()
    for path in files:
        isa, tools = MACHINES[machine_of(path)]
        objdump = next(filter(shutil.which, tools), None)
        if objdump is None:
            continue
        address, code = text_section(objdump, path)
        their, our = theirs(objdump, path), ours(options.disassemble, isa, address, code)
        for at in their.keys() | our.keys():
            n += 1
            texts = plain(their.get(at, "nothing")), plain(our.get(at, "nothing"))
            if texts[0] == texts[1] or explained(isa, *texts, counts):
                continue
            n_wrong += 1
            if n_wrong <= 60:
                print(f"{path.name} {at:#x}: {texts}")
    if n == 0:
        print("skipped: no objdump, or no libraries")
        sys.exit(SKIPPED)
    for name, count in sorted(counts.items()):
        print(f"{count:9} {name}")
    verdict = "ok " if n_wrong == 0 else ""
    print(f"{verdict}{n} instructions, {n_wrong} differ in more than spelling")
    sys.exit(n_wrong != 0)


main()
