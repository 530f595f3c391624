#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Cases of sharing with a known truth, and what `cyclops c2c` says of them.

usage: c2c_verdicts.py [--seeds N] [--samples N] CYCLOPS WRITE-ACCESSES

A case is a few threads that do certain instructions to certain bytes of a line. Samples of it
are drawn by lot; the instructions stand in a real AArch64 program, so their sizes can be read.
No verdict may be wrong; where there are enough samples, none may be missing.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile

from harness import Checks, need, run

COMPILER = "aarch64-linux-gnu-gcc"
BASE = 0x10000000
PID = 500

# Operation packets: docs/reference/spe-packets.md section 6.2.
LD, ST = 0x00, 0x01
SIMD = 0x04
ATOMIC, EXCLUSIVE, ORDERED = 0x06, 0x0A, 0x12
SVE, SVE_256 = 0x28, 0x38  # effective vectors of 128 and of 256 bits
PARTIAL = 1 << 17  # event: some elements were left out

L1, PEER = 0x0, 0x9

# Name: assembly, operation.
INSTRUCTIONS = {
    "ldrb": ("ldrb w0, [x1]", LD), "ldrh": ("ldrh w0, [x1]", LD),
    "ldrw": ("ldr w0, [x1]", LD), "ldrx": ("ldr x0, [x1]", LD),
    "ldpx": ("ldp x0, x2, [x1]", LD), "ldrq": ("ldr q0, [x1]", LD | SIMD),
    "strb": ("strb w0, [x1]", ST), "strh": ("strh w0, [x1]", ST),
    "strw": ("str w0, [x1]", ST), "strx": ("str x0, [x1]", ST),
    "stpx": ("stp x0, x2, [x1]", ST), "strq": ("str q0, [x1]", ST | SIMD),
    "stpq": ("stp q0, q1, [x1]", ST | SIMD),
    "st1": ("st1 {v0.16b-v3.16b}, [x1]", ST | SIMD),
    "ldarw": ("ldar w0, [x1]", LD | ORDERED), "ldarx": ("ldar x0, [x1]", LD | ORDERED),
    "stlrw": ("stlr w0, [x1]", ST | ORDERED), "stlrx": ("stlr x0, [x1]", ST | ORDERED),
    "ldaxrw": ("ldaxr w0, [x1]", LD | EXCLUSIVE), "stxrw": ("stxr w2, w0, [x1]", ST | EXCLUSIVE),
    "ldaxpx": ("ldaxp x0, x3, [x1]", LD | EXCLUSIVE),
    "stxpx": ("stxp w2, x0, x3, [x1]", ST | EXCLUSIVE),
    "ldaddw": ("ldadd w0, w2, [x1]", LD | ATOMIC), "ldaddx": ("ldaddal x0, x2, [x1]", LD | ATOMIC),
    "staddx": ("stadd x0, [x1]", ST | ATOMIC), "swpx": ("swpa x0, x2, [x1]", LD | ATOMIC),
    "casx": ("casal x0, x2, [x1]", LD | ATOMIC), "swpb": ("swpb w0, w2, [x1]", LD | ATOMIC),
    "st1d": ("st1d {z0.d}, p0, [x1]", ST | SVE), "st1d256": ("st1d {z0.d}, p0, [x1]", ST | SVE_256),
    "st1d?": ("st1d {z0.d}, p0, [x1]", ST | SIMD), "st2d256": ("st2d {z0.d,z1.d}, p0, [x1]", ST | SVE_256),
    "st1d256part": ("st1d {z0.d}, p0, [x1]", ST | SVE_256, PARTIAL),
    "st1w": ("st1w {z0.d}, p0, [x1]", ST | SVE), "gather": ("ld1d {z0.d}, p0/z, [x1, z1.d]", LD | SVE | 0x80),
}


def rmw(thread, load, store, offset, weight=1):
    """A load and a store of the same bytes."""
    return [(thread, load, offset, weight), (thread, store, offset, weight)]


def each(n, make):
    return [do for thread in range(n) for do in make(thread)]


# Name: what threads do as (thread, instruction, offset, weight), and what may be said of it:
# verdicts, and whether both kinds have to be found ("both").
CASES = {}


def case(name, dos, *truth, **more):
    CASES[name] = (dos, truth, more)


