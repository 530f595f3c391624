#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks perf stat and cyclops stat --import about the same runs, in every mode that perf has.

usage: stat_import.py CYCLOPS

perf counts software events, which are there on every machine. What it prints is imported, and each
count is compared with a plain reading of the same text made here. Skipped where perf cannot count.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
EVENTS = "task-clock,page-faults,context-switches,cpu-migrations,cycles"
WORK = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done"]
SLEEP = ["sleep", "0.25"]
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
STATES = {"<not counted>": "not-counted", "<not supported>": "not-supported"}

# How many fields stand before the value, besides the time of -I.
MODES = {
    "plain": ([], 0, WORK),
    "runs": (["-r", "3"], 0, WORK),
    "interval": (["-I", "100"], 0, SLEEP),
    "by cpu": (["-a", "-A"], 1, SLEEP),
    "by cpu and interval": (["-a", "-A", "-I", "100"], 1, SLEEP),
    "by core": (["-a", "--per-core"], 2, SLEEP),
    "by socket": (["-a", "--per-socket"], 2, SLEEP),
    "by die": (["-a", "--per-die"], 2, SLEEP),
    "by node": (["-a", "--per-node"], 2, SLEEP),
    "by thread": (["-a", "--per-thread"], 1, SLEEP),
}
# perf stat record, whose perf stat report -x is read; as above, and whether it has CPUs.
RECORDED = {
    "recorded": ([], 0, WORK),
    "recorded by interval": (["-I", "100"], 0, SLEEP),
    "recorded by cpu": (["-a", "-A"], 1, SLEEP),
    "recorded on all cpus": (["-a"], 0, SLEEP),
    "recorded by core and interval": (["-a", "--per-core", "-I", "100"], 2, SLEEP),
}
ROUNDED_NS = 1e5  # perf prints clocks in hundredths of a millisecond, a line each
SEPARATORS = [";", ",", "|", "\t", "::", "@"]
ALL_SEPARATORS = ("plain", "by cpu and interval")  # modes that take all of them; the others, without --all, the first


def perf(arguments, work):
    with tempfile.NamedTemporaryFile("r") as out:
        command = ["perf", "stat", "-o", out.name, "-e", EVENTS, *arguments, "--", *work]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        return out.read() if done.returncode == 0 else None


def perf_record(arguments, work, is_stream):
    """What perf stat record writes, and what perf stat report -x says of it; None where perf cannot."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.data")
        command = ["perf", "stat", "record", "-o", "-" if is_stream else path, "-e", EVENTS, *arguments, "--", *work]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
        if is_stream:
            with open(path, "wb") as stream:
                stream.write(done.stdout)
        report = subprocess.run(["perf", "stat", "-x", ";", "report", "-i", path], env=ENVIRONMENT,
                                capture_output=True, text=True, check=False)
        if done.returncode != 0 or report.returncode != 0:
            return None
        with open(path, "rb") as file:
            return file.read(), report.stderr


def imported(cyclops, text):
    command = [cyclops, "stat", "--import", "-", "--format", "json"]
    done = subprocess.run(command, input=text if isinstance(text, bytes) else text.encode(), capture_output=True,
                          check=False)
    if done.returncode != 0:
        return None, done.stderr.decode()
    return json.loads(done.stdout), ""


def number(text, unit):
    value = float(text.replace(",", ""))
    return value * 1e6 if unit == "msec" else value


def name_of(event):
    return re.sub(r":[ukh]+$", "", event)


def rows_of_csv(text, separator, n_prefix, has_time):
    """(event, state or value) of each line of -x, in order."""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(separator)[n_prefix + has_time:]
        if len(fields) < 5 or not fields[0]:
            continue
        value, unit, event = fields[:3]
        yield name_of(event), STATES.get(value, None) or number(value, unit)


def rows_of_json(text):
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if "counter-value" not in row:
            continue
        value = row["counter-value"]
        yield name_of(row["event"]), STATES.get(value, None) or number(value, row["unit"])


PEOPLE = re.compile(r"(<not \w+>|[\d.,]+)\s+(?:(msec)\s+)?([a-z][\w-]+(?::[a-z]+)?)\s*(?:#.*|\(.*|$)")


def rows_of_people(text):
    for line in text.splitlines():
        if " seconds " in line or line.startswith("#"):
            continue
        m = PEOPLE.search(re.sub(r"^ +\d+\.\d{9} ", "", line))
        if m:
            value, unit, event = m.groups()
            yield name_of(event), STATES.get(value, None) or number(value, unit)


def summed(rows):
    """As the table of events has it: the sum of what was counted, or a state."""
    values, states = collections.defaultdict(float), {}
    counted = set()
    for event, value in rows:
        if isinstance(value, str):
            states.setdefault(event, value)
        else:
            values[event] += value
            counted.add(event)
    return {e: values[e] if e in counted else states[e] for e in {*values, *states}}


def differences(expected, answer, clock_error_ns=0):
    # The kernel's words are names of the catalog's generic events.
    events = {k.lower().replace("_", "-"): v for k, v in answer["events"].items()}
    for event, value in sorted(expected.items()):
        found = events.pop(event, None)
        if found is None:
            yield f"{event}: missing"
        elif isinstance(value, str):
            if found["state"] != value:
                yield f"{event}: {found['state']}, wanted {value}"
        elif found["state"] != "counted" or abs(found["count"] - value) > 1e-6 * abs(value) + (
                clock_error_ns if event == "task-clock" else 1e-6):
            yield f"{event}: {found}, wanted {value}"
    for event in events:
        yield f"{event}: perf has no such event"


def cases(has_all):
    for name, (arguments, n_prefix, work) in MODES.items():
        has_time = "-I" in arguments
        for separator in SEPARATORS if has_all or name in ALL_SEPARATORS else SEPARATORS[:1]:
            yield (f"{name}, -x '{separator}'", [*arguments, "-x", separator], work,
                   lambda text, s=separator, n=n_prefix, t=has_time: rows_of_csv(text, s, n, t))
        yield f"{name}, -j", [*arguments, "-j"], work, rows_of_json
        yield f"{name}, for people", arguments, work, rows_of_people


def main():
    cyclops = sys.argv[1]
    n_compared, n_recorded, n_left_out, faults = 0, 0, 0, []
    if perf([], WORK) is None:
        print("perf cannot count here")
        sys.exit(SKIPPED)
    for name, arguments, work, read in cases("--all" in sys.argv):
        text = perf(arguments, work)
        expected = summed(read(text)) if text else {}
        if not expected:
            n_left_out += 1  # this perf does not have the mode, or may not use it
            continue
        answer, error = imported(cyclops, text)
        if answer is None:
            faults.append(f"{name}: {error.strip()}")
            continue
        n_compared += len(expected)
        faults += [f"{name}: {d}" for d in differences(expected, answer)]
    for name, (arguments, n_prefix, work) in RECORDED.items():
        for is_stream in (False, True):
            made = perf_record(arguments, work, is_stream)
            if made is None:
                n_left_out += 1
                continue
            expected = summed(rows_of_csv(made[1], ";", n_prefix, "-I" in arguments))
            answer, error = imported(cyclops, made[0])
            n_recorded += len(expected)
            faults += [f"{name}: {d}" for d in differences(expected, answer, ROUNDED_NS)] if answer else [f"{name}: {error.strip()}"]
    if n_recorded < 10:
        faults.append("too little of perf stat record was compared")
    n_compared += n_recorded
    print("\n".join(faults) or f"{n_compared} counts are the same, {n_left_out} modes left out")
    if n_compared < 40:
        faults.append("too little was compared")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
