#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records real programs with cyclops and with perf, and compares what both tools see.

usage: record.py CYCLOPS DUMP_SAMPLES PROGRAM [--kills N] [--few]

The kernel's clock is sampled, so any machine will do that lets its users see perf events; what takes
more rights than there are is left out, and said. Nothing here depends on how fast the machine is:
the program works for a time of the CPU, not of the clock, and says when it is there. PROGRAM is
record_program.c.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import harness
import recorded

HERE = pathlib.Path(__file__).resolve().parent
NO_TASK = 1 << 29  # above all pids there can be
# A sample for each of an event that needs no clock, which may be coarse: what has to be much is there soon.
FAST = ("-e", "page-faults", "-c", "1")
DATA_SECTION_AT, FEATURE_BITS_AT, FEATURE_BITS_SIZE = 40, 72, 32  # in the header of a capture


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
        self.is_few = options.few
        self.check = harness.Checks()
        self.has_kernel = self.may_record("-e", "cpu-clock:k", "true")
        self.has_all = self.may_record("-a", "-e", "cpu-clock", "--duration", "1ms")

    def may_record(self, *words):
        """Does the kernel allow this to whoever runs the test?"""
        done = subprocess.run([self.cyclops, "record", "-q", "-o", self.path("may.data"), *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=harness.ENVIRONMENT, check=False)
        self.refusal = done.stderr
        return done.returncode == 0

    def expect(self, holds, what):
        self.check.count("expectations")
        return self.check.expect(holds, what)

    def path(self, name):
        return str(self.home / name)

    def record(self, name, *words, **options):
        """A capture by cyclops; returns its path and what was said."""
        path = self.path(name)
        done = start(self.cyclops, "record", "-o", path, *words, **options)
        _, said = done.communicate()
        if done.returncode != 0:
            raise harness.Failed(f"record {' '.join(map(str, words))}: {done.returncode}: {said}")
        return path, said

    def perf(self, name, *words):
        path = self.path(name)
        harness.run("perf", "record", "-q", "-o", path, *words)
        return path

    def samples(self, path):
        return recorded.samples(self.cyclops, path)

    def check_shares(self, what, path):
        """By our eyes and by perf's."""
        recorded.check_shares(self.expect, f"{what}, export", recorded.symbols(self.samples(path)))
        recorded.check_shares(self.expect, f"{what}, perf script", recorded.perf_symbols(path))


def test_shares(tools):
    """The same program by both recorders, each file read by both tools."""
    rate = recorded.frequency(2000)
    program = ("-F", rate, tools.program, "busy", "500")
    tools.check_shares("cpu-clock by cyclops", tools.record("cpu-clock.cyclops", "-e", "cpu-clock", *program)[0])
    tools.check_shares("cpu-clock by perf", tools.perf("cpu-clock.perf", "-e", "cpu-clock", *program))
    tools.check_shares("task-clock by cyclops", tools.record("task-clock.cyclops", "-e", "task-clock", *program)[0])


FEW_VARIANTS = ("dwarf", "zstd", "everything", "small")


def test_differential(tools):
    """All that can be recorded here: our samples are those that perf reads, one by one."""
    busy = (tools.program, "busy", "100")
    variants = {
        "chains": ("-g",), "dwarf": ("--call-graph", "dwarf,4096"), "zstd": ("-z9", "-g"),
        "period": ("-c", "500000"), "two": ("-e", "cpu-clock,task-clock"), "faults": ("-e", "page-faults", "-c", "1"),
        "modes": ("-e", "cpu-clock:u,cpu-clock:k"), "group": ("-e", "{cpu-clock,page-faults}"),
        "data": ("-d", "-W"), "regs": ("--regs",), "switches": ("--switch-events",), "mono": ("-k", "mono"),
        "everything": ("-a", "--duration", "200ms"), "cpu": ("-C", "0", "--duration", "200ms"),
        "small": ("-m", "64K", "-F", recorded.frequency(5000)),
    }
    if not tools.has_kernel:
        del variants["modes"]
    if not tools.has_all:
        del variants["everything"], variants["cpu"]
    if tools.is_few:
        variants = {name: words for name, words in variants.items() if name in FEW_VARIANTS}
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
    seen = {line.split()[-1].split(":")[0] for line in text.splitlines()}  # ":u" for users
    tools.expect({"cpu-clock", "task-clock"} <= seen, f"leader sampling: perf sees {seen}")


def test_features(tools):
    """The header tells all that perf's own tells of this machine, and what was recorded."""
    busy = ("-e", "cpu-clock", "-z", tools.program, "busy", "50")
    headers = [harness.run("perf", "report", "--header-only", "-I", "-i", path).decode()
               for path in (tools.record("features.data", *busy)[0], tools.perf("features.perf", *busy))]
    for word in ("hostname : ", "os release : ", "arch : ", "nrcpus online : ", "cpudesc : ", "cpuid : ",
                 "total memory : ", "cmdline : ", "event : name = cpu-clock", "sibling ", "node0 meminfo",
                 "pmu mappings: ", "time of first sample : ", "compressed : Zstd"):
        tools.expect(word in headers[0] or word not in headers[1], f"the header has no '{word}'")
        tools.check.count("features that perf has", word in headers[1])
    for word in ("event : name = cpu-clock", "cmdline : ", "time of first sample : ", "compressed : Zstd"):
        tools.expect(word in headers[0], f"the header has no '{word}'")
    if tools.has_kernel and shows_kernel():
        names = harness.run("perf", "buildid-list", "-i", tools.path("features.data")).decode()
        tools.expect("[kernel.kallsyms]" in names, f"no build-id of the kernel: {names}")


def shows_kernel():
    """Are the kernel's addresses and its notes there to be read?"""
    try:
        with open("/proc/kallsyms", encoding="ascii") as symbols:
            is_shown = int(symbols.readline().split()[0], 16) != 0 or any(
                line.split()[2] == "_stext" and int(line.split()[0], 16) != 0 for line in symbols)
        return is_shown and os.access("/sys/kernel/notes", os.R_OK)
    except (OSError, IndexError):
        return False


def test_children(tools):
    """A hundred short-lived processes: each with its name and its maps. Page faults are in all, however short they are."""
    path, _ = tools.record("children.data", *FAST, "-m", "8M", tools.program, "children", "100")
    recorded.check_children(tools.expect, tools.cyclops, path, 100, os.path.basename(tools.program), 100)


def may_go_first():
    """May this process have any priority? Tried in another one."""
    return subprocess.run([sys.executable, "-c", "import os; os.setpriority(os.PRIO_PROCESS, 0, -20)"], check=False,
                          capture_output=True).returncode == 0


def test_priority(tools):
    """The recorder goes first where it may; what it records has the priority that it would have without."""
    say = "import os; print(os.getpriority(os.PRIO_PROCESS, os.getppid()), os.getpriority(os.PRIO_PROCESS, 0))"
    own = os.getpriority(os.PRIO_PROCESS, 0)
    said = harness.run(tools.cyclops, "record", "-q", "-o", tools.path("priority.data"), "-e", "cpu-clock", sys.executable, "-c", say)
    wanted = [-20 if may_go_first() else own, own]
    tools.expect([int(word) for word in said.split()] == wanted, f"priorities {said.split()}, not {wanted}")


def test_attach(tools):
    """A process that runs already, with threads; one of its threads alone."""
    target = start(tools.program, "threads", "3", "600000")
    try:
        target.stdout.readline()
        tids = sorted(os.listdir(f"/proc/{target.pid}/task"), key=int)
        tools.expect(len(tids) == 4, f"{len(tids)} threads")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            single = pool.submit(tools.record, "thread.data", "-e", "cpu-clock", "-t", tids[1], "--duration", "2s")
            # On a busy machine a thread may have to wait for its turn.
            for duration in ("500ms", "2s", "8s", "32s"):
                path, _ = tools.record("attach.data", "-e", "cpu-clock", "-p", target.pid, "--duration", duration)
                seen = {row["tid"] for row in tools.samples(path)}
                if seen == set(tids):
                    break
            one = single.result()[0]
    finally:
        target.kill()
        target.communicate()
    tools.expect(seen == set(tids), f"samples of all threads: of {seen}, not {tids}")
    tools.expect({row["tid"] for row in tools.samples(one)} == {tids[1]}, "samples of one thread")
    tools.check_shares("attached", path)
    target = start(tools.program, "threads", "1", "300")
    target.stdout.readline()
    path, said = tools.record("ends.data", "-e", "cpu-clock", "-p", target.pid)
    target.communicate()
    tools.expect("samples" in said, "recording ends with the process")


def test_cpus(tools):
    """What was started on one CPU and runs on another, which alone is recorded: its names and maps are known."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2 or not tools.has_all:
        print("left out: programs that move to a recorded CPU, which takes two CPUs and the right to record one")
        return
    home, recorded_cpu = cpus[:2]
    program = shutil.copy(tools.program, tools.path(f"moves-{os.getpid()}"))  # a name that nobody else's has
    for name, words in (("moved", ()), ("moved-switches", ("--switch-events",))):
        path, _ = tools.record(f"{name}.data", "-e", "cpu-clock:u", "-C", recorded_cpu, *words, "--", program, "moves",
                               recorded_cpu, "300", preexec_fn=lambda: os.sched_setaffinity(0, {home}))
        found = recorded.records(tools.cyclops, path)
        execs = {line.split("pid=")[1].split()[0] for line in found["COMM"]
                 if "exec" in line and os.path.basename(program) in line}
        tools.expect(len(execs) == 1, f"{name}: {len(execs)} execs of the program")
        rows = [row for row in tools.samples(path) if row["pid"] in execs]
        tools.expect(any(row["symbol"] in recorded.SHARES for row in rows),
                     f"{name}: no sample of the program's functions: {rows[:3]}")
        lost = [row for row in rows if not row["module"]]
        tools.expect(not lost, f"{name}: {len(lost)} of {len(rows)} samples in no module: {lost[:3]}")
        cpus_seen = {row["cpu"] for row in rows}
        tools.expect(cpus_seen == {str(recorded_cpu)}, f"{name}: samples of CPUs {cpus_seen}")
        switches = [line for line in found["SWITCH_CPU_WIDE"]
                    if f"cpu={recorded_cpu}" not in line.split()]
        tools.expect(not switches, f"{name}: {len(switches)} switches on other CPUs: {switches[:3]}")


def compiles_bpf():
    try:
        return pathlib.Path("/proc/sys/net/core/bpf_jit_enable").read_text().strip() != "0"
    except OSError:
        return False


def test_bpf(tools):
    """A BPF program that was there before has its name."""
    name = f"cyc{os.getpid()}"
    owner = subprocess.Popen([tools.program, "bpf", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        said = owner.stdout.readline().strip()
        if said != "ready" or not tools.has_all or not shows_kernel() or not compiles_bpf():
            print(f"left out: names of BPF programs ({said}), which take root, kernel addresses and the kernel's JIT")
            return
        path, _ = tools.record("bpf.data", "-a", "-e", "cpu-clock", "--duration", "1ms")
    finally:
        owner.communicate("")
    lines = [line for line in recorded.records(tools.cyclops, path)["KSYMBOL"] if f"_{name}" in line]
    tools.expect(len(lines) == 1, f"{len(lines)} KSYMBOL records of the program: {lines}")
    is_readable(tools, path, "BPF")


def is_readable(tools, path, what):
    """Both tools read the file, and see the same number of samples."""
    ours = len(tools.samples(path))
    done = subprocess.run(["perf", "script", "-i", path, "-F", "time"], stdin=subprocess.DEVNULL, capture_output=True,
                          env=harness.ENVIRONMENT, check=False)
    tools.expect(done.returncode == 0, f"{what}: perf: {done.stderr.decode()[-200:]}")
    theirs = len(done.stdout.splitlines())
    tools.expect(ours == theirs, f"{what}: {ours} samples, perf sees {theirs}")
    return ours


def end_program_of(recorder):
    """Ends what an ended recorder left behind; was there anything?"""
    try:
        os.killpg(recorder.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        recorder.communicate()
    return True


def start_to_kill(tools, path, words):
    return start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", "-F", recorded.frequency(10000), *words,
                 tools.program, "threads", "1", "600000", start_new_session=True)


def kill_some(tools, plans):
    """Starts a recorder for each plan and ends each at its moment; the last one asks it to end, when its program is there. Returns how
    many samples they left."""
    total = 0
    plans = sorted(plans, key=lambda plan: plan[3])
    plans[-1] = (signal.SIGTERM, *plans[-1][1:])
    recorders = [start_to_kill(tools, path, words) for _, path, words, _ in plans]
    begin = time.monotonic()
    for (number, _, _, moment), recorder in zip(plans, recorders):
        time.sleep(max(0, begin + moment - time.monotonic()))
        if recorder is recorders[-1]:
            recorder.stdout.readline()
        recorder.send_signal(number)
    for (number, path, words, moment), recorder in zip(plans, recorders):
        recorder.wait()
        end_program_of(recorder)
        if os.path.exists(path) and os.path.getsize(path) > 0:  # else it had not begun
            total += is_readable(tools, path, f"{number.name} after {moment:.3f} s {words}")
            os.unlink(path)
    return total


def test_kills(tools, n):
    """Whatever ends the recorder, at whatever moment: what is there can be read."""
    rng = random.Random(7)
    numbers = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
    plans = [(rng.choice(numbers), tools.path(f"killed-{i}.data"), rng.choice(((), ("-z",), ("-g", "-m", "64K"))),
              rng.uniform(0, 1.3)) for i in range(n)]
    at_once = 8 if os.geteuid() == 0 else 1  # the kernel limits the memory that a user's recorders may lock
    total = sum(kill_some(tools, plans[i:i + at_once]) for i in range(0, n, at_once))
    tools.check.count("samples left by kills", total)
    tools.expect(total > 0, f"{n} kills left no samples")


def test_unfinished(tools):
    """What a killed recorder leaves between two checkpoints: records, and a header that knows of no features."""
    for name, words in (("plain", ()), ("zstd", ("-z",))):
        path, _ = tools.record("whole.data", "-e", "cpu-clock", *words, tools.program, "busy", "100")
        n = is_readable(tools, path, f"{name}, whole")
        data = bytearray(pathlib.Path(path).read_bytes())
        at, size = struct.unpack_from("<QQ", data, DATA_SECTION_AT)
        data[FEATURE_BITS_AT:FEATURE_BITS_AT + FEATURE_BITS_SIZE] = bytes(FEATURE_BITS_SIZE)
        path = tools.path("unfinished.data")
        pathlib.Path(path).write_bytes(data[:at + size])
        tools.expect(is_readable(tools, path, f"{name}, unfinished") == n > 0, f"{name}, unfinished: not {n} samples")


def recorder_of(tools, path, *words):
    """A recorder whose program is there."""
    recorder = start(tools.cyclops, "record", "-o", path, "-e", "cpu-clock", tools.program, *words,
                     start_new_session=True)
    recorder.stdout.readline()
    return recorder


def test_signals(tools):
    """Signals reach the program; its end is ours."""
    path = tools.path("signal.data")
    for number in (signal.SIGTERM, signal.SIGINT):
        recorder = recorder_of(tools, path, "threads", "1", "600000")
        recorder.send_signal(number)
        recorder.communicate()
        tools.expect(recorder.returncode == 128 + number, f"status {recorder.returncode} after {number.name}")
        is_readable(tools, path, number.name)
    recorder = recorder_of(tools, path, "ignore", "600000")
    recorder.send_signal(signal.SIGINT)
    recorder.wait()  # a program that ignores it does not hold the recorder
    tools.expect(end_program_of(recorder), "a program that ignores SIGINT goes on")
    is_readable(tools, path, "ignored SIGINT")
    done = subprocess.run([tools.cyclops, "record", "-o", path, "-e", "cpu-clock", tools.program, "busy", "1", "x", "7"],
                          capture_output=True, env=harness.ENVIRONMENT, check=False)
    tools.expect(done.returncode == 7, f"exit status {done.returncode}, the program's is 7")


def test_limits(tools):
    path, said = tools.record("duration.data", "-e", "cpu-clock", "--duration", "400ms", tools.program, "busy", "600000")
    tools.expect("stopped after --duration" in said, said)
    tools.expect(len(tools.samples(path)) > 0, "no samples in 400 ms")
    path = tools.path("size.data")
    done = start(tools.cyclops, "record", "-o", path, *FAST, "--call-graph", "dwarf", "--max-size", "4M", "-m", "256K",
                 tools.program, "faults", "600000")
    _, said = done.communicate()
    tools.expect("stopped at --max-size" in said, said)
    tools.expect(4e6 < os.path.getsize(path) < 8e6, f"{os.path.getsize(path)} bytes")
    is_readable(tools, path, "--max-size")
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    path, _ = tools.record("delay.data", "-e", "cpu-clock", "-k", "mono", "-D", "400ms", "--duration", "400ms",
                           tools.program, "busy", "600000")
    times = [int(row["time_ns"]) for row in tools.samples(path)]
    tools.expect(times, "no samples after the delay")
    first = min(times, default=begin)
    tools.expect(first - begin > 4e8, f"the first sample comes {(first - begin) / 1e9} s after the start")


def refused(tools, status, words, *command, **options):
    done = subprocess.run([tools.cyclops, "record", *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=harness.ENVIRONMENT, check=False, **options)
    tools.expect(done.returncode == status, f"{command}: status {done.returncode}, {status} expected: {done.stderr}")
    tools.expect(words in done.stderr, f"{command}: '{words}' is not in: {done.stderr}")


def test_missed_breakpoint(tools):
    """A breakpoint where nothing is mapped: why it has no samples is said."""
    path = tools.path("missed.data")
    done = subprocess.run([tools.cyclops, "record", "-o", path, "-e", "mem:0x1200:x", "--", "true"],
                          capture_output=True, text=True, env=harness.ENVIRONMENT, check=False)
    if done.returncode != 0:  # breakpoints are not there in every virtual machine
        return
    tools.expect("'mem:0x1200:x' had no samples" in done.stderr and "-no-pie" in done.stderr, done.stderr)


def test_without_spe(tools):
    """What only SPE records tell is said to be missing, once."""
    path = tools.path("plain.data")
    subprocess.run([tools.cyclops, "record", "-q", "-o", path, "-e", "cpu-clock", "--", tools.program, "busy", "50"],
                   capture_output=True, env=harness.ENVIRONMENT, check=True)
    for command in (["hot", "--event", "mispredicted"], ["mem"]):
        done = subprocess.run([tools.cyclops, *command, path], capture_output=True, text=True,
                              env=harness.ENVIRONMENT, check=False)
        said, words = done.stdout, " ".join(done.stdout.split())
        tools.expect(done.returncode == harness.NO_DATA, f"{command}: status {done.returncode}: {done.stderr}")
        missing = "neither SPE records nor samples with data sources" if command == ["mem"] else "no SPE records"
        tools.expect(words.count(missing) == 1 and "none" not in words.split(), f"{command}: {said}")


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
    refused(tools, 2, f"no process {NO_TASK}", "-p", NO_TASK)
    refused(tools, 2, f"no thread {NO_TASK}", "-t", NO_TASK)
    refused(tools, 2, "of the form mem:", "-e", "mem:0x10:q", *busy)
    refused(tools, 2, "CPU 4095 is not online", "-C", "4095", *busy)
    refused(tools, 2, "lacks its '}'", "-e", "{cpu-clock", *busy)
    refused(tools, 2, "did you mean loads?", "--spe=load", *busy) if os.path.isdir(
        "/sys/bus/event_source/devices/arm_spe_0") else refused(tools, 1, "no SPE on this machine", "--spe=loads", *busy)
    refused(tools, 2, "--count excludes --freq", "-c", "1", "-F", "1", *busy)
    refused(tools, 2, "samples/s; use --freq max", "-F", "2000000000", *busy)
    refused(tools, 2, "nothing to record", "-e", "cpu-clock")
    refused(tools, 2, "--clockid: found 'sun'", "-k", "sun", *busy)
    refused(tools, 2, "there are fp, dwarf", "--call-graph", "frame", *busy)
    old = tools.path("kept.data")
    for text in ("one", "two"):
        pathlib.Path(old).write_text(text)
        refused(tools, 127, "No such file", "-o", old, "-e", "cpu-clock", "/nonexistent/program")
        tools.expect(pathlib.Path(old).read_text() == text, "a failed recording leaves the old capture")


def test_full_disk(tools):
    """No file may grow beyond this: as on a full disk."""
    dwarf = ("--call-graph", "dwarf")
    limits = ((20000, dwarf), (300000, ("-z",)), (300000, dwarf), (400000, ("-z", *dwarf)), (2000000, ("-g",)))
    for limit, words in limits[:2] if tools.is_few else limits:
        path = tools.path("full.data")
        refused(tools, 1, "File too large", "-o", path, *FAST, *words, tools.program, "faults", "600000",
                preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        tools.expect(os.path.getsize(path) <= limit, "the file keeps to its limit")
        n = is_readable(tools, path, f"no more than {limit} bytes {words}")
        tools.expect(n > 0 or "dwarf" in words, f"{limit} bytes {words}: no samples")


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def can_be_nobody(home):
    """Not in every container is there another user, and not everywhere may he look."""
    try:
        return os.getuid() == 0 and subprocess.run([home / "program", "busy", "0"], preexec_fn=as_nobody, cwd=home,
                                                   check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def check_rights(tools, home):
    user = {"preexec_fn": as_nobody, "cwd": home}
    level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    tools_of_user = argparse.Namespace(cyclops=str(home / "cyclops"), expect=tools.expect)
    locked = home / "locked"
    locked.mkdir(0o700)
    done = subprocess.run([home / "cyclops", "record", "-o", home / "own", "-e", "cpu-clock", home / "program", "busy",
                           "200"], capture_output=True, text=True, env=harness.ENVIRONMENT, check=False, **user)
    # what lies above 2 differs: some distributions forbid all, the kernel itself knows no more
    tools.expect(done.returncode == 0 or (level > 2 and done.returncode == 1), f"{done.returncode}: {done.stderr}")
    if done.returncode != 0:
        tools.expect("perf_event_paranoid" in done.stderr, done.stderr)
        return
    tools.expect((level >= 2) == ("kernel code is not recorded" in done.stderr), f"{level}: {done.stderr}")
    os.chown(home / "own", 0, 0)
    is_readable(tools, str(home / "own"), "own program of a user")
    refused(tools_of_user, 1, "cannot create: Permission denied", "-o", locked / "x", "-e", "cpu-clock:u",
            home / "program", "busy", "10", **user)
    if level >= 1:
        refused(tools_of_user, 1, "perf_event_paranoid", "-a", "-o", home / "x", "-e", "cpu-clock", "--duration",
                "100ms", **user)


def test_rights(tools):
    """Users without rights: only what the kernel allows, and what to do said."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="cyclops-user-"))
    home.chmod(0o777)
    try:
        for name, path in (("cyclops", tools.cyclops), ("program", tools.program)):
            shutil.copy(path, home / name)
            (home / name).chmod(0o755)
        if can_be_nobody(home):
            check_rights(tools, home)
        else:
            print("left out: being another user")
    finally:
        shutil.rmtree(home)


def need_events(tools):
    """Ends the test as skipped where neither tool may record."""
    if not tools.may_record("-e", "cpu-clock", "true"):
        print(f"skipped: no perf events here: {tools.refusal}")
        sys.exit(harness.SKIP)
    try:
        tools.perf("first.perf", "-e", "cpu-clock", "true")
    except harness.Failed as failure:
        print(f"skipped: perf cannot record here: {failure}")
        sys.exit(harness.SKIP)
    for has, what in ((tools.has_kernel, "kernel code"), (tools.has_all, "whole CPUs")):
        if not has:
            print(f"left out: recording of {what}, which is not allowed to this user")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cyclops")
    parser.add_argument("dump_samples")
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--few", action="store_true",
                        help="without shares by both recorders, with fewer captures to compare, full disks and kills: for a slow build")
    options = parser.parse_args()
    harness.need("perf")
    with tempfile.TemporaryDirectory(prefix="cyclops-record-") as home:
        tools = Tools(options, pathlib.Path(home))
        need_events(tools)
        for test in (test_shares, test_differential, test_group_reads, test_features, test_children, test_priority, test_attach,
                     test_cpus, test_bpf, test_unfinished, test_signals, test_limits, test_missed_breakpoint,
                     test_without_spe, test_refusals, test_full_disk, test_rights, test_kills):
            if test is test_shares and options.few:
                continue
            begin = time.monotonic()
            try:
                test(*((tools, options.kills // 2 if options.few else options.kills) if test is test_kills else (tools,)))
            except harness.Failed as failure:
                tools.expect(False, f"{test.__name__}: {failure}")
            print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        tools.check.finish()


if __name__ == "__main__":
    main()
