#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records real programs with cyclops and with perf, and compares what both tools see.

usage: record.py CYCLOPS DUMP_SAMPLES PROGRAM [--kills N]

Needs rights for perf events; the kernel's clock is sampled, so any machine will do. PROGRAM is
record_program.c.
"""

import argparse
import collections
import csv
import io
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness

HERE = pathlib.Path(__file__).resolve().parent
SHARES = {"work_a": 0.75, "work_b": 0.25}


def start(*command, **options):
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=harness.ENVIRONMENT, **options)


class Tools:
    """The programs, and answers they give about a capture."""

    def __init__(self, options, home):
        self.cyclops = options.cyclops
        self.dump_samples = options.dump_samples
        self.program = options.program
        self.home = home
        self.check = harness.Checks()

    def expect(self, holds, what):
        self.check.count("expectations")
        return self.check.expect(holds, what)

    def path(self, name):
        return str(self.home / name)

    def record(self, name, *words):
        """A capture by cyclops; returns its path and what was said."""
        path = self.path(name)
        done = start(self.cyclops, "record", "-o", path, *words)
        _, said = done.communicate()
        if done.returncode != 0:
            raise harness.Failed(f"record {' '.join(map(str, words))}: {done.returncode}: {said}")
        return path, said

    def perf(self, name, *words):
        path = self.path(name)
        harness.run("perf", "record", "-q", "-o", path, *words)
        return path

    def samples(self, path):
        text = harness.run(self.cyclops, "export", "--table", "samples", "--format", "csv", path)
        return list(csv.DictReader(io.StringIO(text.decode())))

    def records(self, path):
        """Lines of the dump by type."""
        found = collections.defaultdict(list)
        for line in harness.run(self.cyclops, "dump", path).decode(errors="replace").splitlines():
            found[line.split()[2]].append(line)
        return found

    def perf_symbols(self, path):
        text = harness.run("perf", "script", "-i", path, "-F", "ip,sym").decode()
        return collections.Counter(line.split()[-1] for line in text.splitlines() if line.split())


def shares(counter):
    total = sum(counter[name] for name in SHARES)
    return {name: counter[name] / total for name in SHARES}, total


def check_shares(tools, what, counter):
    """Against what the program does, within four standard deviations."""
    found, total = shares(counter)
    for name, share in SHARES.items():
        limit = 4 * math.sqrt(share * (1 - share) / total) + 0.01
        tools.expect(abs(found[name] - share) < limit,
                         f"{what}: {name} has {found[name]:.4f} of {total}, {share} +- {limit:.4f} expected")


def test_shares(tools):
    """The same program by both recorders, each file read by both tools."""
    for event in ("cpu-clock", "task-clock"):
        ours, _ = tools.record(f"{event}.cyclops", "-e", event, "-F", "2000", tools.program, "busy", "1000")
        theirs = tools.perf(f"{event}.perf", "-e", event, "-F", "2000", tools.program, "busy", "1000")
        for recorder, path in (("cyclops", ours), ("perf", theirs)):
            exported = collections.Counter(row["symbol"] for row in tools.samples(path))
            check_shares(tools, f"{event} by {recorder}, export", exported)
            check_shares(tools, f"{event} by {recorder}, perf script", tools.perf_symbols(path))


def test_differential(tools):
    """All that can be recorded here: our samples are those that perf reads, one by one."""
    busy = (tools.program, "busy", "200")
    variants = {
        "plain": (), "chains": ("-g",), "dwarf": ("--call-graph", "dwarf,4096"), "zstd": ("-z", "-g"),
        "period": ("-c", "500000"), "two": ("-e", "cpu-clock,task-clock"), "faults": ("-e", "page-faults", "-c", "1"),
        "modes": ("-e", "cpu-clock:u,cpu-clock:k"), "group": ("-e", "{cpu-clock,page-faults}"),
        "data": ("-d", "-W"), "regs": ("--regs",), "switches": ("--switch-events",), "mono": ("-k", "mono"),
        "everything": ("-a", "--duration", "300ms"), "cpu": ("-C", "0", "--duration", "200ms"),
        "small": ("-m", "64K", "-F", "5000"), "level": ("-z9",),
    }
    folder = tools.home / "differential"
    folder.mkdir()
    for name, words in variants.items():
        if "-e" not in words:
            words = (*words, "-e", "cpu-clock")
        path, _ = tools.record(f"differential/{name}.data", *words, *busy)
        n = len(tools.samples(path))
        tools.expect(n > 10, f"{name}: only {n} samples")
    done = subprocess.run([sys.executable, HERE.parent / "corpus" / "compare_perf.py", tools.dump_samples, folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=harness.ENVIRONMENT,
                          check=False)
    tools.expect(done.returncode == 0, f"compare_perf: {done.stdout[-2000:]}")


def test_group_reads(tools):
    """The leader of a group samples for all its members."""
    path, _ = tools.record("leader.data", "-e", "{cpu-clock,page-faults,task-clock}:S", tools.program, "busy", "100")
    text = harness.run("perf", "script", "-i", path, "-F", "event,period").decode()
    seen = {line.split()[-1].rstrip(":") for line in text.splitlines()}
    tools.expect({"cpu-clock", "task-clock"} <= seen, f"leader sampling: perf sees {seen}")


def test_features(tools):
    """The header is complete, in perf's eyes."""
    path, _ = tools.record("features.data", "-e", "cpu-clock", "-z", tools.program, "busy", "50")
    text = harness.run("perf", "report", "--header-only", "-I", "-i", path).decode()
    for word in ("hostname : ", "os release : ", "arch : ", "nrcpus online : ", "cpudesc : ", "cpuid : ",
                 "total memory : ", "cmdline : ", "event : name = cpu-clock", "sibling ", "node0 meminfo",
                 "pmu mappings: ", "time of first sample : ", "compressed : Zstd"):
        tools.expect(word in text, f"the header has no '{word}'")
    names = harness.run("perf", "buildid-list", "-i", path).decode()
    tools.expect("[kernel.kallsyms]" in names, f"no build-id of the kernel: {names}")


