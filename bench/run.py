#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares cyclops with its peers, in one run and on the same files.

Each command of a comparison runs several times, in turn with the one it is compared to, and
the least time of each counts. What is wanted and missed is marked, and is no failure. docs/performance.md
has the table of a quiet machine: --update writes it.
"""

import argparse
import datetime
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import inputs
import measure
import model
import record
import table
from table import Row

ROOT = pathlib.Path(__file__).resolve().parent.parent

PERF_REPORT = ["perf", "report", "--stdio", "--sort", "sym"]
MEMORY_LIMIT = 64 << 20
PEER_RUNS = 3
N_PLACES = 10000
SYMBOLS_LIMIT_S = 3
RECORDED_LIMIT_S = 2


class Bench:
    """State of all comparisons, and the table that they fill."""

    def __init__(self, options, directory):
        self.cyclops = [options.build / "cyclops"]
        self.decode = options.build / "bench" / "bench-spe-decode"
        self.limits = options.build / "bench" / "bench-limits"
        self.inputs = inputs.Inputs(directory, options.build)
        self.home = directory
        self.size = options.size
        self.runs = options.runs
        self.family_records = options.family_records
        self.only_family = options.family
        self.spe_parser = options.spe_parser
        self.perfs = perfs(options.new_perf)
        self.rows = []
        self.limits_by_file = {}

    def add(self, row):
        self.rows.append(row)
        print("  ".join(cell for cell in table.cells_of(row, list(self.perfs)) if cell), flush=True)

    def hot(self, file, *more):
        return [*self.cyclops, "hot", "--symfs", "/", *more, file]

    def export(self, file, *more):
        return [*self.cyclops, "export", "--table", "spe", "--format", "csv", *more, file]

    def dump(self, file):
        return [*self.cyclops, "dump", "--packets", file]

    def by_perf(self, *arguments):
        """The same command for each perf that is here."""
        return {name: [program, *arguments] for name, program in self.perfs.items()}

    def compare(self, job, file, ours, peers, at_least=None, with_memory=False, limits=(None, None)):
        """`ours` beside other tools; the ratio is how many times faster than the fastest of them."""
        ours_cost, *theirs = measure.best([ours, *peers.values()], self.home, [self.runs] + [PEER_RUNS] * len(peers))
        row = Row(job, file, ours_cost, decode_s=limits[0], read_s=limits[1])
        if with_memory:
            row.memory_bytes = measure.peak_private_bytes(ours, self.home)
        if peers:
            row.peer = command_words(next(iter(peers.values())))
            row.peers = dict(zip(peers, theirs))
            row.ratio = min(cost.wall for cost in theirs) / ours_cost.wall
            row.by_cpu = min(cost.cpu for cost in theirs) / ours_cost.cpu
        if at_least is not None:
            row.wanted, row.is_met = f">= {at_least} x", row.ratio >= at_least
        self.add(row)
        return row

    def beside(self, job, file, ours, others, name, at_most):
        """`ours` beside other commands of cyclops; the ratio is how many times as long as these together it takes."""
        a, *each = measure.best([ours, *others], self.home, [self.runs] * (1 + len(others)))
        b = measure.Cost(sum(cost.wall for cost in each), sum(cost.cpu for cost in each))
        row = Row(job, file, a, peer=f"cyclops {name}", peers={name: b}, ratio=a.wall / b.wall, by_cpu=a.cpu / b.cpu,
                  wanted=f"<= {at_most} x", is_met=a.wall <= at_most * b.wall)
        self.add(row)
        return row

    def memory(self, job, file, command, limit=MEMORY_LIMIT):
        peak = measure.peak_private_bytes(command, self.home)
        self.add(Row(job, file, memory_bytes=peak, wanted=f"<= {limit >> 20} MiB", is_met=peak <= limit))

    def limits_of(self, file):
        """What parts of the job take with nothing else done, by name: see bench/limits.c. Measured once."""
        if file not in self.limits_by_file:
            told = measure.output([self.limits, file], self.home)
            self.limits_by_file[file] = {name: measure.Cost(float(wall), float(cpu))
                                         for name, cpu, wall in re.findall(r"^([a-z0-9-]+) +([\d.]+) s +([\d.]+) s", told, re.M)}
        return self.limits_by_file[file]


def perfs(newer):
    """Programs by name: that on PATH, and the newer one."""
    found = {}
    for program in ("perf", newer):
        if program is not None:
            said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
            found["perf " + ".".join(said.split()[2].split(".")[:2])] = program
    return found


def newer_perf():
    """That of scripts/new-perf.sh, which is made when it is not there; None where it cannot be, and the script says why."""
    done = subprocess.run([ROOT / "scripts" / "new-perf.sh", ROOT / "build-new-perf"], stdout=subprocess.PIPE, text=True, check=False)
    return pathlib.Path(done.stdout.strip()) / "perf" if done.returncode == 0 else None


def command_words(command):
    """A peer's command as the table shows it: without where its program and the capture are."""
    words = [str(word) for word in command if "/" not in str(word) and str(word) not in ("-i", "--symfs", "--stdio")]
    program = pathlib.Path(command[0]).name
    return " ".join([program] + [word for word in words if word != program])


