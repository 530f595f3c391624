#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the samples that cyclops reads with those that perf reads, capture by capture.

    compare_perf.py DUMP_SAMPLES [DIRECTORY...]

The directory named by the variable CYCLOPS_CAPTURES is taken, too.
For each capture two answers of perf are compared, as sorted lists: `perf report -D` (every
record, and every sample with its call chain and branch stack, as recorded) and `perf script`
(event, cpu and time). Where perf is known to answer something else than the file says, the reason is
printed and that part is left out; docs/differences.md explains them.
"""

import os
import re
import shutil
import subprocess
import sys

OURS = ("position", "event", "pid", "tid", "cpu", "time", "period", "ip", "addr", "weight",
        "data_src", "pa", "chain", "branches")

RECORD = re.compile(r"^(?:\d+ )*(0x[0-9a-f]+|0) \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(IP, 0x[0-9a-f]+\): "
                    r"(-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: (\d+) addr: (0x[0-9a-f]+|0)")
ANY_RECORD = re.compile(r"^((?:\d+ )*)(0x[0-9a-f]+|0) \[(0x[0-9a-f]+|0)\]: PERF_RECORD_(\w+)")
CHAIN = re.compile(r"^\.\.\.\.\. *\d+: ([0-9a-f]{16})$")
BRANCH = re.compile(r"^\.\.\.\.\. *\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) (\d+) cycles ([MPAT ]*)")
WEIGHT = re.compile(r"^\.\.\. weight: (\d+)")
DATA_SRC = re.compile(r"^ \. data_src: (0x[0-9a-f]+|0)")
PHYS = re.compile(r"^ \.\.\. phys_addr: (0x[0-9a-f]+|0)")

# What perf 6.1 says about captures that it does not read, and we do.
REFUSALS = (
    ("incompatible file format", "perf 6.1 refuses attrs larger than 128 bytes"),
    ("bad event header size", "perf stops at the damaged record and forgets the samples before it"),
    ("failed to process type", "perf stops at a record type that it does not know"),
)


def hexes(text):
    return tuple(int(word, 16) for word in text.split())


def read_ours(dump, path):
    run = subprocess.run([dump, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{dump} {path}: {run.stdout[-300:]} {run.stderr[-300:]}")
    rows = []
    for line in run.stdout.decode(errors="replace").splitlines():
        if line.startswith("sample|"):
            rows.append(dict(zip(OURS, line.split("|")[1:])))
    return rows


def run_perf(arguments, path):
    """Runs perf on the file; a stream is piped in, as perf wants it."""
    with open("/dev/null" if os.path.isdir(path) else path, "rb") as file:
        is_stream = file.read(16)[8:] == (16).to_bytes(8, "little")
    with open(path if is_stream else "/dev/null", "rb") as stdin:
        run = subprocess.run(["perf", *arguments, "-i", "-" if is_stream else path],
                             stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace"), is_stream


def read_our_records(dump, path):
    """{position: (size, type, cpu, time)}; as text, "" for what is not there."""
    run = subprocess.run([dump, "-r", path], stdout=subprocess.PIPE, check=False)
    records = {}
    for line in run.stdout.decode(errors="replace").splitlines():
        if line.startswith("record|"):
            position, size, kind, cpu, time = line.split("|")[1:]
            records[int(position, 16)] = (int(size, 16), kind, cpu, time)
    return records


def read_perf_records(text, is_stream):
    """The same of `perf report -D`, the numbers in front (cpu and time) in one list."""
    records = {}
    for line in text.splitlines():
        if match := ANY_RECORD.match(line):
            numbers, position, size, kind = match.groups()
            # What describes a stream has shorter names in perf.
            kind = {"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE"}.get(kind, kind)
            at = int(position, 16) + (16 if is_stream else 0)
            records[at] = (int(size, 16), kind, numbers.split())
    return records


def is_same_record(ours, perfs):
    size, kind, cpu, time = ours
    if (size, kind) != perfs[:2]:
        return False
    return not cpu or not time or not perfs[2] or perfs[2][-2:] in ([cpu, time], [time])


def compare_records(dump, path, text, is_stream):
    """Each record that perf lists, by its position: size, type, and cpu and time of the trailer."""
    ours = read_our_records(dump, path)
    perfs = read_perf_records(text, is_stream)
    wrong = [at for at in perfs if at not in ours or not is_same_record(ours[at], perfs[at])]
    if wrong:
        print(f"FAIL {path}: {len(wrong)} of {len(perfs)} records")
        for at in wrong[:3]:
            print(f"     at {at:#x}: cyclops {ours.get(at)}, perf {perfs[at]}")
    return bool(wrong)


def branch_words(groups):
    start, end, cycles, flags = groups
    bits = ("M" in flags) | ("P" in flags) << 1
    return int(start, 16), int(end, 16), int(cycles), bits


def read_dump(path):
    """The sample records of `perf report -D`, all it printed, and what it is about."""
    text, errors, is_stream = run_perf(["report", "-D"], path)
    rows, row = [], None
    for line in text.splitlines():
        if match := RECORD.match(line):
            position, pid, tid, ip, period, addr = match.groups()
            row = {"position": int(position, 16) + (16 if is_stream else 0), "pid": int(pid),
                   "tid": int(tid), "ip": int(ip, 16), "period": int(period),
                   "addr": int(addr, 16), "chain": (), "branches": (), "weight": 0,
                   "data_src": 0, "pa": 0}
            rows.append(row)
        elif row is None or not line.startswith((".....", "...", " .")):
            row = None
        elif match := BRANCH.match(line):
            row["branches"] += (branch_words(match.groups()),)
        elif match := CHAIN.match(line):
            row["chain"] += (int(match.group(1), 16),)
        elif match := WEIGHT.match(line):
            row["weight"] = int(match.group(1))
        elif match := DATA_SRC.match(line):
            row["data_src"] = int(match.group(1), 16)
        elif match := PHYS.match(line):
            row["pa"] = int(match.group(1), 16)
    return rows, text, is_stream, errors


def read_script(path):
    """(event, pid, tid, cpu, time, period, ip) of `perf script`; None for what the file lacks."""
    fields = ["pid", "tid", "cpu", "time", "event", "period", "ip"]
    while True:
        text, errors, _ = run_perf(["script", "--no-itrace", "--ns", "-G", "-F", ",".join(fields)], path)
        missing = re.search(r"Cannot print '(\w+)' field", errors)
        if not missing or missing.group(1) not in fields:
            break
        fields.remove(missing.group(1))
    pattern = ""
    pattern += r"\s*(?P<pid>-?\d+)/(?P<tid>-?\d+)" if "tid" in fields else ""
    pattern += r"\s*\[(?P<cpu>-?\d+)\]" if "cpu" in fields else ""
    pattern += r"\s*(?P<time>\d+\.\d{9}):" if "time" in fields else ""
    pattern += r"\s*(?P<period>\d+)\s+(?P<event>.*?):\s*(?P<ip>[0-9a-f]+)\s*$"
    rows = []
    for line in text.splitlines():
        match = re.match(pattern, line)
        if match:
            rows.append(match.groupdict())
    return rows, fields, errors


def flags_of(words):
    """Recorded branch words as perf prints them."""
    return tuple((words[i], words[i + 1], words[i + 2] >> 4 & 0xFFFF, words[i + 2] & 3)
                 for i in range(0, len(words), 3))


def ours_as_dump(row, has_positions):
    return (int(row["position"], 16) if has_positions else 0, int(row["pid"]), int(row["tid"]), int(row["ip"], 16),
            int(row["period"]), int(row["addr"], 16), int(row["weight"]), int(row["data_src"], 16),
            int(row["pa"], 16), hexes(row["chain"]), flags_of(hexes(row["branches"])))


def dump_key(row, has_positions):
    names = ("pid", "tid", "ip", "period", "addr", "weight", "data_src", "pa", "chain", "branches")
    return (row["position"] if has_positions else 0, *(row[name] for name in names))


def script_key(row):
    time = row.get("time")
    return (row["event"], row.get("pid"), row.get("tid"), int(row["cpu"]) if row.get("cpu") else None,
            int(time.replace(".", "")) if time else None, row["period"], row["ip"])


def ours_as_script(row, fields):
    return (row["event"], row["pid"] if "tid" in fields else None,
            row["tid"] if "tid" in fields else None, int(row["cpu"]) if "cpu" in fields else None,
            int(row["time"]) if "time" in fields else None, row["period"], row["ip"])


def report(what, path, ours, perfs):
    ours, perfs = sorted(ours, key=repr), sorted(perfs, key=repr)
    if ours == perfs:
        return 0
    only_ours = [row for row in ours if row not in perfs]
    only_perf = [row for row in perfs if row not in ours]
    print(f"FAIL {path}: {what}: {len(ours)} rows, perf has {len(perfs)}")
    for name, rows in (("cyclops", only_ours), ("perf", only_perf)):
        for row in rows[:3]:
            print(f"     only {name}: {str(row)[:300]}")
    return 1


def refusal(errors):
    return next((why for text, why in REFUSALS if text in errors), None)


def compare(dump, path):
    ours = read_ours(dump, path)
    dumped, text, is_stream, errors = read_dump(path)
    why = refusal(errors)
    if why and len(dumped) < len(ours):
        print(f"skip {path}: {len(ours)} samples, perf {len(dumped)}: {why}")
        return 0
    is_file = not os.path.isdir(path)  # in a directory perf counts from the start of each file
    failed = report("perf report -D", path, (ours_as_dump(row, is_file) for row in ours),
                    (dump_key(row, is_file) for row in dumped))
    note = ""
    if is_file and "COMPRESSED" not in text:
        failed |= compare_records(dump, path, text, is_stream)
    if "... sample_read:" in text:
        note = "; perf script left out: it gives READ values as periods, a row for each value"
    else:
        scripted, fields, _ = read_script(path)
        failed |= report("perf script", path, (ours_as_script(row, fields) for row in ours),
                         map(script_key, scripted))
    if not failed:
        print(f"ok   {path}: {len(ours)} samples{note}")
    return failed


def captures(directory):
    for root, folders, files in os.walk(directory):
        for folder in list(folders):
            if os.path.isfile(os.path.join(root, folder, "data")):
                folders.remove(folder)
                yield os.path.join(root, folder)
        for file in files:
            path = os.path.join(root, file)
            with open(path, "rb") as stream:
                if stream.read(8) == b"PERFILE2":
                    yield path


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    directories = [path for path in [*sys.argv[2:], os.environ.get("CYCLOPS_CAPTURES", "")]
                   if os.path.isdir(path)]
    if not directories or not shutil.which("perf"):
        print("skipped: no captures" if not directories else "skipped: no perf")
        return 0
    failed = 0
    for directory in directories:
        for path in sorted(captures(directory)):
            failed += compare(sys.argv[1], path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