for size, letter in ((8, "x"), (4, "w"), (2, "h"), (1, "b")):
    case(f"adjacent counters of {size} bytes",
         rmw(0, "ldr" + letter, "str" + letter, 0) + rmw(1, "ldr" + letter, "str" + letter, size),
         "false-sharing")
    case(f"a true shared counter of {size} bytes",
         each(3, lambda t, l=letter: rmw(t, "ldr" + l, "str" + l, 24)), "true-sharing")
case("atomic counter of 8 bytes", each(4, lambda t: [(t, "ldaddx", 8, 1)]), "true-sharing")
case("atomic counter of 4 bytes", each(4, lambda t: [(t, "ldaddw", 12, 1)]), "true-sharing")
case("atomic adds without a result", each(3, lambda t: [(t, "staddx", 8, 1)]) + [(0, "ldrx", 8, 1)],
     "true-sharing")
case("adjacent atomic counters", each(4, lambda t: [(t, "ldaddx", 8 * t, 1)]), "false-sharing")
case("compare and swap of the same word", each(2, lambda t: [(t, "casx", 16, 1), (t, "ldrx", 16, 1)]),
     "true-sharing")
case("exchanges of neighbouring bytes", each(2, lambda t: [(t, "swpb", 3 + t, 1)]), "false-sharing")
case("spinlock with exclusives",
     each(2, lambda t: [(t, "ldaxrw", 0, 4), (t, "stxrw", 0, 2), (t, "stlrw", 0, 1)]), "true-sharing")
case("spinlock by exchange", each(3, lambda t: [(t, "swpx", 0, 3), (t, "stlrx", 0, 1)]), "true-sharing")
case("128-bit exclusives", each(2, lambda t: [(t, "ldaxpx", 16, 1), (t, "stxpx", 16, 1)]), "true-sharing")
case("128-bit exclusives beside a word",
     [(0, "ldaxpx", 16, 1), (0, "stxpx", 16, 1), (1, "ldrw", 32, 2)], "false-sharing")
case("128-bit exclusives over a word",
     [(0, "ldaxpx", 16, 1), (0, "stxpx", 16, 1), (1, "ldrw", 28, 2)], "true-sharing")
case("lock beside what another reads", [(0, "swpx", 0, 1), (0, "stlrx", 0, 1), (1, "ldrx", 32, 3)],
     "false-sharing")
case("lock with a counter beside what another reads",
     [(0, "swpx", 0, 1), *rmw(0, "ldrx", "strx", 8), (0, "stlrx", 0, 1), (1, "ldrx", 16, 4)],
     "false-sharing")
case("lock and the data it guards",
     each(2, lambda t: [(t, "swpx", 0, 2), *rmw(t, "ldrx", "strx", 8), (t, "stlrx", 0, 1)]),
     "true-sharing", guarded=True)
case("lock and what each of its threads has for itself",
     each(2, lambda t: [(t, "swpx", 0, 2), *rmw(t, "ldrx", "strx", 8 + 8 * t), (t, "stlrx", 0, 1)]),
     "true-sharing", "false-sharing", both=True)
case("lock and what its threads only read",
     each(2, lambda t: [(t, "swpx", 0, 2), (t, "ldrx", 8, 2), (t, "stlrx", 0, 1)]),
     "true-sharing", "false-sharing", both=True)
case("lock with its data, and another thread that takes no lock",
     each(2, lambda t: [(t, "swpx", 0, 2), *rmw(t, "ldrx", "strx", 8), (t, "stlrx", 0, 1)])
     + [(2, "ldrx", 32, 3)], "true-sharing", "false-sharing", both=True)
for n, step, letter in ((4, 16, "x"), (8, 8, "x"), (8, 4, "w"), (2, 32, "x")):
    case(f"a slot of {step} bytes for each of {n} threads",
         each(n, lambda t, s=step, l=letter: rmw(t, "ldr" + l, "str" + l, s * t)), "false-sharing")
case("head and tail of a ring, each read by both",
     [(0, "ldrx", 0, 1), (0, "strx", 0, 1), (0, "ldarx", 8, 1),
      (1, "ldrx", 8, 1), (1, "strx", 8, 1), (1, "ldarx", 0, 1)],
     "true-sharing", "false-sharing", both=True)
