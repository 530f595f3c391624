#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole method on the machine model: the first finding is the right one, in the right place.

usage: run_model.py CYCLOPS DATA_DIR
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need

# Program, kind of the first finding (None: nothing stands out), and what its place has to name.
PROGRAMS = [
    ("stride", ("llc-bound", "dram-latency"), ("walk", "stride.c:33")),
    ("sharing", ("false-sharing",), ("count_up", "sharing.c")),
    ("copies", ("mispredictions",), ("copy_all", "copies.c")),
    ("multiply", ("dependency-chain",), ("multiply_naive", "multiply.c:29")),
    ("pages", ("llc-bound",), ("visit", "pages.c:35")),
    ("steady", ("scalar-work",), ("vectorise",)),
]

# Findings of samples that are about waiting for data.
DATA = ("memory-bound", "shared-data", "false-sharing", "true-sharing", "llc-bound", "dram-latency")


def run_program(cyclops, folder, *words):
    return subprocess.run([cyclops, "run", *words], env=ENVIRONMENT, cwd=folder, capture_output=True,
                          text=True, check=False)


def check_findings(checks, cyclops, kernels, folder):
    for name, kinds, place in PROGRAMS:
        done = run_program(cyclops, folder, "--model", "--format", "json", "--folder", name, "--",
                           os.path.join(kernels, name))
        if not checks.expect(done.returncode == 0, f"{name}: {done.returncode} {done.stderr}"):
            continue
        answer = json.loads(done.stdout)
        findings = answer["findings"]
        checks.expect(answer["modelled"] is True, f"{name}: not said to be modelled")
        checks.count("programs")
        if kinds is None:
            checks.expect(not findings, f"{name}: {findings}")
            continue
        first = findings[0] if findings else {"kind": None}
        checks.expect(first["kind"] in kinds, f"{name}: first is {first}, not {kinds}")
        claims = [finding["claim"] for finding in findings]
        checks.expect(len(set(claims)) == len(claims), f"{name}: said twice: {claims}")
        # What a function waits for is one finding, whoever has seen it: the others speak for it.
        waits = [finding.get("function") for finding in findings
                 if finding["kind"] in DATA or finding["kind"].startswith("backend")]
        checks.expect(len(set(waits)) == len(waits), f"{name}: {waits} waits for several things")
        if first["kind"] in DATA:
            metrics = [row.get("metric") for row in answer["evidence"] if row["finding"] == 1]
            checks.expect(any(str(metric).startswith("backend") for metric in metrics), f"{name}: no counts: {metrics}")
        commands = [shlex.split(finding["next"]) for finding in findings if "next" in finding]
        checks.expect(all(words[0] == "cyclops" and words[-1] == f"{name}/perf.data" for words in commands),
                      f"{name}: cannot be pasted: {commands}")
        for words in commands:
            checks.expect(subprocess.run([cyclops, *words[1:]], env=ENVIRONMENT, cwd=folder, check=False,
                                         capture_output=True).returncode == 0, f"{name}: {words}")
            checks.count("pasted commands")
        text = json.dumps(first) + f" {first.get('file')}:{first.get('line')}"
        checks.expect(all(word in text for word in place), f"{name}: {text} does not name {place}")


def check_files(checks, cyclops, kernels, folder):
    """The files of a run serve the other commands; no folder is written over."""
    program = os.path.join(kernels, "steady")
    for wanted in ("steady.cyclops", "steady.cyclops.2"):
        done = run_program(cyclops, folder, "--model", "--", program)
        checks.expect(done.returncode == 0, f"{wanted}: {done.stderr}")
        checks.expect(f"the files are in {wanted}" in done.stderr, f"{wanted}: {done.stderr}")
    for words in (["stat", "--import", "steady.cyclops/counts.json"], ["report", "steady.cyclops/perf.data"],
                  ["diff", "steady.cyclops", "steady.cyclops.2", "--fail-if", "ipc < -1%"]):
        done = subprocess.run([cyclops, *words], env=ENVIRONMENT, cwd=folder, capture_output=True, check=False)
        checks.expect(done.returncode == 0 and done.stdout, f"{words}: {done.returncode} {done.stderr}")
        checks.count("commands on files of a run")


def check_errors(checks, cyclops, kernels, folder):
    program = os.path.join(kernels, "steady")
    os.mkdir(os.path.join(folder, "there"))
    for words, status, text in (([], 2, "no program given"),
                                (["--model", "-d", "there", "--", program], 1, "there: cannot make the folder"),
                                (["--model", "-d", "a", "--", "/bin/no-such"], 1, "/bin/no-such"),
                                (["--model", "-d", "b", "--", sys.executable], 1, "AArch64")):
        done = run_program(cyclops, folder, *words)
        checks.expect(done.returncode == status and text in done.stderr,
                      f"run {words}: {done.returncode} {done.stderr}")
        checks.count("errors")


def check_sweep(checks, cyclops, kernels, folder):
    """A run for each value, in the program's words: cycles, and how fast each is beside the first."""
    values = ["stride", "steady", "stride"]
    done = run_program(cyclops, folder, "--model", "--verbose", "--sweep", "WHICH=" + ",".join(values),
                       "--format", "json",
                       "--folder", "sweep", "--", os.path.join(kernels, "{WHICH}"))
    if not checks.expect(done.returncode == 0, f"sweep: {done.returncode} {done.stderr}"):
        return
    answer = json.loads(done.stdout)
    rows = answer["sweep"]
    checks.expect(answer["modelled"] is True, "sweep: not said to be modelled")
    checks.expect([row["value"] for row in rows] == values, f"sweep: {rows}")
    checks.expect("\n  WHICH=steady cyclops model " in done.stderr, f"sweep: {done.stderr}")
    for number, row in enumerate(rows, 1):
        with open(os.path.join(folder, "sweep", f"counts.{number}.json"), encoding="utf-8") as file:
            counts = json.load(file)
        cycles, instructions = (counts["events"][name]["count"] for name in ("CPU_CYCLES", "INST_RETIRED"))
        checks.expect((row["cycles"], row["instructions"]) == (cycles, instructions), f"sweep: {row}")
        checks.expect(row["time_ns"] == counts["time_ns"], f"sweep: {row}, not {counts['time_ns']}")
        checks.expect(abs(row["ipc"] - instructions / cycles) < 1e-9, f"sweep: {row}")
        checks.expect(abs(row["speed"] - rows[0]["time_ns"] / row["time_ns"]) < 1e-9, f"sweep: {row}")
        checks.count("values")
    checks.expect(rows[2]["cycles"] == rows[0]["cycles"] and rows[2]["speed"] == 1, f"sweep: {rows}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    need("qemu-aarch64")
    checks = Checks()
    cyclops = os.path.abspath(sys.argv[1])
    kernels = os.path.join(os.path.abspath(sys.argv[2]), "root", "opt", "kernels")
    with tempfile.TemporaryDirectory() as folder:
        check_findings(checks, cyclops, kernels, folder)
        check_files(checks, cyclops, kernels, folder)
        check_errors(checks, cyclops, kernels, folder)
        check_sweep(checks, cyclops, kernels, folder)
    checks.finish()


if __name__ == "__main__":
    main()