def bench_decode(b):
    """Decoding alone, in memory, on one core. The program repeats by itself."""
    found = re.search(r"decode (64-byte records, by shape) +([\d.]+) GB/s", measure.output([b.decode], b.home))
    speed = float(found[2])
    b.add(Row("decode alone, one core", found[1], figure=f"{speed:.2f} GB/s", wanted=">= 2 GB/s", is_met=speed >= 2))


def bench_hot(b):
    """Hotspots by symbol. Without options perf counts a record once for each kind of event it
    stands for; with i1i once, as cyclops does."""
    file = b.inputs.spe(b.size)
    for command in (b.hot(file), [*PERF_REPORT, "-i", file]):
        if inputs.A_FUNCTION not in measure.output([*command, *all_rows(command)], b.home):
            measure.fail(f"{command[0]} found no symbols")
    b.compare("hot", b.size, b.hot(file), b.by_perf(*PERF_REPORT[1:], "-i", file), 20)
    b.compare("hot", b.size, b.hot(file), b.by_perf(*PERF_REPORT[1:], "--itrace=i1i", "-i", file), 20)


def bench_mem(b):
    """Memory operations, which read more of each record than hotspots."""
    file = b.inputs.spe("128M")
    mem = [*b.cyclops, "mem", "--symfs", "/", file]
    b.beside("mem", "128M", mem, [b.hot(file)], "hot", 1.5)
    b.memory("mem", "128M", mem)


def bench_cycles(b):
    """Cycle accounting of samples that have branch stacks, beside hotspots, and perf printing the stacks. Each stack
    is another one here, of which `perf report --branch-history` takes more than a minute for 4000."""
    file, few_samples = b.inputs.samples("1M"), b.inputs.samples("64K")
    cycles = [*b.cyclops, "cycles", "--symfs", "/"]
    b.beside("cycles", "1M samples", [*cycles, file], [b.hot(file)], "hot", 2)
    b.compare("cycles", "64K samples", [*cycles, few_samples], b.by_perf("script", "-F", "brstack", "-i", few_samples), 1)


def all_rows(command):
    return ["--all"] if "hot" in command else []


def bench_export(b):
    """All columns of all records as csv; perf prints three."""
    file = b.inputs.spe(b.size)
    b.compare("export csv", b.size, b.export(file), b.by_perf("script", "-F", "ip,addr,sym", "-i", file), 3)


