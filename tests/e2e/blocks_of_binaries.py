#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Basic blocks of the functions of real programs, against an independent reading of their code, by objdump: each
instruction is in exactly one block, the target of each direct branch begins one, and nothing else does.

usage: blocks_of_binaries.py [--each N] CYCLOPS WRITE-SAMPLES DATA_DIR [PROGRAM]...
       blocks_of_binaries.py --debian FOLDER CYCLOPS WRITE-SAMPLES DATA_DIR

Functions are those that the program's unwinding information lists, and its symbols, also of stripped programs. Each
is asked for by itself: by its address if it has a symbol, else as a range. Of the AArch64 programs of DATA_DIR,
libraries of a cross compiler, and programs of this machine; PROGRAMs are others. --each takes one function of N.
--debian takes all functions of twenty binaries of Debian, downloaded into FOLDER with apt-get as model_debian.py does:
libc, libm, libz, liblzma, libzstd, bash, lua5.4, pigz, libreadline and libsqlite3 of Debian 12, 11 566 functions of AArch64
and 12 226 of x86-64, all as objdump has them.
"""

import argparse
import bisect
import collections
import concurrent.futures
import csv
import glob
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import model_debian
import objdump
from harness import ENVIRONMENT, NO_DATA, Checks

FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)$")
MAPPED = 0x1000000  # of the file, by write-samples
MACHINES = {183: ("aarch64", "0x00000000410fd0c0"), 62: ("x86_64", "GenuineIntel,6,85,4")}
OBJDUMPS = {"aarch64": "aarch64-linux-gnu-objdump", "x86_64": "objdump"}
PLACES = ("/usr/aarch64-linux-gnu/lib/*.so*", "/usr/bin/*")
MOST_OF_A_PLACE = 8
IP = 0x400000
CHUNK = 100

PACKAGES = ["libc6", "zlib1g", "liblzma5", "libzstd1", "bash", "lua5.4", "pigz", "libreadline8", "libsqlite3-0"]
BINARIES = ["libc.so.6", "libm.so.6", "libz.so.1.*", "liblzma.so.5.*", "libzstd.so.1.*", "bash", "lua5.4", "pigz", "libreadline.so.8.*",
            "libsqlite3.so.0.*"]

# By machine, of the texts of objdump: a branch with a target; what follows it begins a block (calls aside).
BRANCHES = {"aarch64": r"(b|b\.\w+|bc\.\w+|cbz|cbnz|tbz|tbnz)$", "x86_64": r"(bnd |notrack )*(j\w+|loop\w*|xbegin)(,p[nt])?$"}
CALLS = {"aarch64": r"bl$", "x86_64": r"(bnd |data16 |rex.W )*call\w*$"}
ENDS = {"aarch64": r"(ret\w*|br|bra\w+|udf|eret\w*)$", "x86_64": r"(rep |repz |bnd |notrack )*(ret\w*|jmp\w*|lret\w*|iret\w*|hlt|ud[012]\w?)$"}
WITH_WAIT = re.compile(r"f(stcw|stsw|init|clex|save|stenv)\b")
REMARKS = {"aarch64": "//", "x86_64": "#"}
PREFIX = re.compile(r"(?:(?:bnd|notrack|rep|repz|data16|rex\.W) )*[\w.,]+")


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
        if strings[name:name + 6] == b".text\0" and offset + length < MAPPED:
            return MACHINES[machine], address, offset, length
    return None


def programs(data):
    found = sorted(glob.glob(f"{data}/root/opt/*/*"))
    for place in PLACES:
        files = [path for path in glob.glob(place) if os.path.isfile(path) and not os.path.islink(path)]
        here = [path for path in sorted(files, key=lambda path: (os.path.getsize(path), path))
                if 30_000 < os.path.getsize(path) < 2_000_000 and text_of(path)]
        found += here[::max(1, len(here) // MOST_OF_A_PLACE)][:MOST_OF_A_PLACE]
    return [path for path in found if os.path.isfile(path) and text_of(path)]


def debian_programs(folder):
    found = []
    for architecture in ("arm64", "amd64"):
        root = model_debian.fetch(folder / architecture, PACKAGES, architecture)
        for name in BINARIES:
            files = [path for path in root.glob(f"**/{name}") if path.is_file() and not path.is_symlink() and text_of(path)]
            found += [str(files[0])] if files else []
    return found


def functions_of(path, first, end):
    """{(from, to): has a symbol} in .text."""
    found = {}
    # readelf ends with 1 where it has warnings
    frames = subprocess.run(["readelf", "-W", "--debug-dump=frames", path], capture_output=True, text=True, check=False).stdout
    for line in frames.splitlines():
        if match := FDE.match(line):
            found[int(match[1], 16), int(match[2], 16)] = False
    for table in ("-D", "-a"):
        names = subprocess.run(["nm", "-S", "--defined-only", table, path], capture_output=True, text=True, check=False).stdout
        for line in names.splitlines():
            fields = line.split()
            if len(fields) == 4 and fields[2] in "TtWi" and int(fields[1], 16) > 0:
                start = int(fields[0], 16)
                found[start, start + int(fields[1], 16)] = True
    return {(a, b): named for (a, b), named in found.items() if first <= a < b <= end}


class Code:
    """A program as objdump reads it."""

    def __init__(self, path, arch):
        self.path, self.arch = pathlib.Path(path), arch
        self.texts = objdump.theirs(OBJDUMPS[arch], self.path)
        self.starts = sorted(self.texts)

    def between(self, start, end):
        """[(address, size, text)]; None where objdump's reading of the whole is out of step at the start or the end."""
        at = bisect.bisect_left(self.starts, start)
        found = []
        while at < len(self.starts) and self.starts[at] < end:
            found.append((self.starts[at], *self.texts[self.starts[at]]))
            at += 1
        if not found or found[0][0] != start or found[-1][0] + found[-1][1] != end:
            texts = objdump.theirs(OBJDUMPS[self.arch], self.path, f"--start-address={start:#x}", f"--stop-address={end:#x}")
            found = [(address, *texts[address]) for address in sorted(texts)]
        # objdump has one text for FWAIT and the instruction behind it
        return [part for address, size, text in found for part in (
            ((address, 1, "fwait"), (address + 1, size - 1, text)) if self.arch == "x86_64" and WITH_WAIT.match(text)
            else ((address, size, text),))]

    def leaders(self, instructions, counts):
        """Where blocks have to begin."""
        where = {address for address, _, _ in instructions}
        heads = {instructions[0][0]}
        for address, size, text in instructions:
            mnemonic = PREFIX.match(text)[0]
            operands = text[len(mnemonic):].split(REMARKS[self.arch])[0]
            is_branch = re.match(BRANCHES[self.arch], mnemonic)
            target = re.search(r"(?:^|[\s,])([0-9a-f]+) <[^>]*(?:<[^>]*>[^>]*)*>\s*$", operands)
            if (is_branch or re.match(CALLS[self.arch], mnemonic)) and target and int(target[1], 16) in where:
                counts["targets of direct branches and calls"] += 1
                heads.add(int(target[1], 16))
            if (is_branch or re.match(ENDS[self.arch], mnemonic)) and address + size in where:
                counts["ends of blocks"] += 1
                heads.add(address + size)
        return heads


