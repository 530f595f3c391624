#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares cyclops with its peers, in one run and on the same files.

Each command of a comparison runs several times, in turn with the one it is compared to, and
the least time of each counts. Targets that are missed are marked, and are no failure.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import inputs
import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent

PERF_REPORT = ["perf", "report", "--stdio", "--sort", "sym"]
MEMORY_LIMIT = 64 << 20
N_PLACES = 10000
SYMBOLS_LIMIT_S = 3
RECORDED_LIMIT_S = 2


class Bench:
    """State of all comparisons, and the table that they fill."""

    def __init__(self, options, directory):
        self.cyclops = [options.build / "cyclops"]
        self.decode = options.build / "bench" / "bench-spe-decode"
        self.inputs = inputs.Inputs(directory, options.build)
        self.home = directory
        self.size = options.size
        self.runs = options.runs
        self.family_records = options.family_records
        self.spe_parser = options.spe_parser
        self.rows = [("what", "cyclops", "peer", "ratio", "target", "", "by CPU time")]

    def add(self, what, ours, peer="", ratio="", target="", is_met=None, by_cpu=""):
        verdict = {None: "", True: "ok", False: "below"}[is_met]
        self.rows.append((what, ours, peer, ratio, target, verdict, by_cpu))
        print("  ".join(cell for cell in self.rows[-1] if cell), flush=True)

    def hot(self, file, *more):
        return [*self.cyclops, "hot", "--symfs", "/", *more, file]

    def export(self, file, *more):
        return [*self.cyclops, "export", "--table", "spe", "--format", "csv", *more, file]

    def dump(self, file):
        return [*self.cyclops, "dump", "--packets", file]

    def compare(self, what, ours, peer, target, peer_runs):
        """The speed relative to the peer."""
        a, b = measure.best([ours, peer], self.home, [self.runs, peer_runs])
        self.add(what, f"{a.wall:.3f} s", f"{b.wall:.3f} s", f"{b.wall / a.wall:.1f} x",
                 f">= {target} x", b.wall >= target * a.wall, f"{b.cpu / a.cpu:.1f} x")


def few(size):
    """The number of runs of a slow peer."""
    return 3 if inputs.parse_size(size) < 1 << 30 else 1


def bench_decode(b):
    """Decoding alone, in memory, on one core. The program repeats by itself."""
    found = re.search(r"decode (64-byte records, by shape) +([\d.]+) GB/s",
                      measure.output([b.decode], b.home))
    speed = float(found[2])
    b.add(f"decode {found[1]}", f"{speed:.2f} GB/s", target=">= 2 GB/s", is_met=speed >= 2)


def bench_hot(b):
    """Hotspots by symbol. Without options perf counts a record once for each kind of event it
    stands for; with i1i once, as cyclops does."""
    file = b.inputs.spe(b.size)
    for command in (b.hot(file), [*PERF_REPORT, "-i", file]):
        if inputs.A_FUNCTION not in measure.output([*command, *all_rows(command)], b.home):
            measure.fail(f"{command[0]} found no symbols")
    b.compare(f"hot, perf report ({b.size})", b.hot(file), [*PERF_REPORT, "-i", file], 20,
              few(b.size))
    b.compare(f"hot, perf report --itrace=i1i ({b.size})", b.hot(file),
              [*PERF_REPORT, "--itrace=i1i", "-i", file], 20, few(b.size))


def bench_mem(b):
    """Memory operations, which read more of each record than hotspots."""
    file = b.inputs.spe("128M")
    mem = [*b.cyclops, "mem", "--symfs", "/", file]
    ours, hot = measure.best([mem, b.hot(file)], b.home, [b.runs, b.runs])
    b.add("mem, hot (128M)", f"{ours.wall:.3f} s", f"{hot.wall:.3f} s", f"{ours.wall / hot.wall:.2f} x",
          "<= 1.5 x", ours.wall <= 1.5 * hot.wall, f"{ours.cpu / hot.cpu:.2f} x")
    peak = measure.peak_private_bytes(mem, b.home)
    b.add("mem, memory (128M)", f"{peak / (1 << 20):.1f} MiB", target="<= 64 MiB",
          is_met=peak <= MEMORY_LIMIT)


