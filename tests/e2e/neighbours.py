#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures that other recorders wrote: simpleperf, a perf of ChromeOS, perf of a desktop. How many samples each has, and
the function with most of them; pid, tid, cpu, time and address of each sample beside perf's, where perf reads the file.

usage: neighbours.py CYCLOPS

The captures are looked for in the folder that CYCLOPS_NEIGHBOURS names; without it the test is skipped.
"""

import collections
import os
import re
import sys

from harness import Checks, csv_rows, run_perf, skip

SAMPLE = re.compile(r"^ *(-?\d+)/(-?\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d{9}): +([0-9a-f]+) *$")

# End of the name, samples, event and function with most of them; None: no name is stored in the file.
CAPTURES = [
    ("perf.data.piped.host", 1873, None),
    ("contentsize.data", 69, None),
    ("perf.data.zstd", 242, None),
    ("probe.data.file", 1, None),
    ("aggregatable_perf1.data", 13452, ("cycles:HG", "BusyThreadFunc")),
    ("runtest_two_functions_arm64_perf.data", 2, ("cycles:HG", "Function2")),
    ("perf_kernel.data", 0, None),
    ("perf_with_missing_aux_data.data", 0, None),
    ("perf_lbr.data", 19, ("cycles:u", "main")),
    ("perf_for_build_id_check.data", 4408, None),
    ("perf_merge1.data", 27, None),
    ("perf_sched_stat_runtime.data", 2430, ("sched:sched_stat_runtime", "update_curr")),
    ("perf_with_meta_info.data", 1, None),
    ("perf_with_mini_debug_info.data", 1151, None),
    ("perf_with_multiple_pids_and_tids.data", 533, None),
    ("perf_with_symbols.data", 935, None),
    ("perf_with_symbols.data.v1", 4526, None),
    ("perf_with_symbols_for_nonzero_minvaddr_dso.data", 317, ("cycles:HG", "memcpy")),
    ("perf_with_trace_offcpu.data.v1", 1005, ("cycles:HG", "RunFunction")),
    ("perf_with_tracepoint_event.data", 45, ("sched:sched_switch", "__schedule")),
    ("perf_with_tracepoint_event_dynamic_field.data", 10, None),
]


def samples_of_perf(path):
    """Each sample as perf has it, or None if it does not read the file."""
    done = run_perf("script", "-i", path, "-F", "pid,tid,cpu,time,ip", "--ns", "-G")
    lines = [line for line in done.stdout.decode().splitlines() if line.strip()]
    if done.returncode != 0 or not lines:
        done = run_perf("script", "-i", path, "-F", "pid,tid,time,ip", "--ns", "-G")
        lines = [line for line in done.stdout.decode().splitlines() if line.strip()]
    found = [SAMPLE.match(line) for line in lines]
    if done.returncode != 0 or not found or None in found:
        return None
    return collections.Counter(
        (m[1], m[2], str(int(m[3])) if m[3] else "", str(int(m[4]) * 10**9 + int(m[5])), int(m[6], 16)) for m in found)


def check_samples(checks, name, rows, theirs):
    has_cpu = any(cpu for _, _, cpu, _, _ in theirs)
    ours = collections.Counter((row["pid"], row["tid"], row["cpu"] if has_cpu else "", row["time_ns"], int(row["ip"], 16))
                               for row in rows)
    checks.expect(ours == theirs, f"{name}: {sum((ours - theirs).values())} samples are ours alone, "
                                  f"{sum((theirs - ours).values())} perf's alone: {list((ours - theirs))[:2]} {list(theirs - ours)[:2]}")
    checks.count("samples beside perf's", len(rows))


def main():
    cyclops, folder = os.path.abspath(sys.argv[1]), os.environ.get("CYCLOPS_NEIGHBOURS", "")
    if not os.path.isdir(folder):
        skip("CYCLOPS_NEIGHBOURS names no folder")
    checks = Checks()
    for end, n_samples, most in CAPTURES:
        paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith("__" + end)]
        if len(paths) != 1:
            checks.expect(False, f"{end}: {len(paths)} such files")
            continue
        rows = csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", paths[0])
        checks.equal("samples", [(end, len(rows))], [(end, n_samples)])
        if most is not None:
            first = csv_rows(cyclops, "hot", "--by", "event,function", "--symfs", folder, "--format", "csv", paths[0])[0]
            checks.equal("functions", [(end, first["events"], first["function"])], [(end, *most)])
        theirs = samples_of_perf(paths[0])
        if theirs is not None:
            check_samples(checks, end, rows, theirs)
    checks.finish()


if __name__ == "__main__":
    main()