def ask(cyclops, capture, where):
    """Rows of the table of blocks: (start, end, instructions); or the error."""
    words = (cyclops, "blocks", "-j", "1", "--symfs", "/", "--format", "csv", "--table", "blocks", "-i", capture, where)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode not in (0, NO_DATA) or not done.stdout:
        return done.stderr.splitlines()[:1]
    return [(int(row["start"], 0), int(row["end"], 0), int(row["instructions"])) for row in csv.DictReader(done.stdout.splitlines())]


def check_function(checks, code, name, span, rows):
    start, end = span
    if not rows or not isinstance(rows[0], tuple):
        checks.fail(f"{name} {start:#x}..{end:#x}: {rows}")
        return
    instructions = code.between(start, end)
    heads = code.leaders(instructions, checks.counts)
    addresses = [address for address, _, _ in instructions]
    edges = [row[0] for row in rows] + [rows[-1][1]]
    checks.expect(edges[0] == start and edges[-1] == end and all(a[1] == b[0] for a, b in zip(rows, rows[1:])),
                  f"{name} {start:#x}..{end:#x}: blocks from {edges[0]:#x} to {edges[-1]:#x}, or not one behind the other")
    for first, last, n in rows:
        here = bisect.bisect_left(addresses, last) - bisect.bisect_left(addresses, first)
        checks.expect(here == n, f"{name}: the block {first:#x}..{last:#x} has {n} instructions, not {here}")
    ours = {row[0] for row in rows}
    checks.expect(heads == ours, f"{name} {start:#x}..{end:#x}: no block begins at {[hex(x) for x in sorted(heads - ours)[:3]]}, "
                                 f"one does at {[hex(x) for x in sorted(ours - heads)[:3]]}")
    checks.count(f"instructions of {code.arch}", len(instructions))
    checks.count(f"functions of {code.arch}")


def check_program(checks, cyclops, write_samples, folder, path, each):
    (arch, cpuid), address, offset, size = text_of(path)
    code, name = Code(path, arch), os.path.basename(path)
    functions = functions_of(path, address, address + size)
    spans = sorted(functions)[::each]
    alike = collections.Counter(start for start, _ in functions)

    def rows_of(number):
        span = spans[number]
        where = f"{span[0]:#x}" if functions[span] and alike[span[0]] == 1 else f"{span[0]:#x}..{span[1]:#x}"
        return ask(cyclops, os.path.join(folder, f"{number // CHUNK}.data"), where)

    # a sample in each function, in captures of some of them
    for first in range(0, len(spans), CHUNK):
        lines = "E cycles 0 0 0 100 0\n" + "".join(
            f"S 0 0 64 64 {5000 + 16 * i:x} {IP + offset + start - address:x} 0 3e8 0 0 0 0 2\n"
            for i, (start, _) in enumerate(spans[first:first + CHUNK]))
        capture = os.path.join(folder, f"{first // CHUNK}.data")
        subprocess.run([write_samples, capture, os.path.realpath(path), arch, cpuid], input=lines.encode(), check=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for span, rows in zip(spans, pool.map(rows_of, range(len(spans)))):
            check_function(checks, code, name, span, rows)
    checks.count(f"programs of {arch}")
    print(f"{len(spans)} of {len(functions)} functions of {path}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--debian", type=pathlib.Path)
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("write_samples", type=os.path.abspath)
    parser.add_argument("data", type=os.path.abspath)
    parser.add_argument("programs", nargs="*")
    words = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-binaries-") as folder:
        for path in words.programs or (debian_programs(words.debian) if words.debian else programs(words.data)):
            if shutil.which(OBJDUMPS[text_of(path)[0][0]]) is None:
                print(f"not tried, no objdump of its kind: {path}")
                continue
            check_program(checks, words.cyclops, words.write_samples, folder, path, words.each)
    checks.finish()


if __name__ == "__main__":
    main()
