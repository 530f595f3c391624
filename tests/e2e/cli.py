#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What users type, also wrongly: exit status, and messages that say what, where and what to do.

usage: cli.py CYCLOPS MAKE-CAPTURE
"""

import contextlib
import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading

from harness import ENVIRONMENT, Checks, run

DONE, FAILED, USAGE, NO_DATA = 0, 1, 2, 4
PIPE_WIDTH = 100
SCREEN_LINES = 63
COMMANDS = ("report", "diff", "hot", "dump", "export")
ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")

# What is typed in a folder with a capture a.data, and what comes of it: exit status and a pattern
# for the messages.
CASES = [
    # Captures.
    ("report nothing.data", FAILED, r"^cyclops: nothing\.data: No such file or directory$"),
    ("report", FAILED, r"no capture given, and no perf\.data in this folder"),
    ("dump", FAILED, r"no capture given, and no perf\.data in this folder"),
    ("report folder", FAILED, r"folder: a directory, but not a capture: folder/data: No such file"),
    ("report text", FAILED, r'text: not a perf\.data file: begins with "once upo", wanted "PERFILE2"'),
    ("report empty", FAILED, r"^cyclops: empty: empty, not a perf\.data file$"),
    ("report head", FAILED, r"head: cut off inside its header"),
    ("dump head", FAILED, r"head: cut off inside its header"),
    ("report big-endian", FAILED, r"big-endian: recorded on a big-endian machine; only"),
    ("report a.data b.data", USAGE, r"too many arguments: 'b\.data' \(usage: cyclops report"),
    ("hot -i a.data b.data", USAGE, r"two captures given: 'a\.data' by --input and 'b\.data'"),
    ("dump -i a.data b.data", USAGE, r"two captures given"),
    ("report --symfs nothing a.data", USAGE, r"--symfs: nothing: No such file or directory"),
    ("hot --symfs text a.data", USAGE, r"--symfs: text is no folder"),
    ("report --debug-dir . --debug-dir nothing a.data", USAGE, r"--debug-dir: nothing: No such file"),
    ("report --vmlinux nothing a.data", USAGE, r"--vmlinux: nothing: No such file or directory"),
    ("report --guestkallsyms folder a.data", USAGE, r"--guestkallsyms: folder is a folder"),
    ("report --guestmount text a.data", USAGE, r"--guestmount: text is no folder"),
    ("report --kallsyms folder a.data", USAGE, r"--kallsyms: folder is a folder"),
    # Commands and options.
    ("", USAGE, r"^usage: cyclops COMMAND \[OPTIONS\] \[FILE\]"),
    ("repot a.data", USAGE, r"there is no command 'repot'; did you mean 'cyclops report'\?"),
    ("exp", USAGE, r"did you mean 'cyclops export'\?"),
    ("a.data", USAGE, r"there is no command 'a\.data'; did you mean 'cyclops report a\.data'\?"),
    ("xyzzy", USAGE, r"there is no command 'xyzzy' \(cyclops --help lists them\)"),
    ("--top 3 report a.data", USAGE, r"there is no option --top before a command"),
    ("help xyzzy", USAGE, r"there is no manual page for 'xyzzy' \(cyclops --help lists"),
    ("help anotate", USAGE, r"no manual page for 'anotate'; did you mean 'cyclops help annotate'\?"),
    ("help hot mem", USAGE, r"too many arguments: 'mem' \(usage: cyclops help \[COMMAND\]\)"),
    ("help help", DONE, r"^$"),
    ("report --formt csv a.data", USAGE, r"there is no option --formt; did you mean --format\?"),
    ("report --sel tot>1 a.data", USAGE, r"there is no option --sel; did you mean --select\?"),
    ("report --xyzzy a.data", USAGE, r"there is no option --xyzzy \(--help lists them\)"),
    ("report -x a.data", USAGE, r"there is no option -x \(--help lists them\)"),
    ("report --top", USAGE, r"--top needs N"),
    ("report --top ten a.data", USAGE, r"--top: found 'ten', wanted a number"),
    ("report --top 0 a.data", USAGE, r"--top: found 0, wanted at least 1"),
    ("hot --time-slices 0 a.data", USAGE, r"--time-slices: found 0, wanted at least 1"),
    ("hot --time-slices abc a.data", USAGE, r"--time-slices: found 'abc', wanted a number"),
    ("hot --time-slices 201 a.data", USAGE, r"--time-slices: found 201, wanted 1 to 200"),
    ("report --top -1 a.data", USAGE, r"--top: found '-1', wanted a number"),
    ("report --top 99999999999 a.data", USAGE, r"--top: found '99999999999', wanted a number"),
    ("report --all=3 a.data", USAGE, r"--all takes no value, found '3'"),
    ("report --format cvs a.data", USAGE, r"no format 'cvs'; there are text, csv, json"),
    ("export --format cvs a.data", USAGE, r"found 'cvs', wanted csv, json, parquet, spe-parser, folded, svg"),
    ("export --format text a.data", USAGE, r"found 'text', wanted csv, json, parquet, spe-parser, folded, svg"),
    ("report --table xyzzy a.data", USAGE, r"no table 'xyzzy'; there are capture, elapsed, functions"),
    ("export --format folded --table spe a.data", USAGE, r"--table: folded is no table"),
    ("export --format folded --value xyzzy a.data", USAGE, r"no value 'xyzzy'; there are samples, period"),
    ("export --format pprof --inverted a.data", USAGE, r"--inverted needs one of --format folded, svg"),
    ("export --format svg --time-slices 3 a.data", USAGE, r"--time-slices: svg shows no time"),
    ("export --format folded --fields ip a.data", USAGE, r"--fields needs --format perf-script"),
    ("export --format perf-script -F ip,xyzzy a.data", USAGE, r"--fields: there is no field 'xyzzy'; there are comm, pid"),
    ("export --value cycles a.data", USAGE, r"--value is of profiles: not with --format csv"),
    ("export --format bolt --table spe a.data", USAGE, r"--table: bolt is no table"),
    ("export --module x a.data", USAGE, r"--module is of profiles"),
    ("export --format bolt --module x a.data", USAGE, r"no branches of 'x' were recorded; there are those of "),
    ("export --table xyzzy a.data", USAGE, r"no table 'xyzzy'; there are spe, samples, branches"),
    ("hot --by functon a.data", USAGE, r"no key 'functon'; there are process, program"),
    ("hot --by functon a.data", USAGE, r"there are (?!.*caller)"),
    ("mem --by functon a.data", USAGE, r"there are .*caller"),
    ("hot --by function,,cpu a.data", USAGE, r"there is no key ''"),
    ("hot --sort xyzzy a.data", USAGE, r"this table has no column 'xyzzy'"),
    ("run ./fs 1000000", USAGE, r"'\./fs': put -- before the program: cyclops run \[OPTIONS\] -- \./fs"),
    ("record -o - -- true", USAGE, r"--output -: a capture cannot be piped.*give --output FILE"),
    ("model -o - -- true", USAGE, r"--output -: a capture cannot be piped.*give --output FILE"),
    ("hot --event xyzzy a.data", USAGE, r"'xyzzy' is neither an event of this capture .* nor an SPE"),
    ("dump --wording xyzzy a.data", USAGE, r"there is no 'xyzzy'; there are perf-6\.1, full"),
    ("report --cpu neoverse-n a.data", USAGE, r"not one of the \d+ CPUs.*did you mean neoverse-n1\?"),
    ("list events --cpu neoverse-n11", USAGE, r"not one of the \d+ CPUs.*did you mean neoverse-n1\?"),
    ("stat --import text --cpu neoverse-n11", FAILED, r"text"),
    ("list events --cpu neoverse-n1 l1d_cach_rd", USAGE, r"none of the \d+ events.*did you mean L1D_CACHE_RD\?"),
    ("stat --import counts --cpu neoverse-n1 -e l1d_cach", USAGE, r"'l1d_cach' was not counted in that run; did you mean L1D_CACHE"),
    ("stat --import counts --cpu neoverse-n1 -e {l1d_cache:u}", DONE, r"^$"),
    ("record -e nosuch:nosuch -o x.data -- true", None, r"tracepoint 'nosuch:nosuch'"),
    ("list cpus xyzzy", USAGE, r"none of the \d+ cpus matches 'xyzzy'"),
    ("list cpus n1 n2", USAGE, r"too many arguments: 'n2'"),
    ("annotate xyzzy nothing.data", FAILED, r"neither 'xyzzy' nor 'nothing\.data' is a file: cyclops annotate FILE"),
    ("report --cpu xyzzy a.data", USAGE, r"not one of the \d+ CPUs of the catalog"),
    ("report --catalog nothing.json a.data", FAILED, r"nothing\.json: No such file"),
    ("report --catalog text a.data", FAILED, r"catalog.* text: line 1"),
    # Selections.
    ("hot --select xyzzy=1 a.data", USAGE, r"no field 'xyzzy'; there are op, class, event, source"),
    ("hot --select op=lod a.data", USAGE, r"no operation is called 'lod'; there are load, store"),
    ("hot --select source=drum a.data", USAGE, r"no data source is called 'drum'; there are L1"),
    ("hot --select event=xyzzy a.data", USAGE, r"neither an SPE event nor an event of this capture"),
    ("hot --select op<load a.data", USAGE, r"'op' has no order, use == or !="),
    ("hot --select tot>abc a.data", USAGE, r"expected a number .* at column 5, found 'abc'"),
    ("hot --select tot> a.data", USAGE, r"--select: ends where a number"),
    ("hot --select (tot>1 a.data", USAGE, r"--select: ends where '\)' is expected"),
    ("hot --select sym=~\"(\" a.data", USAGE, r"'\(' is not a regular expression: "),
    ("hot --select time>1.5m a.data", USAGE, r"expected a number .* at column 6, found '1\.5m'"),
    # Output.
    ("report -o nowhere/out a.data", FAILED, r"nowhere/out: cannot write: No such file"),
    ("report -o a.data a.data", USAGE, r"--output: 'a\.data' is the capture itself"),
    ("dump -o ./a.data a.data", USAGE, r"--output: '\./a\.data' is the capture itself"),
    ("export --format spe-parser -o nowhere/out a.data", FAILED, r"^cyclops: nowhere/out-ldst\.csv: cannot write"),
    ("report -o /dev/full a.data", FAILED, r"/dev/full: cannot write: No space left on device"),
    ("hot -o /dev/full a.data", FAILED, r"/dev/full: cannot write: No space left on device"),
    ("export -o /dev/full a.data", FAILED, r"/dev/full: cannot write: No space left on device"),
    ("dump -o /dev/full a.data", FAILED, r"/dev/full: cannot write: No space left on device"),
    ("dump --packets -o /dev/full a.data", FAILED, r"/dev/full: cannot write: No space left on device"),
    ("diff a.data", USAGE, r"two runs are compared: cyclops diff A B"),
    ("diff --baseline a.data", USAGE, r"--baseline FILE is run A: name one more, B"),
    ("diff -i a.data a.data", USAGE, r"--input names one capture; diff takes two"),
    ("diff --per hour a.data a.data", USAGE, r"--per: 'hour' is not one of run, second, total"),
    ("diff --by colour a.data a.data", USAGE, r"there is no kind 'colour'; there are function, line"),
    ("diff --fail-if total a.data a.data", USAGE, r"--fail-if 'total': there is no < or >"),
    ("diff --fail-if nothing>1 a.data a.data", FAILED, r"neither run has a measure 'nothing'"),
    ("diff --save /nowhere/x a.data", FAILED, r"/nowhere/x: cannot write: No such file"),
    ("diff a.data text", FAILED, r"text: not a capture, a baseline or counts"),
    ("diff --baseline text a.data", FAILED, r"text: not a capture, a baseline or counts"),
    # What is right.
    ("diff a.data a.data --fail-if total>0%", DONE, r""),
    ("diff --save base.json a.data", DONE, r""),
    ("diff --baseline base.json a.data --fail-if total!=0", USAGE, r"there is no < or >"),
    ("diff --baseline base.json a.data --fail-if total>=0", DONE, r""),
    ("report a.data", DONE, r""),
    ("report --input=a.data --top=3", DONE, r""),
    ("hot -ia.data -j1 --all", DONE, r""),
    ("dump -- a.data", DONE, r"^$"),
    ("export -o - a.data", DONE, r"^$"),
]


class Folder:
    """A folder with captures, good and bad, and the program run in it."""

    def __init__(self, cyclops, maker, path):
        self.cyclops, self.maker, self.path = os.path.abspath(cyclops), maker, path
        run(maker, "--output", self.file("a.data"), "--records", 3000, "--samples", 200)
        with open(self.file("a.data"), "rb") as file:
            self.capture = file.read()
        self.write("big-endian", self.capture[:8][::-1] + self.capture[8:])
        self.write("head", self.capture[:50])
        self.write("text", b"once upon a time")
        self.write("empty", b"")
        self.write("counts", b"1000,,L1D_CACHE,1000,100.00,,\n10,,L1D_CACHE_REFILL,1000,100.00,,\n")
        os.mkdir(self.file("folder"))

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        with open(self.file(name), "wb") as file:
            file.write(content)

    def run(self, *words, stdin=b"", **options):
        settings = {"env": ENVIRONMENT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.run([self.cyclops, *words], input=stdin, cwd=self.path, check=False, **settings)


# Commands that write to OUT, and what is OUT: a file that they read.
WRITES_OVER = [
    ("report -o OUT a.data", "a.data"),
    ("report -o OUT -i a.data", "a.data"),
    ("report --html OUT a.data", "a.data"),
    ("report -o OUT --catalog facts.json a.data", "facts.json"),
    ("mem -o OUT --counts counts a.data", "counts"),
    ("hot --kallsyms symbols -o OUT a.data", "symbols"),
    ("hot --fail-if samples>1 --junit OUT a.data", "a.data"),
    ("c2c --heap-map heap -o OUT a.data", "heap"),
    ("dump -o OUT a.data", "a.data"),
    ("export -o OUT a.data", "a.data"),
    ("export --format folded -o OUT --catalog facts.json a.data", "facts.json"),
    ("diff -o OUT a.data b.data", "b.data"),
    ("diff --save OUT a.data b.data", "b.data"),
    ("diff --html OUT a.data b.data", "a.data"),
    ("diff -o OUT --baseline base.json a.data", "base.json"),
    ("collect --into set -o OUT a.data b.data", "b.data"),
    ("stat --import counts -o OUT", "counts"),
    ("stat --import counts --against events.csv -o OUT", "events.csv"),
    ("stat --import counts --catalog facts.json -o OUT", "facts.json"),
    ("list events --catalog facts.json -o OUT", "facts.json"),
    ("latency --import counts -o OUT", "counts"),
    ("latency --import counts --svg OUT", "counts"),
    ("fleet top set --setup setup.sql -o OUT", "setup.sql"),
    ("fleet top set --setup setup.sql --html OUT", "setup.sql"),
    ("doctor --catalog facts.json -o OUT", "facts.json"),
    ("kernel --validate --expected base.json -o OUT", "base.json"),
    # into a folder, by the name of a table
    ("stat --import events.csv --format csv -o .", None),
]


def check_inputs_stay(checks, folder):
    """No output replaces what the command reads, by whatever name or link."""
    contents = {name: folder.capture for name in ("a.data", "b.data")}
    contents |= dict.fromkeys(("facts.json", "base.json", "symbols", "heap", "setup.sql"), b'{"schema": 1}')
    contents |= dict.fromkeys(("counts", "events.csv"), b"1000,,L1D_CACHE,1000,100.00,,\n")
    for line, name in WRITES_OVER:
        for how in (os.path.abspath, os.symlink, os.link) if name else (os.path.abspath,):
            with tempfile.TemporaryDirectory() as path:
                for entry, content in contents.items():
                    with open(os.path.join(path, entry), "wb") as file:
                        file.write(content)
                out = name
                if name and how is not os.path.abspath:
                    out = "other"
                    how(os.path.join(path, name), os.path.join(path, out))
                words = [out if word == "OUT" else word for word in line.split()]
                done = subprocess.run([folder.cyclops, *words], cwd=path, env=ENVIRONMENT, capture_output=True,
                                      check=False)
                after = {entry: open(os.path.join(path, entry), "rb").read() for entry in contents}
                changed = [entry for entry in contents if after[entry] != contents[entry]]
                checks.expect(not changed, f"{' '.join(words)}: wrote over {changed}")
                refused = re.search(rb"^cyclops: --[a-z]+: '.*' is (the capture itself|what --[a-z-]+ reads)$",
                                    done.stderr, re.M)
                checks.expect(done.returncode == USAGE and refused, f"{' '.join(words)}: {done}")
                checks.count("outputs that are inputs")


def check_cases(checks, folder):
    for line, status, pattern in CASES:
        done = folder.run(*line.split())
        messages = done.stderr.decode()
        name = f"cyclops {line}"
        status = done.returncode if status is None else status  # depends on the machine
        checks.expect(done.returncode == status, f"{name}: exit status {done.returncode}: {messages}")
        checks.expect(re.search(pattern, messages, re.M), f"{name}: says {messages!r}, not {pattern}")
        # A message is a line that says who speaks; a wrong option needs no second one.
        if status != DONE and line:
            lines = messages.splitlines()
            checks.expect(all(text.startswith("cyclops: ") for text in lines), f"{name}: {lines}")
            checks.expect(status == FAILED or len(lines) == 1, f"{name}: {len(lines)} lines: {lines}")
            checks.expect(done.stdout == b"", f"{name}: writes to standard output")
        checks.count("command lines")


def write_all(end, content):
    with open(end, "wb") as pipe, contextlib.suppress(BrokenPipeError):
        pipe.write(content)


def check_streams_by_name(checks, folder):
    """Runs that are streams with a name, as of the shell's <(...): what is read of them is gone."""
    folder.run("diff", "--save", "kept.json", "a.data")
    for name in ("a.data", "kept.json"):
        reading, writing = os.pipe()
        with open(folder.file(name), "rb") as file:
            writer = threading.Thread(target=write_all, args=(writing, file.read()))
        writer.start()
        streamed = folder.run("diff", "--format", "csv", f"/dev/fd/{reading}", "a.data", pass_fds=(reading,))
        os.close(reading)
        writer.join()
        direct = folder.run("diff", "--format", "csv", name, "a.data")
        checks.expect(streamed.returncode == DONE and streamed.stdout == direct.stdout.replace(name.encode(), b"/dev/fd/%d" % reading, 1),
                      f"diff <(cat {name}) a.data: another answer: {streamed.stderr}")
        checks.count("streams with a name")
    # Pages show its timeline only of a capture that can be read once more.
    reading, writing = os.pipe()
    with open(folder.file("a.data"), "rb") as file:
        writer = threading.Thread(target=write_all, args=(writing, file.read()))
    writer.start()
    done = folder.run("diff", "--html", "streamed.html", f"/dev/fd/{reading}", "a.data", pass_fds=(reading,))
    os.close(reading)
    writer.join()
    checks.expect(done.returncode == DONE and os.path.getsize(folder.file("streamed.html")) > 0,
                  f"diff --html <(cat a.data) a.data: {done.stderr}")