def bench_parquet(b):
    """The same rows as Parquet and as csv, to files. Then spe-parser's files by spe-parser, which takes minutes."""
    for name, file in ((b.size, b.inputs.spe(b.size)), ("two-buffers", b.inputs.family("two-buffers", b.family_records))):
        ours, csv = [[*b.cyclops, "export", "--table", "spe", "--format", kind, "-o", b.home / f"rows.{kind}", file]
                     for kind in ("parquet", "csv")]
        b.beside("export parquet", name, ours, [csv], "export csv", 1)
        bench_pyarrow(b, name, ours)
    for size in ("8M", "64M"):
        bench_spe_parser(b, size)


def add_sizes(b, job, name, ours, theirs):
    """Sizes of files, ours at most theirs."""
    b.add(Row(job, name, figure=f"{ours / (1 << 20):.1f} MiB", peer=f"{theirs / (1 << 20):.1f} MiB", ratio=theirs / ours,
              wanted=">= 1 x", is_met=ours <= theirs))


def bench_pyarrow(b, name, ours):
    """pyarrow makes Parquet of the csv that is there already. The Python of spe-parser has pyarrow; else that on PATH may."""
    beside = pathlib.Path(b.spe_parser).parent / "python3" if b.spe_parser else None
    python = beside if beside is not None and beside.exists() else "python3"
    theirs = b.home / "pyarrow.parquet"
    if subprocess.run([python, "-c", "import pyarrow"], check=False, capture_output=True).returncode != 0:
        b.add(Row("export parquet", name, peer="pyarrow: not here"))
        return
    convert = ("import sys, pyarrow.csv, pyarrow.parquet; "
               "pyarrow.parquet.write_table(pyarrow.csv.read_csv(sys.argv[1]), sys.argv[2], compression='zstd')")
    b.compare("export parquet", name, ours, {"pyarrow of csv": [python, "-c", convert, b.home / "rows.csv", theirs]}, 2)
    add_sizes(b, "its size", name, (b.home / "rows.parquet").stat().st_size, theirs.stat().st_size)


# By wall-clock time, when spe-parser 0.6 was measured last, on a busy machine: for machines without it.
RECORDED_RATIOS = {"8M": 117, "64M": 103}


def bench_spe_parser(b, size):
    """Its three files as Parquet, with two processes."""
    job = "export spe-parser's Parquet"
    if b.spe_parser is None:
        b.add(Row(job, size, peer=f"spe-parser: not here, {RECORDED_RATIOS[size]} x when measured last", wanted=">= 500 x"))
        return
    file = b.inputs.spe(size)
    ours = [*b.cyclops, "export", "--format", "spe-parser", "--type", "parquet", "-o", b.home / "ours", file]
    # It makes its temporary files where it is started.
    peer = ["env", "-C", b.home, b.spe_parser, file, "-t", "parquet", "-p", "theirs", "-c", "2"]
    b.compare(job, size, ours, {"spe-parser": peer}, 500)
    add_sizes(b, "their size", size, *(sum(path.stat().st_size for path in b.home.glob(f"{prefix}-*.parquet"))
                                       for prefix in ("ours", "theirs")))


def bench_dump(b):
    """Packet by packet. perf takes minutes for gigabytes, so 128 MB are used."""
    file = b.inputs.spe("128M")
    b.compare("dump --packets", "128M", b.dump(file), b.by_perf("script", "-D", "-i", file), 20)


def bench_c2c(b):
    """Shared lines among two hundred thousand: loads and stores alone, as `perf c2c record` has them."""
    file = b.inputs.shared("128M")
    b.compare("c2c", "128M", [*b.cyclops, "c2c", file], b.by_perf("c2c", "report", "--stdio", "--no-source", "-i", file), 100)


def bench_branches(b):
    """A million branch stacks of 32 entries, in 0.8 GB. hot does not look at them, so it reads the same file only."""
    file, root = b.inputs.branches(), inputs.ROOT
    ask = {name: [*b.cyclops, name, "--symfs", root, file] for name in ("hot", "calls", "blocks")}
    for name in ("calls", "blocks"):
        b.beside(name, "1 M stacks of 32", ask[name], [ask["hot"]], "hot", 2)
    b.compare("calls", "1 M stacks of 32", ask["calls"],
              b.by_perf("report", "--branch-history", "--no-inline", "--stdio", "--symfs", root, "-i", file), 2)
    b.compare("blocks", "1 M stacks of 32", ask["blocks"], b.by_perf("script", "-F", "brstack", "-i", file), 2)


