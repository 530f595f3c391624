#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The committed captures of the model come out again, byte for byte but for the version of cyclops in them, and perf reads
them cleanly: model_captures.py CYCLOPS DATA_DIR.

Each capture tells by which command it was made; that command runs again in a folder that looks like
the source. The bytes hold for the version of the emulator that made the capture: another one may lay
out the program's stack differently, so there it runs twice. Without the emulator or perf the test is
skipped.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from harness import Failed, need, run

EMULATOR_VERSION = " 7.2."
PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin"}

# What must not be said about a sound capture. perf on x86 cannot unwind arm64; nobody asks it to.
COMPLAINTS = re.compile(
    r"corrupt|malformed|failed|cannot|invalid|bad |incompatible|not found|unknown|out of order", re.I)
READERS = [
    ["report", "--stdio", "--itrace=i1i"],
    ["mem", "report", "--stdio"],
    ["c2c", "report", "--stdio"],
]
FEWEST_RECORDS = 500
# Not of SPE records alone.
OF_SAMPLES = ("calls", "callers", "cycles", "executions")
LARGEST_BYTES = 400_000


def header_of(capture, name):
    """What the capture's header says of something."""
    header = run("perf", "report", "--header-only", "-i", capture).decode()
    return re.search(rf"^# {name} : (.*)$", header, re.M)[1]


def command_of(capture):
    """The words of the command line that the capture names."""
    return shlex.split(header_of(capture, "cmdline"))


def of_version(capture, cyclops):
    """Its bytes as if this cyclops had written them."""
    old, new = (text.encode() for text in (header_of(capture, "perf version"), run(cyclops, "--version").decode().split()[1]))
    # Strings of a header have room for more; behind them there are zeros.
    pad = bytes(abs(len(new) - len(old)))
    content = capture.read_bytes()
    for before, behind in ((b"\0", b"\0"), (b"(cyclops ", b")\0")):
        if len(new) > len(old):
            old_text, new_text = before + old + behind + pad, before + new + behind
        else:
            old_text, new_text = before + old + behind, before + new + behind + pad
        if content.count(old_text) != 1:
            raise Failed(f"{capture.name} has {old_text!r} {content.count(old_text)} times")
        content = content.replace(old_text, new_text)
    return content


def make_again(cyclops, data, capture):
    """Runs the capture's command; returns the bytes that it wrote."""
    words = command_of(capture)
    name = pathlib.Path(words[words.index("-o") + 1])
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / name
        target.parent.mkdir(parents=True)
        (pathlib.Path(folder) / "tests/data/root").symlink_to(data / "root")
        done = subprocess.run([cyclops, *words[1:]], cwd=folder, env=PLAIN, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0 or done.stderr:
            raise Failed(f"{shlex.join(words)}: exit status {done.returncode}: {done.stderr}")
        return target.read_bytes()


def check_bytes(cyclops, data, capture, is_same_emulator):
    made = make_again(cyclops, data, capture)
    if not is_same_emulator and made != make_again(cyclops, data, capture):
        raise Failed(f"{capture.name}: two runs gave different captures")
    if is_same_emulator and made != of_version(capture, cyclops):
        raise Failed(f"{capture.name} is another one by now: scripts/make-demo.sh and "
                     "scripts/make-samples.sh make the captures again")


def run_perf(reader, capture):
    """perf 6.1 asks the machine's addr2line for lines. One that does not know arm64 may be gone by
    then: perf must not die of the broken pipe, which is not about the capture."""
    return subprocess.run(["perf", *reader, "-i", capture], capture_output=True, text=True,
                          env={**PLAIN, "PERF_CONFIG": "/dev/null"}, restore_signals=False,
                          check=False)


def check_perf(capture):
    """Returns the number of records."""
    for reader in READERS:
        done = run_perf(reader, capture)
        wrong = [line for line in done.stderr.splitlines() if COMPLAINTS.search(line)]
        if done.returncode != 0 or wrong:
            raise Failed(f"perf {' '.join(reader)}: exit status {done.returncode}: {wrong}")
    return run("perf", "script", "--itrace=i1i", "-F", "ip", "-i", capture).count(b"\n")


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for program in ("qemu-aarch64", "perf"):
        need(program)
    version = run("qemu-aarch64", "--version").decode().splitlines()[0]
    is_same_emulator = EMULATOR_VERSION in version
    if not is_same_emulator:
        print("not compared with what is committed:", version)
    of_spe = [data / "demo.data", *sorted((data / "samples").glob("*.data"))]
    for capture in [*of_spe, *(data / f"{name}.data" for name in OF_SAMPLES)]:
        check_bytes(cyclops, data, capture, is_same_emulator)
    for capture in of_spe:
        n_records = check_perf(capture)
        print(f"{capture.name}: {n_records} records")
        if n_records < FEWEST_RECORDS or capture.stat().st_size > LARGEST_BYTES:
            raise Failed(f"{capture.name}: too few records, or too large")


if __name__ == "__main__":
    main()
