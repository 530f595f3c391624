#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Blocks of functions whose branch stacks are random: nearly each segment and each branch is another one. The answers are
given under a limit on the private memory of the process (RLIMIT_DATA), are the same for any number of threads, and have the
commonest segments, and ways of indirect jumps, of those that the stacks have. What is left out is counted.
Under the same limit the code of a program is gone through that has more instructions than memory holds.

usage: blocks_memory.py [--samples N] [--limit MIB] CYCLOPS WRITE-SAMPLES
"""

import argparse
import collections
import json
import os
import re
import resource
import subprocess
import tempfile

import small_elf
from branch_program import ANY, BR_X1, NOP, RET, TAKEN_EVENT, lines_of_capture, seeded
from harness import ENVIRONMENT, Checks

BLOCKS, ENTRIES, INDIRECT_EACH = 2048, 32, 2
LONG, N_LONG = 15000, 120  # instructions before the return, and functions
MOST = 32768  # segments, and ways of indirect jumps, that are shown
QUESTIONS = [["blocks", "--format", "json", "straight"], ["blocks", "--format", "json", "table"], ["annotate", "--blocks", "table"],
             ["export", "--format", "bolt"], ["export", "--format", "bolt-pre-aggregated"]]


def write_program(path, rng):
    """Two functions of blocks of two instructions, of which each ends in a branch, or every second in an indirect jump."""
    straight, table = [], []
    for i in range(BLOCKS):
        branch = 0x54000001 | (2 * rng.randrange(BLOCKS) - (2 * i + 1) & 0x7FFFF) << 5
        straight += [NOP, branch]
        table += [NOP, branch if i % INDIRECT_EACH else BR_X1]
    return small_elf.write(path, {"straight": straight + [RET], "table": table + [RET]})


def random_stacks(starts, n, rng):
    """Of one function and of the other, in turn."""
    for i in range(n):
        start = starts["table" if i % 2 else "straight"]
        yield start, [(start + 8 * rng.randrange(BLOCKS) + 4, start + 8 * rng.randrange(BLOCKS), 2 | rng.randrange(1, 60) << 4)
                      for _ in range(ENTRIES)]


def count(starts, stacks):
    """How often there was each segment of the one that its code can have run, and each way of indirect jumps of the other."""
    segments, ways = collections.Counter(), collections.Counter()
    for start, entries in stacks:
        if start == starts["straight"]:
            segments.update((older[1], newer[0]) for newer, older in zip(entries, entries[1:]) if older[1] < newer[0])
        else:
            ways.update((source, target) for source, target, _ in entries if (source - start) // 8 % INDIRECT_EACH == 0)
    return segments, ways


def answer(words, limit):
    done = subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20))) if limit else None)
    return done.stdout if done.returncode == 0 else None


def check_much_code(arguments, folder, checks):
    """Each function returns to the start of the next."""
    program, capture = os.path.join(folder, "long"), os.path.join(folder, "long.data")
    starts = list(small_elf.write(program, {f"f{i}": [NOP] * LONG + [RET] for i in range(N_LONG)}).values())
    ring = [(start + 4 * LONG, starts[(i + 1) % N_LONG], 2) for i, start in enumerate(starts)]
    stacks = [(starts[0], [ring[(at - k) % N_LONG] for k in range(ENTRIES)]) for at in range(N_LONG)]
    lines = "\n".join(lines_of_capture("taken", TAKEN_EVENT, ANY, 97, stacks)) + "\n"
    subprocess.run([arguments.write_samples, capture, program, "aarch64", "0x00000000410fd0c0"], input=lines.encode(), check=True)
    text = answer([arguments.cyclops, "export", "--format", "bolt-pre-aggregated", "--symfs", "/", "-j2", "-i", capture], arguments.limit)
    checks.expect(text is not None, f"much code: fails within {arguments.limit} MiB")
    kinds = collections.Counter(line.split()[0] for line in (text or b"").decode().splitlines())
    checks.equal("much code", sorted(kinds.items()), [("B", N_LONG), ("F", N_LONG)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--limit", type=int, default=64, help="MiB of private memory")
    parser.add_argument("--limit-of-profiles", type=int, default=96, help="the same for profiles, whose flow is fitted")
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("write_samples", type=os.path.abspath)
    arguments = parser.parse_args()
    checks, rng = Checks(), seeded("blocks memory")
    with tempfile.TemporaryDirectory(prefix="cyclops-blocks-memory-") as folder:
        program, capture = os.path.join(folder, "program"), os.path.join(folder, "capture.data")
        starts, found = write_program(program, rng), {}
        stacks = list(random_stacks(starts, arguments.samples, rng))
        lines = "\n".join(lines_of_capture("taken", TAKEN_EVENT, ANY, 97, stacks)) + "\n"
        subprocess.run([arguments.write_samples, capture, program, "aarch64", "0x00000000410fd0c0"], input=lines.encode(), check=True)
        segments, ways = count(starts, stacks)

        for question in QUESTIONS:
            name, limit = " ".join(question), arguments.limit_of_profiles if question[0] == "export" else arguments.limit
            words = [arguments.cyclops, *question, "--symfs", "/", "-i", capture]
            bounded, free = answer([*words, "-j2"], limit), answer([*words, "-j1"], None)
            checks.expect(bounded is not None, f"{name}: fails within {limit} MiB")
            checks.expect(free is not None and bounded in (free, None), f"{name}: differs with -j")
            found[name] = free
        tables = {name: json.loads(found[f"blocks --format json {name}"] or "{}") for name in ("straight", "table")}
        shown = sorted((row["records"] for row in tables["straight"]["segments"]), reverse=True)
        checks.equal("segments", list(enumerate(shown)), list(enumerate(sorted(segments.values(), reverse=True)[:MOST])))
        edges = [row for row in tables["table"]["edges"] if row["kind"] == "indirect"]
        checks.equal("ways of indirect jumps", [("shown", len(edges))], [("shown", MOST)])
        said = {"segments": re.findall(r"(\d+) segments are left out", " ".join(tables["straight"]["notes"].get("segments", []))),
                "edges": re.findall(r"(\d+) records of rarer ways", " ".join(tables["table"]["notes"].get("edges", [])))}
        checks.equal("left out", [(name, *map(int, numbers)) for name, numbers in said.items()],
                     [("segments", len(segments) - MOST), ("edges", sum(sorted(ways.values(), reverse=True)[MOST:]))])
        checks.expect(len(ways) > MOST and len(segments) > MOST, f"{len(ways)} ways and {len(segments)} segments are too few for this test")
        check_much_code(arguments, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
