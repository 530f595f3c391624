#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counting on this machine: software events beside perf's, and commands that end in all ways.

usage: stat_live.py CYCLOPS
"""

import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, SKIP, Checks, Failed, need, run

CYCLOPS = sys.argv[1]
DEVICES = "/sys/bus/event_source/devices/*"
EVENTS = ["page-faults", "minor-faults", "context-switches"]
NAPS = 40

# What is counted. Where a program is loaded decides about a page or two of each process, which
# even out: `slack` is a few times what runs of perf differ by. Switches depend on who else runs.
THREADS = """
import threading
hold = threading.Barrier(300)
def work():
    bytearray(1 << 16)
    hold.wait()
threads = [threading.Thread(target=work) for _ in range(300)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
SUBJECTS = {
    "one process": (["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"], 8),
    "forks": (["sh", "-c", "for i in $(seq 60); do /bin/true; done"], 40),
    "300 threads": ([sys.executable, "-c", THREADS], 40),
    "orphans": (["sh", "-c", "for i in 1 2 3; do (/bin/true; /bin/true) & done; wait"], 20),
}


def written(path):
    """The answer in a file of -o, which appears as a whole once there is one; or None."""
    return json.loads(path.read_text()) if path.exists() else None


def stat(options, command, **more):
    """Runs cyclops stat; returns what ended and the answer in json, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "answer.json")
        done = subprocess.run([CYCLOPS, "stat", *options, "--format", "json", "-o", path, "--", *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=ENVIRONMENT, check=False, **more)
        return done, written(path)


def by_perf(command):
    done = subprocess.run(["perf", "stat", "-x", ";", "-e", ",".join(EVENTS), "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env=ENVIRONMENT, check=False)
    rows = [line.split(";") for line in done.stderr.splitlines() if line.count(";") >= 6]
    return {row[2].split(":")[0]: float(row[0]) for row in rows if row[0][:1].isdigit()}


def compare(checks):
    """The least of a few runs each: what disturbs only adds."""
    for name, (command, slack) in SUBJECTS.items():
        ours, theirs = [], []
        for _ in range(4):
            ours.append({event: row["count"] for event, row in
                         stat(["-e", ",".join(EVENTS)], command)[1]["events"].items()})
            theirs.append(by_perf(command))
        for event in ("page-faults", "minor-faults"):
            least = [min(run[event] for run in runs) for runs in (ours, theirs)]
            checks.expect(abs(least[0] - least[1]) <= slack, f"{name}: {event}: {least[0]}, perf {least[1]}")
            checks.expect(least[0] > 0, f"{name}: no {event}")
            checks.count("counts beside perf")


def check_exact(checks):
    """What has to be so in each run by itself, however busy the machine is."""
    command = SUBJECTS["forks"][0]
    events = stat(["-e", "page-faults,minor-faults,major-faults"], command)[1]["events"]
    faults = {name: row["count"] for name, row in events.items()}
    checks.expect(faults["page-faults"] == faults["minor-faults"] + faults["major-faults"], f"faults: {faults}")
    naps = ["sh", "-c", f"for i in $(seq {NAPS}); do sleep 0.001; done"]
    answer = stat(["-e", "context-switches"], naps)[1]
    waits = answer["run"][0]["voluntary_switches"]
    checks.expect(waits >= NAPS, f"{NAPS} naps, each a wait: {waits} voluntary switches")
    counts = {"cyclops": answer["events"]["context-switches"]["count"],
              "perf": by_perf(naps)["context-switches"]}
    checks.expect(min(counts.values()) >= NAPS, f"{NAPS} naps, each with a switch: {counts}")
    checks.count("counts that have to be exact", 2)


def check_ends(checks):
    cases = [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL),
        (["sh", "-c", "kill -SEGV $$"], 128 + signal.SIGSEGV),
        (["/no/such/program"], 127),
        (["/etc/passwd"], 126),
        (["/bin/echo hello"], 127),
    ]
    for command, status in cases:
        done, answer = stat(["-e", "page-faults"], command)
        checks.expect(done.returncode == status, f"{command}: {done.returncode}, {done.stderr}")
        checks.expect((answer is not None) == (status not in (126, 127)), f"{command}: answer")
        if answer:
            checks.expect(answer["events"]["page-faults"]["count"] > 0, f"{command}: nothing counted")
        checks.count("ends of commands")
    checks.expect("leave out the quotes" in done.stderr, f"quoted command: {done.stderr}")
    done = subprocess.run([CYCLOPS, "stat", "true"], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
    checks.expect(done.returncode == 2 and "cyclops stat [OPTIONS] -- true" in done.stderr, f"no --: {done.stderr}")


def interrupt(command, signals, group):
    """Starts counting, sends signals once the command is there, returns status and answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "answer.json")
        child = subprocess.Popen([CYCLOPS, "stat", "-e", "page-faults", "--format", "json", "-o", path,
                                  "--", *command], stdout=subprocess.PIPE, env=ENVIRONMENT,
                                 start_new_session=True)
        child.stdout.readline()
        for number in signals:
            (os.killpg if group else os.kill)(child.pid, number)
        status = child.wait()
        child.stdout.close()
        return status, written(path)