# What perf is asked of samples: the chains, or branch stacks, that they have.
REPORT_OF_SAMPLES = {**dict.fromkeys(("chains", "loads"), ["report", "--stdio", "--no-children", "-g"]),
                     **dict.fromkeys(("stacks", "samples"), ["report", "--stdio", "--no-children"])}
FIELDS_OF_SAMPLES = {"chains": "ip,sym", "loads": "ip,sym", "stacks": "ip,sym,brstack", "samples": "ip,sym"}


def has_data(family):
    """Do its records have addresses of data?"""
    return family not in REPORT_OF_SAMPLES and family != "short"


def family_jobs(b, name, file):
    """What is asked of a capture of a family: the job, its peers, how many times faster it is to be."""
    is_spe = name not in REPORT_OF_SAMPLES
    report = REPORT_OF_SAMPLES.get(name, [*PERF_REPORT[1:], "--itrace=i1i"])
    script = ["script", "-F", FIELDS_OF_SAMPLES.get(name, "ip,addr,sym"), *(["--itrace=i1i"] if is_spe else [])]
    yield "hot", [*b.cyclops, "hot", file], b.by_perf(*report, "-i", file), 20
    yield "export csv", [*b.cyclops, "export", "--format", "csv", file], b.by_perf(*script, "-i", file), 5
    if has_data(name):
        yield "c2c", [*b.cyclops, "c2c", file], b.by_perf("c2c", "report", "--stdio", "--no-source", "-i", file), 40
    for command in ("report", "mem") if has_data(name) else ("report",):
        yield command, [*b.cyclops, command, file], {}, None


def bench_families(b):
    """Captures of shapes that nobody tuned for. What counts is the worst of each job."""
    rows = []
    for name in b.only_family or b.inputs.families():
        file = b.inputs.family(name, b.family_records)
        limits = b.limits_of(file)
        for job, ours, peers, at_least in family_jobs(b, name, file):
            rows.append(b.compare(job, name, ours, peers, at_least, with_memory=True, limits=(limits["decode"].cpu, limits["read"].cpu)))
    for job in dict.fromkeys(row.job for row in rows if row.ratio is not None):
        worst = min((row for row in rows if row.job == job), key=lambda row: row.ratio)
        b.add(Row(f"{job}, worst", worst.file, ratio=worst.ratio, by_cpu=worst.by_cpu, wanted=worst.wanted, is_met=worst.is_met))


# What a job cannot do without, of bench/limits.c, beside the first pass; and in words.
LEAST_PARTS = {"hot": ("hot", "decoding, sums by place in tables that grow, the first places"),
               "mem": ("memory", "decoding loads and stores, sums by place and source, by events and source"),
               "report": ("report", "decoding once, tables of places, of mem, of pages and of lines"),
               "c2c": ("shared", "threads, a table of lines, decoding once more, shared lines' accesses in order")}

# Of records of 64 bytes, and a core.
WANTED_GBPS = 1.8


def family_row(b, job, name, ours, peers, at_least):
    """What --only families measured in this run, or measured now."""
    found = [row for row in b.rows if row.job == job and row.file == name]
    return found[0] if found else b.compare(job, name, ours, peers, at_least)


# How many times as long as hot of both captures diff may take.
MOST_OF_DIFF = 1.5


def diff_beside_hot(b, name, file):
    """Both captures are the same one."""
    hot = [*b.cyclops, "hot", file]
    return b.beside("diff", name, [*b.cyclops, "diff", file, file], [hot, hot], "hot, hot", MOST_OF_DIFF)


