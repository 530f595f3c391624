#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that do not end by themselves, under the model: model_deaths.py CYCLOPS.

However a program ends, its capture is whole: as many records and samples as the PMU counted, all of them with a
thread and a module, the header complete, and perf reads it as well. Nothing but the truth is lost, and
the command says so. Without the emulator or the cross compiler the test is skipped.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Failed, csv_rows, need, run

SOURCE = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void work(unsigned n)
{
	volatile unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += i ^ sum << 3;
}
static void die(const char *how)
{
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)0);
}
int main(int argc, char **argv)
{
	work(argc > 2 ? (unsigned)atoi(argv[2]) : 40000);
	if (write(1, "x", 1) == 1)
		die(argv[1]);
	for (;;)
		work(1000);
}
"""
LEAST = 320000  # instructions before the end
PERIOD = 331  # of samples of the PMU

# how, size of the work, status, what is said, whether the truth is there
CASES = (
    ("segv", 40000, 128 + signal.SIGSEGV, f"signal {int(signal.SIGSEGV)} ", False),
    ("segv", 0, 128 + signal.SIGSEGV, f"signal {int(signal.SIGSEGV)} ", False),
    ("abort", 40000, 128 + signal.SIGABRT, f"signal {int(signal.SIGABRT)} ", False),
    ("term", 40000, 128 + signal.SIGTERM, f"signal {int(signal.SIGTERM)} ", False),
    ("kill", 40000, 128 + signal.SIGKILL, f"signal {int(signal.SIGKILL)} ", False),
    ("kill", 400000, 128 + signal.SIGKILL, f"signal {int(signal.SIGKILL)} ", False),  # more than a buffer
    ("_exit", 40000, 7, "", True),
    ("exec", 40000, 0, "executed another program", False),
)


def start(cyclops, folder, *arguments):
    return subprocess.Popen([cyclops, "model", "-o", "out.data", "--counts", "counts.json", "--truth",
                             "truth.json", "-c", "1024", "--sample", f"inst_retired:{PERIOD}:precise",
                             "--branch-stack=8", "--", folder / "program", *map(str, arguments)], cwd=folder,
                            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def check_capture(cyclops, folder, name, least):
    """The capture has all that was counted, and a whole header."""
    counts = {event: count["count"] for event, count in
              json.loads((folder / "counts.json").read_text())["events"].items()}
    rows = csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", folder / "out.data")
    if len(rows) != counts["SAMPLE_FILTRATE"] or counts["INST_RETIRED"] < least:
        raise Failed(f"{name}: {len(rows)} records of {counts['INST_RETIRED']} instructions, counted "
                     f"{counts['SAMPLE_FILTRATE']}, wanted at least {least} instructions")
    n_samples = len(re.findall(rb"^0x[0-9a-f]+ size=\d+ SAMPLE .* tid=1000 ", run(cyclops, "dump", folder / "out.data"), re.M))
    if n_samples not in (counts["INST_RETIRED"] // PERIOD, counts["INST_RETIRED"] // PERIOD + 1):
        raise Failed(f"{name}: {n_samples} samples of {counts['INST_RETIRED']} instructions")
    if any(not row["tid"] for row in rows):
        raise Failed(f"{name}: records without a thread")
    report = run(cyclops, "report", folder / "out.data").decode()
    quality = run(cyclops, "quality", folder / "out.data").decode()
    if "modelled" not in report or "program" not in report or "modelled" not in quality:
        raise Failed(f"{name}: the report says\n{report}")
    print(f"{name}: {len(rows)} records, {counts['INST_RETIRED']} instructions")
    if shutil.which("perf") is not None:
        read = run("perf", "script", "--itrace=i1i", "-F", "ip,sym", "-i", folder / "out.data").decode()
        n_read = sum(bool(line.strip()) for line in read.splitlines())
        if n_read != len(rows) + n_samples:
            raise Failed(f"{name}: perf reads {n_read} of {len(rows)} records and {n_samples} samples")


def check_end(cyclops, folder, name, process, status, said, has_truth, least):
    _, errors = process.communicate()
    lines = [line for line in errors.decode().splitlines() if line.startswith("cyclops: ")]
    if process.returncode != status or len(lines) != bool(said) or not all(
            part in lines[0] for part in ([said, "out.data"] if said else [])):
        raise Failed(f"{name}: status {process.returncode}, said {errors.decode()!r}")
    if not has_truth and "truth.json was not written" not in lines[0]:
        raise Failed(f"{name}: nothing is said of the truth: {lines[0]!r}")
    if has_truth:
        json.loads((folder / "truth.json").read_text())
    check_capture(cyclops, folder, name, least)


def emulator_of(process):
    """The one child of the command."""
    done = run("ps", "-o", "pid=", "--ppid", process.pid).split()
    return int(done[0])


def check_outside(cyclops, folder, name, sent, to_command):
    """The signal comes from outside, when the program has long begun."""
    process = start(cyclops, folder, "none")
    if process.stdout.read(1) != b"x":
        raise Failed(f"{name}: the program did not begin: {process.communicate()[1]!r}")
    os.kill(process.pid if to_command else emulator_of(process), sent)
    check_end(cyclops, folder, name, process, 128 + sent, f"signal {int(sent)} ", False, LEAST)


def main():
    cyclops = os.path.realpath(sys.argv[1])
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc", "ps"):
        need(program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.c").write_text(SOURCE)
        run("aarch64-linux-gnu-gcc", "-O2", "-static", "-o", folder / "program", folder / "program.c")
        for how, work, *wanted in CASES:
            process = start(cyclops, folder, how, work)
            check_end(cyclops, folder, f"{how} after {work}", process, *wanted,
                      LEAST if work else 1)
        check_outside(cyclops, folder, "kill -9 of the emulator", signal.SIGKILL, False)
        check_outside(cyclops, folder, "kill of the command", signal.SIGTERM, True)


if __name__ == "__main__":
    main()