def test_children(tools):
    """A hundred short-lived processes: each with its name and its maps."""
    path, _ = tools.record("children.data", "-e", "cpu-clock", "-F", "20000", tools.program, "children", "100")
    records = tools.records(path)
    name = os.path.basename(tools.program)
    execs = {line.split("pid=")[1].split()[0] for line in records["COMM"] if "exec" in line}
    maps = {line.split("pid=")[1].split()[0] for line in records["MMAP2"] if name in line}
    tools.expect(len(execs) == 101, f"{len(execs)} execs, 101 expected")
    tools.expect(execs <= maps, f"processes without their program: {execs - maps}")
    rows = [row for row in tools.samples(path) if int(row["ip"], 16) < 1 << 63]
    lost = [row for row in rows if not row["module"]]
    tools.expect(len({row["pid"] for row in rows}) >= 90, "most processes should have samples")
    tools.expect(not lost, f"{len(lost)} of {len(rows)} samples of user code in no module: {lost[:3]}")


def test_attach(tools):
    """A process that runs already, with threads; one of its threads alone."""
    target = start(tools.program, "threads", "3", "3000")
    time.sleep(0.3)
    tids = sorted(os.listdir(f"/proc/{target.pid}/task"), key=int)
    tools.expect(len(tids) == 4, f"{len(tids)} threads")
    path, _ = tools.record("attach.data", "-e", "cpu-clock", "-p", target.pid, "--duration", "500ms")
    one, _ = tools.record("thread.data", "-e", "cpu-clock", "-t", tids[1], "--duration", "500ms")
    target.kill()
    target.communicate()
    rows = tools.samples(path)
    tools.expect({row["tid"] for row in rows} == set(tids), "samples of all threads")
    tools.expect({row["tid"] for row in tools.samples(one)} == {tids[1]}, "samples of one thread")
    check_shares(tools, "attached", collections.Counter(row["symbol"] for row in rows))
    check_shares(tools, "attached, perf", tools.perf_symbols(path))
    path, said = tools.record("ends.data", "-e", "cpu-clock", "-p", start(tools.program, "busy", "300").pid)
    tools.expect("samples" in said, "recording ends with the process")


def is_readable(tools, path, what):
    """Both tools read the file, and see the same number of samples."""
    ours = len(tools.samples(path))
    done = subprocess.run(["perf", "script", "-i", path, "-F", "time"], stdin=subprocess.DEVNULL, capture_output=True,
                          env=harness.ENVIRONMENT, check=False)
    tools.expect(done.returncode == 0, f"{what}: perf: {done.stderr.decode()[-200:]}")
    theirs = len(done.stdout.splitlines())
    tools.expect(ours == theirs, f"{what}: {ours} samples, perf sees {theirs}")
    return ours


