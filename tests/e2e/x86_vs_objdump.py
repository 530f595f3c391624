#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares instructions of x86-64 with objdump's: their text, their length, and what isa_access() says of memory.

usage: x86_vs_objdump.py DISASSEMBLE ACCESS_OF [--all] [--verbose] [FILE...]

Without files: programs and libraries of this machine, the first bytes of the code of each, and every opcode of every
map with every prefix that tells opcodes apart, in the legacy, VEX and EVEX encodings. --all takes all code of each file,
and the opcodes in all lengths of vectors with all masks, for three registers.

Texts are in AT&T syntax. Each difference must be one of spelling that is listed in RULES (and in
docs/differences.md): what is left when both texts are brought to one spelling must be equal. How often each rule was
needed is printed. Bytes that one of both does not take for an instruction are counted, too, and what follows them until
both agree on where an instruction begins: tables in code are no instructions.

Bytes of an access are those of objdump's "QWORD PTR"; what is read and what is written follows from the mnemonic, here
by itself. What is not compared is listed here, and counted.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from objdump import machine_of, ours, plain, same_by_rules, text_section, theirs, wrapped

SKIPPED = 77
BLOCK = 16
# CALL and JMP: Intel's CPUs ignore 0x66, and read an offset of 8 bytes with W where they are far.
FAR = b"\x18-\x1f\x28-\x2f\x58-\x5f\x68-\x6f\x98-\x9f\xa8-\xaf"
OTHER_SIZE = re.compile(rb"\x66\xff|[\xf2\xf3\x66]?[\x48-\x4f]\xff[" + FAR + b"]", re.S)
WAIT = 0x9B  # an instruction that objdump takes for a prefix of some
NO_INSTRUCTION = (0xFFFFFFFF, 0xFFFFFFFF)
LOAD, STORE, ATOMIC, PREFETCH, VECTOR, STRIDED, CACHE = 1, 2, 4, 64, 128, 512, 1024

EM_X86_64 = 62
SOME_BYTES = 8 << 10  # of code, of each file
MOST_SHOWN = 40

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
DEFAULT_FILES = [
    "/bin/bash", "/bin/dash", "/bin/tar", "/bin/grep", "/usr/bin/git", "/usr/bin/perl", "/usr/bin/python3", "/usr/bin/gdb",
    "/usr/bin/clang", "/usr/bin/x86_64-linux-gnu-ld.bfd", "/usr/bin/qemu-aarch64",
    *(f"{LIBRARIES}/{name}" for name in
      ("ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libcrypto.so.3", "libssl.so.3",
       "libgmp.so.10", "libmpfr.so.6", "libzstd.so.1", "libz.so.1", "liblzma.so.5", "libelf.so.1", "libdw.so.1",
       "libsqlite3.so.0", "libcurl.so.4", "libglib-2.0.so.0", "libpython3.11.so.1.0", "libcapstone.so.4")),
]

STRING = re.compile("(?:cmps|scas|movs|stos|lods|ins|outs)[bwlq]?$")
PREFIXES = r"lock|rep[nz]*e?|repnz|data16|notrack|bnd|xacquire|xrelease|addr32|rex[.A-Z]*|[c-g]s|ss"
STRING_LETTERS = {"al": "b", "ax": "w", "eax": "l", "rax": "q"}
CARRYLESS = {"0": "lqlq", "1": "hqlq", "16": "lqhq", "17": "hqhq"}
SHORT_REGISTER = {**{f"{size}{name}": name for size in "er" for name in "ax bx cx dx si di bp sp".split()},
                  **{f"r{n}{size}": f"r{n}w" for n in range(8, 16) for size in ("", "d")}}


def with_short_register(match):
    return re.sub(r"(?<=%)\w+", lambda found: SHORT_REGISTER.get(found[0], found[0]), match[0])


def with_needed_prefixes(match):
    """Of prefixes those that do something; where a segment is, the operand says."""
    words = match[0].split()
    is_string = STRING.match(words[-1]) is not None
    kept = [word for word in dict.fromkeys(words[:-1]) if word in ("lock", "xacquire", "xrelease")
            or (word.startswith("rep") and is_string)]
    return " ".join([*kept, words[-1]])


def with_rounding_first(match):
    return f"{match[1]} {{{match[3]}}},{match[2]}{match[4]}"


