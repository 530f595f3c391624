#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording on an emulated Neoverse N1 with two CPUs, beside perf; each file is read by both tools.

usage: record.py CYCLOPS DUMP_SAMPLES     those of this machine, which read what comes out of the other

The machine's clock counts instructions, so what is recorded does not depend on this one's load. But it
counts those of both CPUs: while one of them works, the counters of the other go on, and its program does
not. How long that lasts depends on this machine. So recorders and what they record take turns on one CPU.
"""

import collections
import csv
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import guest  # noqa: E402
import harness  # noqa: E402
import recorded  # noqa: E402

# A sample takes the emulated CPU long: unless told not to, the kernel lowers its limit at once.
PREPARE = "echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent"
# Instructions, of which a round of the program's work is a few hundred thousand: so short that it
# does not matter how the two meet.
PERIOD = 9973
# For all that is not told to run elsewhere.
ONE_CPU = "taskset 1"
# Runs until it is killed; in the background, there when the line is over.
THREADS = (f"rm -f /tmp/ready; {ONE_CPU} record-program threads 2 60000 >/tmp/ready & program=$!; "
           "until grep -q ready /tmp/ready; do sleep 0.01; done; ")


class Machine:
    """The emulated machine, and copies of what it records, in `home`."""

    def __init__(self, machine, home, options):
        self.machine, self.home = machine, home
        self.cyclops, self.dump_samples = options
        self.checks = harness.Checks()
        self.paths = ("--symfs", str(home / "root"))

    def expect(self, holds, what):
        self.checks.count("expectations")
        return self.checks.expect(holds, what)

    def run(self, command):
        done = self.machine.run(command)
        self.expect(done.status == 0, f"{command}: {done.status}: {done.messages[-500:]}")
        return done

    def record(self, tool, name, words, before="", after=""):
        """A capture by one of the tools there, copied to here."""
        there = f"/tmp/{name}.data"
        quiet = "-q" if tool == "perf" else ""
        self.run(f"{before} {ONE_CPU} {tool} record {quiet} -o {there} {words} >/dev/null; status=$?; "
                 f"{after} (exit $status)")
        path = self.home / "captures" / f"{name}.data"
        path.write_bytes(self.machine.read(there))
        return path

    def samples(self, path):
        return recorded.samples(self.cyclops, path, *self.paths)

    def symbols(self, path):
        """By our own eyes; by perf's they have to be the same."""
        ours = recorded.symbols(self.samples(path))
        theirs = recorded.perf_symbols(path, *self.paths)
        for name in recorded.SHARES:
            self.expect(ours[name] == theirs[name], f"{path.name}: {name}: {ours[name]} samples, perf {theirs[name]}")
        return ours


def test_shares(m):
    """The same program by both recorders, by period and by frequency."""
    for how, words, ms in (("period", f"-c {PERIOD}", 25), ("frequency", "-F 15000", 100)):
        totals = {}
        for tool in ("cyclops", "perf"):
            path = m.record(tool, f"{how}-{tool}", f"-e cycles {words} record-program busy {ms}")
            counter = m.symbols(path)
            recorded.check_shares(m.expect, f"{how} by {tool}", counter)
            totals[tool] = sum(counter[name] for name in recorded.SHARES)
        m.expect(abs(totals["cyclops"] - totals["perf"]) <= 0.1 * totals["perf"], f"{how}: {totals} samples")
    # what runs there reads them as what runs here does
    for tool in ("cyclops", "perf"):
        there = m.run(f"perf script -i /tmp/period-{tool}.data -F ip,sym 2>/dev/null | grep -c 'work_[ab]'")
        ours = m.run(f"cyclops export --table samples --format csv /tmp/period-{tool}.data | grep -c 'work_[ab]'")
        here = m.symbols(m.home / "captures" / f"period-{tool}.data")
        total = sum(here[name] for name in recorded.SHARES)
        m.expect(int(there.text) == int(ours.text) == total, f"{tool}: {there.text} {ours.text} {total}")