def check_streams(checks, folder):
    """Captures and answers through pipes."""
    for command in (["report"], ["hot", "--by", "cpu"], ["export"], ["dump"], ["dump", "--packets"]):
        direct = folder.run(*command, "a.data")
        piped = folder.run(*command, "-", stdin=folder.capture)
        named = direct.stdout.replace(b" a.data\n", b" -\n")  # commands that can be pasted name it
        checks.expect(named == piped.stdout and piped.returncode == DONE,
                      f"cat a.data | cyclops {command[0]} -: another answer: {piped.stderr}")
        written = folder.run(*command, "-o", "out", "a.data")
        with open(folder.file("out"), "rb") as file:
            checks.expect(file.read() == direct.stdout and written.stdout == b"",
                          f"{command[0]} -o out: another answer")
        with open("/dev/full", "wb") as full:
            failed = folder.run(*command, "a.data", stdout=full)
        checks.expect(failed.returncode == FAILED and b"standard output: cannot write" in failed.stderr,
                      f"{command[0]} > /dev/full: {failed.returncode} {failed.stderr}")
        reading, writing = os.pipe()
        os.close(reading)
        closed = folder.run(*command, "a.data", stdout=writing)
        os.close(writing)
        checks.expect(closed.returncode in (-13, FAILED), f"{command[0]} | head: {closed.returncode}")
        checks.expect(b"runtime error" not in closed.stderr, f"{command[0]} | head: {closed.stderr}")
        checks.count("commands through pipes")
    check_streams_by_name(checks, folder)
    nothing = folder.run("report", "-", stdin=b"")
    checks.expect(nothing.returncode == FAILED and b"standard input: empty" in nothing.stderr,
                  f"empty standard input: {nothing.stderr}")


