#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares where cyclops and perf say that samples were taken, capture by capture.

    compare_places.py DUMP_PLACES DIRECTORY...

Thread, thread's name, address and module of every sample are compared with those of
`perf script`, as sorted lists; of SPE records, those that perf makes samples of.
"""

import collections
import os
import re
import subprocess
import sys

LINE = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?:(?P<s>\d+)\.(?P<ns>\d{9}):)?"
                  r"\s+(?P<ip>[0-9a-f]+) \((?P<dso>.*)\)\s*$")
JIT = re.compile(r"^/tmp/perf-(\d+)\.map$")
KERNEL_MODULE = re.compile(r"^/lib/modules/.*/([^/]+)\.ko[.a-z]*$")


def read_ours(dump, path):
    run = subprocess.run([dump, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{dump} {path}: {run.stderr[-300:]}")
    rows = []
    for line in run.stdout.decode(errors="replace").splitlines():
        pid, tid, time, ip, comm, dso = line.split("|", 5)
        rows.append((int(time), int(pid), int(tid), int(ip, 16), comm, dso))
    return rows


def run_perf(path, fields):
    with open(os.devnull if os.path.isdir(path) else path, "rb") as file:
        is_stream = file.read(16)[8:] == (16).to_bytes(8, "little")
    with open(path if is_stream else "/dev/null", "rb") as stdin:
        run = subprocess.run(["perf", "script", "--ns", "-G", "-F", fields, "--itrace=i1i",
                              "-i", "-" if is_stream else path],
                             stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")


def read_perf(path):
    text, errors = run_perf(path, "comm,pid,tid,time,ip,dso")
    if "do not have TIME" in errors:
        text, errors = run_perf(path, "comm,pid,tid,ip,dso")
    rows, odd = [], 0
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            odd += bool(line.strip())
            continue
        dso = JIT.sub(r"perf-\1.map", match["dso"])
        dso = KERNEL_MODULE.sub(lambda m: "[" + m[1].replace("-", "_") + "]", dso)
        time = int(match["s"] or 0) * 10**9 + int(match["ns"] or 0)
        rows.append((time, int(match["pid"]), int(match["tid"]), int(match["ip"], 16),
                     match["comm"], dso))
    return rows, odd, errors


def differences(ours, theirs):
    left = collections.Counter(ours)
    right = collections.Counter(theirs)
    return sorted((left - right).elements()), sorted((right - left).elements())


def compare(dump, path):
    ours = read_ours(dump, path)
    theirs, odd, errors = read_perf(path)
    name = os.path.basename(path)
    if not theirs:
        print(f"-- {name}: {len(ours)} rows, perf has none: {errors.strip().splitlines()[:1]}")
        return 0
    if "/spe/" in path:
        ours, theirs = sorted(set(ours)), sorted(set(theirs))
        n_ours = len(ours)
        ours = [row for row in ours if row[:4] in {t[:4] for t in theirs}]
    else:
        n_ours = len(ours)
    only_ours, only_theirs = differences(ours, theirs)
    state = "ok" if not only_ours and not only_theirs else "DIFFERENT"
    print(f"{state} {name}: {n_ours} rows, perf {len(theirs)}, {odd} lines not understood, "
          f"only ours {len(only_ours)}, only perf's {len(only_theirs)}")
    for row in only_ours[:5]:
        print("   ours ", row)
    for row in only_theirs[:5]:
        print("   perf ", row)
    return state != "ok"


def is_capture(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"PERFILE2"


def main():
    dump, *directories = sys.argv[1:]
    bad = 0
    for directory in directories:
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            if is_capture(os.path.join(path, "data") if os.path.isdir(path) else path):
                bad += compare(dump, path)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