def bench_cycles(b):
    """Cycle accounting of samples that have branch stacks, beside hotspots, and perf printing the stacks. Each stack
    is another one here, of which `perf report --branch-history` takes more than a minute for 4000."""
    file, few_samples = b.inputs.samples("1M"), b.inputs.samples("64K")
    cycles = [*b.cyclops, "cycles", "--symfs", "/"]
    ours, hot = measure.best([[*cycles, file], b.hot(file)], b.home, [b.runs, b.runs])
    b.add("cycles, hot (1M samples)", f"{ours.wall:.3f} s", f"{hot.wall:.3f} s", f"{ours.wall / hot.wall:.2f} x",
          "<= 2 x", ours.wall <= 2 * hot.wall, f"{ours.cpu / hot.cpu:.2f} x")
    b.compare("cycles, perf script -F brstack (64K samples)", [*cycles, few_samples],
              ["perf", "script", "-F", "brstack", "-i", few_samples], 1, 1)


def all_rows(command):
    return ["--all"] if "hot" in command else []


def bench_export(b):
    """All columns of all records as csv; perf prints three."""
    file = b.inputs.spe(b.size)
    b.compare(f"export, perf script ({b.size})", b.export(file),
              ["perf", "script", "-F", "ip,addr,sym", "-i", file], 3, few(b.size))


def bench_parquet(b):
    """The same rows as Parquet and as csv, to files. Then spe-parser's files by spe-parser, which takes minutes."""
    for name, file in ((b.size, b.inputs.spe(b.size)), ("two-buffers", b.inputs.family("two-buffers", b.family_records))):
        ask = [[*b.cyclops, "export", "--table", "spe", "--format", kind, "-o", b.home / f"rows.{kind}", file]
               for kind in ("parquet", "csv")]
        ours, csv = measure.best(ask, b.home, [b.runs] * 2)
        b.add(f"export parquet, csv ({name})", f"{ours.wall:.3f} s", f"{csv.wall:.3f} s", f"{csv.wall / ours.wall:.2f} x", "> 1 x",
              ours.wall < csv.wall, f"{csv.cpu / ours.cpu:.2f} x")
        bench_pyarrow(b, name, ask[0])
    for size in ("8M", "64M"):
        bench_spe_parser(b, size)


def bench_pyarrow(b, name, ours):
    """pyarrow makes Parquet of the csv that is there already. The Python of spe-parser has pyarrow; else that on PATH may."""
    beside = pathlib.Path(b.spe_parser).parent / "python3" if b.spe_parser else None
    python = beside if beside is not None and beside.exists() else "python3"
    what, theirs = f"export parquet, pyarrow of csv ({name})", b.home / "pyarrow.parquet"
    if subprocess.run([python, "-c", "import pyarrow"], check=False, capture_output=True).returncode != 0:
        b.add(what, "", "not here")
        return
    convert = ("import sys, pyarrow.csv, pyarrow.parquet; "
               "pyarrow.parquet.write_table(pyarrow.csv.read_csv(sys.argv[1]), sys.argv[2], compression='zstd')")
    b.compare(what, ours, [python, "-c", convert, b.home / "rows.csv", theirs], 2, few(b.size))
    sizes = [path.stat().st_size for path in (b.home / "rows.parquet", theirs)]
    b.add(f"its size ({name})", f"{sizes[0] / (1 << 20):.1f} MiB", f"{sizes[1] / (1 << 20):.1f} MiB", f"{sizes[1] / sizes[0]:.2f} x",
          ">= 1 x", sizes[0] <= sizes[1])


# By wall-clock time, when spe-parser 0.6 was measured last, on a busy machine: for machines without it.
RECORDED_RATIOS = {"8M": 117, "64M": 103}