def bench_beside(b):
    """Commands that read what hot reads, beside it, and Parquet beside csv, of the families. annotate needs a program, so it is asked of another capture."""
    for name in b.only_family or b.inputs.families():
        file = b.inputs.family(name, b.family_records)
        hot = [*b.cyclops, "hot", file]
        if has_data(name):
            b.beside("addr", name, [*b.cyclops, "addr", file], [hot], "hot", 1.5)
        diff_beside_hot(b, name, file)
        parquet, csv = [[*b.cyclops, "export", "--format", kind, "-o", b.home / f"rows.{kind}", file] for kind in ("parquet", "csv")]
        b.beside("export parquet", name, parquet, [csv], "export csv", 1)
    file = b.inputs.spe(b.size)
    b.beside("annotate", b.size, [*b.cyclops, "annotate", "--symfs", "/", inputs.A_FUNCTION, file], [b.hot(file)], "hot", 1.5)


def bench_limits(b):
    """What the least that each job has to do takes: by that nobody can be further ahead of perf, or faster on a core."""
    for name in b.only_family or b.inputs.families():
        file = b.inputs.family(name, b.family_records)
        limits, size = b.limits_of(file), file.stat().st_size
        for part, words in (("decode", "decoding"), ("place", "decoding, and a look at a table")):
            one, two = limits[part], limits[f"{part}-2"]
            b.add(Row(f"{words}, 2 threads", name, two, peer="1 thread", peers={"-j1": one}, ratio=one.wall / two.wall,
                      by_cpu=one.cpu / two.cpu, wanted=">= 1.8 x", is_met=one.wall >= 1.8 * two.wall))
        for job, ours, peers, at_least in family_jobs(b, name, file):
            if job in LEAST_PARTS and (job != "report" or has_data(name)):
                add_limit(b, family_row(b, job, name, ours, peers, at_least), limits, size, at_least)
        if name not in REPORT_OF_SAMPLES and name != "short":
            add_diff_limit(b, next((row for row in b.rows if row.job == "diff" and row.file == name), None)
                           or diff_beside_hot(b, name, file), limits)


def add_limit(b, row, limits, size, at_least):
    """The least time of a job on two cores that nobody takes away, beside perf's CPU time, which is on one; and what cyclops
    reaches of it. All by CPU time, so a busy machine has nearly the same ratio. Tables of two threads may fill more slowly than one."""
    part, words = LEAST_PARTS[row.job]
    one, first = min(limits[part], limits[f"{part}-2"], key=lambda cost: cost.cpu), limits["pass"]
    least = measure.Cost((first.cpu + one.cpu) / 2, first.cpu + one.cpu)
    reached = (f"first pass {table.seconds(first.cpu)}, {words} {table.seconds(one.cpu)}; "
               f"reached {least.wall / row.ours.wall:.0%} by the clock, {least.cpu / row.ours.cpu:.0%} of the CPU time")
    limit = Row(f"{row.job}, at most", row.file, least, peer=reached)
    if row.peers:
        theirs = min(cost.cpu for cost in row.peers.values())
        limit.ratio, limit.by_cpu = theirs / least.wall, theirs / least.cpu
    if at_least is not None:
        limit.wanted, limit.is_met = f">= {at_least} x", limit.ratio >= at_least
    b.add(limit)
    if size / b.family_records >= 64 and row.file not in REPORT_OF_SAMPLES and row.job != "c2c":
        # tables of pages by process are not the least where processes are many
        with_numbers = first.cpu + limits["hot-numbers"].cpu
        numbered = (f", with processes and numbers of places {size / with_numbers / 1e9:.2f} GB/s"
                    if row.job == "hot" and with_numbers < row.ours.cpu else "")
        b.add(Row(f"{row.job}, a core", row.file, figure=f"{size / row.ours.cpu / 1e9:.2f} GB/s",
                  peer=f"at most {size / least.cpu / 1e9:.2f} GB/s{numbered}", wanted=f">= {WANTED_GBPS} GB/s",
                  is_met=size / row.ours.cpu / 1e9 >= WANTED_GBPS))