# Name, and what is replaced by what in both texts, in this order.
RULES = [
    ("names of prefixes: repz, repnz for rep or repe, repne", r"\brep(?:nz|z|e)\b",
     lambda match: {"repz": "rep", "repe": "rep", "repnz": "repne"}[match[0]]),
    ("operands of strings that are always the same", r"\b(stos|scas|lods) (?:%es:\(%[er]di\),|%[c-gs]s:\(%[er]si\),)?%(\w+)(?:,%es:\(%[er]di\))?$",
     lambda match: match[1] + STRING_LETTERS[match[2]]),
    ("operands of strings that are always the same",
     r"\b((?:movs|cmps|ins|outs)[bwlq]|xlat) (?:[%,:()]|\b[c-gs]s\b|\b[er]?(?:[sd]i|bx)\b|dx)+$", r"\1"),
    ("displacement 0 left out", r"(?<![\w])0\((?=[%,])", "("),
    ("prefixes without effect, or shown with the operand", rf"^(?:(?:{PREFIXES}) )+\S+", with_needed_prefixes),
    ("masks: blank before them", r" \{", "{"),
    ("rounding: behind the operands of AT&T", r"^(\S+) (.*?),?\{(\w\w-sae|sae)\},?(.*)$", with_rounding_first),
    ("aliases: nop for xchg %ax,%ax", r"^xchg %(r?)ax,%\1ax", "nop"),
    ("%st with its number, 0", r"%st\(0\)", "%st"),
    ("shifts by one left out", r"^((?:lock )?(?:ro|rc|sa|sh)[lr][bwlq]?) \$1,", r"\1 "),
    ("aliases: pclmullqlqdq and such for pclmulqdq", r"^(v?)pclmulqdq \$(0|1|16|17),",
     lambda match: f"{match[1]}pclmul{CARRYLESS[match[2]]}dq "),
    ("%xmm0 that is always the same", r"^(sha256rnds2|p?blendv(?:pd|ps|b)) %xmm0,", r"\1 "),
    ("ports in parentheses", r"\(%dx\)", "%dx"),
    ("an index that is none", r"\(,%[re]iz(?:,\d)?\)|,%[re]iz(?:,\d)?(?=\))", ""),
    ("negative numbers as unsigned ones", r"(?<![\w%.])-\d+\b", wrapped(64)),
    ("operands of 16 bits on the stack: w", r"^(l?ret|popf|pushf|leave|enter|push|pop|l?call|l?jmp|iret)w\b", r"\1"),
    ("comparisons of the x87 with %st", r"^(fu?comp?) (%st(?:\(\d\))?),%st$", r"\1 \2"),
    ("debug registers: db for dr", r"%db(\d)", r"%dr\1"),
    ("segment registers: of what is moved 16 bits count", r"^mov %\w+,%[c-gs]s$|^mov %[c-gs]s,%\w+$", with_short_register),
    ("names: iretd for iret, popfq for popf, pushfq for pushf", r"^(iret)d$|^((?:pop|push)f)q$",
     lambda match: match[1] or match[2]),
    ("names: movsll for movsxd without REX.W", r"^movsl[lw] ", "movsxd "),
    ("names of what is of old coprocessors alone", r"^fn(eni|disi|setpm)\((8087|287) only\)$", r"f\1\2_nop"),
    ("a segment of what is not accessed", r"^lea %[fg]s:", "lea "),
    ("encodings that are not the shortest", r"^\{(?:evex|vex)\} ", ""),
    ("operands of ud0 and ud1, which do nothing", r"^(ud[01]) .*", r"\1"),
    ("environments of the x87 of 14 bytes: s", r"^(fldenv|fnstenv|fnsave|frstor)s\b", r"\1"),
    ("bounds: scale 1", r"^(bnd(?:ldx|stx) .*),1\)", r"\1)"),
    ("3DNow!: %xmm for %mm", r"^(pf\w+ .*)%xmm", r"\1%mm"),
    ("names: wbinvd for wbnoinvd", r"^wbnoinvd", "wbinvd"),
    ("lengths of strings in rax and rdx: q", r"^(v?pcmpestr[im])q\b", r"\1"),
    ("hints of branches", r"^(j\w+|loop\w*),p[nt]\b", r"\1"),
]

SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "OWORD": 16,
         "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}
SIZED = re.compile(r"(BYTE|WORD|DWORD|FWORD|QWORD|TBYTE|OWORD|XMMWORD|YMMWORD|ZMMWORD) (?:PTR|BCST) ")

