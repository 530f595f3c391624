#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The table counts of `cyclops export`, beside what perf says of the same captures.

usage: counts.py CYCLOPS

perf records here: groups whose leader reads the others (values of each sample by perf script -D), the counts of threads that
end (-s; the same), and perf stat record by CPU, by thread and in intervals (sums by perf stat report).
"""

import collections
import os
import re
import sys
import tempfile

from harness import Checks, csv_rows, need, run, run_perf, skip

PROGRAM = ("sh", "-c", "for i in 1 2 3; do seq 30000 > /dev/null; done; true")
EVENTS = "task-clock,page-faults,context-switches"

SAMPLE = re.compile(r"^(?:\d+ )?(?:-?\d+ )?\d* ?(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE")
VALUE = re.compile(r"^\.{5} id [0-9a-f]+, value ([0-9a-f]+)")
READ = re.compile(r"(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_READ: (\d+) (\d+) (\S+) (\d+)")


def record(folder, name, *command):
    path = os.path.join(folder, name)
    done = run_perf(*[path if word == "PATH" else word for word in command], *PROGRAM, cwd=folder)
    if done.returncode != 0:
        skip(f"perf cannot count: {done.stderr.decode()[-300:]}")
    return path


def counts(cyclops, path):
    return csv_rows(cyclops, "export", "--table", "counts", "--format", "csv", path)


def dump(path, folder):
    return run("perf", "script", "-D", "-i", path, cwd=folder).decode(errors="replace").splitlines()


def values_of_samples(lines):
    """(record, value) in order."""
    record_at = None
    for line in lines:
        sample, value = SAMPLE.match(line), VALUE.match(line)
        record_at = sample[1] if sample else record_at
        if value:
            yield record_at, int(value[1], 16)


def check_group(checks, cyclops, folder):
    path = record(folder, "group.data", "record", "-q", "-e", "{cpu-clock,page-faults,context-switches}:S", "-o", "PATH")
    rows = counts(cyclops, path)
    found = [(row["record"], int(row["value"])) for row in rows]
    checks.expect(found, "no values in a group's samples")
    checks.equal("values of a group", found, list(values_of_samples(dump(path, folder))), "perf")
    last = {}
    for row in rows:
        before = last.get(row["event"], 0)
        checks.expect(int(row["counted"]) == int(row["value"]) - before, f"{row}: counted, behind {before}")
        checks.expect(row["kind"] == "sample" and row["scaled"] == row["enabled_ns"] == "", f"{row}")
        last[row["event"]] = int(row["value"])
    faults = csv_rows(cyclops, "export", "--table", "counts", "--select", "event=page-faults", path)
    checks.equal("rows of an event", faults, [row for row in rows if row["event"] == "page-faults"], "all rows")


def check_times_of_group(checks, cyclops, folder):
    """Counters of a task on each CPU are enabled while it runs elsewhere: what they counted is not extrapolated by that."""
    path = record(folder, "times.data", "record", "-q", "-s", "-e", "{cpu-clock,page-faults}:S", "-o", "PATH")
    rows = [row for row in counts(cyclops, path) if row["kind"] == "sample"]
    found = [(row["record"], int(row["value"])) for row in rows]
    checks.equal("values of a group with times", found, list(values_of_samples(dump(path, folder))), "perf")
    for row in rows:
        whole = row["enabled_ns"] == row["running_ns"] != ""
        checks.expect(row["enabled_ns"] != "" and float(row["scaled"] or -1) == (int(row["counted"]) if whole else -1), f"{row}")


def sums_of_threads(path, folder):
    """{(tid, event): count} of perf report -T."""
    lines = [line[1:].split() if line.startswith("#") else line.split()
             for line in run_perf("report", "-T", "--stdio", "-i", path, cwd=folder).stdout.decode().splitlines()]
    head = next((i for i, line in enumerate(lines) if line[:2] == ["PID", "TID"]), None)
    if head is None:
        return {}
    return {(line[1], event): int(count) for line in lines[head + 1:] if len(line) == len(lines[head])
            for event, count in zip(lines[head][2:], line[2:])}


def check_threads(checks, cyclops, folder):
    path = record(folder, "threads.data", "record", "-q", "-s", "-e", "cpu-clock,page-faults", "-o", "PATH")
    rows = [row for row in counts(cyclops, path) if row["kind"] == "thread"]
    found = [(row["record"], row["pid"], row["tid"], row["event"], row["value"]) for row in rows]
    sums = collections.Counter()
    for row in rows:
        sums[row["tid"], row["event"]] += int(row["counted"])
        whole = row["running_ns"] == row["enabled_ns"]  # else it was on other CPUs, which is no multiplexing
        checks.expect(float(row["scaled"] or -1) == (int(row["counted"]) if whole else -1), f"{row}")
    for key, count in sums_of_threads(path, folder).items():
        checks.expect(sums[key] == count, f"thread {key}: counted {sums[key]}, perf report -T {count}")
        checks.count("sums of perf report -T")
    checks.expect(found, "no counts of threads that end")
    theirs = [found.groups() for found in map(READ.search, dump(path, folder)) if found]
    checks.equal("counts of threads", sorted(found), sorted(theirs), "perf")


def sums_of_report(path, folder):
    """Counts by event, or by event and time, of perf stat report; times are in ms."""
    done = run_perf("stat", "-x,", "report", "-i", path, cwd=folder)
    rows = [line.split(",") for line in done.stderr.decode().splitlines() if line.count(",") > 3]
    for row in rows:
        time = [row.pop(0).strip()] if re.match(r" *\d+\.\d{9}$", row[0]) else []
        if row[0] != "<not counted>":
            yield row[2], time, float(row[0])


def most_scaled(rows):
    """By how much perf may have extrapolated a count: it does where a counter was enabled for longer than it ran."""
    return max((int(row["enabled_ns"]) / int(row["running_ns"]) for row in rows if int(row["running_ns"] or 0) > 0), default=1)


def check_stat(checks, cyclops, folder, name, *options):
    path = record(folder, name, "stat", "record", "-e", EVENTS, *options, "-o", "PATH")
    rows = [row for row in counts(cyclops, path) if row["kind"] == "stat"]
    sums = collections.Counter()
    for row in rows:
        checks.expect(row["counted"] == row["scaled"] or row["running_ns"] != row["enabled_ns"], f"{name}: {row}")
        sums[row["event"]] += int(row["counted"])
    theirs = collections.Counter()
    for event, _, count in sums_of_report(path, folder):
        theirs[event] += count
    checks.expect(sum(theirs.values()) > 0, f"{name}: perf stat report has no counts")
    for event, count in theirs.items():
        is_time = event == "task-clock"
        ours = sums[event] / 1e6 if is_time else sums[event]
        printed = 0.01 * len(rows) if is_time else 0
        most = ours * most_scaled(row for row in rows if row["event"] == event)
        checks.expect(ours - printed <= count <= most + printed, f"{name}: {event} {ours}, perf {count} of "
                      f"{list(sums_of_report(path, folder))}; {[row for row in rows if row['event'] == event]}")
        checks.count("sums of perf stat")
    return rows


def main():
    need("perf")
    cyclops = os.path.abspath(sys.argv[1])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_group(checks, cyclops, folder)
        check_times_of_group(checks, cyclops, folder)
        check_threads(checks, cyclops, folder)
        check_stat(checks, cyclops, folder, "stat.data")
        rows = check_stat(checks, cyclops, folder, "intervals.data", "-I", "20")
        checks.expect(all(int(row["end_ns"] or 0) > 0 for row in rows[:3]), f"intervals without an end: {rows[:3]}")
    checks.finish()


if __name__ == "__main__":
    main()