def bench_spe_parser(b, size):
    """Its three files as Parquet, with two processes."""
    what = f"export spe-parser's Parquet, spe-parser ({size})"
    if b.spe_parser is None:
        b.add(what, "", "not here", f"({RECORDED_RATIOS[size]} x)", ">= 500 x",
              by_cpu="recorded earlier")
        return
    file = b.inputs.spe(size)
    ours = [*b.cyclops, "export", "--format", "spe-parser", "--type", "parquet", "-o", b.home / "ours", file]
    # It makes its temporary files where it is started.
    peer = ["env", "-C", b.home, b.spe_parser, file, "-t", "parquet", "-p", "theirs", "-c", "2"]
    b.compare(what, ours, peer, 500, 1)
    sizes = [sum(path.stat().st_size for path in b.home.glob(f"{prefix}-*.parquet")) for prefix in ("ours", "theirs")]
    b.add(f"their size ({size})", f"{sizes[0] / (1 << 20):.1f} MiB", f"{sizes[1] / (1 << 20):.1f} MiB",
          f"{sizes[1] / sizes[0]:.2f} x", ">= 1 x", sizes[0] <= sizes[1])


def bench_dump(b):
    """Packet by packet. perf takes minutes for gigabytes, so 128 MB are used."""
    file = b.inputs.spe("128M")
    b.compare("dump, perf script -D (128M)", b.dump(file), ["perf", "script", "-D", "-i", file],
              20, 1)


def bench_c2c(b):
    """Shared lines among two hundred thousand: loads and stores alone, as `perf c2c record` has them."""
    file = b.inputs.shared("128M")
    b.compare("c2c, perf c2c report (128M)", [*b.cyclops, "c2c", file],
              ["perf", "c2c", "report", "--stdio", "--no-source", "-i", file], 100, 1)


def bench_branches(b):
    """A million branch stacks of 32 entries, in 0.8 GB. hot does not look at them, so it reads the same file only."""
    file, root = b.inputs.branches(), inputs.ROOT
    ask = {name: [*b.cyclops, name, "--symfs", root, file] for name in ("hot", "calls", "blocks")}
    costs = dict(zip(ask, measure.best(list(ask.values()), b.home, [b.runs] * len(ask))))
    for name in ("calls", "blocks"):
        ours, hot = costs[name], costs["hot"]
        b.add(f"{name}, hot (1 M stacks of 32)", f"{ours.wall:.3f} s", f"{hot.wall:.3f} s", f"{ours.wall / hot.wall:.2f} x",
              "<= 2 x", ours.wall <= 2 * hot.wall, f"{ours.cpu / hot.cpu:.2f} x")
    b.compare("calls, perf report --branch-history (1 M stacks)", ask["calls"],
              ["perf", "report", "--branch-history", "--no-inline", "--stdio", "--symfs", root, "-i", file], 2, 1)
    b.compare("blocks, perf script -F brstack (1 M stacks)", ask["blocks"], ["perf", "script", "-F", "brstack", "-i", file], 2, 1)


def family_jobs(b, name, file):
    """What is asked of a capture of a family: the job, its peer, how many times faster it is to be."""
    has_spe, has_data = name not in ("chains", "stacks"), name not in ("chains", "stacks", "short")
    report = [*PERF_REPORT, "--itrace=i1i"] if has_spe else ["perf", "report", "--stdio", "--no-children"]
    yield "hot, perf report", [*b.cyclops, "hot", file], [*report, "-i", file], 20
    yield ("export, perf script of three fields", [*b.cyclops, "export", "--format", "csv", file],
           ["perf", "script", *(["--itrace=i1i"] if has_spe else []), "-F", "ip,addr,sym", "-i", file], 5)
    if has_data:
        yield ("c2c, perf c2c report", [*b.cyclops, "c2c", file],
               ["perf", "c2c", "report", "--stdio", "--no-source", "-i", file], 40)
    for command in ("report", "mem") if has_data else ("report",):
        yield command, [*b.cyclops, command, file], None, 0


