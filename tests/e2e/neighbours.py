#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures that other recorders wrote: simpleperf, a perf of ChromeOS, perf of a desktop. How many samples each has, and
the function with most of them; pid, tid, cpu, time and address of each sample beside perf's. From a perf that stops at a file
is hidden what it stops at: records that others invented, tracepoints without formats, events with more than it knows.

usage: neighbours.py CYCLOPS

The captures are looked for in the folder that CYCLOPS_NEIGHBOURS names; without it the test is skipped.
"""

import collections
import os
import re
import struct
import sys
import tempfile

from harness import Checks, csv_rows, run_perf, skip

CLAMPED = re.compile(r"sample CPU \d+ >= nr_cpus_avail (\d+), clamping to 0")
SAMPLE = re.compile(r"^ *(-?\d+)/(-?\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d{9}): *([0-9a-f]*) *$")

# End of the name, samples, event and function with most of them; None: no name is stored in the file.
CAPTURES = [
    ("perf.data.piped.host", 1873, None),
    ("contentsize.data", 69, None),
    ("perf.data.zstd", 242, None),
    ("probe.data.file", 1, None),
    ("aggregatable_perf1.data", 13452, ("cycles:HG", "BusyThreadFunc")),
    ("perf_with_callchain_record.data", 21, ("cycles:HG", "[linker]soinfo::gnu_lookup")),
    ("runtest_two_functions_arm64_perf.data", 2, ("cycles:HG", "Function2")),
    ("perf_kernel.data", 0, None),
    ("perf_kernel.data.v1", 0, None),
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
    ("perf_with_symbols.data.v3", 8, None),
    ("perf_with_symbols_for_nonzero_minvaddr_dso.data", 317, ("cycles:HG", "memcpy")),
    ("perf_with_trace_offcpu.data.v1", 1005, ("cycles:HG", "RunFunction")),
    ("perf_with_tracepoint_event.data", 45, ("sched:sched_switch", "__schedule")),
    ("perf_with_tracepoint_event_dynamic_field.data", 10, None),
]


def samples_of_perf(path):
    """Each sample as perf has it, and the number of CPUs that it believes in; or None if it does not read the file."""
    done = run_perf("script", "-i", path, "-F", "pid,tid,cpu,time,ip", "--ns", "-G")
    lines = [line for line in done.stdout.decode().splitlines() if line.strip()]
    if done.returncode != 0 or not lines:
        done = run_perf("script", "-i", path, "-F", "pid,tid,time,ip", "--ns", "-G")
        lines = [line for line in done.stdout.decode().splitlines() if line.strip()]
    found = [SAMPLE.match(line) for line in lines]
    if done.returncode != 0 or not found or None in found:
        return None
    clamped = CLAMPED.search(done.stderr.decode(errors="replace"))
    return collections.Counter(
        (m[1], m[2], str(int(m[3])) if m[3] else "", str(int(m[4]) * 10**9 + int(m[5])), int(m[6], 16) if m[6] else None)
        for m in found), int(clamped[1]) if clamped else None


# Types of records and events, and what perf 6.1 knows of an event.
TRACING_DATA, AUXTRACE, SIMPLEPERF = 66, 71, 32768
OLD_FEATURES = range(69, 80)
SOFTWARE, TRACEPOINT, DUMMY, ATTR_BYTES = 1, 2, 9, 128


def without_what_stops_perf(data):
    """
    A file or a stream without the records that perf stops at: those that are something else to it, and, of a newer perf,
    all of a size that is no multiple of 8.
    """
    if data[8] == 16:
        position, end, is_stream = 16, len(data), True
    else:
        position, length = struct.unpack_from("<QQ", data, 40)
        end, is_stream = min(position + length, len(data)), False
    kept = bytearray(data[:position])
    start = position
    while position + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, position)
        if not (kind >= SIMPLEPERF or kind == TRACING_DATA or is_stream and kind in OLD_FEATURES):
            kept += data[position:position + size]
        position += max(size, 8)
    if not is_stream:
        struct.pack_into("<Q", kept, 48, len(kept) - start)
        kept += data[end:]
    return kept


def hide_events(data):
    """Tracepoints become dummies, larger attrs smaller ones."""
    entry, at, size = struct.unpack_from("<QQQ", data, 16)
    small = min(entry, ATTR_BYTES + 16)
    for i in range(size // entry):
        attr = bytearray(data[at + i * entry:at + i * entry + small - 16] + data[at + (i + 1) * entry - 16:at + (i + 1) * entry])
        struct.pack_into("<I", attr, 4, small - 16)
        if struct.unpack_from("<I", attr)[0] == TRACEPOINT:
            struct.pack_into("<I", attr, 0, SOFTWARE)
            struct.pack_into("<Q", attr, 8, DUMMY)
        data[at + i * small:at + (i + 1) * small] = attr
    struct.pack_into("<QQQ", data, 16, small, at, size // entry * small)
    data[72:104] = bytes(32)  # features


def for_perf(path, folder):
    """A copy without what perf stops at."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data = without_what_stops_perf(data)
    if data[8] != 16:
        hide_events(data)
    copy = os.path.join(folder, "copy.data")
    with open(copy, "wb") as file:
        file.write(data)
    return copy


def check_samples(checks, name, rows, answer):
    theirs, n_cpus = answer
    has_cpu = any(cpu for _, _, cpu, _, _ in theirs)
    ours = collections.Counter()
    for row in rows:
        who, where = (row["pid"], row["tid"]), (row["time_ns"], int(row["ip"] or "0", 16))
        key = (*who, row["cpu"] if has_cpu else "", *where)
        is_moved = n_cpus is not None and int(row["cpu"]) >= n_cpus and key not in theirs
        ours[(*who, "0", *where) if is_moved else key] += 1
        checks.count("of these on another CPU in perf", is_moved)
    # perf leaves out the address of samples whose call chain it is not to print
    bare = sum(n for key, n in theirs.items() if key[4] is None)
    if bare:
        checks.expect(collections.Counter(key[:4] for key in ours.elements()) == collections.Counter(
            key[:4] for key in theirs.elements()), f"{name}: other threads, cpus or times than perf's")
        theirs = collections.Counter({key: n for key, n in theirs.items() if key[4] is not None})
        checks.count("of these without an address in perf", bare)
        checks.expect(not theirs - ours, f"{name}: perf alone has {list(theirs - ours)[:2]}")
        checks.count("samples beside perf's", len(rows))
        return
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
        if theirs is None and n_samples:
            with tempfile.TemporaryDirectory() as copies:
                theirs = samples_of_perf(for_perf(paths[0], copies))
            checks.expect(theirs is not None, f"{end}: perf does not read what is left of it")
        if theirs is not None:
            check_samples(checks, end, rows, theirs)
    checks.finish()


if __name__ == "__main__":
    main()
