#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Profiles for BOLT and for compilers out of SPE records and out of branch stacks of the machine model, against its truth:
model_feedback.py CYCLOPS KERNELS_DIR [SEEDS].

Every edge of the profile is within three standard errors of how often the program took it, what comes into a block
leaves it, and the same profile comes from any number of threads. Without the emulator or the cross compiler the
test is skipped.
"""

import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, NO_DATA, Checks, csv_rows, need, run

COMPILER, NM, ADDR2LINE = "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-nm", "aarch64-linux-gnu-addr2line"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-fno-tree-vectorize",
         "-fno-asynchronous-unwind-tables", "-static", "-nostdlib"]
INTERVAL = 1024 + 127.5 + 0.5  # operations between two SPE samples, with jitter
PERIOD = 61  # of taken branches
STANDARD_ERRORS = 3
HALF_A_RECORD = 0.5
FEW = 2
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = [("executions.c", "-DROUNDS=20000"), ("calls.c", "-DROUNDS=4000"), (HERE / "feedback_program.c",)]
KINDS = {"spe": [], "branches": ["--branches"], "stacks": [f"--sample=pc_write_spec:{PERIOD}:precise", "--branch-stack=32"]}


class Program:
    """A program with its functions, by name as BOLT knows them."""

    def __init__(self, folder, source, *words):
        self.path = folder / source.stem
        subprocess.run([COMPILER, *FLAGS, *words, "-o", self.path, source], check=True)
        self.starts, local = {}, collections.Counter()
        for line in run("nm", "-n", self.path).decode().splitlines():
            start, kind, name = line.split()
            if kind not in "tT" or name.startswith("$"):
                continue
            local[name] += kind == "t"
            self.starts[f"{name}/{local[name]}" if kind == "t" else name] = int(start, 16)

    def address(self, flag, name, offset):
        return self.starts[name] + int(offset, 16) if flag == "1" else None


class Profile:
    """What fdata says: {(from, to): executions}, by address; None: outside."""

    def __init__(self, program, text):
        self.edges, self.wrong = collections.Counter(), 0
        for line in text.splitlines():
            words = line.split()
            key = program.address(*words[0:3]), program.address(*words[3:6])
            self.edges[key] += int(words[7])
            self.wrong += int(words[6]) > int(words[7]) or int(words[7]) <= 0


def chance(mean):
    """The largest number of records that comes as often as three standard errors, where few are expected."""
    part = below = math.exp(-mean)
    most = 0
    while below < 1 - 0.00135:
        most += 1
        part *= mean / most
        below += part
    return most


def limit(executions, interval):
    """How far an estimate may be off: three standard errors, or, where few records are expected, what chance gives as often."""
    records = executions / interval
    if records > 30:
        return STANDARD_ERRORS * math.sqrt(records) * interval
    return max(STANDARD_ERRORS * math.sqrt(max(records, HALF_A_RECORD)), chance(records) - records) * interval


def true_edges(truth):
    """{(from, to): n}: branches that were taken, and instructions that went on to the next one."""
    taken = {(int(e["from"], 16), int(e["to"], 16)): e["n"] for e in truth["edges"]}
    left = collections.Counter()
    for (at, _), n in taken.items():
        left[at] += n
    executed = {int(i["pc"], 16): i["n"] for i in truth["instructions"]}
    edges = collections.Counter(taken)
    for at, n in executed.items():
        edges[at, at + 4] += n - left[at]
    return edges


def check_edges(checks, where, profile, truth, interval):
    wanted = true_edges(truth)
    for key, n in profile.edges.items():
        if None in key:
            continue
        off = limit(wanted[key], interval)
        checks.count("edges")
        checks.expect(abs(n - wanted[key]) <= off,
                      f"{where}: {key[0]:#x} to {key[1]:#x} {wanted[key]} times, not {n} ± {off:.0f}")
    # nothing that is executed often is missing
    known = set(profile.edges) | {(a, None) for a, _ in profile.edges}
    for (at, to), n in wanted.items():
        is_return = any(int(e["from"], 16) == at and e["n"] for e in truth["edges"]) and (at, None) not in known
        if n > 40 * interval and to != at + 4 and not is_return:
            checks.expect((at, to) in profile.edges, f"{where}: {at:#x} to {to:#x}, {n} times, is missing")
    checks.expect(not profile.wrong, f"{where}: {profile.wrong} lines without executions, or with more mispredictions")


def check_conservation(checks, where, program, profile):
    """As much goes into a straight run of code as comes out, where both are in the profile. Calls are their callers'."""
    into, out = collections.Counter(), collections.Counter()
    for (at, to), n in profile.edges.items():
        into[to] += n
        out[at] += n
    leaders = sorted(a for a in into if a is not None and a not in program.starts.values())
    ends = sorted(a for a in out if a is not None)
    for start in leaders:
        following = min([a for a in [*into, *program.starts.values()] if a is not None and a > start], default=math.inf)
        inside = [end for end in ends if start <= end < following]
        # a run with a call in it, or with a return at its end, says nothing
        if len(inside) == 1 and (inside[0], inside[0] + 4) in profile.edges and inside[0] + 4 == following:
            checks.count("runs")
            checks.expect(abs(into[start] - out[inside[0]]) <= 3, f"{where}: {into[start]} into {start:#x}, {out[inside[0]]} out")