def test_kills(tools, n):
    """Whatever ends the recorder, at whatever moment: what is there can be read."""
    rng = random.Random(7)
    total = 0
    for i in range(n):
        number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
        words = rng.choice(((), ("-z",), ("-g", "-m", "64K")))
        path = tools.path("killed.data")
        if os.path.exists(path):
            os.unlink(path)
        recorder = start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", "-F", "20000", *words,
                         tools.program, "threads", "1", "2500", start_new_session=True)
        time.sleep(rng.uniform(0, 2.6))
        recorder.send_signal(number)
        recorder.communicate()
        try:
            os.killpg(recorder.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        what = f"kill {i} ({number.name})"
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            continue  # it had not begun
        total += is_readable(tools, path, what)
    tools.expect(total > 1000 * n, f"{n} kills left {total} samples")


def test_signals(tools):
    """Signals reach the program; its end is ours."""
    path = tools.path("signal.data")
    recorder = start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", tools.program, "busy", "20000")
    time.sleep(0.7)
    recorder.terminate()
    recorder.communicate()
    tools.expect(recorder.returncode == 128 + signal.SIGTERM, f"status {recorder.returncode} after SIGTERM")
    is_readable(tools, path, "SIGTERM")
    begin = time.monotonic()
    recorder = start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", tools.program, "ignore", "8000")
    time.sleep(0.7)
    recorder.send_signal(signal.SIGINT)
    recorder.wait()
    tools.expect(time.monotonic() - begin < 7, "a program that ignores SIGINT does not hold the recorder")
    is_readable(tools, path, "ignored SIGINT")
    done = subprocess.run([tools.cyclops, "record", "-o", path, "-e", "cpu-clock", tools.program, "busy", "1", "x", "7"],
                          capture_output=True, env=harness.ENVIRONMENT, check=False)
    tools.expect(done.returncode == 7, f"exit status {done.returncode}, the program's is 7")


def test_limits(tools):
    path, said = tools.record("duration.data", "-e", "cpu-clock", "-a", "--duration", "400ms")
    tools.expect("stopped after --duration" in said, said)
    rows = [int(row["time_ns"]) for row in tools.samples(path)]
    tools.expect(0.3e9 < max(rows) - min(rows) < 1.5e9, f"{(max(rows) - min(rows)) / 1e9} s recorded")
    path = tools.path("size.data")
    done = start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", "-F", "20000", "--call-graph", "dwarf",
                 "--max-size", "4M", "-m", "256K", tools.program, "busy", "20000")
    _, said = done.communicate()
    tools.expect("stopped at --max-size" in said, said)
    tools.expect(4e6 < os.path.getsize(path) < 8e6, f"{os.path.getsize(path)} bytes")
    is_readable(tools, path, "--max-size")
    path, _ = tools.record("delay.data", "-e", "cpu-clock", "-D", "300ms", tools.program, "busy", "600")
    begin = min(int(line.split("time=")[1].split()[0]) for line in tools.records(path)["COMM"] if "exec" in line)
    first = min(int(row["time_ns"]) for row in tools.samples(path))
    tools.expect(first - begin > 0.29e9, f"the first sample comes {(first - begin) / 1e9} s after the start")


