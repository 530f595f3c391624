#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prefetch hints out of sampled loads: prefetch.py [--clang CLANG] CYCLOPS WRITE-SAMPLES.

The samples are of loads of a real program, at the addresses of its code, which walk as that code does. Each load of a constant
stride that misses gets a hint as many iterations ahead as its latency takes, others get none, and the messages count
them. Strange names of functions change nothing else in profiles for compilers. With --clang, that compiler reads the hints, and the prefetches stand before the right loads in what it makes.
"""

import argparse
import collections
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile

from branch_program import ANY, lines_of_capture
from harness import ENVIRONMENT, NO_DATA, Checks, need, run, skip
import profiles

HERE = pathlib.Path(__file__).resolve().parent
PID, BASE, GHZ = 500, 0x20000000, 3
ADDRESS, PERIOD, WEIGHT, DATA_SRC = 1 << 3, 1 << 8, 1 << 14, 1 << 15
L1 = 2 | (2 | 8) << 5
DRAM = 2 | (2 | 0x80) << 5
NODE, LINE = 128, 64
TELL_LOADS_APART = ["-fdebug-info-for-profiling", "-mllvm", "-x86-discriminate-memops"]
EVERY = 1000  # iterations between two samples, about

# Bytes in an iteration (None: anywhere), nanoseconds of it, cycles of a load, samples, where from.
Walk = collections.namedtuple("Walk", "step ns cycles n source")
SLOW = {
    "strided": Walk(NODE, 5, 290, 400, DRAM),
    "backwards": Walk(-NODE, 40, 290, 300, DRAM),
    "inlined": Walk(NODE, 300, 200, 200, DRAM),
    "gather": Walk(None, 5, 290, 300, DRAM),
}
FAST = {"strided": Walk(NODE, 5, 5, 400, L1), "backwards": Walk(-NODE, 40, 290, 9, DRAM),
        "inlined": Walk(NODE, 2, 60000, 18, DRAM), "gather": Walk(None, 5, 290, 300, DRAM)}
STRANGE = {b"strided": b'a;"<&: ', b"backwards": b"b\xff</sc\xe2rp", b"inlined": b"c'\\ 1:2", b"gather": b"d]]>%s"}
LINE_OF_PROFILE = re.compile(r"\S+:\d+:\d+|( +)\d+(\.\d+)?: (\d+( __prefetch_t0_0:\d+)?|\S+:\d+)")


def compile_program(folder, compiler, *flags, source="prefetch_program.c", name="program"):
    path = folder / name
    subprocess.run([compiler, "-O1", "-g", *flags, "-no-pie", "-o", path, HERE / source], check=True)
    return path


def loads(program, functions=tuple(SLOW)):
    """The only load of each function, and its text: {function: (address, operand)}."""
    found = {}
    for block in run("objdump", "-d", "--no-show-raw-insn", program).decode().split("\n\n"):
        name = re.match(r"\n?[0-9a-f]+ <(\w+)>:", block)
        if name is None or name[1] not in functions:
            continue
        reads = re.findall(r"^ *([0-9a-f]+):\t(?!lea|nop|cs nop|data16|prefetch)\S+ +(?:\$0x0,)?(-?[0-9a-fx]*\([^)]*\)),", block, re.M)
        if len(reads) != 1:
            raise SystemExit(f"{name[1]}: {len(reads)} loads in\n{block}")
        found[name[1]] = (int(reads[0][0], 16), reads[0][1])
    return found


def samples(walks, at):
    rng = random.Random(1)
    yield f"E mem-loads 4 1cd 3 {ADDRESS | PERIOD | WEIGHT | DATA_SRC:x} 0"
    time = 1_000_000
    for name, walk in walks.items():
        iteration = 0
        for _ in range(walk.n):
            before, iteration = iteration, iteration + EVERY + rng.randrange(64)
            time += (iteration - before) * walk.ns
            if walk.step is None:
                address = BASE + 8 * rng.randrange(1 << 20)
            else:
                address = BASE + 0x8000000 + walk.step * iteration
            yield (f"S 0 0 {PID:x} {PID:x} {int(time):x} {at[name][0]:x} {address:x} {EVERY:x} {walk.cycles:x} 0 0 "
                   f"{walk.source:x} 2")


def ahead(walk):
    """How far, by the truth that the samples were made of."""
    iterations = max(math.ceil(walk.cycles / GHZ / walk.ns), math.ceil(LINE / abs(walk.step)))
    return iterations * walk.step


def hints(text):
    """{function: bytes ahead} of a profile, whose grammar is checked; of inlined code, by the outermost function."""
    found, function = {}, None
    for line in text.splitlines():
        if LINE_OF_PROFILE.fullmatch(line) is None:
            raise SystemExit(f"not a line of a sample profile: {line!r}")
        if not line.startswith(" "):
            function = line.split(":")[0]
        elif "__prefetch" in line:
            number = int(line.rsplit(":", 1)[1])
            found[function] = number - (1 << 64 if number >> 63 else 0)
    return found


def export(cyclops, capture, *options):
    done = subprocess.run([cyclops, "export", "--format", "prefetch", "--symfs", "/", *options, capture], env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), " ".join(done.stderr.decode().split())


def back_edges(program):
    """By function: the address of the branch that closes its loop, and where it goes."""
    found = {}
    for block in run("objdump", "-d", "--no-show-raw-insn", program).decode().split("\n\n"):
        name = re.match(r"\n?[0-9a-f]+ <(\w+)>:", block)
        jumps = [(int(at, 16), int(to, 16)) for at, to in re.findall(r"^ *([0-9a-f]+):\tj\S+ +([0-9a-f]+)", block, re.M)]
        if name and name[1] in SLOW:
            found[name[1]] = next((at, to) for at, to in jumps if to < at)
    return found


def write_capture(write_samples, capture, program, walks, at):
    text = "\n".join(samples(walks, at)) + "\n"
    subprocess.run([write_samples, capture, program, "x86_64", "GenuineIntel-6-8F-8"], input=text.encode(), check=True)


class Test:
    def __init__(self, checks, cyclops, write_samples, folder, program):
        self.checks, self.cyclops, self.write_samples = checks, cyclops, write_samples
        self.capture, self.program, self.at = folder / "loads.data", program, loads(program)

    def write(self, walks):
        write_capture(self.write_samples, self.capture, self.program, walks, self.at)

    def strides(self):
        self.write(SLOW)
        status, text, messages = export(self.cyclops, self.capture, "--ghz", str(GHZ))
        expected = {name: ahead(walk) for name, walk in SLOW.items() if walk.step is not None}
        found = hints(text)
        self.checks.expect(status == 0 and found == expected, f"found {found}, expected {expected}: {messages}")
        for words in ("3 prefetches in 3 functions, of 4 loads", "1200 samples of loads", "at 3 GHz (given)",
                      "1 without a constant stride"):
            self.checks.expect(words in messages, f"{words!r} is not in {messages!r}")
        self.checks.expect(re.search(r"^inlined:.*\n \d+(?:\.\d+)?: inside:\d+\n  \d+(\.\d+)?: 200 __prefetch_t0_0:", text, re.M)
                           is not None, f"no inlined hint in\n{text}")
        for threads in "1", "3":
            again = export(self.cyclops, self.capture, "--ghz", str(GHZ), "-j", threads)
            self.checks.expect(again == (status, text, messages), f"-j{threads}: another profile")
        return text

    def nothing(self):
        """Loads that hit, that are few, and whose walk ends before what is ahead arrives."""
        self.write(FAST)
        status, text, messages = export(self.cyclops, self.capture, "--ghz", str(GHZ))
        self.checks.expect(status == NO_DATA and text == "", f"status {status}: {text}")
        for words in ("nothing to prefetch", "1 with too few samples", "1 that mostly hit the L1 cache",
                      "1 without a constant stride", "1 whose walk is too short"):
            self.checks.expect(words in messages, f"{words!r} is not in {messages!r}")
        status, text, messages = export(self.cyclops, self.capture)
        self.checks.expect(status == NO_DATA and "give --ghz" in messages, f"without a clock: {status} {messages}")


    def strange_names(self):
        """The same profiles as with plain names, but for the names."""
        stacks = [(at, [(at, to, 0)] * 16) for at, to in back_edges(self.program).values() for _ in range(50)]
        branches, renamed = self.capture.with_name("branches.data"), self.program.read_bytes()
        subprocess.run([self.write_samples, branches, self.program, "x86_64", "GenuineIntel-6-8F-8"], check=True,
                       input="\n".join(lines_of_capture("br_inst_retired.near_taken", (4, 0x20c4), ANY, 97, stacks)).encode() + b"\n")
        self.write(SLOW)
        cases = [("prefetch", self.capture, ("--ghz", str(GHZ))), ("bolt", self.capture, ()),
                 *((name, branches, ()) for name in ("autofdo", "bolt", "bolt-pre-aggregated"))]
        texts = []
        for plain, strange in STRANGE.items():
            self.checks.expect(renamed.count(plain + b"\0") > 0 and len(plain) == len(strange), f"{plain} is not in the program")
            renamed = renamed.replace(plain + b"\0", strange + b"\0")
        for program in self.program.read_bytes(), renamed:
            self.program.write_bytes(program)
            texts.append([run(self.cyclops, "export", "--format", name, "--symfs", "/", *words, capture)
                          for name, capture, words in cases])
        for (name, capture, _), text, found in zip(cases, *texts):
            for plain, strange in STRANGE.items():
                shown = profiles.bolt_name(strange) if name.startswith("bolt") else profiles.sample_name(strange)
                text = re.sub(rb"\b" + plain + rb"\b", shown.replace(b"\\", b"\\\\"), text)
            self.checks.equal(f"{name} of {capture.name}: lines with strange names", sorted(found.splitlines()), sorted(text.splitlines()))
            self.checks.expect(name == "bolt-pre-aggregated" or b"b\xff</sc\xe2rp" in found, f"{name}: no strange names")


def prefetches(program):
    """{function: (displacement beyond that of the load behind it)} of a program's code."""
    found = {}
    for block in run("objdump", "-d", "--no-show-raw-insn", program).decode().split("\n\n"):
        name = re.match(r"\n?[0-9a-f]+ <(\w+)>:", block)
        pairs = re.findall(r"prefetcht0 (-?[0-9a-fx]*)(\([^)]*\))\n *[0-9a-f]+:\t\S+ +(-?[0-9a-fx]*)(\([^)]*\))", block)
        for there, register, here, same in pairs:
            if register == same:
                found[name[1]] = int(there or "0", 16) - int(here or "0", 16)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang")
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("write_samples", type=os.path.abspath)
    arguments = parser.parse_args()
    if os.uname().machine != "x86_64":
        skip("LLVM inserts prefetches for x86 alone, and no compiler for it is here")
    need("objdump")
    compiler, flags = "cc", []
    if arguments.clang is not None:
        need(arguments.clang)
        compiler, flags = arguments.clang, TELL_LOADS_APART
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-prefetch-") as name:
        folder = pathlib.Path(name)
        program = compile_program(folder, compiler, *flags)
        test = Test(checks, arguments.cyclops, arguments.write_samples, folder, program)
        profile = test.strides()
        test.nothing()
        test.strange_names()
        checks.count("captures", 2)
        if arguments.clang is not None:
            (folder / "hints.prof").write_text(profile)
            again = compile_program(folder, compiler, *flags, "-mllvm", f"-prefetch-hints-file={folder / 'hints.prof'}")
            expected = {name: ahead(walk) for name, walk in SLOW.items() if walk.step is not None}
            checks.expect(prefetches(again) == expected, f"in the code: {prefetches(again)}, expected {expected}")
            checks.count("compilations")
    checks.finish()


if __name__ == "__main__":
    main()