def check_lists(checks, folder):
    """A pattern is a part of a name or label, or all of it."""
    def names(*words):
        rows = folder.run("list", *words, "--format", "csv").stdout.decode().splitlines()
        return [row.split(",")[0] for row in rows[1:]]
    events = names("events", "--cpu", "neoverse-n1")
    for pattern, wanted in (("tlb", [e for e in events if "TLB" in e]),
                            ("L1D_*RD", [e for e in events if e.startswith("L1D_") and e.endswith("RD")]),
                            ("l?d_cache", ["L1D_CACHE", "L2D_CACHE", "L3D_CACHE"])):
        found = names("events", "--cpu", "neoverse-n1", pattern)
        checks.expect(found and sorted(found) == sorted(wanted), f"list events {pattern}: {found}")
        checks.count("patterns")
    for pattern in ("graviton2", "Neoverse N1", "*altra max*"):
        checks.expect("neoverse-n1" in names("cpus", pattern), f"list cpus {pattern}: no neoverse-n1")
    checks.expect(len(names("cpus", "neoverse-n")) < len(names("cpus")), "list cpus neoverse-n: all")


def check_descriptions(checks, folder):
    """What events count, in each form; a catalog file may say more."""
    words = ["list", "events", "--cpu", "neoverse-n1"]
    rows = {row["event"]: row for row in csv.DictReader(folder.run(*words, "--format", "csv").stdout.decode().splitlines())}
    for name, row in rows.items():
        checks.expect(row["description"], f"list events: {name} is not described")
        checks.count("described events")
    listed = json.loads(folder.run(*words, "--format", "json").stdout)["events"]
    checks.expect({e["event"]: e["description"] for e in listed} == {n: r["description"] for n, r in rows.items()}, "json and csv")
    text = " ".join(folder.run(*words, "DTLB_WALK").stdout.decode().split())
    checks.expect("DTLB_WALK 0x34 page table walks for data" in text, f"list events DTLB_WALK: {text}")
    folder.write("more.json", json.dumps({"schema": 1, "event_descriptions": {"DTLB_WALK": "walks"}}).encode())
    text = folder.run(*words, "DTLB_WALK", "--catalog", "more.json").stdout.decode()
    checks.expect(re.search(r"0x34 +walks ", text), f"more.json: {text}")
    folder.write("more.json", json.dumps({"schema": 1, "event_descriptions": {"DTLB_WALK": 3}}).encode())
    done = folder.run(*words, "--catalog", "more.json")
    checks.expect(done.returncode == FAILED and b"DTLB_WALK" in done.stderr and b"a text" in done.stderr, f"no text: {done.stderr}")