def add_diff_limit(b, row, limits):
    """The least time of diff, each capture on a core that nobody takes away, beside hot of both."""
    first, one, two = limits["pass"], limits["diff"], limits["diff-2"]
    least = measure.Cost(first.cpu + two.cpu / 2, 2 * (first.cpu + one.cpu))
    hot = next(iter(row.peers.values()))
    reached = (f"first pass {table.seconds(first.cpu)}, places, lines, decoding once more, sums by line and thread {table.seconds(one.cpu)}; "
               f"reached {least.wall / row.ours.wall:.0%} by the clock, {least.cpu / row.ours.cpu:.0%} of the CPU time")
    b.add(Row("diff, at most", row.file, least, peer=reached, ratio=least.wall / hot.wall, by_cpu=least.cpu / hot.cpu,
              wanted=row.wanted, is_met=least.wall <= MOST_OF_DIFF * hot.wall))


# Threads of each job.
THREADS = (1, 2, 8, 64)
TWO_THREADS = 1.8

# How many times the records of a family make a capture in which start and end of a job hardly count.
LONGER = 5


def bench_threads(b):
    """One thread and more. What two real cores take says what is not spread over them (Amdahl): that bounds any number."""
    if len(os.sched_getaffinity(0)) < 2:
        return
    file, buffer = b.inputs.spe(b.size), b.inputs.family("one-buffer", b.family_records)
    for name, command in (("hot", b.hot(file)), ("export csv", b.export(file)), ("hot", b.hot(buffer)),
                          *((name, [*b.cyclops, name, buffer]) for name in ("mem", "c2c", "report"))):
        costs = measure.best([[*command, f"-j{n}"] for n in THREADS], b.home, [b.runs] * len(THREADS))
        capture, (one, two, *_) = b.size if file in command else "one-buffer", costs
        add_threads(b, name, capture, one, zip(THREADS[1:], costs[1:]))
        serial = min(max(2 * two.wall - one.wall, 0), one.wall)
        bounds = [f"-j{n} {one.wall / (serial + (one.wall - serial) / n):.2f} x" for n in THREADS[1:]]
        waits = [f"-j{n} {cost.n_waits}" for n, cost in zip(THREADS, costs)]
        b.add(Row(f"{name}, serial", capture, figure=table.seconds(serial),
                  peer=f"at most {', '.join(bounds)}; waits: {', '.join(waits)}"))
        add_threads_limit(b, name, capture, command, one, two)
    longer = b.inputs.family("one-buffer", LONGER * b.family_records)
    for name, command in (("hot", b.hot(b.inputs.spe(f"{inputs.parse_size(b.size) * LONGER >> 20}M"))),
                          *((name, [*b.cyclops, name, longer]) for name in ("hot", "mem", "c2c", "report"))):
        one, two = measure.best([[*command, f"-j{n}"] for n in (1, 2)], b.home, [b.runs] * 2)
        add_threads(b, name, f"{'one-buffer' if longer in command else b.size}, {LONGER} times", one, [(2, two)])


def add_threads(b, name, capture, one, more):
    for n, cost in more:
        b.add(Row(f"{name} -j{n}", capture, cost, peer=f"{name} -j1", peers={"-j1": one},
                  ratio=one.wall / cost.wall, by_cpu=one.cpu / cost.cpu,
                  **({"wanted": f">= {TWO_THREADS} x", "is_met": one.wall >= TWO_THREADS * cost.wall} if n == 2 else {})))


