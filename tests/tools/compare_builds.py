#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Says whether two builds answer the same, byte for byte: for changes that must not change an answer.

usage: compare_builds.py [--captures DIR]... [--only WORDS] [--kept FOLDER] OLD NEW

OLD and NEW are two programs. Every question below is asked of both: on each capture of tests/data
and of the folders named, as text, csv and json, with one thread and with seven. Standard output,
standard error and exit status are compared. With --kept, OLD's answers stay in FOLDER for the
next time. Ends with the number of answers that are equal and that differ.
"""

import argparse
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
TIMEOUT_SECONDS = 120
FORMATS = ("text", "csv", "json")
JOBS = (1, 7)

# Questions to each capture; asked in each format, with each number of threads.
TABLES = """
report
report --time-slices 4
hot
hot --by process,module --all --callers
hot --by line --all
hot --by instruction --top 7 --time-slices 5
hot --by event,operation,source,cpu,thread --all
hot --by function --by-samples --sort records
hot --by place,time --top 3
hot --event no-such-event
hot --event mispredicted
hot --event l1d-refill --by function,source
hot --event all-samples --against cycles
hot --elapsed
hot --elapsed --by thread,instruction --all --interval 1024
hot --arguments --histogram --all
hot --select op=load&&tot>20 --by function
mem
mem --by function --histogram --all
mem --by instruction,thread --time-slices 6 --ghz 2.5
mem --by event,operation --sort n --top 9
mem --region code:0x400000..0x410000
mem --region main --vector-length 256
mem --select op=store
mem --select source=dram||period>1
addr
addr --by field --all
addr --by type
addr --by page --time-slices 4
addr --by hugepage --all
addr --by line
addr --by instruction --all
addr --by node
addr --base 0x400000,16
addr --object table
addr --type node
c2c
c2c --full
c2c --wide --all
c2c --mode tot --coalesce process,thread --all
c2c --mode lcl --sort records
c2c --double-line --sort address
c2c --physical --line-size 128
c2c --select op=load
c2c --time-slices 3
quality
quality --all --time-slices 7
cycles
cycles --by process,module,function --all
cycles --by line --time-slices 3
blocks
blocks --all
calls
calls --all
annotate --blocks main
diff
diff --by function,line,instruction,source --all
diff --per second
diff --per instruction --fail-if time>5%
"""

# Questions that are not asked in each format.
STREAMS = """
export
export --format json
export --table samples
export --table samples --format json
export --select tot>20||period>1
dump
dump --packets
dump --packets --wording full
"""

# Questions to no capture.
NONE = """
list cpus
list events
list metrics
list groups
list events --cpu neoverse-n1
list metrics --cpu neoverse-v2
list groups --cpu neoverse-n2
list events --cpu graviton3
list nonsense
stat --import tests/data/counts/stride.csv
stat --import tests/data/counts/stride.csv --all
stat --import tests/data/counts/stride.csv --level 1 --cpu neoverse-n1
stat --import tests/data/counts/stride.csv --cpu neoverse-n2 --all
stat --import tests/data/counts/stride.csv --against tests/data/counts/stride-ahead.csv
stat --import tests/data/counts/stride-ahead.csv --against tests/data/counts/stride.csv --all
stat --import tests/data/counts/stride.csv --threshold ipc=1
diff tests/data/counts/stride.csv tests/data/counts/stride-ahead.csv
diff tests/data/counts/stride.csv tests/data/counts/stride-ahead.csv --fail-if time>-10%
diff tests/data/samples/stride.data tests/data/samples/stride-ahead.data
diff tests/data/samples/sharing.data tests/data/samples/padded.data --by shared
diff tests/data/samples/sharing.data tests/data/samples/padded.data --fail-if hot:count_up>5%
"""

FUNCTIONS_PER_CAPTURE = 2


def words(text):
    return [line.split() for line in text.splitlines() if line]


def environment():
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "COLUMNS": "100"}


def ask(cyclops, command):
    """Exit status and what was printed."""
    try:
        done = subprocess.run([cyclops, *command], cwd=ROOT, env=environment(), capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ("timeout", b"", b"")
    return (done.returncode, done.stdout, done.stderr)


def hottest(cyclops, capture):
    """The functions that annotate is asked about."""
    command = ["hot", "--by", "function", "--format", "csv", "--table", "hot", capture]
    rows = ask(cyclops, command)[1].decode(errors="replace").splitlines()
    if not rows or "function" not in rows[0].split(","):
        return []
    column = rows[0].split(",").index("function")
    names = [row.split(",")[column] for row in rows[1:] if row.count(",") >= column]
    return [name for name in names if name and not name.startswith(("[", '"'))]


def with_symbols(capture):
    """Where the files of a capture are, if they lie beside it."""
    for folder in (capture.parent, capture.parent.parent):
        if (folder / "root").is_dir():
            return ["--symfs", str(folder / "root")]
    return []


def questions(cyclops, captures):
    for command in words(NONE):
        for form in FORMATS:
            yield [*command, "--format", form]
    helped = ask(cyclops, ["--help"])[1].decode().splitlines()
    for name in [line.split()[0] for line in helped if line.startswith("  ")]:
        yield [name, "--help"]
        yield ["help", name]
    for capture in captures:
        tail = [*with_symbols(capture), str(capture)]
        for jobs in JOBS:
            for command in words(STREAMS):
                yield [*command, "-j", str(jobs), *(tail if command[0] != "dump" else tail[-1:])]
            for form in FORMATS:
                options = ["--format", form, "-j", str(jobs)]
                for command in words(TABLES):
                    yield [*command, *options, *tail]
                for name in hottest(cyclops, str(capture))[:FUNCTIONS_PER_CAPTURE]:
                    yield ["annotate", *options, *tail, name]
                    yield ["annotate", "--all", "--time-slices", "3", *options, *tail, name]


def short(answer):
    """What is kept of an answer: its hash, and enough to show a difference."""
    status, out, err = answer
    return (status, hashlib.sha256(out + b"\0" + err).hexdigest(), out[:200_000], err[:20_000])


def kept_answers(folder, pool, cyclops, commands):
    """OLD's answers: those of the folder, the others asked for now."""
    path = folder and pathlib.Path(folder) / "answers"
    known = pickle.loads(path.read_bytes()) if path and path.exists() else {}
    missing = [command for command in commands if tuple(command) not in known]
    for command, answer in zip(missing, pool.map(lambda c: short(ask(cyclops, c)), missing)):
        known[tuple(command)] = answer
    if path and missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(known))
    return known


