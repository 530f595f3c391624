#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures in every shape that perf record makes of its options, in a file and as a stream: thread, cpu, time, period, event
and address of each sample beside perf script's.

usage: perf_shapes.py [--all] CYCLOPS

Shapes that this machine, its kernel or its perf cannot make are left out, and counted.
"""

import argparse
import collections
import os
import re
import shutil
import tempfile

from harness import Checks, csv_rows, need, run_perf, skip

PROGRAM = ("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (ls /usr/bin | sort | wc -l) >/dev/null")
CLOCK = ("-e", "cpu-clock")
SMALL = {
    "group": ("-e", "{cpu-clock,page-faults,context-switches}"),
    "compressed": (*CLOCK, "-z", "-F", "5000"),
    "directory": (*CLOCK, "--threads"),
    "side-band": (*CLOCK, "--namespaces", "--all-cgroups", "--switch-events"),
}
ALL = {
    **SMALL,
    "per-thread": (*CLOCK, "--per-thread"),
    "overwritten": (*CLOCK, "--overwrite"),
    "modes": ("-e", "cpu-clock:u", "-e", "page-faults:k", "-e", "task-clock"),
    "dummy": ("-e", "dummy:u", "-e", "cpu-clock"),
    "identifier": (*CLOCK, "--sample-identifier", "-d", "--phys-data"),
    "weights": (*CLOCK, "-W"),
    "registers": (*CLOCK, "--user-regs=ip,sp,bp"),
    "call chains": (*CLOCK, "-g"),
    "copied stacks": (*CLOCK, "--call-graph", "dwarf,1024"),
    "BPF output": (*CLOCK, "--off-cpu"),
    "kcore": (*CLOCK, "--kcore"),
    "synthesized last": (*CLOCK, "--tail-synthesize"),
    "nothing synthesized": (*CLOCK, "--synth=no"),
    "raw": (*CLOCK, "-R"),
    "counts": (*CLOCK, "-s", "-T"),
    "build-ids in mappings": (*CLOCK, "--buildid-mmap"),
    "no build-ids": (*CLOCK, "-B", "-N"),
    "times in the header": (*CLOCK, "--timestamp-boundary"),
    "monotonic": (*CLOCK, "-k", "mono"),
    "often": (*CLOCK, "-F", "max"),
    "periods": (*CLOCK, "-P", "-c", "300000"),
    "page sizes": (*CLOCK, "--data-page-size", "--code-page-size", "-d"),
    "unbuffered": (*CLOCK, "--no-buffering"),
    "not inherited": (*CLOCK, "--no-inherit"),
    "later": (*CLOCK, "-D", "20"),
    "cut by size": (*CLOCK, "-F", "5000", "--max-size", "60K"),
    "whole machine": ("-a", *CLOCK),
    "whole machine, compressed": ("-a", *CLOCK, "-z", "--switch-events"),
    "tracepoint": ("-e", "sched:sched_switch"),
}
# perf prints what was recorded; which fields that are differs.
FIELDS = ("pid,tid,cpu,time,period,event,ip", "pid,tid,time,period,event,ip", "pid,tid,period,event,ip")
LINE = re.compile(r"^ *(-?\d+)/(-?\d+) +(?:\[(-?\d+)\] +)?(?:(\d+)\.(\d{9}): +)?(\d*) *(\S+): +([0-9a-f]+)")


def samples_of_perf(path, stream):
    """None: perf does not read what it wrote, as streams of --overwrite."""
    for fields in FIELDS:
        with open(path, "rb") if stream else open(os.devnull, "rb") as standard:
            done = run_perf("script", "-i", "-" if stream else path, "--no-itrace", "-F", fields, "--ns", "-G", stdin=standard)
        if done.returncode == 0:
            break
    else:
        return None
    found = filter(None, map(LINE.match, done.stdout.decode(errors="replace").splitlines()))
    return collections.Counter((m[1], m[2], str(int(m[3])) if m[3] and m[3][0] != "-" else "", str(int(m[4]) * 10**9 + int(m[5])) if m[4] else "",
                                m[6], m[7], int(m[8], 16)) for m in found)


def compare(checks, cyclops, name, path, stream):
    theirs = samples_of_perf(path, stream)
    if theirs is None:
        checks.count("captures that perf refuses")
        return
    has_cpu, has_time = any(key[2] for key in theirs), any(key[3] for key in theirs)
    ours = collections.Counter((row["pid"], row["tid"], row["cpu"] if has_cpu else "", row["time_ns"] if has_time else "",
                                row["period"], row["event"], int(row["ip"] or "0", 16))
                               for row in csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", path))
    checks.count("samples", sum(theirs.values()))
    checks.expect(ours == theirs, f"{name}: ours alone {sum((ours - theirs).values())} {list(ours - theirs)[:2]}, "
                                  f"perf's alone {sum((theirs - ours).values())} {list(theirs - ours)[:2]}")


def record(path, stream, options):
    """False: this cannot be recorded here."""
    if not stream:
        return run_perf("record", *options, "-o", path, "--", *PROGRAM).returncode == 0
    done = run_perf("record", *options, "-o", "-", "--", *PROGRAM)
    with open(path, "wb") as file:
        file.write(done.stdout)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops")
    args = parser.parse_args()
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (ALL if args.all else SMALL).items():
            for stream in (False, True):
                path = os.path.join(folder, "stream" if stream else "file")
                if stream and "--threads" in options:
                    continue
                if not record(path, stream, options):
                    checks.count("shapes that cannot be recorded here")
                    print(f"not recorded: {name}")
                else:
                    compare(checks, args.cyclops, f"{name}{' as a stream' if stream else ''}", path, stream)
                    checks.count("shapes")
                if os.path.isdir(path):
                    shutil.rmtree(path)
    if not checks.counts["shapes"]:
        skip("perf cannot record here")
    checks.finish()


if __name__ == "__main__":
    main()
