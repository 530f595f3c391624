#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our disassembly of whole text sections of AArch64 with that of binutils' objdump.

usage: disasm_vs_objdump.py DISASSEMBLE [FILE...]

Without files: AArch64 libraries of the cross compiler's. Each difference must be one of spelling that is listed here (and in docs/differences.md): what is left
when both texts are brought to one spelling must be equal. Prints how often each was needed.
"""

import argparse
import collections
import pathlib
import re
import shutil
import sys

from objdump import machine_of, ours, plain, same_by_rules, text_section, theirs, wrapped

SKIPPED = 77
EM_AARCH64 = 183

DEFAULT_FILES = [f"/usr/aarch64-linux-gnu/lib/{name}" for name in
                 ("libc.so.6", "libm.so.6", "libgomp.so.1", "libitm.so.1", "libgcc_s.so.1")]


def spelled_out(match):
    """{v1.b-v3.b} as {v1.b,v2.b,v3.b}."""
    first, last, kind = int(match[2]), int(match[4]), match[3]
    count = (last - first) % 32 + 1
    return "{" + ",".join(f"{match[1]}{(first + i) % 32}{kind}" for i in range(count)) + "}"


CONDITIONS = {"hs": "cs", "lo": "cc"}
# Name, and what is replaced by what in both texts, in this order.
RULES = [
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

def explained(their, our, counts):
    """Whether the texts are the same but for spelling; counts the rules that were needed."""
    if ".inst" in (their.split()[0], our.split()[0]):
        counts["no instruction for one of both"] += 1
        return True
    return same_by_rules(their, our, RULES, counts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("disassemble")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    objdump = next(filter(shutil.which, ("aarch64-linux-gnu-objdump", "objdump")), None)
    files = options.files or [p for p in map(pathlib.Path, DEFAULT_FILES) if p.exists()]
    n, n_wrong = 0, 0
    counts = collections.Counter()
    for path in files if objdump is not None else []:
        if machine_of(path) != EM_AARCH64:
            sys.exit(f"{path}: not of AArch64")
        address, code = text_section(objdump, path)
        their, our = theirs(objdump, path), ours(options.disassemble, "a64", "att", address, code)
        for at in their.keys() | our.keys():
            n += 1
            texts = plain(their.get(at, (0, "nothing"))[1]), plain(our.get(at, (0, "nothing"))[1])
            if texts[0] == texts[1] or explained(*texts, counts):
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