def check_callers(checks, folder):
    """Callers that were not recorded: that is said, and how to record them."""
    run(folder.maker, "--output", folder.file("spe.data"), "--records", 100)
    for words, note in ((["spe.data"], True), (["a.data"], False), (["a.data", "--by", "cpu"], False)):
        text = " ".join(folder.run("hot", "--callers", *words).stdout.decode().split())
        checks.expect(("no callers: this capture has no call chains. cyclops record -g" in text) == note, f"callers: {text}")
        plain = folder.run("hot", *words).stdout.decode()
        checks.expect("no callers" not in plain, f"without --callers: {plain}")
    os.remove(folder.file("spe.data"))


def check_cpus(checks, folder):
    """Products are shown, however narrow it is."""
    for width in ("60", "80", "100", "160"):
        text = folder.run("list", "cpus", "--width", width).stdout.decode()
        checks.expect("Ampere1A" in text and "X-Gene" in text, f"list cpus, {width} columns: {text[:300]}")
        checks.count("widths of list cpus")


def check_nothing_left(checks, folder):
    """A program that cannot be run leaves no folder."""
    before = set(os.listdir(folder.path))
    done = folder.run("run", "--", "./nothing")
    checks.expect(done.returncode == FAILED and b"'./nothing' did not run: nothing was measured" in done.stderr, done.stderr)
    checks.expect(set(os.listdir(folder.path)) == before, f"left behind: {set(os.listdir(folder.path)) - before}")