case("head and tail of a ring, each read by its owner",
     rmw(0, "ldrx", "stlrx", 0) + rmw(1, "ldrx", "stlrx", 8), "false-sharing")
case("a flag that another polls", [(0, "stlrw", 4, 1), (1, "ldarw", 4, 3)], "true-sharing")
case("a flag beside the one that is polled", [(0, "stlrw", 4, 1), (1, "ldarw", 0, 3)], "false-sharing")
case("unaligned store over a word", [(0, "strx", 4, 1), (1, "ldrx", 8, 2)], "true-sharing")
case("unaligned store beside a word", [(0, "strx", 3, 1), (1, "ldrw", 11, 2)], "false-sharing")
case("unaligned store over a byte", [(0, "strx", 1, 1), (1, "ldrb", 8, 2)], "true-sharing")
case("unaligned store beside a byte", [(0, "strx", 1, 1), (1, "ldrb", 9, 2)], "false-sharing")
case("byte flags, each its own", each(4, lambda t: rmw(t, "ldrb", "strb", t)), "false-sharing")
case("byte flags, all read at once", [(0, "strb", 5, 1), (1, "strb", 6, 1), (2, "ldrx", 0, 3)],
     "true-sharing", "false-sharing")
case("byte flags of one word, polled by another", [(0, "strb", 5, 1), (1, "ldrx", 0, 2)], "true-sharing")
case("vector store across a field", [(0, "strq", 0, 1), (1, "ldrw", 12, 2)], "true-sharing")
case("vector store beside a field", [(0, "strq", 0, 1), (1, "ldrw", 16, 2)], "false-sharing")
case("pair of vectors across a field", [(0, "stpq", 0, 1), (1, "ldrx", 24, 2)], "true-sharing")
case("pair of vectors beside a field", [(0, "stpq", 0, 1), (1, "ldrx", 32, 2)], "false-sharing")
case("four vectors over the line", [(0, "st1", 0, 1), (1, "ldrb", 63, 2)], "true-sharing")
case("pair of registers across a field", [(0, "stpx", 16, 1), (1, "ldrx", 24, 2)], "true-sharing")
case("pair of registers beside a field", [(0, "stpx", 16, 1), (1, "ldrx", 32, 2)], "false-sharing")
case("pair loaded around a store", [(0, "strw", 12, 1), (1, "ldpx", 0, 2)], "true-sharing")
case("vector loaded around a store", [(0, "strb", 15, 1), (1, "ldrq", 0, 2)], "true-sharing")
case("vector loaded beside a store", [(0, "strb", 16, 1), (1, "ldrq", 0, 2)], "false-sharing")
case("both kinds: a counter of two, a slot of a third",
     each(2, lambda t: rmw(t, "ldrx", "strx", 0)) + rmw(2, "ldrx", "strx", 32),
     "true-sharing", "false-sharing", both=True)
case("stores only, to different words", [(0, "strx", 0, 1), (1, "strx", 8, 1)], "false-sharing", quiet=True)
case("stores only, to the same word", each(2, lambda t: [(t, "strx", 40, 1)]), "true-sharing", quiet=True)
case("read-mostly table", each(4, lambda t: [(t, "ldrx", 8 * t, 1), (t, "ldrx", 56, 1)]), "read-only",
     with_stores=True)
case("one thread", rmw(0, "ldrx", "strx", 0) + rmw(0, "ldrx", "strx", 8), "single-thread")
case("one thread after the other", rmw(0, "ldrx", "strx", 0) + rmw(1, "ldrx", "strx", 8),
     "single-thread", in_turn=True)
case("one that makes it ready for two that read", [*rmw(0, "ldrx", "strx", 0), (1, "ldrx", 8, 1), (2, "ldrx", 8, 1)],
     "read-only", phases={0: [(0, 0.3)], 1: [(0.31, 1)], 2: [(0.31, 1)]}, quiet=True, phased=True)
case("one that makes it ready for two that wait for somebody", [*rmw(0, "ldrx", "strx", 0), (1, "ldrx", 8, 1), (2, "ldrx", 8, 1)],
     "unknown", phases={0: [(0, 0.3)], 1: [(0.31, 1)], 2: [(0.31, 1)]}, why="stores of other threads at other times only")
