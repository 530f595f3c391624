#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks isa_access() on all of A64's loads and stores against the text of a disassembler.

usage: a64_access.py ACCESS_OF [--seed N]

Every value of bits 31:10 in the groups "loads and stores", SVE, SME and of system instructions
is tried, with random registers in bits 9:0. What a word accesses is worked out here from
mnemonic and operands, which is quite another way than the table of encodings. Where the numbers
of registers make a word undefined (odd ones for pairs, the same for two operands), and the
disassembler says so, the word is tried again with other registers: isa_access() does not look
at them.
"""

import argparse
import array
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

LOAD, STORE, ATOMIC, EXCLUSIVE, ACQUIRE, RELEASE, PREFETCH, VECTOR, SCALABLE, STRIDED, CACHE = (
    1 << i for i in range(11))

TOOLS = ["llvm-objdump-19", "llvm-objdump"]
SKIPPED = 77

UNKNOWN = "<unknown>"
NO_INSTRUCTION = (0xFFFFFFFF, 0xFFFFFFFF)

REGISTER_BYTES = {"w": 4, "x": 8, "b": 1, "h": 2, "s": 4, "d": 8, "q": 16}
SUFFIX_BYTES = {"b": 1, "sb": 1, "h": 2, "sh": 2, "w": 4, "sw": 4, "d": 8, "q": 16}


# (mask, match) of SME words that compute: isa_access() does not tell undefined ones apart.
SME_ARITHMETIC = [(0xBE00_0000, 0x8000_0000), (0xFE80_0000, 0xA080_0000)]


def register(operands, index=0):
    """(bytes, is SIMD) of the register operand with this number."""
    name = operands.split(", ")[index]
    if re.fullmatch(r"wsp|wzr|w\d+", name):
        return 4, False
    if re.fullmatch(r"sp|xzr|x\d+", name):
        return 8, False
    found = re.fullmatch(r"([bhsdq])\d+", name)
    return REGISTER_BYTES[found[1]], True


def ordered(letters):
    """Flags of the letters a, l, al behind an atomic's name."""
    return (ACQUIRE if "a" in letters else 0) | (RELEASE if "l" in letters else 0)


ONE_REGISTER = {
    "ldr": LOAD, "ldur": LOAD, "ldtr": LOAD, "str": STORE, "stur": STORE, "sttr": STORE,
    "ldraa": LOAD, "ldrab": LOAD, "ldar": LOAD | ACQUIRE, "ldlar": LOAD | ACQUIRE,
    "ldapr": LOAD | ACQUIRE, "ldapur": LOAD | ACQUIRE, "stlr": STORE | RELEASE,
    "stllr": STORE | RELEASE, "stlur": STORE | RELEASE, "gcsstr": STORE, "gcssttr": STORE,
    "ldxr": LOAD | EXCLUSIVE, "ldaxr": LOAD | EXCLUSIVE | ACQUIRE,
    "stxr": STORE | EXCLUSIVE, "stlxr": STORE | EXCLUSIVE | RELEASE,
}
TWO_REGISTERS = {
    "ldp": LOAD, "ldnp": LOAD, "stp": STORE, "stnp": STORE, "stgp": STORE,
    "ldiapp": LOAD | ACQUIRE, "stilp": STORE | RELEASE,
    "ldxp": LOAD | EXCLUSIVE, "ldaxp": LOAD | EXCLUSIVE | ACQUIRE,
    "stxp": STORE | EXCLUSIVE, "stlxp": STORE | EXCLUSIVE | RELEASE,
}
WHOLE = {
    "ldpsw": (8, LOAD), "ld64b": (64, LOAD), "st64b": (64, STORE), "st64bv": (64, STORE),
    "st64bv0": (64, STORE), "ldg": (0, LOAD), "ldgm": (0, LOAD), "stg": (0, STORE),
    "stgm": (0, STORE), "st2g": (0, STORE), "stzg": (16, STORE), "stz2g": (32, STORE),
    "stzgm": (0, STORE), "prfm": (0, PREFETCH), "prfum": (0, PREFETCH), "rprfm": (0, PREFETCH),
    "prfb": (0, PREFETCH), "prfh": (0, PREFETCH), "prfw": (0, PREFETCH), "prfd": (0, PREFETCH),
}
DC = {"zva": (64, STORE | CACHE), "gzva": (64, STORE | CACHE), "gva": (0, STORE | CACHE)}