def check_other_order(checks, folder):
    """Where only the second argument is a file, it is the capture."""
    one, other = folder.run("annotate", "a.data", "xyzzy"), folder.run("annotate", "xyzzy", "a.data")
    checks.expect(one.returncode == other.returncode == USAGE and one.stderr == other.stderr and
                  b"no records in 'xyzzy'" in one.stderr, f"annotate: {one.stderr} {other.stderr}")


def check_above_all(checks, folder):
    """A share above 100 % is explained where it is shown."""
    for refills, above in ((10, False), (1000, False), (1026, True)):
        folder.write("counts", b"1000,,L2D_TLB,1000,100.00,,\n%d,,L2D_TLB_REFILL,1000,100.00,,\n" % refills)
        text = folder.run("stat", "--import", "counts", "--cpu", "neoverse-n1", "--all").stdout.decode()
        checks.expect(f"{refills / 10:.1f} %" in text, f"no share of {refills}: {text}")
        checks.expect(("above 100 %: one event" in text) == above, f"{refills} of 1000: {text}")


def check_no_packets(checks, folder):
    """A dump of packets that are not there says so."""
    run(folder.maker, "--output", folder.file("samples.data"), "--records", 0, "--samples", 20)
    done = folder.run("dump", "--packets", "samples.data")
    checks.expect(done.returncode == NO_DATA and done.stdout == b"" and b"there are no SPE packets" in done.stderr,
                  f"dump --packets without SPE: {done.returncode} {done.stderr}")
    judged = folder.run("quality", "samples.data").stdout.decode()
    checks.expect(re.search(r"^context +n/a +no SPE records", judged, re.M), f"quality: {judged}")
    cpus = list(csv.DictReader(folder.run("quality", "--table", "cpus", "--format", "csv", "samples.data").stdout.decode().splitlines()))
    for cpu in cpus:
        over_time = sum(int(n) for name, n in cpu.items() if name.startswith("slice_"))
        checks.expect(over_time == int(cpu["samples"]) and cpu["records"] == "0", f"quality: samples over time {cpu}")
    checks.expect(sum(int(cpu["samples"]) for cpu in cpus) == 20, f"quality: samples by cpu {cpus}")
    rows = list(csv.DictReader(folder.run("quality", "--table", "rows", "--format", "csv", "samples.data").stdout.decode().splitlines()))
    checks.expect(rows and all(float(row["share_low"]) <= float(row["share"]) <= float(row["share_high"]) and
                               int(row["records"]) / 20 == float(row["share"]) for row in rows), f"quality: rows {rows}")
    reported = " ".join(folder.run("report", "samples.data").stdout.decode().split())
    checks.expect("Too few samples: an event has 20, at least 30 are needed" in reported, f"report: {reported}")
    os.remove(folder.file("samples.data"))