def test_events(m):
    """Several at once: by number, by the kernel's name and by the catalog's for this CPU."""
    path = m.record("cyclops", "events",
                    f"-e cycles,inst_retired,r11,cpu-clock:u -e l1d_cache_refill -c {PERIOD} record-program busy 25")
    by_event = collections.defaultdict(list)
    for row in m.samples(path):
        by_event[row["event"]].append(row)
    for event in ("cycles", "inst_retired", "r11", "cpu-clock:u"):
        recorded.check_shares(m.expect, event, recorded.symbols(by_event[event]))
    n = {event: len(rows) for event, rows in by_event.items()}
    m.expect(set(n) == {"cycles", "inst_retired", "r11", "cpu-clock:u"}, f"{n}: this machine has no caches to miss")
    m.expect(abs(n["cycles"] - n["r11"]) <= 2 and abs(n["cycles"] - n["inst_retired"]) <= 2, f"cycles: {n}")
    configs = m.run("perf evlist -v -i /tmp/events.data").text
    kind = m.run("cat /sys/bus/event_source/devices/armv8_*/type").text.strip()  # 8 before Linux 6.12
    for name, config in (("inst_retired", "0x8"), ("l1d_cache_refill", "0x3"), ("r11", "0x11")):
        m.expect(f"{name}: type: {kind}, size: 128, config: {config}," in configs, f"{name} in {configs}")


def test_cycle_accounting(m):
    """The events of the CPU's tree, in turns: what this machine lacks is left out, and how long each was counted is known."""
    path = m.record("cyclops", "account", "--cycles -c 20011 record-program busy 100")
    text = harness.run(m.cyclops, "cycles", *m.paths, "--all", "--format", "csv", path).decode()
    rows = [row for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))]
    cycles = {row["function"]: row for row in rows if row["node"] == "CPU_CYCLES"}
    share = float(cycles["work_a"]["cycles"]) / sum(float(cycles[name]["cycles"]) for name in ("work_a", "work_b"))
    m.expect(abs(share - 0.75) < 0.1, f"work_a has {share:.3f} of the cycles")
    for node, state in (("STALL_BACKEND", "measured"), ("L1D_CACHE_REFILL_RD", "measured"), ("DTLB_WALK", "not collected")):
        states = {row["state"] for row in rows if row["node"] == node}
        m.expect(states == {state}, f"{node}: {states}")
    m.expect(float(cycles["work_a"]["mux"]) > 1.1 and cycles["work_a"]["mux_trust"] != "uncertain", f"turns: {cycles['work_a']}")


def test_chains(m):
    """Who called, by frame pointers: the same ways by both recorders."""
    for tool in ("cyclops", "perf"):
        path = m.record(tool, f"chains-{tool}", f"-g -e cycles -c {PERIOD} record-program busy 25")
        text = harness.run("perf", "script", "-i", path, "-F", "ip,sym", *m.paths).decode()
        chains = [[line.split()[-1] for line in block.splitlines() if line.strip()]
                  for block in text.split("\n\n") if block.strip()]
        ours = [chain for chain in chains if chain[0] in recorded.SHARES]
        # a leaf keeps no frame, so the kernel does not see who called it
        whole = [chain for chain in ours if chain[1] in ("be_busy", "main") and "main" in chain]
        m.expect(len(whole) > 0.99 * len(ours) > 1000, f"{tool}: {len(whole)} of {len(ours)} chains, such as {ours[:1]}")


def test_copied_stacks(m):
    """Chains of code without frame pointers, also through the frame of a signal, of which the vDSO says nothing."""
    path = m.record("cyclops", "copied", f"--call-graph dwarf -e cycles:u -c {PERIOD} unwind-program 600")
    text = harness.run(m.cyclops, "export", "--format", "folded", "--value", "samples", *m.paths, path).decode()
    below_leaf = [line.rpartition(" ")[0].split(";") for line in text.splitlines() if "leaf" in line.split(";")]
    for way in ("direct", "large", "recursive", "aligned", "compare", "handler"):
        chains = [chain for chain in below_leaf if way in chain]
        m.expect(chains, f"{way}: no chain below leaf()")
        caller = {"handler": "signalled", "compare": "sorting"}.get(way, "main")
        for chain in chains:
            m.expect("main" in chain and caller in chain, f"{way}: {chain}")


def test_turns(m):
    """More groups than counters: each has its turns, and all events of one together."""
    groups = ",".join(["{cycles,r8,r11,r8}"] * 3)
    path = m.record("cyclops", "turns", f"-e {groups} -c 49999 record-program busy 100")
    theirs = m.record("perf", "turns-perf", f"-e {groups} -c 49999 record-program busy 100")
    found = collections.Counter(row["event"] for row in m.samples(path))
    expected = collections.Counter(row["event"] for row in m.samples(theirs))
    whole = m.record("cyclops", "whole", "-e cycles -c 49999 record-program busy 100")
    n_whole = len(m.samples(whole))
    # a third of the time each
    m.expect(abs(found["cycles"] - n_whole) < 0.1 * n_whole, f"{found}, all of the time {n_whole}")
    for event, n in expected.items():
        m.expect(abs(found[event] - n) < 0.1 * n, f"{event}: {found[event]} samples, perf {n}")
    described = m.run("perf evlist -g -i /tmp/turns.data").text.split()
    m.expect(described.count("{cycles,r8,r11,r8}") == 3, f"groups: {described}")