def add_threads_limit(b, name, capture, command, one, two):
    """The least time of two threads on this machine: the start of a process is not shared, and all else is shared as two programs of
    one thread share the machine, each on a CPU of its own, who never wait for each other."""
    small = [b.inputs.spe("64K") if isinstance(word, pathlib.Path) and word.suffix == ".data" else word for word in command]
    (start,) = measure.best([[*small, "-j1"]], b.home, [b.runs * 3])
    both = measure.at_once([*command, "-j1"], b.home, b.runs)
    speed_up = 2 * one.wall / both
    least = start.wall + (one.wall - start.wall) / speed_up
    b.add(Row(f"{name} -j2, at most", capture, measure.Cost(least, one.cpu), ratio=one.wall / least,
              peer=f"start {table.seconds(start.wall)}, two programs at once {speed_up:.2f} x; reached {least / two.wall:.0%}",
              wanted=f">= {TWO_THREADS} x", is_met=one.wall >= TWO_THREADS * least))


def bench_memory(b):
    """Resident memory that is not the mapped file."""
    file = b.inputs.spe(b.size)
    for name, command in (("hot", b.hot(file)), ("export csv", b.export(file)),
                          ("export parquet", [*b.cyclops, "export", "--table", "spe", "--format", "parquet", file]),
                          ("export parquet -j8", [*b.cyclops, "export", "-j8", "--table", "spe", "--format", "parquet", file]),
                          ("spe-parser's parquet -j8", [*b.cyclops, "export", "-j8", "--format", "spe-parser", "--type", "parquet",
                                                        "-o", b.home / "memory", file]),
                          ("dump --packets", b.dump(file)), ("report", [*b.cyclops, "report", file])):
        b.memory(name, b.size, command)


def addresses_of(b, file):
    """The distinct places in a capture of a program that is loaded where it was linked."""
    rows = measure.output(b.export(file), b.home).splitlines()
    column = rows[0].split(",").index("pc")
    return sorted({row.split(",")[column] for row in rows[1:]})


