#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Executions, trips and calls out of branch stacks of the machine model, and calls out of SPE records, against its truth:
model_branches.py CYCLOPS KERNELS_DIR [STACKS].

A loop that copies and takes a root in turn, with stacks of several depths; loops of 1 to 64 trips; a machine whose
interrupts are recorded; a chain of 21 calls with a return stack of 16, a tail call, recursion, a pointer, a stub of the
linker. STACKS is how many of them the first has. Without the emulator or the cross compiler the test is skipped.
"""

import collections
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, Functions, need, run
from model_samples import SPEC_SHIFT, WRONG_PATH, read_samples

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-fno-tree-vectorize",
         "-fno-asynchronous-unwind-tables", "-static", "-nostdlib"]
HERE = pathlib.Path(__file__).resolve().parent
PERIOD = 61  # of taken branches
INNER_TRIPS = 8
MOST_TRIPS = 64
SOME_TRIPS = (1, 2, 3, 8, 21, 31, 64)
FEW = 6000
STANDARD_ERRORS = 3
LINKS, RETURN_STACK = 21, 16
SPE_ROUNDS = 20000


class Run:
    """A program on the model, and what cyclops says of it."""

    def __init__(self, cyclops, folder, program, *options):
        self.cyclops, self.capture = cyclops, folder / "out.data"
        truth, counts = folder / "truth.json", folder / "counts.json"
        run(cyclops, "model", "-o", self.capture, "--truth", truth, "--counts", counts, *options, "--", program)
        truth, counts = (json.loads(path.read_text()) for path in (truth, counts))
        self.insns = {int(one["pc"], 16): one for one in truth["instructions"]}
        self.edges = {(int(e["from"], 16), int(e["to"], 16)): e for e in truth["edges"]}
        self.calls = {(int(c["from"], 16), int(c["to"], 16)): c["n"] for c in truth["calls"]}
        self.block_starts = {int(block["start"], 16) for block in truth["blocks"]}
        self.instructions = counts["events"]["INST_RETIRED"]["count"]
        self.functions = Functions(program)

    def tables(self, command, *words):
        text = run(self.cyclops, command, "--symfs", "/", "--format", "csv", "--all", "-i", self.capture, *words).decode()
        if "# table " not in text:
            return list(csv.DictReader(line for line in text.splitlines() if line[0] != "#"))
        return {part.partition("\n")[0]: list(csv.DictReader(part.partition("\n")[2].splitlines()))
                for part in text.split("# table ")[1:]}

    def samples(self):
        """Stacks of taken branches, the newest entry first, without those of wrong paths."""
        return [[entry for entry in sample.branches if entry[2] >> SPEC_SHIFT & 3 != WRONG_PATH]
                for sample in read_samples(self.capture, True) if sample.event == 0]


def compile_kernel(kernels, folder, source, name, *words):
    subprocess.run([COMPILER, *FLAGS, *words, "-o", folder / name, kernels / source], check=True)
    return folder / name


def cluster_errors(stacks, start, end):
    """By instruction: the standard error of its executions, if stacks are independent. All segments weigh the same."""
    sums, squares = collections.Counter(), collections.Counter()
    weight = PERIOD * len(stacks) / sum(max(0, len(entries) - 1) for entries in stacks)
    for entries in stacks:
        here = collections.Counter()
        for newer, older in zip(entries, entries[1:]):
            if start <= older[1] < end and newer[0] < end:
                here.update(range(older[1], newer[0] + 4, 4))
        for pc, n in here.items():
            sums[pc] += n * weight
            squares[pc] += (n * weight) ** 2
    return {pc: math.sqrt(max(0, squares[pc] - sums[pc] ** 2 / len(stacks))) for pc in sums}


def check_leaders(checks, one, name, rows):
    """Where the truth has a block that is branched to, there is a block, and each instruction is in one."""
    where = one.functions.ranges[name]
    starts = {int(row["start"], 0) for row in rows}
    targets = {to for _, to in one.edges if to in where} & one.block_starts
    checks.expect(targets and targets <= starts, f"{name}: no blocks begin at {sorted(map(hex, targets - starts))}")
    checks.expect(sum(int(row["instructions"]) for row in rows) == len(where) // 4, f"{name}: {len(where)} bytes of code")
    for before, row in zip(rows, rows[1:]):
        checks.expect(before["end"] == row["start"], f"{name}: a block ends at {before['end']}, the next begins at {row['start']}")


def check_executions(checks, cyclops, kernels, folder, n_stacks):
    """Blocks by stacks of all depths: alike, and as often as the program ran them."""
    rounds = n_stacks * PERIOD * 20000 // 181000
    program = compile_kernel(kernels, folder, "executions.c", "executions", f"-DROUNDS={rounds}")
    for words in (["8"], ["16"], ["32"], ["64"], ["32", "--set", "stack_shallow=25"], ["32", "--set", "stack_wrong_newest=30"]):
        one = Run(cyclops, folder, program, f"--sample=pc_write_spec:{PERIOD}:precise", "--sample=inst_retired:997",
                  f"--branch-stack={words[0]}", *words[1:])
        answer, where, stacks = one.tables("blocks", "copy_or_root"), f"depth {' '.join(words)}", one.samples()
        rows = answer["blocks"]
        check_leaders(checks, one, "copy_or_root", rows)
        scope = one.functions.ranges["copy_or_root"]
        errors = {} if "stack_wrong_newest=30" in words else cluster_errors(stacks, scope.start, scope.stop)
        by_start = {int(row["start"], 0): row for row in rows}
        executed = {}
        for start, row in by_start.items():
            truth, found = one.insns.get(start, {"n": 0})["n"], float(row["exec"])
            executed[start] = (truth, found)
            if truth < 1000:
                continue
            checks.count("executions of blocks")
            limit = STANDARD_ERRORS * max(errors.get(start, 0), PERIOD / 4) if errors else 0.003 * truth
            checks.expect(abs(found - truth) <= limit, f"{where}: block at {start:#x} ran {truth} times, not {found} ± {limit:.1f}")
        common = [found for truth, found in executed.values() if abs(truth / (rounds * INNER_TRIPS / 2) - 1) < 0.01]
        inner = max(executed.values())[1]
        outer = [found for truth, found in executed.values() if truth == rounds]
        tolerance = math.sqrt(100000 / n_stacks)
        checks.expect(len(common) == 2 and abs(common[0] / common[1] - 1) < 0.001 * tolerance, f"{where}: copies and roots: {common}")
        checks.expect(outer and all(abs(inner / n / INNER_TRIPS - 1) < 0.01 / 8 * tolerance for n in outer), f"{where}: {inner} of {outer}")
        print(f"{where}: {len(stacks)} stacks, copies : roots {common[0] / common[1]:.4f}, inner : outer {inner / outer[0]:.3f}")
        everything = next(row for row in answer["instructions"] if row["class"] == "all")
        checks.expect(abs(float(everything["exec"]) / one.instructions - 1) < 0.005, f"{where}: {one.instructions} instructions: {everything}")
        checks.expect(abs(float(everything["counted"]) / one.instructions - 1) < 0.005, f"{where}: {one.instructions} instructions: {everything}")
        trips = [float(row["trips"] or "nan") for row in answer["loops"]]
        checks.expect(any(abs(n / INNER_TRIPS - 1) < 0.01 for n in trips), f"{where}: trips {trips}")
        worst = max(float(row["imbalance"]) for row in rows if float(row["exec"]) > 1000)
        checks.expect(worst < 0.02, f"{where}: imbalance {worst}")
        if len(words) == 1:
            shadow = {int(row["block"]): float(row["ratio"]) for row in answer["shadow"] if int(row["samples"]) > 1000}
            checks.expect(shadow and all(0.6 < ratio < 1.7 for ratio in shadow.values()), f"{where}: {shadow}")


def check_shadow(checks, cyclops, kernels, folder):
    """An interrupt that takes time finds what comes behind the root; executions do not care."""
    program = compile_kernel(kernels, folder, "executions.c", "executions")
    one = Run(cyclops, folder, program, f"--sample=pc_write_spec:{PERIOD}:precise", "--sample=inst_retired:97", "--branch-stack=32",
              "--set", "skid_cycles=20")
    ratios = [float(row["ratio"]) for row in one.tables("blocks", "copy_or_root")["shadow"]]
    checks.expect(min(ratios) < 0.5 and max(ratios) > 1.3, f"shadow: {ratios}")
    print(f"shadow: samples / executions {min(ratios):.2f} … {max(ratios):.2f}")


def check_trips(checks, cyclops, kernels, folder, which):
    """A sample for each 31 branches, with 31 segments: no execution is missing, so trips are nearly exact."""
    program = compile_kernel(kernels, folder, "executions.c", "trips", "-DTRIPS", "-DROUNDS=700")
    one = Run(cyclops, folder, program, "--sample=pc_write_spec:31:precise", "--branch-stack=32")
    for wanted in which:
        loops = one.tables("blocks", f"trips_{wanted}")["loops"]
        checks.count("loops")
        # the test before the first trip makes no block a loop
        checks.expect(len(loops) == 1 and abs(float(loops[0]["trips"] or "nan") / wanted - 1) <= 0.01 or
                      (wanted == 1 and loops and not loops[0]["trips"]), f"{wanted} trips: {loops}")


def check_interrupts(checks, cyclops, kernels, folder):
    """What an interrupt or a signal put between two branches is rejected, and nothing else."""
    program = compile_kernel(kernels, folder, "executions.c", "executions")
    for words in ([], ["--set", "interrupt_signals=1"]):
        one = Run(cyclops, folder, program, f"--sample=pc_write_spec:{PERIOD}:precise", "--branch-stack=32",
                  "--set", "interrupt_cycles=300", *words)
        stacks = one.samples()
        # an interrupt cuts a segment in two, and both parts ran; what is in the kernel cannot be checked
        injected = sum(older[1] >> 63 or newer[0] >> 63 or (bool(words) and not {older[:2], newer[:2]} <= set(one.edges))
                       for entries in stacks for newer, older in zip(entries, entries[1:]))
        positions = one.tables("blocks", "copy_or_root")["positions"]
        rejected = sum(int(n) for row in positions for name, n in row.items()
                       if name not in ("position", "segments", "impossible", "left_out"))
        print(f"interrupts {words}: {injected} segments with them, {rejected} rejected")
        checks.expect(injected > 1000 and rejected == injected, f"{words}: {injected} segments with interrupts, {rejected} rejected")


def true_calls(one):
    """{(caller, site, callee, via): calls}; who jumps on is known by name."""
    found = {}
    for (site, to), n in one.calls.items():
        caller, target = one.functions.find(site), one.functions.find(to)
        callee, via = ("end_of_tail", "jumps_on") if target == "jumps_on" else (target, "")
        # main never returns to the start, which calls it
        if caller != "_start":
            found[caller, hex(site), callee, via] = n
    return found


def check_calls(checks, cyclops, kernels, folder):
    program = compile_kernel(kernels, folder, "calls.c", "calls", "-DROUNDS=3000")
    for words in (["--sample=br_return_spec:23:precise", "--branch-stack=32,ret"],
                  ["--sample=pc_write_spec:53:precise", "--branch-stack=32"]):
        one = Run(cyclops, folder, program, *words)
        rows, wanted = one.tables("calls"), true_calls(one)
        found = {(row["caller"], row["site"], row["callee"], row["via"]): row for row in rows}
        wanted = {key: n for key, n in wanted.items() if n > 1 or key in found}
        checks.equal(f"{words}: calls", sorted(found), sorted(wanted))
        for key, n in wanted.items():
            calls, error = float(found[key]["calls"]), float(found[key]["calls_se"])
            checks.count("numbers of calls")
            checks.expect(abs(calls - n) <= STANDARD_ERRORS * error, f"{words}: {found[key]}: {n} calls")
        missed = sum(float(row["mispredicted_returns"]) for row in rows if row["callee"].startswith("link_"))
        checks.expect(abs(missed - (LINKS - RETURN_STACK)) < 0.05, f"{words}: {missed} of {LINKS} returns are mispredicted")
        own = [row for row in rows if row["caller"] == row["callee"]]
        checks.expect([row["caller"] for row in own] == ["factorial"], f"{words}: {own}")
        if "ret" not in words[1]:
            ratios = [float(row["returns_per_call"]) for row in rows if int(row["records"]) > 1000]
            checks.expect(all(abs(ratio - 1) < 0.05 for ratio in ratios), f"{words}: returns for each call: {ratios}")
        print(f"{words}: {len(rows)} calls, {missed:.2f} of {LINKS} returns mispredicted")


def check_calls_of_spe(checks, cyclops, kernels, folder):
    """SPE's own records of returns count calls, too: few, but each call with the same chance."""
    program = compile_kernel(kernels, folder, "calls.c", "calls-spe", f"-DROUNDS={SPE_ROUNDS}")
    one = Run(cyclops, folder, program)
    rows, wanted = one.tables("calls"), true_calls(one)
    found = {(row["caller"], row["site"], row["callee"], row["via"]): row for row in rows}
    checks.expect(set(found) <= set(wanted), f"SPE: {sorted(set(found) - set(wanted))} are no calls")
    deviations = []
    for key, n in wanted.items():
        if n < SPE_ROUNDS:
            continue
        calls, error = (float(found[key][name]) for name in ("calls", "calls_se")) if key in found else (0, 0)
        checks.count("numbers of calls, by SPE")
        checks.expect(abs(calls - n) <= 4 * error, f"SPE: {found.get(key)}: {n} calls")
        deviations.append((calls - n) / error if error else math.inf)
    mean = sum(deviations) / len(deviations)
    checks.expect(abs(mean) < 4 / math.sqrt(len(deviations)), f"SPE: calls are off by {mean:.2f} standard errors on average")
    links = [row for row in rows if row["callee"].startswith("link_")]
    missed = sum(float(row["mispredicted_returns"]) * int(row["records"]) for row in links) / sum(int(row["records"]) for row in links)
    checks.expect(abs(missed - (LINKS - RETURN_STACK) / LINKS) < 0.1, f"SPE: {missed} of the returns of links are mispredicted")
    print(f"SPE: {len(deviations)} calls, off by {mean:.2f} standard errors on average, most by {max(map(abs, deviations)):.1f}")


