# SPDX-License-Identifier: Apache-2.0
"""The recorder beside `perf record`: its CPU time, without that of the program; and what was lost."""

import json
import re
import subprocess
import sys

import measure
from table import Row

# The event: the kernel's clock, which every machine has.
EVENT = ["-e", "cpu-clock", "-F", "20000"]
RUNS = 3
TRIES = 3  # perf 6.1 aborts in one of twenty recordings, by an assertion in its build-id.c

# What is recorded, options of the recorders, the program; None: one that is not ours.
JOBS = (
    ("no program to speak of", [], ["true"]),
    ("all processes, 1 s", ["-a"], ["sleep", "1"]),
    ("2 busy threads", [], ["busy", "700"]),
    ("… with stacks by frame pointers", ["--call-graph", "fp"], ["busy", "700"]),
    ("… with copied stacks", ["--call-graph", "dwarf"], ["busy", "700"]),
    ("5 000 threads at a time", [], ["alive", "5000"]),
    ("… with stacks by frame pointers", ["--call-graph", "fp"], ["alive", "5000"]),
    ("5 000 threads, one by one", [], ["short", "5000"]),
)


def recorder_cost(command, told, home):
    """What the recorder took itself; the program wrote to `told` what it did."""
    told.unlink(missing_ok=True)
    for _ in range(TRIES):
        try:
            whole = measure.run(command, home)
            break
        except SystemExit as failure:
            print(failure, file=sys.stderr)
    else:
        measure.fail("no recording")
    own = float(told.read_text()) if told.exists() else 0
    return whole._replace(cpu=max(whole.cpu - own, 1e-4))


def losses(b, file):
    """Samples in the file, and records and samples that its recorder says were lost, of which it may say both."""
    said = json.loads(measure.output([*b.cyclops, "quality", "--format", "json", file], b.home))
    lost = {}
    for row in said.get("losses", []):
        lost[row["loss"]] = lost.get(row["loss"], 0) + row["amount"]
    stats = measure.output(["perf", "report", "--stats", "-i", file], b.home)
    kept = re.search(r"SAMPLE events: +(\d+)", stats)
    return int(kept[1]) if kept else 0, max(lost.get("lost-records", 0), lost.get("lost-samples", 0))


def bench_record(b):
    """All by CPU time: recorders mostly wait."""
    told, work = b.home / "told", b.cyclops[0].parent / "bench" / "bench-record-work"
    files = {"cyclops": b.home / "cyclops.data", "perf": b.home / "perf.data"}
    tools = {name: [*program, "record", "-q", *EVENT, "-o", files[name]] for name, program in (("cyclops", b.cyclops), ("perf", ["perf"]))}
    if any(subprocess.run([*tool, "true"], check=False, capture_output=True).returncode != 0 for tool in tools.values()):
        b.add(Row("record", peer="not allowed here"))
        return
    for what, options, program in JOBS:
        if program[0] in ("busy", "alive", "short"):
            program = [work, told, *program]
        costs, kept = {name: [] for name in tools}, {name: [0, 0] for name in tools}
        for _ in range(RUNS):
            for name, tool in tools.items():
                costs[name].append(recorder_cost([*tool, *options, *program], told, b.home))
                kept[name] = [a + more for a, more in zip(kept[name], losses(b, files[name]))]
        ours, peer = (min(costs[name], key=lambda cost: cost.cpu)._replace(n_runs=RUNS) for name in tools)
        shares = {name: lost / max(samples + lost, 1) for name, (samples, lost) in kept.items()}
        said = ", ".join(f"{name} lost {lost} of {samples + lost}" for name, (samples, lost) in kept.items())
        b.add(Row("record", what, ours, figure=f"{ours.cpu * 1e3:.1f} ms", peer=f"perf record: {peer.cpu * 1e3:.1f} ms; {said}",
                  by_cpu=peer.cpu / ours.cpu, wanted=">= 1 x, no more lost",
                  is_met=peer.cpu >= ours.cpu and shares["cyclops"] <= shares["perf"]))
    drain(b)


def drain(b):
    """One thread that takes SPE's data out of full buffers, on the kernel of the tests; nothing can be faster than a write."""
    text = measure.output([b.cyclops[0].parent / "bench" / "bench-drain", b.home / "drained"], b.home)
    drained, written = (float(re.search(rf"^{name} +([\d.]+) GB/s", text, re.M)[1]) for name in ("drain", "write"))
    b.add(Row("record: SPE's buffers drained", "2 CPUs, 4 MiB each", figure=f"{drained:.2f} GB/s", peer=f"pwrite() alone {written:.2f} GB/s",
              ratio=drained / written, wanted=">= 2 GB/s", is_met=drained >= 2))
