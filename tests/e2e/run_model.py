#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole method on the machine model: the first finding is the right one, in the right place.

usage: run_model.py CYCLOPS DATA_DIR
"""

import json
import os
import shlex
import shutil
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


# For each byte of the standard input, a chain of multiplications.
READER = r"""
#include <stdint.h>
#include <stdio.h>
__attribute__((noipa)) static uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 200; i++)
		x = x * x + 3;
	return x;
}
int main(void)
{
	uint64_t x = 1;
	for (int c; (c = getchar()) != EOF;)
		x = mix(x + (unsigned)c);
	printf("mixed %d\n", (int)(x >> 60) < 16);
	return 0;
}
"""
COMPILER = "aarch64-linux-gnu-gcc"


def check_report(checks, cyclops, folder, of_run):
    """The report of the capture has the same gains, with the sandbox and without, but not of a part of it, nor of another capture."""
    def gains_of(*words):
        done = subprocess.run([cyclops, "report", "--format", "json", *words], env=ENVIRONMENT, cwd=folder, capture_output=True, check=True)
        return {(f["kind"], f.get("function")): f["predicted_gain"] for f in json.loads(done.stdout)["findings"] if "predicted_gain" in f}

    of_run = {(f["kind"], f.get("function")): f["predicted_gain"] for f in of_run if "predicted_gain" in f}
    capture = os.path.join("gains", "perf.data")
    for words in ([capture], ["--input", capture], ["--no-sandbox", capture]):
        checks.expect(gains_of(*words) == of_run and of_run, f"report {words}: {gains_of(*words)}, run: {of_run}")
    checks.expect(gains_of("--select", "op=load", capture) == {}, "report of a part: gains")
    page = os.path.join(folder, "report.html")
    text = subprocess.run([cyclops, "report", "--html", page, capture], env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False)
    checks.expect("(modelled)" in text.stdout, f"report: {text.stdout} {text.stderr}")
    other = os.path.join(folder, "other")
    os.mkdir(other)
    shutil.copy(os.path.join(folder, "gains", "gains.json"), other)
    with open(os.path.join(folder, capture), "rb") as data, open(os.path.join(other, "perf.data"), "wb") as out:
        out.write(data.read() + bytes(8))
    checks.expect(gains_of(os.path.join("other", "perf.data")) == {}, "report of another capture: gains")
    for text in ("{}", "[", '{"schema":1,"runs":[{}],"parallel":true,"capture":"0123456789abcdef"}'):
        with open(os.path.join(other, "gains.json"), "w", encoding="utf-8") as file:
            file.write(text)
        checks.expect(gains_of(os.path.join("other", "perf.data")) == {}, f"report beside {text}: gains")
    checks.count("reports with gains")


def check_gains(checks, cyclops, kernels, folder):
    """Findings have the gain of what they name: as `model --what-if` says it, in every form of the answer; or nobody asks."""
    program = os.path.join(kernels, "pages")
    done = run_program(cyclops, folder, "--model", "--format", "json", "--folder", "gains", "--html", "gains.html", "--", program)
    answer = json.loads(done.stdout)
    first = answer["findings"][0]
    name = first["what_if"]
    asked = subprocess.run([cyclops, "model", "--what-if", name, "--format", "json", "--table", "what_if", "--", program],
                           env=ENVIRONMENT, cwd=folder, capture_output=True, check=True)
    wanted = next(row["gain"] for row in json.loads(asked.stdout)["what_if"] if row["name"] == name)
    checks.expect(abs(first["predicted_gain"] - wanted) < 0.03 and wanted > 0.3, f"gains: {first}, the model says {wanted}")
    names = {finding["what_if"].partition("@")[0] for finding in answer["findings"] if "predicted_gain" in finding}
    checks.expect({row["name"] for row in answer["what_if"]} == {"now", *names}, f"gains: {names}, {answer['what_if']}")
    checks.expect(sorted(os.listdir(os.path.join(folder, "gains"))) == ["counts.json", "gains.json", "perf.data"],
                  f"gains: {os.listdir(os.path.join(folder, 'gains'))}")
    shown = f"{100 * first['predicted_gain']:.1f} % fewer cycles if"
    check_report(checks, cyclops, folder, answer["findings"])
    text = run_program(cyclops, folder, "--model", "--", program).stdout
    checks.expect(f"Gain: {shown}" in text and f"   gain: {shown}" in text and "(modelled)" in text and "what if:" not in text,
                  f"gains: {text}")
    done = run_program(cyclops, folder, "--model", "--what-if=none", "--folder", "none", "--", program)
    checks.expect("what if: " in done.stdout and " cyclops model --what-if" in done.stdout and "(modelled)" not in done.stdout, f"none: {done.stdout}")
    checks.expect(sorted(os.listdir(os.path.join(folder, "none"))) == ["counts.json", "perf.data"], "none: files")
    checks.count("answers with gains")


def check_input(checks, cyclops, folder):
    """The second run reads a file again, and prints nothing; where it cannot read the same, nothing is said."""
    source, program, text = (os.path.join(folder, name) for name in ("reader.c", "reader", "text"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(READER)
    subprocess.run([COMPILER, "-O2", "-g", "-static", source, "-o", program], check=True)
    with open(text, "w", encoding="utf-8") as file:
        file.write("to be or not to be\n" * 50)
    for is_file in (True, False):
        with open(text, encoding="utf-8") as file:
            done = subprocess.run([cyclops, "run", "--model", "--format", "json", "-o", f"answer-{is_file}.json", "--", program],
                                  env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False,
                                  **({"stdin": file} if is_file else {"input": file.read()}))
        checks.expect(done.returncode == 0 and done.stdout == "mixed 1\n", f"input: {done.returncode} {done.stdout} {done.stderr}")
        with open(os.path.join(folder, f"answer-{is_file}.json"), encoding="utf-8") as file:
            first = json.load(file)["findings"][0]
        checks.expect((first["kind"], first["remedy_id"]) == ("dependency-chain", "interleave"), f"input: {first}")
        checks.expect(("predicted_gain" in first) == is_file, f"input, a file {is_file}: {first} {done.stderr}")
        checks.expect(("the second run was not as the first" in done.stderr) != is_file, f"input: {done.stderr}")
        checks.count("kinds of input")


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
        check_gains(checks, cyclops, kernels, folder)
        if shutil.which(COMPILER) is not None:
            check_input(checks, cyclops, folder)
        check_errors(checks, cyclops, kernels, folder)
        check_sweep(checks, cyclops, kernels, folder)
    checks.finish()


if __name__ == "__main__":
    main()