def check_program(checks, cyclops, folder, program, seed):
    for kind, words in KINDS.items():
        capture, truth = folder / "out.data", folder / "truth.json"
        run(cyclops, "model", "-o", capture, "--truth", truth, "--seed", seed, *words, "--", program.path)
        command = [cyclops, "export", "--format", "bolt", "--symfs", "/", capture]
        text = run(*command).decode()
        where = f"{program.path.name}, {kind}, seed {seed}"
        profile = Profile(program, text)
        check_edges(checks, where, profile, json.loads(truth.read_text()), PERIOD if kind == "stacks" else INTERVAL)
        check_conservation(checks, where, program, profile)
        command[command.index("bolt")] = "autofdo"
        samples = run(*command).decode()
        check_samples(checks, where, program, samples, json.loads(truth.read_text()), PERIOD if kind == "stacks" else INTERVAL)
        checks.expect(samples == run(*command, "-j1").decode() == run(*command, "-j3").decode(), f"{where}: autofdo, threads")
        command[command.index("autofdo")] = "bolt"
        checks.expect(text == run(*command, "-j1").decode() == run(*command, "-j3").decode(), f"{where}: threads")


def read_samples(text):
    """{function: {line offset: most executions of its code}} of a text profile, and that its totals are sums."""
    found, stack, sums = {}, [], []
    for line in [*text.splitlines(), "end:0:0"]:
        depth = len(line) - len(line.lstrip(" "))
        while len(stack) > depth:
            name, total, lines = stack.pop()
            sums.append((name, total, lines["sum"]))
            if stack:
                stack[-1][2]["sum"] += total
        words = line.split()
        if depth == 0:
            name, total, _ = line.split(":")
            stack.append((name, int(total), collections.Counter()))
            found[name] = stack[-1][2]
        elif ":" in words[1] and not words[1].isdigit():
            name, total = words[1].split(":")
            stack.append((name, int(total), collections.Counter()))
            found.setdefault(f"{name} in {stack[-2][0]}", stack[-1][2])
        else:
            offset = int(words[0].split(".")[0].rstrip(":"))
            lines = stack[-1][2]
            lines["sum"] += int(words[1])
            lines[offset] = max(lines[offset], int(words[1]))
    return found, sums


