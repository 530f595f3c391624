# SPDX-License-Identifier: Apache-2.0
"""The machine model: guest instructions in a second of CPU time, beside what the emulator takes alone."""

import csv
import json
import shutil

import measure
from table import Row

FEW = 1000          # iterations: a run that is mostly start
MORE = 5_000_000    # instructions that the long run has beyond it
WANTED = 20         # M instructions a second
SHORTEST = 0.02     # seconds: what takes less is not told from how two starts differ


def kernels(b):
    """All but the one that sleeps."""
    rows = csv.DictReader(line for line in measure.output([*b.cyclops, "list", "kernels", "--format", "csv"], b.home).splitlines()
                          if not line.startswith("#"))
    return [row["kernel"] for row in rows if "aarch64" in row["architectures"].split() and row["kernel"] != "duty"]


def on_model(b, program, *options):
    return [*b.cyclops, "model", "-o", b.home / "model.data", *options, "--", *program]


def instructions(b, program):
    """Guest instructions of a run."""
    counts = b.home / "counts.json"
    measure.run(on_model(b, program, "--counts", counts), b.home)
    return json.loads(counts.read_text())["events"]["INST_RETIRED"]["count"]


def enough_iterations(b, program_of):
    """Iterations with at least MORE instructions beyond those of FEW, and how many these are."""
    few, iterations, more = instructions(b, program_of(FEW)), FEW, 0
    while more < MORE:
        iterations *= min(100, max(2, MORE * 5 // 4 // max(more, MORE // 100)))
        more = instructions(b, program_of(iterations)) - few
    return iterations, more


def bench_model(b):
    """What more iterations of a kernel take, so that the start does not count. No model can be faster than the emulator with a plugin
    that does nothing when it is called, at each block and access, as the model is, or at each instruction."""
    runner = b.cyclops[0].parent / "src" / "kernel" / "runner" / "cyclops-kernel-aarch64"
    calls = b.cyclops[0].parent / "bench" / "bench-model-calls.so"
    emulator = shutil.which("qemu-aarch64")
    if emulator is None or not runner.exists():
        b.add(Row("model", peer="qemu-aarch64 and aarch64-linux-gnu-gcc: not here"))
        return
    for kernel in kernels(b):
        def program_of(iterations, kernel=kernel):
            return [runner, kernel, f"iterations={iterations}"]

        iterations, more = enough_iterations(b, program_of)
        few, many = program_of(FEW), program_of(iterations)
        kinds = {"emulator": [emulator], "block calls": [emulator, "-plugin", calls],
                 "instruction calls": [emulator, "-plugin", f"{calls},each=instruction"]}
        costs = measure.best([command for program in (few, many) for command in
                              (on_model(b, program), *([*start, *program] for start in kinds.values()))], b.home, [b.runs] * 8)
        ours, *theirs = [long._replace(wall=max(long.wall - short.wall, 0), cpu=max(long.cpu - short.cpu, 1e-3))
                         for short, long in zip(costs[:4], costs[4:])]
        speed = more / 1e6 / ours.cpu
        by_clock = more / 1e6 / max(ours.wall, 1e-3)
        b.add(Row(f"model {kernel}", f"{more / 1e6:.1f} M instructions", ours, figure=f"{speed:.1f} M/s of CPU, {by_clock:.1f} by the clock",
                  peer=", ".join(f"{name} {more / 1e6 / cost.cpu:.0f} M/s" for name, cost in zip(kinds, theirs)),
                  by_cpu=theirs[1].cpu / ours.cpu, wanted=f">= {WANTED} M/s", is_met=speed >= WANTED))
        add_limit(b, kernel, more, ours, theirs[1])


def add_limit(b, kernel, more, ours, empty):
    """What no model that is called at each block and access could do faster: its calls do nothing."""
    job, instructions_of = f"model {kernel}, at most", f"{more / 1e6:.1f} M instructions"
    wanted = f">= {WANTED} M/s"
    if empty.cpu < SHORTEST:
        least = more / 1e6 / SHORTEST
        b.add(Row(job, instructions_of, figure=f"over {least:.0f} M/s", peer="a plugin that does nothing: too short to be timed",
                  wanted=wanted, is_met=True if least >= WANTED else None))
        return
    at_most = more / 1e6 / empty.cpu
    b.add(Row(job, instructions_of, empty, figure=f"{at_most:.1f} M/s of CPU, {more / 1e6 / max(empty.wall, 1e-3):.1f} by the clock",
              peer=f"a plugin that does nothing; reached {empty.cpu / ours.cpu:.0%} of the CPU time",
              wanted=wanted, is_met=at_most >= WANTED))