case("one that makes ready what two write, and reads it in the end",
     rmw(0, "ldrx", "strx", 0, 8) + [(0, "ldrx", 8, 1)] + each(2, lambda t: rmw(t + 1, "ldrx", "strx", 32, 2)),
     "true-sharing", phases={0: [(0, 0.3)], (0, "ldrx", 8): [(0.95, 1)], 1: [(0.31, 0.94)], 2: [(0.31, 0.94)]})
case("two that work in turn, again and again", rmw(0, "ldrx", "strx", 0) + rmw(1, "ldrx", "strx", 8), "false-sharing",
     phases={t: [((2 * i + t) / 200, (2 * i + t + 1) / 200) for i in range(100)] for t in (0, 1)})
case("writes at the start, and others' for the rest, with a glance back",
     rmw(0, "ldrx", "strx", 0, 30) + [(0, "ldrx", 16, 1)] + rmw(1, "ldrx", "strx", 8, 30), "read-only",
     phases={0: [(0, 0.4)], (0, "ldrx", 16): [(0.98, 1)], 1: [(0.401, 1)]}, quiet=True, phased=True)
case("scalable vector beside a field", [(0, "st1d", 0, 1), (1, "ldrw", 16, 2)], "false-sharing")
case("scalable vector across a field", [(0, "st1d", 0, 1), (1, "ldrw", 12, 2)], "true-sharing")
case("longer scalable vector beside a field", [(0, "st1d256", 0, 1), (1, "ldrw", 32, 2)], "false-sharing")
case("longer scalable vector across a field", [(0, "st1d256", 0, 1), (1, "ldrw", 28, 2)], "true-sharing")
case("two scalable vectors across a field", [(0, "st2d256", 0, 1), (1, "ldrw", 60, 2)], "true-sharing")
case("some elements, perhaps across a field", [(0, "st1d256part", 0, 1), (1, "ldrw", 24, 2)], "unknown")
case("some elements beside a field", [(0, "st1d256part", 0, 1), (1, "ldrw", 32, 2)], "false-sharing")
case("some elements from the same address", [(0, "st1d256part", 8, 1), (1, "ldrw", 8, 2)], "true-sharing")
case("halves of elements beside a field", [(0, "st1w", 0, 1), (1, "ldrw", 16, 2)], "false-sharing")
case("halves of elements, perhaps across a field", [(0, "st1w", 0, 1), (1, "ldrw", 12, 2)], "unknown")
case("halves of elements across a field", [(0, "st1w", 0, 1), (1, "ldrw", 4, 2)], "true-sharing")
case("gathered elements beside a store", [(0, "strx", 0, 1), (1, "gather", 32, 2)], "unknown")
case("vector of a length that is not said", [(0, "st1d?", 0, 1), (1, "ldrw", 32, 2)], "unknown",
     why="vector length not known")
case("vector of a length that is given", [(0, "st1d?", 0, 1), (1, "ldrw", 32, 2)], "false-sharing",
     options=["--vector-length", "256"])
case("vector of a larger length that is given", [(0, "st1d?", 0, 1), (1, "ldrw", 32, 2)], "true-sharing",
     options=["--vector-length", "512"])
case("vector of a length that is said otherwise", [(0, "st1d", 0, 1), (1, "ldrw", 16, 2)], "false-sharing",
     options=["--vector-length", "512"])
case("no program: far apart", [(0, "strx", 0, 1), (1, "ldrx", 32, 2)], "false-sharing", stripped=True)
case("no program: the same", [(0, "strx", 8, 1), (1, "ldrx", 8, 2)], "true-sharing", stripped=True)
case("no program: near", [(0, "strx", 0, 1), (1, "ldrx", 8, 2)], "unknown", stripped=True)
case("kernel memory", rmw(0, "ldrx", "strx", 0) + rmw(1, "ldrx", "strx", 8), "false-sharing",
     base=0xFFFF000012340000)
case("lines beside each other", rmw(0, "ldrx", "strx", 0) + rmw(1, "ldrx", "strx", 64), "false-sharing",
     options=["--double-line"])
case("lines of 32 bytes", rmw(0, "ldrx", "strx", 0) + rmw(1, "ldrx", "strx", 8), "false-sharing",
     options=["--line-size", "32"])