def check_shrinking(checks, folder):
    """A capture that is cut while it is read: the pipe is full long before its end is reached."""
    run(folder.maker, "--output", folder.file("long.data"), "--records", 200000)
    with subprocess.Popen([folder.cyclops, "dump", "--packets", "-j1", "long.data"], cwd=folder.path,
                          env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        reader.stdout.read(1)
        os.truncate(folder.file("long.data"), 4096)
        messages = reader.communicate()[1].decode()
    checks.expect(reader.returncode == FAILED and "became shorter while it was read" in messages,
                  f"a file cut while it is read: {reader.returncode} {messages!r}")
    os.remove(folder.file("long.data"))


def check_dump(checks, folder):
    """A line for each record: where, how large, what, and each field once."""
    end = None
    for line in folder.run("dump", "a.data").stdout.decode().splitlines():
        words = line.split()
        position, size = int(words[0], 16), int(words[1].removeprefix("size="))
        names = re.findall(r" (\w+)=", line)
        checks.expect(len(names) == len(set(names)), f"dump: a field twice: {line}")
        checks.expect(re.fullmatch(r"[A-Z][A-Z_0-9]+", words[2]), f"dump: no type: {line}")
        checks.expect(end in (None, position), f"dump: not behind the record before: {line}")
        data = re.search(r" AUXTRACE data_size=(0x[0-9a-f]+)", line)
        end = position + size + (int(data.group(1), 16) if data else 0)
        checks.count("lines of dumps")


def as_csv(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_formats(checks, folder):
    """Json is json, and says what csv says: absent is left out there, and empty here."""
    for table in ("spe", "samples"):
        words = ["export", "--table", table, "a.data", "--format"]
        document = json.loads(folder.run(*words, "json").stdout)
        lines = folder.run(*words, "csv").stdout.decode().splitlines()
        rows = [{name: text for name, text in row.items() if text} for row in csv.DictReader(lines)]
        ours = [{name: as_csv(value) for name, value in row.items()} for row in document[table]]
        checks.expect(rows == ours, f"export {table}: json and csv differ")
        described = document["columns"][table]
        checks.expect(set(lines[0].split(",")) == set(described), f"columns of {table}: {described}")
        checks.count("rows in two formats", len(rows))
    for words in (["report"], ["hot"], ["hot", "--callers", "--by", "line,event"]):
        document = json.loads(folder.run(*words, "a.data", "--format", "json").stdout)
        checks.expect(document["schema"] >= 1 and document["command"] == words[0],
                      f"{words}: {list(document)}")


def on_terminal(folder, columns, words, stderr=False, **variables):
    """Output of a command on a terminal of so many columns."""
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = ENVIRONMENT | {"TERM": "xterm", "LC_ALL": "C.UTF-8", "PAGER": "cat"} | variables
    process = subprocess.Popen([folder.cyclops, *words], stdin=subprocess.DEVNULL, stdout=child,
                               stderr=child if stderr else subprocess.DEVNULL, env=environment, cwd=folder.path)
    os.close(child)
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        output += piece
    os.close(terminal)
    process.wait()
    return output.replace(b"\r\n", b"\n")


def check_config(checks, folder):
    """The configuration file: like options before those of the command line; csv and json keep their form."""
    home = folder.file("home")
    os.makedirs(os.path.join(home, "cyclops"))
    path = os.path.join(home, "cyclops", "config")

    def run_with(text, *words, **variables):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return folder.run(*words, env=ENVIRONMENT | {"XDG_CONFIG_HOME": home} | variables)

    looks = "width = 60\ncolor = always\npager = cat\n"
    for words in (["hot", "a.data"], ["report", "a.data"], ["list", "events", "--cpu", "neoverse-n1"]):
        plain = run_with(looks, *words)
        same = folder.run(*words, "--width", "60", "--color", "always")
        checks.expect(plain.stdout == same.stdout and b"\x1b" in plain.stdout and widest(plain.stdout) <= 60,
                      f"{words}: not as with options: {plain.stderr}")
        for form in ("csv", "json"):
            formal, wanted = run_with(looks, *words, "--format", form), folder.run(*words, "--format", form)
            checks.expect(formal.stdout == wanted.stdout and formal.stdout, f"{words}: another {form}: {formal.stderr}")
        checks.count("answers with a configuration")
    won = run_with(looks, "hot", "a.data", "--width", "90", "--color", "never")
    checks.expect(won.stdout == folder.run("hot", "a.data", "--width", "90").stdout, "the command line goes before")
    wide = run_with("width = 60\n", "hot", "a.data", COLUMNS="140")
    checks.expect(wide.stdout == folder.run("hot", "a.data", "--width", "140").stdout, "COLUMNS goes before")
    cpu = run_with("cpu = cortex-a72\n", "report", "a.data", "--format", "json")
    checks.expect(cpu.stdout == folder.run("report", "--cpu", "cortex-a72", "a.data", "--format", "json").stdout,
                  f"cpu: {cpu.stderr}")
    here = run_with("cpu = nobody-has-it\n", "list", "events")
    checks.expect(here.returncode == DONE, f"cpu is for captures: {here.stderr}")
    lost = run_with("symfs = /nowhere/at/all\n", "report", "a.data")
    checks.expect(lost.returncode == USAGE and b"--symfs: /nowhere/at/all" in lost.stderr, f"symfs: {lost.stderr}")
    for text, words in (("widht = 60", "config:1: there is no key 'widht'"), ("# a\ncolor", "config:2: found 'color', wanted KEY"),
                        ("color = red", "found 'red', wanted auto, always or never"), ("cpu = \n", "config:1: cpu: found ''")):
        for command in (["hot", "a.data"], ["stat", "--import", "counts"], ["dump", "a.data"]):
            done = run_with(text, *command)
            checks.expect(done.returncode == USAGE and words in done.stderr.decode() and not done.stdout,
                          f"{text}: {done.returncode} {done.stderr}")
        checks.expect(run_with(text, "hot", "--help").returncode == DONE, f"{text}: no help")
        page = run_with(text, "help", "hot")
        checks.expect(page.returncode == DONE and b"SYNOPSIS" in page.stdout, f"{text}: no manual page")
    at_home = folder.file("at-home")
    os.makedirs(os.path.join(at_home, ".config", "cyclops"))
    with open(os.path.join(at_home, ".config", "cyclops", "config"), "w", encoding="utf-8") as file:
        file.write("width = 60\n")
    for place in ("", "relative"):  # neither is a folder, by the specification
        done = folder.run("hot", "a.data", env=ENVIRONMENT | {"XDG_CONFIG_HOME": place, "HOME": at_home})
        checks.expect(done.stdout == folder.run("hot", "a.data", "--width", "60").stdout, f"~/.config: {done.stderr}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("pager = tr a-z A-Z\n")
    shown = on_terminal(folder, 80, ["hot", "a.data"], NO_COLOR="1", XDG_CONFIG_HOME=home)
    straight = on_terminal(folder, 80, ["hot", "a.data"], NO_COLOR="1")
    checks.expect(shown == straight.upper() != straight, f"pager: {shown[:200]}")


def widest(output):
    return max(map(len, ESCAPE.sub(b"", output).decode().splitlines()), default=0)


def check_screens(checks, folder):
    """Text fits, and is coloured on terminals alone."""
    for words in (["report", "a.data"], ["hot", "a.data"], ["hot", "--callers", "a.data"],
                  ["hot", "--by", "process,thread,module,function,source,operation", "a.data"]):
        name = " ".join(words)
        piped = folder.run(*words).stdout
        checks.expect(widest(piped) <= PIPE_WIDTH, f"{name}: {widest(piped)} columns in a pipe")
        checks.expect(b"\x1b" not in piped, f"{name}: escape sequences in a pipe")
        for columns in (60, 80, 132):
            shown = on_terminal(folder, columns, words)
            checks.expect(shown and widest(shown) <= columns, f"{name}: {widest(shown)} columns on a "
                          f"terminal of {columns}")
            checks.count("answers on terminals")
            asked = folder.run(*words, env=ENVIRONMENT | {"COLUMNS": str(columns)}).stdout
            checks.expect(widest(asked) <= columns, f"{name}: {widest(asked)} columns of {columns}")
        coloured = on_terminal(folder, 100, words)
        checks.expect(b"\x1b[" in coloured, f"{name}: no colours on a terminal")
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            plain = on_terminal(folder, 100, words, **variables)
            checks.expect(b"\x1b" not in plain, f"{name}: colours in spite of {variables}")
            checks.expect(plain == ESCAPE.sub(b"", coloured), f"{name}: colours change the text")


def check_messages(checks, folder):
    """Messages are lines in a file, and fit a terminal."""
    words = ["hot", "--cpu", "a-cpu-that-nobody-has", "a.data"]
    [line] = folder.run(*words).stderr.decode().splitlines()
    for columns in (50, 80):
        shown = on_terminal(folder, columns, words, stderr=True).decode().splitlines()
        checks.expect(len(shown) > 1 and max(map(len, shown)) <= columns, f"a message on {columns} columns: {shown}")
        checks.expect(" ".join(text.strip() for text in shown) == line, f"{shown} is not {line}")
        checks.expect(all(text.startswith("         ") for text in shown[1:]), f"not indented: {shown}")


def check_help(checks, folder):
    """Help fits on a screen, and is what was asked for: on standard output."""
    for words in ([], *([command] for command in COMMANDS)):
        for option in ("--help", "-h"):
            done = folder.run(*words, option)
            lines = done.stdout.decode().splitlines()
            name = " ".join(["cyclops", *words, option])
            checks.expect(done.returncode == DONE and not done.stderr, f"{name}: {done.stderr}")
            checks.expect(5 < len(lines) <= SCREEN_LINES, f"{name}: {len(lines)} lines")
            checks.expect(max(map(len, lines)) <= PIPE_WIDTH, f"{name}: {max(map(len, lines))} columns")
            checks.expect(lines and lines[0].startswith("usage: cyclops"), f"{name}: {lines[:1]}")
            checks.count("help texts")
            for columns in (60, 80) if words else (80,):
                narrow = folder.run(*words, option, env=ENVIRONMENT | {"COLUMNS": str(columns)}).stdout
                checks.expect(widest(narrow) <= columns, f"{name}: {widest(narrow)} columns of {columns}")
                again = re.sub(r"\s+", " ", narrow.decode()) == re.sub(r"\s+", " ", done.stdout.decode())
                checks.expect(again, f"{name}: other words in {columns} columns")
    done = folder.run("--version")
    text = done.stdout.decode()
    checks.expect(done.returncode == DONE and re.match(r"cyclops \d+\.\d+\.\d+ \(.+\)\nbuilt with ", text),
                  f"--version: {text!r}")
    for name in ("", "cyclops", "help", *COMMANDS):
        page = folder.run("help", *name.split()).stdout.decode()
        checks.expect("SYNOPSIS" in page, f"help {name}: {page[:100]!r}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    checks = Checks()
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(*sys.argv[1:], path)
        check_cases(checks, folder)
        check_inputs_stay(checks, folder)
        check_streams(checks, folder)
        check_lists(checks, folder)
        check_nothing_left(checks, folder)
        check_other_order(checks, folder)
        check_no_packets(checks, folder)
        check_above_all(checks, folder)
        check_shrinking(checks, folder)
        check_dump(checks, folder)
        check_formats(checks, folder)
        check_screens(checks, folder)
        check_config(checks, folder)
        check_callers(checks, folder)
        check_cpus(checks, folder)
        check_descriptions(checks, folder)
        check_messages(checks, folder)
        check_help(checks, folder)
    checks.finish()


if __name__ == "__main__":
    main()