def check_stubs(checks, cyclops, folder):
    """A call by the linker's stub is a call of the function."""
    library, program = folder / "libwork.so", folder / "stubs"
    source = HERE / "shared_calls.c"
    subprocess.run([COMPILER, "-O2", "-g", "-shared", "-fPIC", "-DLIBRARY", "-o", library, source], check=True)
    subprocess.run([COMPILER, "-O2", "-g", "-o", program, source, library, f"-Wl,-rpath,{folder}", "-Wl,-z,lazy"], check=True)
    capture = folder / "stubs.data"
    done = subprocess.run([cyclops, "model", "-o", capture, "--sample=br_return_spec:13:precise", "--branch-stack=32,ret", "--", program],
                          env=ENVIRONMENT, check=False, capture_output=True, text=True)
    checks.expect(done.returncode == 0, f"stubs: {done.stderr}")
    text = run(cyclops, "calls", "--symfs", "/", "--format", "csv", "--all", capture).decode()
    rows = list(csv.DictReader(line for line in text.splitlines() if line[0] != "#"))
    calls = [row for row in rows if row["caller"] == "main" and row["caller_module"] == "stubs"]
    checks.expect([(row["callee"], row["callee_module"], row["via"]) for row in calls] == [("work", "libwork.so", "")], f"stubs: {calls}")
    checks.expect(calls and abs(float(calls[0]["calls"]) - 3000) <= STANDARD_ERRORS * float(calls[0]["calls_se"]), f"stubs: {calls}")
    checks.expect(not [row for row in rows if "@plt" in row["caller"] + row["callee"]], "stubs: they are functions")


def main():
    cyclops, kernels = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    n_stacks = int(sys.argv[3]) if len(sys.argv) > 3 else FEW
    for program in ("qemu-aarch64", COMPILER):
        need(program)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-branches-") as name:
        folder = pathlib.Path(name)
        check_executions(checks, cyclops, kernels, folder, n_stacks)
        check_shadow(checks, cyclops, kernels, folder)
        check_trips(checks, cyclops, kernels, folder, range(1, MOST_TRIPS + 1) if n_stacks > FEW else SOME_TRIPS)
        check_interrupts(checks, cyclops, kernels, folder)
        check_calls(checks, cyclops, kernels, folder)
        check_calls_of_spe(checks, cyclops, kernels, folder)
        check_stubs(checks, cyclops, folder)
    checks.finish()


if __name__ == "__main__":
    main()