def build_program(folder):
    """The instructions as a program; returns their addresses."""
    source, program = os.path.join(folder, "program.s"), os.path.join(folder, "program")
    lines = [".arch armv8.2-a+sve+lse", ".globl _start", "_start:"]
    for name, (assembly, *_) in INSTRUCTIONS.items():
        lines += [f".globl \"{name}\"", f".type \"{name}\", %function", f"\"{name}\":", assembly, "ret",
                  f".size \"{name}\", .-\"{name}\""]
    with open(source, "w") as file:
        file.write("\n".join(lines) + "\n")
    run(COMPILER, "-nostdlib", "-static", "-Wl,-Ttext-segment=0x400000", source, "-o", program)
    symbols = run("aarch64-linux-gnu-nm", program).decode().split("\n")
    return {words[2]: int(words[0], 16) for words in map(str.split, symbols) if len(words) == 3}


def draw(rng, dos, more, places, n_samples):
    """Records of a case, and of a thread that has nothing to do with it."""
    threads = sorted({do[0] for do in dos})
    writers = {do[0] for do in dos if INSTRUCTIONS[do[1]][1] & ST or "AT" in kinds(do[1])}
    base = more.get("base", BASE) + 64 * 2 * rng.randrange(16)
    weights = [do[3] for do in dos]
    records = []
    for i in range(n_samples):
        thread, name, offset, _ = rng.choices(dos, weights)[0]
        phases = more.get("phases", {})
        phases = phases.get((thread, name, offset), phases.get(thread))
        time = rng.randrange(10**6) if not more.get("in_turn") else rng.randrange(10**5) + 10**6 * thread
        time = int(10**6 * rng.uniform(*rng.choice(phases))) if phases else time
        contended = len(threads) > 1 and writers - {thread} and not more.get("in_turn")
        peer = contended and not more.get("quiet") and rng.random() < 0.4
        records.append((thread, time, places[name], base + offset, INSTRUCTIONS[name][1],
                        PEER if peer else L1, rng.randrange(80, 140) if peer else rng.randrange(4, 12),
                        sum(INSTRUCTIONS[name][2:])))
    for i in range(50 if more.get("with_stores") else 10):
        records.append((15, rng.randrange(10**6), places["strx"], BASE + 0x100000 + 64 * i, ST, L1, 4, 0))
    return base, sorted(records)


def kinds(name):
    return "AT" if INSTRUCTIONS[name][1] & ~ST == ATOMIC else ""


def write(tools, path, recorded, records):
    lines = [f"{cpu} {PID} {PID + cpu} {1000 + time:x} {pc:x} {va:x} {op:x} {source:x} {latency:x} 0 {events:x}"
             for cpu, time, pc, va, op, source, latency, events in records]
    subprocess.run([tools[1], path, recorded], input="\n".join(lines).encode(), check=True)


def verdict_of(tools, path, base, options):
    answer = json.loads(run(tools[0], "c2c", "--all", "--format", "json", *options, path))
    lines = {int(line["address"], 16): line for line in answer["lines"]}
    return lines.get(base)


def check(name, seed, n_samples, tools, folder, places, checks):
    dos, truth, more = CASES[name]
    rng = random.Random(f"{name} {seed}")
    path = os.path.join(folder, "perf.data")
    base, records = draw(rng, dos, more, places, n_samples)
    write(tools, path, "/nowhere/program" if more.get("stripped") else "/program", records)
    line = verdict_of(tools, path, base, ["--symfs", folder, *more.get("options", [])])
    enough = n_samples >= 60
    # Lines that nobody was seen contending for are not listed.
    verdict = line["verdict"] if line else "not listed"
    if line is None and (not enough or truth in (("read-only",), ("single-thread",))):
        verdict = truth[0]
    checks.count("cases")
    checks.count(f"{verdict}" + ("" if enough else " of few samples"))
    allowed = truth if enough else (*truth, "unknown")
    if not checks.expect(verdict in allowed, f"{name}, seed {seed}, {n_samples} samples: {verdict}, "
                         f"expected {' or '.join(truth)}: {line}"):
        return
    if more.get("why") and enough:
        checks.expect(line.get("reason") == more["why"], f"{name}, seed {seed}: because {line.get('reason')}")
    if line and more.get("phased") and enough:
        checks.expect(line.get("reason") == "written and used at different times",
                      f"{name}, seed {seed}: because {line.get('reason')}")
    if line and enough:
        checks.expect(line["is_guarded"] == more.get("guarded", False), f"{name}, seed {seed}: guarded: {line}")
    if more.get("both") and enough:
        checks.expect(line.get("is_both"), f"{name}, seed {seed}: not both: {line}")
    if not more.get("both") and len(truth) == 1 and enough and verdict.endswith("sharing"):
        checks.expect(not line.get("is_both"), f"{name}, seed {seed}: both: {line}")