ARITHMETIC = "add|clr|eor|set|smax|smin|umax|umin"
ATOMIC_NAME = re.compile(rf"(?:ld(?:{ARITHMETIC})|swp|cas)(a|al|l|)(b|h|)")
ATOMIC_STORE = re.compile(rf"st(?:{ARITHMETIC})(l|)(b|h|)")
ATOMIC_PAIR = re.compile(r"(?:ldclrp|ldsetp|swpp|rcws?(?:cas|clr|set|swp)p)(a|al|l|)")
READ_CHECK_WRITE = re.compile(r"rcws?(?:cas|clr|set|swp)(a|al|l|)")
SIMD_LIST = re.compile(r"\{ (v\d+\.\S+(?:(?:, | - )v\d+\.\S+)*) \}(\[\d+\])?, .*")
SVE_NAME = re.compile(r"(ld|ldff|ldnf|ldnt|st|stnt)([1-4])(r|rq|ro|)(b|sb|h|sh|w|sw|d|q)")
SVE_LIST = re.compile(r"\{ (z\d+\.([bhsdq])(?:(?:, | - )z\d+\.[bhsdq])*) \}, (.*)")


def registers_of(text, modulus=32):
    """How many registers a list "v0.16b, v1.16b" or "z1.d - z4.d" names."""
    numbers = [int(number) for number in re.findall(r"[vz](\d+)\.", text)]
    if " - " in text:
        return (numbers[1] - numbers[0]) % modulus + 1
    return len(numbers)


def simd_structure(name, operands):
    """LD1 … ST4 of SIMD, and LD1R …"""
    text, index = SIMD_LIST.fullmatch(operands).groups()
    n = registers_of(text)
    element = REGISTER_BYTES[re.search(r"\.\d*([bhsd])", text)[1]]
    lanes = int((re.search(r"\.(\d+)[bhsd]", text) or [0, "1"])[1])
    flags = (LOAD if name.startswith("ld") else STORE) | VECTOR
    if name in ("ldap1", "stl1"):
        return n * element, flags | (ACQUIRE if name == "ldap1" else RELEASE)
    if index or name.endswith("r"):
        return n * element, flags
    return n * element * lanes, flags


def sve_structure(name, operands):
    """Contiguous, structured and gathering loads and stores of vectors, for 128 bits of vector."""
    op, structure, repeat, size = SVE_NAME.fullmatch(name).groups()
    flags = (LOAD if op.startswith("ld") else STORE) | VECTOR
    if re.match(r"\{ ?za", operands):
        return 16, flags | SCALABLE
    registers, element, rest = SVE_LIST.fullmatch(operands).groups()
    if repeat:
        return {"r": SUFFIX_BYTES[size], "rq": 16, "ro": 32}[repeat], flags
    flags |= SCALABLE
    elements = 16 // REGISTER_BYTES[element]
    if re.search(r"\[.*z\d+\.", rest):
        flags |= STRIDED
    return elements * SUFFIX_BYTES[size] * registers_of(registers), flags


def sve_whole(name, operands):
    """LDR and STR of Z, P, ZA, ZT0."""
    flags = (LOAD if name == "ldr" else STORE) | VECTOR
    if operands.startswith("zt0"):
        return 64, flags
    return (2 if operands.startswith("p") else 16), flags | SCALABLE


def one_register(name, operands):
    """Loads and stores of one register, or None."""
    for suffix in ("sb", "sh", "sw", "b", "h", ""):
        base = name.removesuffix(suffix)
        if base not in ONE_REGISTER or not name.endswith(suffix):
            continue
        flags = ONE_REGISTER[base]
        size, is_simd = register(operands, 1 if flags & EXCLUSIVE and flags & STORE else 0)
        return SUFFIX_BYTES.get(suffix, size), flags | (VECTOR if is_simd else 0)
    return None


def atomic(name, operands):
    """Single instructions that read and write, or None."""
    both = LOAD | STORE | ATOMIC
    for pattern in (ATOMIC_NAME, ATOMIC_STORE):
        if found := pattern.fullmatch(name):
            size = SUFFIX_BYTES.get(found[2]) or register(operands)[0]
            return size, both | ordered(found[1])
    if found := ATOMIC_PAIR.fullmatch(name):
        return 16, both | ordered(found[1])
    if found := READ_CHECK_WRITE.fullmatch(name):
        return 8, both | ordered(found[1])
    if found := re.fullmatch(r"casp(a|al|l|)", name):
        return 2 * register(operands)[0], both | ordered(found[1])
    return None