def refused(tools, status, words, *command, **options):
    done = subprocess.run([tools.cyclops, "record", *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=harness.ENVIRONMENT, check=False, **options)
    tools.expect(done.returncode == status, f"{command}: status {done.returncode}, {status} expected: {done.stderr}")
    tools.expect(words in done.stderr, f"{command}: '{words}' is not in: {done.stderr}")


def test_refusals(tools):
    busy = (tools.program, "busy", "100")
    path = tools.path("refused.data")
    none = tools.path("none") + "/perf.data"
    refused(tools, 127, "No such file", "-o", path, "-e", "cpu-clock", "/nonexistent/program")
    tools.expect(not os.path.exists(path), "no file is left behind")
    data = tools.home / "data"
    data.write_text("no program")
    refused(tools, 126, "Permission denied", "-o", path, "-e", "cpu-clock", data)
    refused(tools, 1, f"{none}: cannot create: No such file or directory", "-o", none, "-e", "cpu-clock", *busy)
    refused(tools, 2, "there is no event 'cpu-clok' here; did you mean 'cpu-clock'?", "-e", "cpu-clok", *busy)
    refused(tools, 2, "there is no process 999999", "-p", "999999")
    refused(tools, 2, "there is no thread 999999", "-t", "999999")
    refused(tools, 2, "a breakpoint is mem:", "-e", "mem:0x10:q", *busy)
    refused(tools, 2, "CPU 4095 is not online", "-C", "4095", *busy)
    refused(tools, 2, "has no '}'", "-e", "{cpu-clock", *busy)
    refused(tools, 2, "did you mean loads?", "--spe=load", *busy) if os.path.isdir(
        "/sys/bus/event_source/devices/arm_spe_0") else refused(tools, 1, "offers no SPE", "--spe=loads", *busy)
    refused(tools, 2, "exclude each other", "-c", "1", "-F", "1", *busy)
    refused(tools, 2, "the kernel allows", "-F", "2000000000", *busy)
    refused(tools, 2, "nothing to record", "-e", "cpu-clock")
    refused(tools, 2, "there is no clock 'sun'", "-k", "sun", *busy)
    refused(tools, 2, "there are fp, dwarf", "--call-graph", "frame", *busy)
    old = tools.path("kept.data")
    for text in ("one", "two"):
        pathlib.Path(old).write_text(text)
        refused(tools, 127, "No such file", "-o", old, "-e", "cpu-clock", "/nonexistent/program")
        tools.expect(pathlib.Path(old).read_text() == text, "a failed recording leaves the old capture")


def test_full_disk(tools):
    """No file may grow beyond this: as on a full disk."""
    for limit in (20000, 300000, 2000000):
        path = tools.path("full.data")
        refused(tools, 1, "File too large", "-o", path, "-e", "cpu-clock", "-F", "20000", "--call-graph", "dwarf",
                tools.program, "busy", "4000",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        tools.expect(os.path.getsize(path) <= limit, "the file keeps to its limit")
        is_readable(tools, path, f"no more than {limit} bytes")


def as_nobody():
    os.setgid(65534)
    os.setuid(65534)


def test_rights(tools):
    """Users without rights: only what the kernel allows, and what to do said."""
    if os.getuid() != 0:
        return
    home = pathlib.Path(tempfile.mkdtemp(prefix="cyclops-user-"))
    home.chmod(0o777)
    level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    cyclops = home / "cyclops"
    shutil.copy(tools.cyclops, cyclops)
    cyclops.chmod(0o755)
    program = home / "program"
    shutil.copy(tools.program, program)
    program.chmod(0o755)
    try:
        locked = home / "locked"
        locked.mkdir(0o700)
        user = {"preexec_fn": as_nobody, "cwd": home}
        tools_of_user = argparse.Namespace(cyclops=str(cyclops), expect=tools.expect)
        refused(tools_of_user, 1, "cannot create: Permission denied", "-o", locked / "x", "-e", "cpu-clock:u",
                program, "busy", "10", **user)
        if level >= 1:
            refused(tools_of_user, 1, "perf_event_paranoid", "-a", "-o", home / "x", "-e", "cpu-clock", "--duration",
                    "100ms", **user)
        done = subprocess.run([cyclops, "record", "-o", home / "own", "-e", "cpu-clock", program, "busy", "200"],
                              capture_output=True, text=True, env=harness.ENVIRONMENT, check=False, **user)
        tools.expect(done.returncode == (0 if level < 3 else 1), f"own program: {done.returncode}, {done.stderr}")
        if done.returncode == 0:
            if level == 2:
                tools.expect("kernel code is not recorded" in done.stderr, done.stderr)
            os.chown(home / "own", 0, 0)
            is_readable(tools, str(home / "own"), "own program of a user")
    finally:
        shutil.rmtree(home)


def can_record(tools):
    done = subprocess.run([tools.cyclops, "record", "-q", "-o", tools.path("first.data"), "-e", "cpu-clock", "true"],
                          capture_output=True, text=True, env=harness.ENVIRONMENT, check=False)
    if done.returncode != 0:
        print(f"skipped: no perf events here: {done.stderr}")
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cyclops")
    parser.add_argument("dump_samples")
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=8)
    options = parser.parse_args()
    harness.need("perf")
    with tempfile.TemporaryDirectory(prefix="cyclops-record-") as home:
        tools = Tools(options, pathlib.Path(home))
        if not can_record(tools):
            sys.exit(harness.SKIP)
        for test in (test_shares, test_differential, test_group_reads, test_features, test_children, test_attach,
                     test_signals, test_limits, test_refusals, test_full_disk, test_rights):
            begin = time.monotonic()
            try:
                test(tools)
            except harness.Failed as failure:
                tools.expect(False, f"{test.__name__}: {failure}")
            print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        test_kills(tools, options.kills)
        tools.check.finish()


if __name__ == "__main__":
    main()