def check_report(name, n_samples, tools, folder, places, checks):
    """The report names what is contended, with the same verdict, and nothing else."""
    dos, truth, more = CASES[name]
    path = os.path.join(folder, "perf.data")
    _, records = draw(random.Random(name), dos, more, places, n_samples)
    write(tools, path, "/program", records)
    answer = json.loads(run(tools[0], "report", "--symfs", folder, "--format", "json", path))
    found = {finding["kind"] for finding in answer["findings"]} & {"false-sharing", "true-sharing"}
    expected = set(truth) & {"false-sharing", "true-sharing"}
    checks.expect(found == expected, f"report of {name}: {found}, expected {expected}")
    shares = [finding["share"] for finding in answer["findings"]]
    checks.expect(shares == sorted(shares, reverse=True), f"report of {name}: order {shares}")
    checks.count("reports")


def check_bytes(tools, folder, places, checks):
    """Bytes that `mem` reckons with for vectors of SVE, by what records say and what is given."""
    path = os.path.join(folder, "perf.data")
    for name, given, vector in (("st1d", 0, 16), ("st1d", 512, 16), ("st1d256", 0, 32), ("st1d?", 0, 16),
                                ("st1d?", 512, 64)):
        write(tools, path, "/program", [(0, i, places[name], BASE, INSTRUCTIONS[name][1], L1, 4, 0)
                                        for i in range(1, 65)])
        options = ["--vector-length", str(given)] if given else []
        region = json.loads(run(tools[0], "mem", "--symfs", folder, "--format", "json", *options, path))["region"]
        operations, found = (next(row[key] for row in region if row.get(key)) for key in ("estimated_operations", "bytes"))
        checks.expect(found == vector * operations, f"mem of {name}, given {given}: {found} of {operations}")
        checks.count("bytes of vectors")
    names = ["st1d"] * 30 + ["st1d256"] * 20 + ["st1d?"] * 14
    for given, other in ((0, 32), (512, 64)):
        write(tools, path, "/program", [(0, i, places[name], BASE, INSTRUCTIONS[name][1], L1, 4, 0)
                                        for i, name in enumerate(names, 1)])
        options = ["--vector-length", str(given)] if given else []
        region = json.loads(run(tools[0], "mem", "--symfs", folder, "--format", "json", *options, path))["region"]
        operations, found = (next(row[key] for row in region if row.get(key)) for key in ("estimated_operations", "bytes"))
        truth = operations * (30 * 16 + 20 * 32 + 14 * other) / len(names)
        checks.expect(found == truth, f"mem of vectors that differ, given {given}: {found}, not {truth}")
        checks.count("bytes of vectors")
    for bits in ("100", "4096"):
        for command in ("c2c", "mem"):
            done = subprocess.run([tools[0], command, "--vector-length", bits, path], capture_output=True, check=False)
            checks.expect(done.returncode == 2 and b"--vector-length" in done.stderr,
                          f"{command}: vectors of {bits} bits: {done}")


# Cases that the report is asked about.
REPORTED = ("adjacent counters of 8 bytes", "a flag that another polls", "read-mostly table", "one thread",
            "lock beside what another reads")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("cyclops")
    parser.add_argument("write_accesses")
    args = parser.parse_args()
    need(COMPILER)
    checks = Checks()
    tools = (args.cyclops, args.write_accesses)
    with tempfile.TemporaryDirectory() as folder:
        places = build_program(folder)
        check_bytes(tools, folder, places, checks)
        for name in REPORTED:
            check_report(name, args.samples, tools, folder, places, checks)
        for seed in range(args.seeds):
            for name in CASES:
                for n_samples in (args.samples, 8):
                    check(name, seed, n_samples, tools, folder, places, checks)
    checks.finish()


if __name__ == "__main__":
    main()
