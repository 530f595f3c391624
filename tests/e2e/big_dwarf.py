#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Lines of a C++ program with much debug information, cold: each line number as often as addr2line has it for the same
addresses, the same for any number of threads, inlined functions among them.

usage: big_dwarf.py [--files N] [--copies N] [--places N] [--cpu SECONDS] [--memory MIB] CYCLOPS MAKE-CAPTURE

--cpu and --memory are limits for one question of the whole program: CPU time, and memory without pages of files.
"""

import argparse
import collections
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from harness import ENVIRONMENT, Checks, csv_rows, need, run

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
COMPILER, ADDR2LINE = "aarch64-linux-gnu-g++", "aarch64-linux-gnu-addr2line"
QUESTION = ("hot", "--by", "line", "--all", "--format", "csv", "--symfs", "/")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(*command, **options):
    """Output of a program, and its CPU time."""
    before = cpu_of_children()
    out = run(*command, **options)
    return out, cpu_of_children() - before


def peak_memory(*command):
    """MiB of a program without pages of files, looked at all the time."""
    peak = 0
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                break
            found = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon:")]
            peak = max([peak, *map(int, found)])
            time.sleep(0.002)
    return peak / 1024


def forget(path):
    """Asks the kernel to read the file anew."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def lines_of_addr2line(program, addresses, folder):
    """Line numbers by number of records; and addr2line's CPU time."""
    listed = folder / "addresses"
    listed.write_text("\n".join(addresses))
    told, cpu = cpu_of(ADDR2LINE, "-e", program, f"@{listed}")
    numbers = [line.rpartition(":")[2].split()[0] for line in told.decode().splitlines()]
    return dict(zip(addresses, numbers)), cpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--places", type=int, default=3000)
    parser.add_argument("--cpu", type=float)
    parser.add_argument("--memory", type=float)
    parser.add_argument("cyclops")
    parser.add_argument("maker")
    options = parser.parse_args()
    need(COMPILER)
    need(ADDR2LINE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(sys.executable, BENCH / "make-big-binary.py", folder, "--files", options.files, "--copies", options.copies,
            "--instances", 1 if options.copies == 1 else 6, "--compiler", COMPILER, "--flags", "-g -O1 -std=c++17 -no-pie")
        program, capture = folder / "big", folder / "places.data"
        run(options.maker, "--records", options.places, "--kernel-share", 0, "--symbols", "--binary", program, "--output", capture)

        records = collections.Counter(row["pc"] for row in csv_rows(
            options.cyclops, "export", "--table", "spe", "--format", "csv", capture))
        theirs, cpu_theirs = lines_of_addr2line(program, sorted(records), folder)
        wanted = collections.Counter()
        for address, number in records.items():
            wanted[theirs[address]] += number
        forget(program)
        ours, cpu = cpu_of(options.cyclops, *QUESTION, "-j1", capture)
        found = collections.Counter()
        for row in csv_rows(options.cyclops, *QUESTION, capture):
            found[row["line"] or "?"] += int(row["samples"])
        for line in set(wanted) | set(found):
            checks.count("line numbers")
            checks.expect(wanted[line] == found[line], f"line {line}: addr2line has {wanted[line]} records, cyclops {found[line]}")
        checks.expect(ours == run(options.cyclops, *QUESTION, "-j7", capture), "lines depend on the number of threads")
        inlined = [row["inlined"] for row in csv_rows(
            options.cyclops, "hot", "--all", "--format", "csv", "--symfs", "/", capture) if row["inlined"]]
        checks.count("inlined functions", len(inlined))
        checks.expect(len(inlined) > 0, "no inlined function was found")
        if options.cpu is not None:
            checks.expect(cpu <= options.cpu, f"{cpu:.2f} s of CPU time, the limit is {options.cpu:.2f}")
        if options.memory is not None:
            peak = peak_memory(options.cyclops, *QUESTION, capture)
            checks.expect(peak <= options.memory, f"{peak:.0f} MiB, the limit is {options.memory:.0f}")
            print(f"{peak:.0f} MiB")
        print(f"{cpu:.2f} s of CPU time, addr2line {cpu_theirs:.2f} s")
    checks.finish()


main()
