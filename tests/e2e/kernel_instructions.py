#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The number of instructions of microbenchmarks is what catalog/expected.json says, on each architecture whose
compiler and emulator are there: cyclops-kernel is built for it, and qemu-user logs each instruction that it
executes. Two runs that differ in their iterations alone differ by the instructions of these.

usage: kernel_instructions.py [--all] CYCLOPS    --all: every case on each; else one of some microbenchmarks on one
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

from harness import Checks, run, skip

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BASE = ["err.c", "alloc.c", "memory_group.c", "nearest.c", "pointer_ring.c"]
OPTIONS = ["-static", "-std=gnu17", "-O2", "-w", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"]

# By architecture: its compiler, and what runs its programs.
TOOLS = {
    "aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64"),
    "x86_64": ("x86_64-linux-gnu-gcc", "qemu-x86_64"),
    "arm": ("arm-linux-gnueabihf-gcc", "qemu-arm"),
}

# Threads wait for each other, and sleeping is not of instructions.
UNSTEADY = {"snoop", "sharing", "faults", "duty"}

# Small sizes of what is written or called in each iteration, and others that make passes long.
SIZES = {"code": {"lines": 2}, "branches": {"branches": 8}, "jumps": {"branches": 8}, "calls": {"targets": 2, "depth": 5},
         "indirect": {"branches": 2000, "targets": 8}}
ARRAY_LINES = 1000

# From so many iterations on the warm-up does not depend on them; these are counted.
LEAST_ITERATIONS, MORE_ITERATIONS = 10000, 2000

# Without --all: so many microbenchmarks for each that is run.
PART = 6

# Of the count, as that of exact events: passes over arrays have ends, and some branches are random.
TOLERANCE = 0.01


def build(architecture, folder):
    compiler, emulator = TOOLS[architecture]
    if not shutil.which(compiler) or not shutil.which(emulator):
        return None
    out = folder / architecture
    sources = [SOURCE / "src/kernel/runner/runner.c", *sorted((SOURCE / "src/kernel/loops").glob("*.c"))]
    sources += [SOURCE / "src/base" / name for name in BASE]
    subprocess.run([compiler, *OPTIONS, f"-I{SOURCE}/src", f"-I{SOURCE}/include", *sources, "-o", out], check=True)
    return out


def executed(architecture, program, kernel, values):
    """The number of instructions of the whole program; None: it fails."""
    command = [TOOLS[architecture][1], "-singlestep", "-d", "exec,nochain", "-D", "/dev/stdout", program, kernel]
    done = subprocess.run(command + [f"{name}={value}" for name, value in values.items()], capture_output=True)
    return done.stdout.count(b"Trace ") if done.returncode == 0 else None


def instruction_row(case, architecture):
    """The entry about the number of instructions; None: there is none for this architecture."""
    for row in case["expect"]:
        names = {"INSTRUCTIONS", "INST_RETIRED"} & set(row["events"])
        if row["kind"] == "exact" and names and architecture in row.get("architectures", TOOLS):
            return row
    return None


def values_of(case, takes, iterations):
    """The parameters of the case, with other sizes."""
    values = {**case.get("parameters", {}), **({"lines": ARRAY_LINES} if "lines" in takes else {})}
    values.update(SIZES.get(case["kernel"], {}))
    values["iterations"] = iterations
    return values


def check_case(architecture, program, case, usual, checks):
    row = instruction_row(case, architecture)
    if row is None:
        return
    takes = usual[case["kernel"]]
    values = values_of(case, takes, LEAST_ITERATIONS)
    counts = [executed(architecture, program, case["kernel"], {**values, "iterations": n})
              for n in (LEAST_ITERATIONS, LEAST_ITERATIONS + MORE_ITERATIONS)]
    if None in counts:
        checks.expect(False, f"{architecture} {case['name']}: does not run")
        return
    names = {**takes, **values, "iterations": MORE_ITERATIONS}
    found, wanted = counts[1] - counts[0], eval(row["count"], {"__builtins__": {}}, names)
    checks.expect(abs(found - wanted) <= TOLERANCE * wanted,
                  f"{architecture} {case['name']}: {found} instructions, not {wanted:.0f}")
    checks.count(f"cases on {architecture}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops")
    given = parser.parse_args()
    listed = json.loads(run(given.cyclops, "list", "kernels", "--format", "json"))
    usual = {}
    for row in listed["parameters"]:
        usual.setdefault(row["kernel"], {})[row["parameter"]] = row["default"]
    architectures = {row["kernel"]: row["architectures"].split() for row in listed["kernels"]}
    cases = json.loads((SOURCE / "catalog/expected.json").read_text())["cases"]
    checks, seen = Checks(), set()
    with tempfile.TemporaryDirectory() as folder:
        programs = {name: build(name, pathlib.Path(folder)) for name in TOOLS}
        there = [name for name, program in programs.items() if program is not None]
        if not there:
            skip("no compiler with an emulator")
        for case in cases:
            if case["kernel"] in UNSTEADY or (case["kernel"] in seen and not given.all):
                continue
            seen.add(case["kernel"])
            able = [name for name in there if name in architectures[case["kernel"]]]
            for architecture in able if given.all else able[len(seen) % PART:][:1]:
                check_case(architecture, programs[architecture], case, usual, checks)
    for architecture, program in programs.items():
        if program is None:
            print(f"not on {architecture}: no {' or no '.join(TOOLS[architecture])}")
    checks.finish()


if __name__ == "__main__":
    main()