def show(command, old, new):
    print(f"\nDIFFERS: cyclops {' '.join(command)}")
    if old[0] != new[0]:
        print(f"  exit status {old[0]} before, {new[0]} now")
    for before, now in zip(old[2:], new[2:]):
        lines = difflib.unified_diff(before.decode(errors="replace").splitlines(),
                                     now.decode(errors="replace").splitlines(), lineterm="", n=0)
        for line in list(lines)[2:14]:
            print(f"  {line[:200]}")


def made_captures(folder, make_capture):
    """Captures made up here: many threads, wild packets, samples beside records."""
    settings = {
        "many.data": ["--records", "20000", "--samples", "1000", "--cpus", "3", "--chunk", "64K"],
        "small.data": ["--records", "3000", "--samples", "200", "--cpus", "5", "--chunk", "2048",
                       "--no-context"],
    }
    for name, options in settings.items():
        path = pathlib.Path(folder) / name
        done = subprocess.run([make_capture, *options, str(path)], capture_output=True, check=False)
        if done.returncode == 0:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", action="append", default=[], metavar="DIR")
    parser.add_argument("--made", metavar="FOLDER", help="captures made here before, or now")
    parser.add_argument("--make-capture", metavar="PROGRAM")
    parser.add_argument("--only", default="", help="questions that begin with this")
    parser.add_argument("--kept", metavar="FOLDER")
    parser.add_argument("--show", type=int, default=10, help="how many differences are shown")
    parser.add_argument("old")
    parser.add_argument("new")
    given = parser.parse_args()
    folders = [DATA, *map(pathlib.Path, given.captures)]
    captures = sorted(path for folder in folders for path in folder.rglob("*data*")
                      if path.is_file() and path.stat().st_size > 104
                      and path.suffix not in (".md", ".txt", ".csv", ".json"))
    if given.make_capture:
        folder = given.made or tempfile.mkdtemp()
        os.makedirs(folder, exist_ok=True)
        captures += list(made_captures(folder, given.make_capture))
    differing = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        commands = [c for c in questions(given.old, captures) if " ".join(c).startswith(given.only)]
        old = kept_answers(given.kept, pool, given.old, commands)
        for command, answer in zip(commands, pool.map(lambda c: short(ask(given.new, c)), commands)):
            before = old[tuple(command)]
            if before[:2] != answer[:2]:
                differing += 1
                if differing <= given.show:
                    show(command, before, answer)
    print(f"\n{len(captures)} captures: {len(commands) - differing} answers equal, {differing} differ")
    return 1 if differing else 0


sys.exit(main())