def test_cpus(m):
    """Each CPU's records come from its own ring, one of them alone if asked for."""
    script = "'for cpu in 1 2; do taskset $cpu record-program busy 20 & done; wait'"
    for name, words, cpus in (("all", "-a", {"0", "1"}), ("one", "-C 1", {"1"})):
        path = m.record("cyclops", f"cpus-{name}", f"{words} -e cycles -c {PERIOD} -- sh -c {script}")
        by_cpu, by_task = collections.Counter(), collections.defaultdict(set)
        for row in m.samples(path):
            by_cpu[row["cpu"]] += 1
            if row["symbol"] in recorded.SHARES:
                by_task[row["tid"]].add(row["cpu"])
        m.expect(set(by_cpu) == cpus, f"{words}: CPUs {by_cpu}")
        # with -C a program that began on another CPU has no mappings, and so no names
        if words == "-a":
            m.expect(sorted(map(sorted, by_task.values())) == [["0"], ["1"]], f"{words}: {dict(by_task)}")
        m.symbols(path)


def test_attach(m):
    """A running process with all its threads, compressed; one of them alone, as it is."""
    for name, whom, n in (("process", "-z -p $program", 3), ("thread", "-t $(ls /proc/$program/task | tail -n 1)", 1)):
        path = m.record("cyclops", name, f"{whom} -e cycles -c {PERIOD} --duration 100ms", THREADS,
                        "ls /proc/$program/task >/tmp/tasks; kill $program;")
        tasks = m.run("cat /tmp/tasks").text.split()
        tids = {row["tid"] for row in m.samples(path)}
        m.expect(len(tasks) == 3 and len(tids) == n and tids <= set(tasks), f"{name}: {tids} of {tasks}")
        m.expect(n > 1 or tids == {max(tasks, key=int)}, f"{name}: {tids}, not the last of {tasks}")
        recorded.check_shares(m.expect, name, m.symbols(path))


def test_children(m):
    path = m.record("cyclops", "children", "-e cycles -F 20000 record-program children 100")
    recorded.check_children(m.expect, m.cyclops, path, 100, "record-program", 80)


def test_all_files(m):
    """Sample by sample and record by record, what both tools read in each of them."""
    done = subprocess.run([sys.executable, HERE.parent / "corpus" / "compare_perf.py", m.dump_samples,
                           m.home / "captures"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=harness.ENVIRONMENT, check=False)
    m.expect(done.returncode == 0, f"compare_perf: {done.stdout[-2000:]}")
    m.checks.count("captures compared one by one", done.stdout.count("ok "))


def build_program(path, source, *options):
    """For the machine, with nothing to load."""
    harness.run("aarch64-linux-gnu-gcc", "-D_GNU_SOURCE", "-static", "-fno-optimize-sibling-calls", *options, "-o", path,
                HERE.parent / "e2e" / source)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    guest.need_guest()
    harness.need("perf")
    harness.need("aarch64-linux-gnu-gcc")
    with tempfile.TemporaryDirectory(prefix="cyclops-vm-record-") as folder:
        home = pathlib.Path(folder)
        folder_of_programs = home / "root" / "bin"
        folder_of_programs.mkdir(parents=True)
        programs = {f"/bin/{name}": folder_of_programs / name for name in ("record-program", "unwind-program")}
        build_program(programs["/bin/record-program"], "record_program.c", "-O1", "-fno-omit-frame-pointer", "-pthread")
        build_program(programs["/bin/unwind-program"], "unwind_program.c", "-O2", "-fomit-frame-pointer")
        (home / "captures").mkdir()
        with guest.Guest(files=programs, with_perf=True, n_cpus=2) as machine:
            m = Machine(machine, home, sys.argv[1:])
            m.run(PREPARE)
            for test in (test_shares, test_events, test_chains, test_copied_stacks, test_turns, test_cycle_accounting, test_cpus, test_attach,
                         test_children, test_all_files):
                begin = time.monotonic()
                try:
                    test(m)
                except harness.Failed as failure:
                    m.expect(False, f"{test.__name__}: {failure}")
                print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    m.checks.finish()


main()