def check_signals(checks):
    sleep = ["sh", "-c", "echo ready; exec sleep 1000"]
    trap = ["sh", "-c", "trap 'exit 5' INT TERM; echo ready; while :; do sleep 0.01; done"]
    cases = [
        (sleep, [signal.SIGINT], True, 128 + signal.SIGINT),
        (sleep, [signal.SIGTERM], False, 128 + signal.SIGTERM),
        (sleep, [signal.SIGHUP], False, 128 + signal.SIGHUP),
        (trap, [signal.SIGINT], True, 5),
        (trap, [signal.SIGTERM], False, 5),
    ]
    for command, signals, group, status in cases:
        found, answer = interrupt(command, signals, group)
        checks.expect(found == status, f"{signals} to {command}: {found}")
        checks.expect(answer and answer["events"]["page-faults"]["count"] > 0, f"{signals}: counts are lost")
        checks.count("signals")


def check_modes(checks):
    _, answer = stat(["-e", "page-faults", "-r", "4"], ["/bin/true"])
    checks.expect("spread" in answer["events"]["page-faults"], f"repeat: {answer['events']}")
    sleepers = [subprocess.Popen(["sleep", "100"]) for _ in range(2)]
    try:
        pids = [sleeper.pid for sleeper in sleepers]
        done, answer = stat(["-e", "task-clock", "-p", ",".join(map(str, pids)), "--by-thread"], ["sleep", "0.1"])
        rows = answer["counts"]
        checks.expect(done.returncode == 0 and sorted(row["tid"] for row in rows) == sorted(pids), f"pids: {rows}")
        checks.expect(all(row["state"] == "counted" for row in rows), f"a task that sleeps has no events: {rows}")
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    if os.geteuid() == 0 and os.path.exists("/sys/devices/system/cpu/online"):
        _, answer = stat(["-e", "cpu-clock", "-a", "-A"], ["sleep", "0.1"])
        cpus = sorted(row["cpu"] for row in answer["counts"])
        checks.expect(cpus == sorted(os.sched_getaffinity(0)) or len(cpus) == os.cpu_count(), f"CPUs: {cpus}")
    checks.count("ways to count", 3)


# Lives as long as its input: until the test has seen what it wants to see.
UNTIL_EOF = ["sh", "-c", "read nothing; exit 6"]


class Streamed:
    """cyclops stat with intervals, read while the command still runs."""

    def __init__(self, *options):
        self.child = subprocess.Popen([CYCLOPS, "stat", "-e", "page-faults,task-clock", "-I", "20", *options],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      env=ENVIRONMENT, text=True)
        self.lines = []

    def read_rows(self, wanted, n):
        """Reads lines until n have something in them; the command is still there then."""
        while sum(wanted in line for line in self.lines) < n:
            line = self.child.stdout.readline()
            if not line:
                return False
            self.lines.append(line)
        return self.child.poll() is None

    def finish(self):
        """Lets the command end, returns the exit status and everything written."""
        self.child.stdin.close()
        self.lines += self.child.stdout.readlines()
        self.child.stdout.close()
        return self.child.wait(), "".join(self.lines)