def bench_families(b):
    """Captures of shapes that nobody tuned for. What counts is the worst of each job."""
    worst = {}
    for name in b.inputs.families():
        file = b.inputs.family(name, b.family_records)
        for job, ours, peer, target in family_jobs(b, name, file):
            costs = measure.best([ours, peer] if peer else [ours], b.home, [b.runs, 1][:2 if peer else 1])
            peak = measure.peak_private_bytes(ours, b.home) / (1 << 20)
            cells = [f"{name}: {job}", f"{costs[0].wall:.3f} s, {peak:.0f} MiB"]
            if peer:
                ratio = costs[1].wall / costs[0].wall
                worst[job] = min(worst.get(job, (ratio, target, name)), (ratio, target, name))
                cells += [f"{costs[1].wall:.3f} s", f"{ratio:.1f} x", f">= {target} x", ratio >= target,
                          f"{costs[1].cpu / costs[0].cpu:.1f} x"]
            b.add(*cells)
    for job, (ratio, target, name) in worst.items():
        b.add(f"worst of {job}", "", name, f"{ratio:.1f} x", f">= {target} x", ratio >= target)


def bench_threads(b):
    """One thread and two."""
    file = b.inputs.spe(b.size)
    if len(os.sched_getaffinity(0)) < 2:
        return
    for name, command in (("hot", b.hot), ("export", b.export)):
        one, two = measure.best([command(file, "-j1"), command(file, "-j2")], b.home,
                                [b.runs, b.runs])
        b.add(f"{name}, two threads and one ({b.size})", f"{two.wall:.3f} s", f"{one.wall:.3f} s",
              f"{one.wall / two.wall:.2f} x", ">= 1.8 x", one.wall >= 1.8 * two.wall,
              f"{one.cpu / two.cpu:.2f} x")


def bench_memory(b):
    """Resident memory that is not the mapped file."""
    file = b.inputs.spe(b.size)
    for name, command in (("hot", b.hot(file)), ("export", b.export(file)),
                          ("export parquet", [*b.cyclops, "export", "--table", "spe", "--format", "parquet", file]),
                          ("export parquet -j8", [*b.cyclops, "export", "-j8", "--table", "spe", "--format", "parquet", file]),
                          ("spe-parser's parquet -j8", [*b.cyclops, "export", "-j8", "--format", "spe-parser", "--type", "parquet",
                                                        "-o", b.home / "memory", file]),
                          ("dump", b.dump(file)), ("report", [*b.cyclops, "report", file])):
        peak = measure.peak_private_bytes(command, b.home)
        b.add(f"{name}, memory ({b.size})", f"{peak / (1 << 20):.1f} MiB", target="<= 64 MiB",
              is_met=peak <= MEMORY_LIMIT)


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
    what = f"{len(addresses)} places, {inputs.dwarf_bytes(program) >> 20} MB of DWARF"
    peer = measure.run(["addr2line", "-i", "-f", "-C", "-e", program, f"@{argument_file}"], b.home)
    b.add(what, f"{ours.wall:.3f} s", f"{peer.wall:.3f} s", f"{peer.wall / ours.wall:.1f} x",
          f"<= {SYMBOLS_LIMIT_S} s", ours.wall <= SYMBOLS_LIMIT_S,
          f"{peer.cpu / ours.cpu:.1f} x")


def bench_recorded(b):
    """Lines of a recorded program, inlined functions included, cold. By CPU time, as the program's pages come from the disk;
    no peer: perf with inlined functions takes many minutes."""
    program, file = b.inputs.recorded_program()
    if file is None:
        b.add("lines of a recorded program", "not allowed here")
        return
    for words in (["hot"], ["hot", "--by", "line"], ["report"]):
        command = [*b.cyclops, *words, file]
        measure.forget_file(program)
        ours = measure.run(command, b.home)
        peak = measure.peak_private_bytes(command, b.home) / (1 << 20)
        b.add(f"{' '.join(words)}, {inputs.dwarf_bytes(program) >> 20} MB of DWARF, cold",
              f"{ours.cpu:.3f} s of CPU, {peak:.0f} MiB", target=f"<= {RECORDED_LIMIT_S} s", is_met=ours.cpu <= RECORDED_LIMIT_S)