# Mnemonics that write what they name first, and do not read it; those that only read it.
WRITES = re.compile(r"""(?:v|k)?mov.*|set.*|fst.*|fnst.*|fist.*|fbstp|v?pextr.*|v?extract.*|vpmov.*|v?stmxcsr
    |vpmaskmov.*|vmaskmov.*|vp?compress.*|vcvtps2ph|str|sldt|smsw|stos|ins|vp?scatter.*|wru?ss[dq]
    |vmptrst|vmread|sttilecfg|bndmov""", re.X)
READS = re.compile(r"""cmp[bwlqsx]?|test|bt|push|call|jmp|mul|i?div|imul|f(?:i|b)?ld.*
    |fi?(?:add|sub|mul|div|com|subr|divr|comp).*|v?ldmxcsr|lldt|lmsw|ltr|ver[rw]|vmwrite|vmptrld|vmxon|cmps|lods
    |scas|outs|vmclear|xlat.*|ptwrite|bound|ldtilecfg|v?u?comis[sdh]|v?ptest|vtestp[sd]""", re.X)
NO_DATA = re.compile(r"lea|nop|ud[012]|invlpg|bnd(?!mov).*|clzero|monitor.*|endbr.*")
HINTS = re.compile(r"prefetch.*|v(?:gather|scatter)pf.*")
LINES = re.compile(r"cl(?:flush|flushopt|wb|demote)")
UNSIZED = re.compile(r"(?:xsave|xrstor).*|enqcmds?|movdir64b|v?maskmovdqu|maskmovq|f?n?stenv|fldenv|f?n?save|frstor"
                     r"|fxsave.*|fxrstor.*|tile.*|pf.*|pi2f[dw]|pmulhrw|pavgusb|pswapd|[ls][gi]dt|(?:ld|st)tilecfg|l[defgs]s|aes.*kl|bound")
# What accesses the stack besides.
STACK = re.compile(r"(?P<writes>pushf?|call|enter)?(?(writes)|(?:popf?|retf?|leave|iret))[wq]?")
PREFIX = re.compile(PREFIXES + r"|\{[a-z0-9]+\}")


def first_ones(found):
    """Of {address: (size, text)} those that begin a block."""
    return {at: what for at, what in found.items() if at % BLOCK == 0}


class Compared:
    """How texts and lengths compared, over all files."""

    def __init__(self):
        self.n = self.n_equal = self.n_wrong = 0
        self.by_rule = collections.Counter()
        self.is_lost = False  # behind bytes that are no instruction for one of both

    def is_explained(self, their, our, at):
        """Whether instructions of both at an address, either of which may be None, are the same."""
        if their is None or our is None:
            if our is not None and our[1].startswith("fn") and self.is_wait:
                return True
            return self.is_no_instruction(self.is_lost)
        texts = plain(their[1]), plain(our[1])
        if their[0] == our[0] and (texts[0] == texts[1] or same_by_rules(*texts, RULES, self.by_rule)):
            self.is_lost = False
            return True
        if texts[1] == "fwait" and re.match(rf"(?:(?:{PREFIXES}) )*f", texts[0]):
            self.is_wait = re.match(r"fst(?:cw|sw|env)|finit|fclex|fsave", texts[0]) is not None
            self.is_lost = not self.is_wait
            self.by_rule["wait is an instruction of its own: fstcw is fwait, fnstcw"] += 1
            return True
        if re.match(r"(?:j\w+|call) ", texts[1]) and their[0] == our[0] - 2:
            self.is_lost = True
            self.by_rule["direct jumps with the prefix 0x66, which Intel's CPUs ignore"] += 1
            return True
        alone = all(PREFIX.fullmatch(word) for word in texts[0].split())
        return self.is_no_instruction(self.is_lost or "(bad)" in texts[0] or any(text.startswith(".byte") for text in texts) or alone
                                      or "?" in texts[0])

    def is_no_instruction(self, is_lost):
        self.is_lost = is_lost
        self.by_rule["no instruction for one of both"] += is_lost
        return is_lost

    def compare(self, name, their, our, are_apart=False):
        """Of instructions in a row, or each for itself."""
        self.is_lost = self.is_wait = False
        for at in sorted(their.keys() | our.keys()):
            self.n += 1
            self.is_lost &= not are_apart
            if self.is_explained(their.get(at), our.get(at), at):
                continue
            self.n_wrong += 1
            if self.n_wrong <= MOST_SHOWN:
                print(f"  {name} {at:#x}: objdump {their.get(at)}, cyclops {our.get(at)}")


