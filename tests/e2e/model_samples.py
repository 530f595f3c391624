#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of the modelled PMU, with branch stacks, against the truth, the counts, and perf:
model_samples.py CYCLOPS DATA_DIR.

The truth by instruction adds up to the counts. Samples are as many as the period says, of
instructions that the truth has the event of. Every entry of a stack is a branch of the truth; with a
sample for each branch, all of them are. perf reads the same samples and stacks.
Without the emulator or perf the test is skipped.
"""

import collections
import json
import os
import pathlib
import re
import struct
import sys
import tempfile

from harness import Failed, need, run
from perf_file import RECORD_HEADER, records

SAMPLE, EXACT_IP = 9, 1 << 14
FIXED = struct.Struct("<QQIIQQQ")  # id, ip, pid, tid, time, cpu, period
READ = struct.Struct("<QQQQ")  # value, enabled, running, id
FIRST_ID, IDS = 10000, 64  # of the first event on CPU 0; ids of an event
MISPREDICTED, PREDICTED = 1, 2
CONDITIONAL, UNCONDITIONAL, INDIRECT, CALL, INDIRECT_CALL, RETURN = range(1, 7)
ERET, IRQ = 11, 12
SPEC_SHIFT, WRONG_PATH = 24, 1
STANDARD_ERRORS = 5
Sample = collections.namedtuple("Sample", "event ip tid time cpu period value enabled running exact branches")


def read_samples(capture, has_branches):
    data, found = capture.read_bytes(), []
    for position, kind, size in records(data):
        if kind != SAMPLE:
            continue
        _, misc, _ = RECORD_HEADER.unpack_from(data, position)
        at = position + RECORD_HEADER.size
        number, ip, _, tid, time, cpu, period = FIXED.unpack_from(data, at)
        value, enabled, running, again = READ.unpack_from(data, at + FIXED.size)
        at += FIXED.size + READ.size
        branches = []
        if has_branches:
            n = struct.unpack_from("<Q", data, at)[0]
            words = struct.unpack_from(f"<{3 * n}Q", data, at + 8)
            branches = list(zip(words[::3], words[1::3], words[2::3]))
            at += 8 + 24 * n
        if at != position + size or again != number or (number - FIRST_ID) % IDS != cpu:
            raise Failed(f"a sample at {position} that is not as its attr says")
        found.append(Sample((number - FIRST_ID) // IDS, ip, tid, time, cpu, period, value, enabled, running,
                            bool(misc & EXACT_IP), branches))
    return found


class Run:
    """A program on the model."""

    def __init__(self, cyclops, folder, program, *options):
        self.capture = folder / "out.data"
        run(cyclops, "model", "-o", self.capture, "--truth", folder / "truth.json", "--counts",
            folder / "counts.json", *options, "--", program)
        self.truth, self.counts = (json.loads((folder / name).read_text()) for name in ("truth.json", "counts.json"))
        self.totals = {name: event["count"] for name, event in self.counts["events"].items()}
        self.insns = {int(one["pc"], 16): one for one in self.truth["instructions"]}
        self.edges = {(int(e["from"], 16), int(e["to"], 16)): e for e in self.truth["edges"]}
        self.has_branches = any(word.startswith("--branch-stack") for word in options)
        self.samples = read_samples(self.capture, self.has_branches)

    def of_event(self, number):
        return [sample for sample in self.samples if sample.event == number]


def expect(name, found, wanted):
    if found != wanted:
        raise Failed(f"{name}: found {found}, wanted {wanted}")


def check_sums(one, starts):
    """What instructions counted is what the PMU did; what is executed is branched to, or comes next. `starts`: how
    many addresses are begun at otherwise: the entry, and where a new thread comes back from its system call."""
    sums = collections.Counter()
    for insn in one.truth["instructions"]:
        sums.update(insn["counts"])
    for name, count in one.totals.items():
        expect(name, sums[name], count)
    expect("cycles", sum(insn["cycles"] for insn in one.truth["instructions"]), one.totals["CPU_CYCLES"])
    arrivals, departures = collections.Counter(), collections.Counter()
    for (source, target), edge in one.edges.items():
        arrivals[target] += edge["n"]
        departures[source] += edge["n"]
    expect("branches taken", sum(departures.values()), one.totals["PC_WRITE_SPEC"])
    other = 0
    for pc, insn in one.insns.items():
        before = one.insns.get(pc - 4, {"n": 0})["n"] - departures[pc - 4]
        other += abs(insn["n"] - arrivals[pc] - before)
    expect("executions without a way there", other, starts)
    taken_mispredictions = sum(edge["mispredicted"] for edge in one.edges.values())
    if not 0 < taken_mispredictions <= one.totals["BR_MIS_PRED_RETIRED"]:
        raise Failed(f"{taken_mispredictions} mispredicted branches that are taken")


def check_periods(one, events):
    """As many samples as the period says, of each CPU; reads go on by what was counted in between."""
    for number, (name, period, is_precise) in enumerate(events):
        samples = one.of_event(number)
        per_cpu = collections.defaultdict(list)
        for sample in samples:
            per_cpu[sample.cpu].append(sample)
            expect(f"{name}: period", sample.period, period)
            expect(f"{name}: precise", sample.exact, is_precise)
            if not 0 < sample.running == sample.enabled <= one.counts["time_ns"]:
                raise Failed(f"{name}: enabled {sample.enabled}, running {sample.running}")
        for cpu in one.counts["cpus"]:
            count = cpu["events"][name]["count"]
            n = len(per_cpu[cpu["cpu"]])
            if not count // period - 1 <= n <= count // period + 1:
                raise Failed(f"{name} on CPU {cpu['cpu']}: {n} samples of {count} with period {period}")
        for list_of_cpu in per_cpu.values():
            for before, after in zip(list_of_cpu, list_of_cpu[1:]):
                step = after.value - before.value
                if step != period:
                    raise Failed(f"{name}: counted {step} between samples of period {period}")
                if after.time < before.time or after.enabled < before.enabled:
                    raise Failed(f"{name}: the time goes back")


def check_shares(one, events):
    """A precise event is sampled where it happens, as often as it happens."""
    for number, (name, period, is_precise) in enumerate(events):
        found = collections.Counter(sample.ip for sample in one.of_event(number))
        if set(found) - set(one.insns):
            raise Failed(f"{name}: samples of what was not executed")
        if not is_precise:
            continue
        for pc, n in found.items():
            count = one.insns[pc]["counts"].get(name, 0)
            error = max(count / period, 1) ** 0.5
            if count == 0 or abs(n - count / period) > STANDARD_ERRORS * error:
                raise Failed(f"{name} at {pc:#x}: {n} samples of {count} with period {period}")


def check_stacks(one, depth, trigger):
    """Entries are branches of the truth, one after the other; those of a precise branch end with it."""
    shallow = 0
    for sample in one.samples:
        shallow += len(sample.branches) < depth
        if len(sample.branches) > depth:
            raise Failed(f"a stack of {len(sample.branches)} entries")
        for source, target, flags in sample.branches:
            edge = one.edges.get((source, target))
            if edge is None or (flags & MISPREDICTED and not edge["mispredicted"]):
                raise Failed(f"an entry from {source:#x} to {target:#x}, flags {flags:#x}")
        for newer, older in zip(sample.branches, sample.branches[1:]):
            if older[1] > newer[0] or any(pc not in one.insns for pc in range(older[1], newer[0] + 4, 4)):
                raise Failed(f"the CPU did not go from {older[1]:#x} to {newer[0]:#x}")
        if sample.event == trigger and sample.branches[0][0] != sample.ip:
            raise Failed(f"a branch at {sample.ip:#x}, but the newest entry is from {sample.branches[0][0]:#x}")
        if not sample.exact and sample.branches and sample.branches[0][1] > sample.ip:
            raise Failed(f"a sample at {sample.ip:#x}, behind a branch to {sample.branches[0][1]:#x}")
    if not 0 < shallow < len(one.samples) / 10:
        raise Failed(f"{shallow} of {len(one.samples)} stacks are not full")


def check_stack_shares(one, number, period):
    """Stacks of samples of taken branches have each branch as often as the truth."""
    estimates = collections.Counter()
    for sample in one.of_event(number):
        for entry in sample.branches:
            estimates[entry[:2]] += period / len(sample.branches)
    for key, edge in one.edges.items():
        error = period * max(edge["n"] / period, 1) ** 0.5
        if abs(estimates[key] - edge["n"]) > STANDARD_ERRORS * error:
            raise Failed(f"{edge}: estimated {estimates[key]:.0f}")


def check_events(cyclops, folder, data):
    """Several events at once, of a program with a thread and of one with several."""
    events = (("CPU_CYCLES", 10007, False), ("INST_RETIRED", 997, True), ("STALL_BACKEND", 5003, True),
              ("BR_MIS_PRED_RETIRED", 101, True), ("PC_WRITE_SPEC", 997, True), ("L1D_CACHE_REFILL", 211, False),
              ("CPU_CYCLES", 997, True))
    options = [f"--sample={name.lower()}:{period}{':precise' * is_precise}" for name, period, is_precise in events]
    for program, starts in (("demo/demo", 1), ("kernels/sharing", 3)):
        one = Run(cyclops, folder, data / "root/opt" / program, "--branch-stack=16", *options)
        check_sums(one, starts)
        check_periods(one, events)
        check_shares(one, events)
        if starts == 1:
            check_stacks(one, 16, 4)
        check_stack_shares(one, 4, events[4][1])
        print(f"{program}: {len(one.samples)} samples")
    return one


def check_each_branch(cyclops, folder, data):
    """With a sample of each branch, the newest entries are the truth."""
    one = Run(cyclops, folder, data / "root/opt/kernels/pages", "--sample=pc_write_spec:1:precise", "--branch-stack=3")
    taken, mispredicted = collections.Counter(), collections.Counter()
    cycles = 0
    for before, sample in zip([None, *one.samples], one.samples):
        source, target, flags = sample.branches[0]
        taken[source, target] += 1
        mispredicted[source, target] += flags & MISPREDICTED
        expect("prediction", flags & 3 in (MISPREDICTED, PREDICTED), True)
        cycles += flags >> 4 & 0xffff
        if before is not None:
            expect("older entries", sample.branches[1:], before.branches[:2])
    expect("branches", taken, {key: edge["n"] for key, edge in one.edges.items()})
    expect("mispredictions", +mispredicted,
           {key: edge["mispredicted"] for key, edge in one.edges.items() if edge["mispredicted"]})
    if not 0.95 < cycles / one.totals["CPU_CYCLES"] <= 1:
        raise Failed(f"{cycles} cycles between branches, of {one.totals['CPU_CYCLES']}")
    print(f"each branch: {len(one.samples)} samples, {cycles} cycles")


def check_filters(cyclops, folder, data):
    """Only returns, or only calls: as many as the truth has, and of that type."""
    program = data / "root/opt/kernels/steady"
    one = Run(cyclops, folder, program, "--sample=br_return_spec:1:precise", "--branch-stack=1,ret")
    expect("returns", len(one.samples), one.totals["BR_RETURN_SPEC"])
    expect("types", {sample.branches[0][2] >> 20 for sample in one.samples}, {RETURN})
    one = Run(cyclops, folder, program, "--sample=br_retired:1:precise", "--branch-stack=1,call")
    calls = {(int(call["from"], 16), int(call["to"], 16)): call["n"] for call in one.truth["calls"]}
    newest = [sample for sample in one.samples if sample.branches and sample.branches[0][0] == sample.ip]
    expect("calls", collections.Counter(sample.branches[0][:2] for sample in newest), calls)
    expect("types", {sample.branches[0][2] >> 20 for sample in newest} <= {CALL, INDIRECT_CALL}, True)


def check_skid(cyclops, folder, data):
    """A skid of a period, or of two: the samples are the precise ones that come later."""
    program = data / "root/opt/kernels/steady"
    precise = [s.ip for s in Run(cyclops, folder, program, "--sample=inst_retired:251:precise").samples]
    for skid, later in ((0, 0), (251, 1), (502, 2)):
        found = [s.ip for s in Run(cyclops, folder, program, f"--sample=inst_retired:251:skid={skid}").samples]
        expect(f"skid {skid}", found, precise[later:])
    found = [s.ip for s in Run(cyclops, folder, program, "--sample=inst_retired:251").samples]
    expect("skid of the next instruction", [ip - 4 for ip in found] != precise and
           sum(a - 4 == b for a, b in zip(found, precise)) > len(precise) / 2, True)


def check_multiplexing(cyclops, folder, data):
    """Events take turns on two counters: counts scale up to all of them."""
    names = ("CPU_CYCLES", "INST_RETIRED", "L1D_CACHE", "BR_RETIRED", "STALL_BACKEND", "L1D_TLB")
    one = Run(cyclops, folder, data / "root/opt/kernels/multiply", "--counters=2", "--set", "mux_interval_us=1",
              *(f"--sample={name}:1009" for name in names))
    shares = 0
    for number, name in enumerate(names):
        last = one.of_event(number)[-1]
        share = last.running / last.enabled
        if name == "CPU_CYCLES":
            expect("cycles have a counter of their own", last.running, last.enabled)
            continue
        estimate = last.value / share
        shares += share
        print(f"{name}: counted {share:.1%} of the time, estimate {estimate / one.totals[name] - 1:+.2%}")
        if abs(share - 2 / 5) > 0.02 or abs(estimate / one.totals[name] - 1) > 0.05:
            raise Failed(f"{name}: {last.value} in {share:.1%} of the time, of {one.totals[name]}")
    if abs(shares - 2) > 0.05:
        raise Failed(f"two counters counted {shares} events at a time")


def check_same_bytes(cyclops, folder, data):
    captures = []
    for seed in (1, 1, 2):
        one = Run(cyclops, folder, data / "root/opt/kernels/steady", "--seed", str(seed), "--counters=1",
                  "--sample=cpu_cycles:1009", "--sample=inst_retired:1009", "--sample=br_retired:1009", "--branch-stack")
        captures.append(one.capture.read_bytes())
    expect("the same seed: the same bytes", captures[0] == captures[1], True)
    expect("another seed: the same bytes", captures[0] == captures[2], False)


def with_fault(cyclops, folder, data, *sets):
    """Samples of taken branches of a program that mispredicts many, on a machine with these parameters."""
    options = ["--sample=pc_write_spec:197", "--branch-stack=16"]
    for name in sets:
        options += ["--set", name]
    return Run(cyclops, folder, data / "root/opt/kernels/copies", *options)


def check_share(name, n, total, percent):
    wanted = total * percent / 100
    error = (wanted * (1 - percent / 100)) ** 0.5
    print(f"{name}: {n} of {total}")
    if abs(n - wanted) > STANDARD_ERRORS * error:
        raise Failed(f"{name}: {n} of {total}, wanted {percent} %")


def check_injected(name, sound, faulty, is_injected):
    """Without the entries that are injected, stacks are those of a sound machine, as far as they reach."""
    injected = []
    for one, other in zip(sound.samples, faulty.samples):
        expect(f"{name}: samples", other[:-1], one[:-1])
        kept = [entry[:2] for entry in other.branches if not is_injected(entry)]
        expect(f"{name}: entries left", kept, [entry[:2] for entry in one.branches][:len(kept)])
        expect(f"{name}: entries", len(other.branches) >= len(one.branches), True)
        injected += [entry for entry in other.branches if is_injected(entry)]
    print(f"{name}: {len(injected)} entries of {sum(len(one.branches) for one in faulty.samples)}")
    if not injected or any(entry[:2] in faulty.edges for entry in injected):
        raise Failed(f"{name}: {len(injected)} entries injected")
    return injected


def check_faults(cyclops, folder, data):
    sound = with_fault(cyclops, folder, data)
    faulty = with_fault(cyclops, folder, data, "stack_wrong_newest=30")
    n_able = n_wrong = 0
    for one, other in zip(sound.samples, faulty.samples):
        expect("older entries", other.branches[1:], one.branches[1:])
        sources = {source for source, _, _ in one.branches}
        n_able += len(sources) > 1
        if other.branches != one.branches:
            n_wrong += 1
            expect("a wrong source", other.branches[0][0] in sources - {one.branches[0][0]}, True)
    check_share("wrong newest entries", n_wrong, n_able, 30)
    faulty = with_fault(cyclops, folder, data, "stack_shallow=25")
    for one, other in zip(sound.samples, faulty.samples):
        expect("a shallow stack", other.branches, one.branches[:len(other.branches)])
    check_share("shallow stacks", sum(len(one.branches) != len(other.branches)
                                      for one, other in zip(sound.samples, faulty.samples)), len(sound.samples), 25)
    faulty = with_fault(cyclops, folder, data, "stack_wrong_path=100")
    check_injected("wrong path", sound, faulty, lambda entry: entry[2] >> SPEC_SHIFT & 3 == WRONG_PATH)
    faulty = with_fault(cyclops, folder, data, "interrupt_cycles=2000")
    injected = check_injected("interrupts", sound, faulty, lambda entry: (entry[0] | entry[1]) >> 63)
    expect("types", {entry[2] >> 20 & 15 for entry in injected}, {CONDITIONAL, CALL, RETURN, ERET, IRQ})
    if not run("perf", "script", "-i", faulty.capture, "-F", "ip,brstack").strip():
        raise Failed("perf says nothing of interrupts")
    faulty = with_fault(cyclops, folder, data, "interrupt_cycles=2000", "interrupt_signals=1")
    check_injected("signals", sound, faulty, lambda entry: entry[:2] not in sound.edges)


def check_shadow(cyclops, folder, data):
    """An interrupt that takes time finds the instruction behind a long one."""
    one = Run(cyclops, folder, data / "root/opt/kernels/chase", "--sample=inst_retired:997",
              "--set", "skid_cycles=20")
    insn = max((i for i in one.truth["instructions"] if i["n"] > 10000), key=lambda i: i["cycles"])
    shadow = int(insn["pc"], 16) + 4
    n = sum(sample.ip == shadow for sample in one.samples)
    print(f"shadow: {n} samples behind the longest load, which ran {insn['n']} times")
    if n < 2 * insn["n"] / 997:
        raise Failed(f"only {n} samples behind the load at {insn['pc']}")


PERF_LINE = re.compile(r"^ *(\d+)/(\d+) +\[(\d+)\] +(\d+)\.(\d+): +\d+ +([\w:-]+): +([0-9a-f]+)(.*)$")
PERF_TYPES = {"COND": CONDITIONAL, "UNCOND": UNCONDITIONAL, "IND": INDIRECT, "CALL": CALL, "IND_CALL": INDIRECT_CALL,
              "RET": RETURN}


def check_perf(cyclops, one):
    """perf and cyclops dump say the same of each sample and each entry as the bytes."""
    text = run("perf", "script", "-i", one.capture, "--ns", "-F", "pid,tid,cpu,time,period,event,ip,brstack").decode()
    found = []
    for line in filter(str.strip, text.splitlines()):
        _, tid, cpu, seconds, ns, event, ip, stack = PERF_LINE.match(line).groups()
        entries = []
        for word in stack.split():
            source, target, prediction, _, _, cycles, kind = word.split("/")
            entries.append((int(source, 16), int(target, 16),
                            (MISPREDICTED if prediction == "M" else PREDICTED) | int(cycles) << 4
                            | PERF_TYPES[kind] << 20))
        found.append((int(seconds) * 10**9 + int(ns), int(cpu), event, int(ip, 16), int(tid), entries))
    names = [re.match(r"[\w:-]+", line)[0] for line in run("perf", "evlist", "-i", one.capture).decode().splitlines()]
    wanted = [(sample.time, sample.cpu, names[sample.event + 1], sample.ip, sample.tid, sample.branches)
              for sample in one.samples]
    expect("perf's samples", sorted(found) == sorted(wanted), True)
    told = re.findall(r"^0x[0-9a-f]+ size=\d+ SAMPLE time=(\d+) event=\"([\w:-]+)\" cpu=(\d+) pid=\d+ tid=(\d+) "
                      r"ip=0x([0-9a-f]+) period=(\d+) branches=(\d+)$", run(cyclops, "dump", one.capture).decode(), re.M)
    expect("samples of cyclops dump",
           sorted((int(t), int(cpu), event, int(ip, 16), int(tid), int(period), int(n))
                  for t, event, cpu, tid, ip, period, n in told) ==
           sorted((s.time, s.cpu, names[s.event + 1], s.ip, s.tid, s.period, len(s.branches)) for s in one.samples), True)
    for words in (["report", "--stdio"], ["report", "--branch-history", "--stdio"], ["evlist", "-v"]):
        if not run("perf", *words, "-i", one.capture).strip():
            raise Failed(f"perf {' '.join(words)} says nothing")


def main():
    cyclops, data = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for program in ("qemu-aarch64", "perf"):
        need(program)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            check_perf(cyclops, check_events(cyclops, folder, data))
            check_each_branch(cyclops, folder, data)
            check_filters(cyclops, folder, data)
            check_skid(cyclops, folder, data)
            check_multiplexing(cyclops, folder, data)
            check_faults(cyclops, folder, data)
            check_shadow(cyclops, folder, data)
            check_same_bytes(cyclops, folder, data)
    except Failed as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
