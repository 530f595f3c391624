# SPDX-License-Identifier: Apache-2.0
"""Measures time and memory of commands."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

# Measurements must not depend on a debuginfod server, a pager or the user's configuration.
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "LC_ALL": "C.UTF-8",
    "PERF_CONFIG": "/dev/null",
    "DEBUGINFOD_URLS": "",
}

# A slow peer of many seconds moves less from run to run than it costs to ask it again.
ENOUGH_SECONDS = 10


class Cost(NamedTuple):
    """Seconds of wall-clock time, and of CPU time on all CPUs; of several runs the least of each, and the median. How often
    its threads waited, for a lock, for work, for the end of others."""

    wall: float
    cpu: float
    wall_median: float = 0
    n_runs: int = 1
    n_waits: int = 0


def fail(message):
    sys.exit(f"bench: {message}")


def start(command, home, stdout):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                            stderr=subprocess.PIPE, env=dict(ENVIRONMENT, HOME=str(home)))


def finish(process, command):
    """Waits. Fails if the process failed, and shows its standard error."""
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        fail(f"{' '.join(map(str, command))}: exit code {process.returncode}\n"
             + errors.decode(errors="replace"))
    return usage


def run(command, home):
    """Runs once and discards the output."""
    began = time.monotonic()
    process = start(command, home, subprocess.DEVNULL)
    usage = finish(process, command)
    return Cost(time.monotonic() - began, usage.ru_utime + usage.ru_stime, n_waits=usage.ru_nvcsw)


def best(commands, home, runs):
    """The least for each command of runs[i] runs, in turn, so that all have the same
    disturbances. Wall-clock and CPU time have a least of their own. A command that took
    ENOUGH_SECONDS in all is not run again."""
    costs = [[] for _ in commands]
    for turn in range(max(runs)):
        for i, command in enumerate(commands):
            if turn < runs[i] and sum(c.wall for c in costs[i]) < ENOUGH_SECONDS:
                costs[i].append(run(command, home))
    return [Cost(min(c.wall for c in each), min(c.cpu for c in each), statistics.median(c.wall for c in each), len(each),
                 min(c.n_waits for c in each)) for each in costs]


def at_once(command, home, runs):
    """Seconds until two copies of a command have ended that start at the same time, each on a CPU of its own: the least."""
    allowed = os.sched_getaffinity(0)
    least = float("inf")
    for _ in range(runs):
        began = time.monotonic()
        copies = []
        try:
            for cpu in (min(allowed), max(allowed)):
                os.sched_setaffinity(0, {cpu})  # a process inherits it
                copies.append(start(command, home, subprocess.DEVNULL))
        finally:
            os.sched_setaffinity(0, allowed)
        for process in copies:
            finish(process, command)
        least = min(least, time.monotonic() - began)
    return least


def output(command, home):
    with tempfile.TemporaryFile() as out:
        finish(start(command, home, out), command)
        out.seek(0)
        return out.read().decode(errors="replace")


def private_bytes(pid):
    """Resident memory of a process without pages of files."""
    fields = {}
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            fields[name] = value.split()
    except OSError:
        return 0
    return sum(int(fields[name][0]) for name in ("RssAnon", "RssShmem") if name in fields) << 10


def peak_private_bytes(command, home):
    """The maximum, polled about every millisecond. The kernel only has the
    peak of all pages, including those of mapped files."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors, env=dict(ENVIRONMENT, HOME=str(home)))
        peak = 0
        while process.poll() is None:
            peak = max(peak, private_bytes(process.pid))
            time.sleep(0.001)
        if process.returncode != 0:
            errors.seek(0)
            fail(f"{' '.join(map(str, command))}: exit code {process.returncode}\n"
                 + errors.read().decode(errors="replace"))
    return peak


def best_short(commands, home):
    """As best(), for commands of a few milliseconds, where the time to start a process
    matters. Uses hyperfine, if it is installed."""
    if shutil.which("hyperfine") is None:
        return best(commands, home, [20] * len(commands))
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = ["hyperfine", "-N", "--style", "none", "--warmup", "3", "--runs", "30",
                   "--export-json", report.name]
        command += [" ".join(map(str, c)) for c in commands]
        finish(start(command, home, subprocess.DEVNULL), command)
        results = json.load(report)["results"]
    return [Cost(r["min"], r["user"] + r["system"], r["median"], len(r["times"])) for r in results]


def forget_file(path):
    """Asks the kernel to drop a file from the page cache, so that the next reader waits for the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