# With VEX or EVEX, those of which the register's number is a part.
GROUPS = (0x71, 0x72, 0x73, 0xAE, 0xC6, 0xC7, 0xF3)


def vector_forms(reg, has_all):
    """(length of the vectors, mask or one element for all) of EVEX. Without has_all fewer; gathers need a mask."""
    rests = (0x08, 0x09, 0x18)  # no mask, a mask, one element for all
    if has_all:
        return [(length, rest) for length in (0, 1, 2) for rest in rests]
    some = [(0, 0x08), (2, 0x09)]
    return [*some, (1, 0x08), (2, 0x08), (0, 0x09), (0, 0x18), (1, 0x18), (2, 0x18)] if reg == 1 else some


def opcode_blocks(has_all):
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
            if reg > 1 and opcode not in GROUPS and not has_all:
                continue
            for length in (0, 1):
                for map_ in (1, 2, 3):
                    yield bytes([0xC4, 0xE0 | map_, wide | 0x78 | length << 2 | pp, opcode]) + tail
            for length, rest in vector_forms(reg, has_all):
                for map_ in (1, 2, 3, 5, 6):
                    yield bytes([0x62, 0xF0 | map_, wide | 0x7C | pp, length << 5 | rest, opcode]) + tail


def stream_of(blocks):
    return b"".join(code.ljust(BLOCK, b"\x90") for code in blocks)


def disassemble_blocks(blocks, syntax):
    """{address: (size, text)} of blocks in a row."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(stream_of(blocks))
        file.flush()
        return theirs("objdump", file.name, "-M", syntax, "-b", "binary", "-m", "i386:x86-64", "-j", ".data", "-D")


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
    answer = subprocess.run([access_of, "x86_64"], input=stream_of(blocks), stdout=subprocess.PIPE, check=True)
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


def compare_files(files, compared, options):
    """Texts, lengths and accesses; returns results of compare()."""
    results = []
    for path in files:
        if machine_of(path) != EM_X86_64 or (text := text_section("objdump", path)) is None:
            continue
        address, code = text
        if not options.all:
            code = code[:SOME_BYTES]
        limit = f"--stop-address={address + len(code):#x}"
        compared.compare(path.name, theirs("objdump", path, limit),
                         ours(options.disassemble, "x86_64", "att", address, code))
        intel = theirs("objdump", path, limit, "-M", "intel")
        seen = {code[at - address:at - address + size]: text for at, (size, text) in intel.items()}
        results.append(compare(path.name, list(seen), list(seen.values()), ask(options.access_of, list(seen)), options,
                               "crypto" not in path.name))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("disassemble")
    parser.add_argument("access_of")
    parser.add_argument("--all", action="store_true", help="all code of each file, more forms of each opcode")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if shutil.which("objdump") is None or "elf64-x86-64" not in subprocess.run(
            ["objdump", "-i"], text=True, capture_output=True, check=False).stdout:
        print("skipped: no objdump of x86")
        sys.exit(SKIPPED)
    compared = Compared()
    files = options.files or [path for path in map(pathlib.Path, DEFAULT_FILES) if path.exists()]
    results = compare_files(files, compared, options)
    if not options.files:
        blocks = list(opcode_blocks(options.all))
        intel = disassemble_blocks(blocks, "intel")
        texts = [intel.get(BLOCK * i, (0, None))[1] for i in range(len(blocks))]
        results.append(compare("opcodes", blocks, texts, ask(options.access_of, blocks), options, False))
        compared.compare("opcodes", *(first_ones(found) for found in (
            disassemble_blocks(blocks, "att"), ours(options.disassemble, "x86_64", "att", 0, stream_of(blocks)))), are_apart=True)
    for name, count in sorted(compared.by_rule.items()):
        print(f"{count:9} {name}")
    n_wrong, n_equal = map(sum, zip(*results))
    print(f"{len(results)} files, {compared.n} instructions: {compared.n_wrong} differ in text or length; "
          f"{n_equal} different ones that access memory: {n_wrong} do so otherwise")
    if compared.n_wrong or n_wrong or not n_equal:
        sys.exit(1)
    print("ok")


main()