# Touches pages, waits until it is three seconds old, touches fewer. Says how old it was after the first part.
PARTS = """
import mmap, time
def age():
    ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / 100
def touch(n):
    pages = mmap.mmap(-1, n * 4096)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(n): pages[i * 4096] = 1
touch(5000)
print(age())
time.sleep(max(0, 3 - age()))
touch(1000)
"""


def check_delay(checks):
    """What a program does before the delay is over is not counted, nor its time."""
    for _ in range(3):
        done, answer = stat(["-D", "1500", "-e", "page-faults,context-switches"], [sys.executable, "-S", "-c", PARTS])
        if answer is None or float(done.stdout) >= 1.2:
            continue
        faults, run_row = answer["events"]["page-faults"], answer["run"][0]
        checks.expect(1000 <= faults["count"] < 5000, f"delay: not the second part alone: {faults}")
        checks.expect(faults["enabled_ns"] <= run_row["time_ns"], f"delay: {faults}, {run_row}")
        checks.expect("voluntary_switches" not in run_row, f"delay: switches of the whole run: {run_row}")
        checks.count("delays")
        break
    else:
        print("delay: this machine is too busy to say")
    done, answer = stat(["-D", "600000", "-e", "page-faults"], ["sh", "-c", "exit 7"])
    checks.expect(done.returncode == 7 and answer is None and "the end came before" in done.stderr, f"delay: {done}")
    done, answer = stat(["-D", "600000", "-e", "page-faults"], ["sh", "-c", "exit 0"])
    checks.expect(done.returncode == 4 and answer is None, f"delay: {done}")


CONTROLLED = """
import mmap, os, sys
control, answers = (os.open(path, os.O_RDWR) for path in sys.argv[1:3])
def say(word):
    os.write(control, word + b"\\n")
    assert os.read(answers, 100).strip(b"\\0") == b"ack\\n"  # perf's end in a NUL
def touch(pages):
    memory = mmap.mmap(-1, pages * mmap.PAGESIZE)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(pages):
        memory[page * mmap.PAGESIZE] = 1
touch(3000)
say(b"enable")
touch(1000)
say(b"disable")
touch(5000)
say(b"enable")
touch(500)
say(b"disable")
"""


