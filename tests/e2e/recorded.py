# SPDX-License-Identifier: Apache-2.0
"""What tests of recorders ask of a capture of record_program.c, by cyclops and by perf."""

import collections
import math

import harness

# What the program does when it is busy.
SHARES = {"work_a": 0.75, "work_b": 0.25}


def frequency(hz):
    """So many samples a second, or what the kernel allows: it lowers that itself where interrupts are slow."""
    with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="ascii") as limit:
        return str(min(hz, int(limit.read())))


def samples(cyclops, path, *options):
    """Its PMU samples, as rows by name of the column."""
    return harness.csv_rows(cyclops, "export", "--table", "samples", "--format", "csv", *options, path)


def records(cyclops, path):
    """Lines of the dump by type."""
    found = collections.defaultdict(list)
    for line in harness.run(cyclops, "dump", path).decode(errors="replace").splitlines():
        found[line.split()[2]].append(line)
    return found


def symbols(rows):
    """How often each function was sampled, of rows of samples()."""
    return collections.Counter(row["symbol"] for row in rows)


def perf_symbols(path, *options):
    """The same as perf sees it."""
    text = harness.run("perf", "script", "-i", path, "-F", "ip,sym", *options).decode()
    return collections.Counter(line.split()[-1] for line in text.splitlines() if line.split())


def check_shares(expect, what, counter):
    """Against what the program does, within four standard deviations and a hundredth."""
    total = sum(counter[name] for name in SHARES)
    if not expect(total > 0, f"{what}: no samples of the program"):
        return
    for name, share in SHARES.items():
        limit = 4 * math.sqrt(share * (1 - share) / total) + 0.01
        found = counter[name] / total
        expect(abs(found - share) < limit, f"{what}: {name} has {found:.4f} of {total}, {share} +- {limit:.4f} expected")


def check_children(expect, cyclops, path, n, program, least):
    """Of n processes that exec the program one after another: each with its name and its maps, `least` with samples."""
    found = records(cyclops, path)
    execs = {line.split("pid=")[1].split()[0] for line in found["COMM"] if "exec" in line}
    maps = {line.split("pid=")[1].split()[0] for line in found["MMAP2"] if program in line}
    expect(len(execs) == n + 1, f"{len(execs)} execs, {n + 1} expected")
    expect(execs <= maps, f"processes without their program: {execs - maps}")
    rows = [row for row in samples(cyclops, path) if int(row["ip"], 16) < 1 << 63]
    lost = [row for row in rows if not row["module"]]
    n_seen = len({row["pid"] for row in rows})
    expect(n_seen >= least, f"{n_seen} of {n} processes have samples, {least} expected")
    expect(not lost, f"{len(lost)} of {len(rows)} samples of user code in no module: {lost[:3]}")