def check_samples(checks, where, program, text, truth, interval):
    """Executions of lines, of functions into which nothing was inlined, by addr2line."""
    found, sums = read_samples(text)
    checks.expect(all(total == sum_ for _, total, sum_ in sums), f"{where}: totals: {[one for one in sums if one[1] != one[2]]}")
    declared = {}
    for line in run(NM, "-l", program.path).decode().splitlines():
        if "\t" in line and line.split()[1] in "tT":
            declared[line.split()[2]] = int(line.rsplit(":", 1)[1])
    executed = {int(i["pc"], 16): i["n"] for i in truth["instructions"]}
    pcs = sorted(executed)
    asked = subprocess.run([ADDR2LINE, "-f", "-i", "-a", "-e", program.path], input="\n".join(map(hex, pcs)), capture_output=True,
                           text=True, check=True).stdout
    wanted = collections.defaultdict(collections.Counter)
    for pc, part in zip(pcs, asked.split("0x0000")[1:]):
        lines = part.splitlines()[1:]
        line = lines[1].rsplit(":", 1)[1].split()[0]
        if len(lines) == 2 and line.isdigit() and line != "0" and lines[0] in declared:
            offset = int(line) - declared[lines[0]]
            wanted[lines[0]][offset] = max(wanted[lines[0]][offset], executed[pc])
    for name, lines in wanted.items():
        for offset, n in lines.items():
            told = found.get(name, collections.Counter())[offset]
            checks.count("lines")
            checks.expect(abs(told - n) <= limit(n, interval), f"{where}: {name} line {offset}: {n} times, not {told}")
    if program.path.name == "feedback_program":
        checks.expect({"mix in handle", "mix in add", "next_random in kernel_main"} <= set(found), f"{where}: inlined: {sorted(found)}")


def check_errors(checks, cyclops, folder, program):
    """What is missing is said, and which option records it."""
    capture = folder / "out.data"
    for words, format_, wanted in (
            (["--loads"], "bolt", "no branches among the SPE records"),
            (["--min-latency=3"], "bolt", "filtered by event, latency or data source"),
            (["--sample=cycles:997"], "autofdo", "'cyclops record --branches'"),
            (["--sample=br_return_spec:23:precise", "--branch-stack=32,ret"], "bolt", "only some kinds of branches")):
        run(cyclops, "model", "-o", capture, *words, "--", program.path)
        done = subprocess.run([cyclops, "export", "--format", format_, "--symfs", "/", capture], env=ENVIRONMENT, check=False,
                              capture_output=True, text=True)
        checks.count("errors")
        checks.expect(done.returncode == NO_DATA and wanted in done.stderr and not done.stdout, f"{words}: {done}")


def check_samples_alone(checks, cyclops, folder, program):
    """Samples of cycles without branches, by instruction: all that there are."""
    capture = folder / "out.data"
    run(cyclops, "model", "-o", capture, "--sample=cycles:97", "--", program.path)
    first, *lines = run(cyclops, "export", "--format", "bolt", "--symfs", "/", capture).decode().splitlines()
    wanted = collections.Counter(int(row["ip"], 16) for row in csv_rows(cyclops, "export", "--table", "samples", capture))
    found = {program.address(*line.split()[:3]): int(line.split()[3]) for line in lines}
    checks.count("samples", sum(found.values()))
    checks.expect(first == "no_lbr cycles" and found == wanted, f"samples: {first}, {found}, wanted {wanted}")


def main():
    cyclops, kernels = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    n_seeds = int(sys.argv[3]) if len(sys.argv) > 3 else FEW
    for program in ("qemu-aarch64", COMPILER):
        need(program)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-feedback-") as name:
        folder = pathlib.Path(name)
        for source, *words in PROGRAMS:
            program = Program(folder, kernels / source, "-I", kernels, *words)
            for seed in range(n_seeds):
                check_program(checks, cyclops, folder, program, seed + 1)
        check_errors(checks, cyclops, folder, program)
        check_samples_alone(checks, cyclops, folder, program)
    checks.finish()


if __name__ == "__main__":
    main()