def expected(name, operands):
    """(bytes, flags) of an instruction by its text."""
    if name in WHOLE:
        return WHOLE[name]
    if name in ("ldr", "str") and re.match(r"z|p", operands):
        return sve_whole(name, operands)
    if name in TWO_REGISTERS:
        flags = TWO_REGISTERS[name]
        size, is_simd = register(operands, 1 if flags & EXCLUSIVE and flags & STORE else 0)
        return 2 * size, flags | (VECTOR if is_simd else 0)
    if re.fullmatch(r"(?:ld|st)[1-4]r?|ldap1|stl1", name):
        return simd_structure(name, operands)
    if SVE_NAME.fullmatch(name):
        return sve_structure(name, operands)
    if re.match(r"cpyf?[pme]", name):
        return 0, LOAD | STORE
    if re.match(r"setg?[pme]", name):
        return 0, STORE
    if name == "dc":
        return DC.get(operands.split(",")[0], (0, CACHE))
    if name == "sys" and re.match(r"#0x6, c7, c14, #0x[15]", operands):
        return 0, CACHE  # DC CIPAPA, CIGDPAPA
    if name == "ic":
        return 0, CACHE
    return one_register(name, operands) or atomic(name, operands) or (0, 0)


def words(seed):
    """The words to try."""
    rng = random.Random(seed)
    for top in range(1 << 20):
        yield ((top >> 16) << 28 | 1 << 27 | (top >> 15 & 1) << 26 | (top & 0x7FFF) << 10
               | rng.getrandbits(10))
    for group in (0b0010, 0b0000):
        for top in range(1 << 17):
            yield (1 << 31 | (top >> 15) << 29 | group << 25 | (top & 0x7FFF) << 10
                   | rng.getrandbits(10))
    for top in range(1 << 14):
        yield 0xD508_0000 | top << 5 | rng.getrandbits(5)


def elf(code):
    """An object file with this code and nothing else."""
    names = b"\0.text\0.shstrtab\0"
    code_at, names_at = 64, 64 + len(code)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 183, 1, 0, 0,
                       names_at + len(names), 0, 64, 0, 0, 64, 3, 2)

    def section(name, kind, flags, at, size):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, at, size, 0, 0, 4, 0)

    return (head + code + names + bytes(64) + section(1, 1, 6, code_at, len(code))
            + section(7, 3, 0, names_at, len(names)))


LINE = re.compile(r" *[0-9a-f]+:\s+(?P<word>[0-9a-f]{8})\s+(?P<name>\S+)\s*(?P<operands>.*)")


def disassemble(tool, code):
    """Yields (word, mnemonic, operands)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "words.o")
        path.write_bytes(elf(code))
        command = [tool, "-d", "--mattr=+all", path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if found := LINE.match(line):
                    operands = found["operands"].split(" // ")[0].strip()
                    yield int(found["word"], 16), found["name"], operands
        if process.returncode != 0:
            sys.exit(f"{tool} failed")


def wanted_of(text):
    """What isa_access() should say of (word, mnemonic, operands)."""
    word, name, operands = text
    if name == UNKNOWN:
        computes = any(word & mask == match for mask, match in SME_ARITHMETIC)
        return (0, 0) if computes else NO_INSTRUCTION
    return expected(name, operands)


def reread(tool, texts, found):
    """Replaces the texts of undefined words that were taken for accesses: other registers."""
    for rm in (6, 31):
        again = [i for i, text in enumerate(texts)
                 if text[1] == UNKNOWN and found[i] not in (NO_INSTRUCTION, (0, 0))]
        others = [texts[i][0] & ~0x001F03FF | rm << 16 | 4 << 5 | 2 for i in again]
        code = b"".join(struct.pack("<I", word) for word in others)
        for i, (_, name, operands) in zip(again, disassemble(tool, code)):
            texts[i] = (texts[i][0], name, operands)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("access_of")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tool = next(filter(shutil.which, TOOLS), None)
    if tool is None:
        print("skipped: no llvm-objdump")
        sys.exit(SKIPPED)
    every = array.array("I", words(options.seed))
    if sys.byteorder == "big":
        every.byteswap()
    code = every.tobytes()
    answer = subprocess.run([options.access_of], input=code, stdout=subprocess.PIPE, check=True)
    found = list(struct.iter_unpack("<II", answer.stdout))
    texts = list(disassemble(tool, code))
    if not len(every) == len(found) == len(texts):
        sys.exit(f"{len(every)} words, {len(found)} answers, {len(texts)} lines of {tool}")
    reread(tool, texts, found)
    wrong = [(text, has) for text, has in zip(texts, found) if has != wanted_of(text)]
    for text, has in wrong[:40]:
        print(f"{text[0]:08x} {text[1]} {text[2]}: found {has}, wanted {wanted_of(text)}")
    if wrong:
        sys.exit(f"{len(wrong)} of {len(every)} words are decoded otherwise")
    n_memory = sum(has not in (NO_INSTRUCTION, (0, 0)) for has in found)
    print(f"ok a64 access: {len(every)} words, {n_memory} access memory")


main()