def by_control(folder, program, *options):
    """Page faults of the controlled program as cyclops or perf counts them."""
    control, answers = folder / "control", folder / "answers"
    command = [sys.executable, "-S", "-c", CONTROLLED, control, answers]
    options = [f"fifo:{control},{answers}" if word == "FIFO" else word for word in options]
    if program == "perf":
        done = subprocess.run(["perf", "stat", "-x", ";", *options, "-e", "page-faults", "--", *command], env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        return float(next(line for line in done.stderr.splitlines() if "page-faults" in line).split(";")[0]), None
    done, answer = stat([*options, "-e", "page-faults"], command)
    if answer is None:
        raise Failed(f"control: {done}")
    return answer["events"]["page-faults"]["count"], answer


def check_control(checks):
    """A program says when it is counted. perf stat counts the same."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for fifo in "control", "answers":
            os.mkfifo(folder / fifo)
        for options, least in ((["--control", "FIFO", "--delay=-1"], 1500), (["--control", "FIFO"], 4500)):
            ours, answer = by_control(folder, "cyclops", *options)
            theirs, _ = by_control(folder, "perf", *options)
            checks.expect(least <= ours < least + 2500 and abs(ours - theirs) <= 40, f"{options}: {ours}, perf {theirs}")
            faults, row = answer["events"]["page-faults"], answer["run"][0]
            checks.expect(faults["coverage"] == 1 and "voluntary_switches" not in row, f"{options}: {answer}")
            checks.count("counts under control, beside perf")
        for options, why in (
                (["--control", "nothing"], "wanted fifo:PATH"), (["--control", "fd:99"], "no such descriptor"),
                (["--control", f"fifo:{folder}/none"], "mkfifo"), (["--delay=-1"], "without --control"),
                (["--control", "fd:0", "--repeat", "2"], "--repeat"), (["--delay", "soon"], "milliseconds")):
            done, answer = stat([*options, "-e", "page-faults"], ["/bin/true"])
            checks.expect(answer is None and done.returncode in (1, 2) and why in done.stderr, f"{options}: {done}")
            checks.count("wrong options of control")


def check_streams(checks):
    """Intervals are there before the command ends; the whole comes behind them."""
    formats = {
        (): ("page-faults", "\nEvents\n"),
        ("--format", "csv"): ("page-faults,", "\n# table events\n"),
        ("--format", "json"): ('"event":"page-faults"', '\n"events":{\n'),
        ("--format", "csv", "--table", "counts"): ("page-faults,", None),
    }
    for options, (row, total) in formats.items():
        streamed = Streamed(*options, "--", *UNTIL_EOF)
        checks.expect(streamed.read_rows(row, 3), f"{options}: no three intervals while it runs: {streamed.lines}")
        status, text = streamed.finish()
        checks.expect(status == 6, f"{options}: exit status {status}")
        checks.expect(total is None or text.count(total) == 1, f"{options}: no whole: {text}")
        if "json" in options:
            answer = json.loads(text)
            rows = [row for row in answer["counts"] if row["event"] == "page-faults"]
            checks.expect(sum(row["count"] for row in rows) == answer["events"]["page-faults"]["count"],
                          f"the intervals are not the whole: {text}")
        checks.count("formats that stream")


def check_stopped_stream(checks):
    """^C ends what has no command, with the whole."""
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        streamed = Streamed("-p", str(sleeper.pid))
        checks.expect(streamed.read_rows("task-clock", 2), f"no intervals of a process: {streamed.lines}")
        streamed.child.send_signal(signal.SIGINT)
        status, text = streamed.finish()
        checks.expect(status == 0 and "\nEvents\n" in text, f"stopped: {status}, {text}")
    finally:
        sleeper.kill()
        sleeper.wait()
    checks.count("streams that were stopped")


def check_without_pmu(checks):
    """Whoever has no PMU is told at once, and gets what there is."""
    if any(re.match(r"cpu|arm.*pmu", os.path.basename(path)) for path in glob.glob(DEVICES)):
        return
    done, answer = stat([], ["sh", "-c", "exit 0"])
    checks.expect(done.returncode == 0 and "cyclops doctor" in done.stderr, f"no PMU: {done.stderr}")
    checks.expect(answer["events"]["task-clock"]["count"] > 0, f"no PMU: {answer['events']}")
    done = subprocess.run([CYCLOPS, "doctor"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
    checks.expect(done.returncode == 1 and "fix:" in done.stdout, f"doctor: {done.stdout}")
    checks.expect(answer["run"][0]["has_pmu"] is False, f"no PMU: {answer['run']}")
    done, answer = stat(["-e", "CPU_CYCLES"], ["sh", "-c", "exit 0"])
    checks.expect(done.returncode == 2 and answer is None and "no PMU" in done.stderr, f"an event: {done.stderr}")
    done, answer = stat(["-e", "cycles,page-faults"], ["sh", "-c", "exit 0"])
    checks.expect(answer["events"]["cycles"]["state"] == "not-supported", f"cycles: {answer['events']}")
    listed = json.loads(run(CYCLOPS, "list", "events", "--format", "json"))
    checks.expect({row["here"] for row in listed["events"]} == {"no"} and "no PMU" in str(listed["notes"]),
                  f"list: {listed['notes']}")
    done, _ = stat(["-e", "page-faults"], ["sh", "-c", "exit 0"])
    checks.expect(done.stderr == "", f"software events alone: {done.stderr}")
    checks.count("machine without a PMU")


def main():
    need("perf")
    done, _ = stat(["-e", "page-faults"], ["/bin/true"])
    if done.returncode != 0:
        print(f"skipped: counting is not allowed here: {done.stderr}")
        sys.exit(SKIP)
    checks = Checks()
    compare(checks)
    check_exact(checks)
    check_ends(checks)
    check_signals(checks)
    check_modes(checks)
    check_delay(checks)
    check_control(checks)
    check_streams(checks)
    check_stopped_stream(checks)
    check_without_pmu(checks)
    checks.finish()


main()