def bench_symbols(b):
    """Names, lines and inline chains, cold. addr2line resolves the same addresses."""
    program = b.inputs.big_program()
    file = b.inputs.big_places(N_PLACES + N_PLACES // 10)
    addresses = addresses_of(b, file)
    argument_file = b.home / "addresses"
    argument_file.write_text("\n".join(addresses))
    measure.forget_file(program)
    ours = measure.run(b.hot(file, "--by", "line"), b.home)
    if measure.output([*b.hot(file, "--by", "line"), "--all"], b.home).count(".cc:") < N_PLACES // 100:
        measure.fail("cyclops found no lines")
    peer = measure.run(["addr2line", "-i", "-f", "-C", "-e", program, f"@{argument_file}"], b.home)
    b.add(Row("hot --by line, cold", f"{len(addresses)} places, {inputs.dwarf_bytes(program) >> 20} MB of DWARF", ours,
              peer="addr2line -i", peers={"addr2line": peer}, ratio=peer.wall / ours.wall, by_cpu=peer.cpu / ours.cpu,
              wanted=f"<= {SYMBOLS_LIMIT_S} s", is_met=ours.wall <= SYMBOLS_LIMIT_S))


def bench_recorded(b):
    """Lines of a recorded program, inlined functions included, cold. By CPU time, as the program's pages come from the disk;
    no peer: perf with inlined functions takes many minutes."""
    program, file = b.inputs.recorded_program()
    if file is None:
        b.add(Row("lines of a recorded program", peer="perf record: not allowed here"))
        return
    for words in (["hot"], ["hot", "--by", "line"], ["report"]):
        command = [*b.cyclops, *words, file]
        measure.forget_file(program)
        ours = measure.run(command, b.home)
        b.add(Row(f"{' '.join(words)}, cold", f"{inputs.dwarf_bytes(program) >> 20} MB of DWARF", ours,
                  memory_bytes=measure.peak_private_bytes(command, b.home),
                  wanted=f"<= {RECORDED_LIMIT_S} s of CPU", is_met=ours.cpu <= RECORDED_LIMIT_S))


# Milliseconds by wall clock, the least of many runs.
START_LIMITS_MS = {"--version": 3, "--help": 3, "report": 30}


def bench_start(b):
    """A small file: mostly the time of starting."""
    asked = [[*b.cyclops, "--version"], [*b.cyclops, "--help"], [*b.cyclops, "report", "--symfs", "/", b.inputs.spe("1M")]]
    for command, limit_ms, cost in zip(START_LIMITS_MS, START_LIMITS_MS.values(), measure.best_short(asked, b.home)):
        b.add(Row(command, "1M" if command == "report" else "", cost, peer=f"median {table.seconds(cost.wall_median)}",
                  wanted=f"<= {limit_ms} ms", is_met=cost.wall <= limit_ms / 1000))
    file = b.inputs.spe("64K")
    ours, peer = measure.best_short([b.hot(file), [*PERF_REPORT, "-i", file]], b.home)
    b.add(Row("hot: start", "64K", ours, peer=command_words(PERF_REPORT), peers={next(iter(b.perfs)): peer},
              ratio=peer.wall / ours.wall, by_cpu=peer.cpu / ours.cpu))


BENCHES = {
    "decode": bench_decode,
    "hot": bench_hot,
    "mem": bench_mem,
    "cycles": bench_cycles,
    "export": bench_export,
    "parquet": bench_parquet,
    "dump": bench_dump,
    "c2c": bench_c2c,
    "branches": bench_branches,
    "families": bench_families,
    "beside": bench_beside,
    "limits": bench_limits,
    "threads": bench_threads,
    "memory": bench_memory,
    "record": record.bench_record,
    "symbols": bench_symbols,
    "recorded": bench_recorded,
    "start": bench_start,
    "model": model.bench_model,
}


def machine_of(b):
    """Lines about the machine, its load, and the programs."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return [f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, {datetime.date.today()}",
            f"load at the start {os.getloadavg()[0]:.1f}" + (", so wall-clock times and their ratios are of a busy machine" if os.getloadavg()[0] > 1 else ""),
            ", ".join(["cyclops " + measure.output([*b.cyclops, "--version"], b.home).split()[1], *b.perfs]),
            f"the least of {b.runs} runs of cyclops, in turn with up to {PEER_RUNS} of each peer (no more once it took "
            f"{measure.ENOUGH_SECONDS} s); {b.family_records} records in each family"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--size", default="128M", help="of SPE data, such as 4G (128M)")
    parser.add_argument("--only", action="append", choices=BENCHES, metavar="NAME",
                        help=f"may be repeated: {', '.join(BENCHES)}")
    parser.add_argument("--family", action="append", metavar="NAME", help="of families, only this one; may be repeated")
    parser.add_argument("--family-records", type=int, default=1 << 21, help="in captures of families (2 M)")
    parser.add_argument("--spe-parser", type=os.path.abspath, default=shutil.which("spe-parser"),
                        help="the program, of Arm's telemetry-solution (that on PATH)")
    parser.add_argument("--new-perf", metavar="PROGRAM",
                        help="a newer perf; none: without (that of scripts/new-perf.sh, if it can be made)")
    parser.add_argument("--runs", type=int, default=7, help="of each cyclops command (7)")
    parser.add_argument("--dir", type=pathlib.Path,
                        help="keep the inputs here, and take those that are there")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="write the table into it: docs/performance.md")
    options = parser.parse_args()
    options.build = options.build.resolve()

    with tempfile.TemporaryDirectory(prefix="cyclops-bench-") as temporary:
        directory = (options.dir or pathlib.Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        options.new_perf = None if options.new_perf == "none" else options.new_perf or newer_perf()
        bench = Bench(options, directory)
        machine = machine_of(bench)
        print("\n".join(machine))
        for name in options.only or BENCHES:
            BENCHES[name](bench)
    versions = list(bench.perfs)
    print("", table.as_text(bench.rows, versions), sep="\n")
    if options.json:
        options.json.write_text(table.as_json(bench.rows, versions, machine))
    if options.update:
        table.update_page(options.update, bench.rows, versions, machine)


if __name__ == "__main__":
    main()