def bench_start(b):
    """A small file: mostly the time of starting."""
    file = b.inputs.spe("64K")
    ours, peer = measure.best_short([b.hot(file), [*PERF_REPORT, "-i", file]], b.home)
    b.add("start, perf report (64K)", f"{ours.wall * 1e3:.1f} ms", f"{peer.wall * 1e3:.1f} ms",
          f"{peer.wall / ours.wall:.1f} x", by_cpu=f"{peer.cpu / ours.cpu:.1f} x")


# A program with a fixed amount of work, to measure how much a recorder slows it down.
WORK = ["python3", "-c", "for i in range(8000000): pass"]
# The event: the kernel's clock, which every machine has.
RECORDED = ["-e", "cpu-clock", "-F", "10000"]


def add_cpu_times(b, what, ours, peer, target):
    """Processor time alone: recorders mostly wait."""
    b.add(what, f"{ours * 1e3:.0f} ms", f"{peer * 1e3:.0f} ms", f"{peer / ours:.2f} x", f">= {target} x",
          peer >= target * ours, f"{peer / ours:.2f} x")


def bench_record(b):
    """The recorder's time, including the records about running processes; and the program's."""
    files = [b.home / "cyclops.data", b.home / "perf.data"]
    tools = [[*b.cyclops, "record", "-q", *RECORDED, "-o", files[0]], ["perf", "record", "-q", *RECORDED, "-o", files[1]]]
    if any(subprocess.run([*tool, "true"], check=False, capture_output=True).returncode != 0 for tool in tools):
        b.add("record", "not allowed here")
        return
    for what, words in (("recorder, 10 kHz a CPU, 1 s", ["-a", "sleep", "1"]),
                        ("the same with chains", ["-a", "-g", "sleep", "1"]),
                        ("recorder, one short program", ["true"])):
        ours, peer = measure.best([[*tool, *words] for tool in tools], b.home, [b.runs] * 2)
        add_cpu_times(b, what, ours.cpu, peer.cpu, 1)
    ours, peer, alone = measure.best([*[[*tool, *WORK] for tool in tools], WORK], b.home, [b.runs] * 3)
    add_cpu_times(b, f"program of {alone.cpu * 1e3:.0f} ms, recorded", ours.cpu, peer.cpu, 0.98)


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
    "threads": bench_threads,
    "memory": bench_memory,
    "record": bench_record,
    "symbols": bench_symbols,
    "recorded": bench_recorded,
    "start": bench_start,
}


def print_machine(b):
    perf = subprocess.run(["perf", "--version"], check=True, capture_output=True, text=True).stdout
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    print(f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, "
          f"load {os.getloadavg()[0]:.1f}; {perf.strip()}")
    print(measure.output([*b.cyclops, "--version"], b.home).strip())


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print()
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--size", default="128M", help="of SPE data, such as 4G (128M)")
    parser.add_argument("--only", action="append", choices=BENCHES, metavar="NAME",
                        help=f"may be repeated: {', '.join(BENCHES)}")
    parser.add_argument("--family-records", type=int, default=1 << 21, help="in captures of families (2 M)")
    parser.add_argument("--spe-parser", type=os.path.abspath, default=shutil.which("spe-parser"),
                        help="the program, of Arm's telemetry-solution (that on PATH)")
    parser.add_argument("--runs", type=int, default=7, help="of each cyclops command (7)")
    parser.add_argument("--dir", type=pathlib.Path,
                        help="keep the inputs here, and take those that are there")
    options = parser.parse_args()
    options.build = options.build.resolve()

    with tempfile.TemporaryDirectory(prefix="cyclops-bench-") as temporary:
        directory = (options.dir or pathlib.Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        bench = Bench(options, directory)
        print_machine(bench)
        for name in options.only or BENCHES:
            BENCHES[name](bench)
    print_table(bench.rows)


if __name__ == "__main__":
    main()
