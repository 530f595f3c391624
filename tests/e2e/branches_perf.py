#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Entries of branch stacks, as `cyclops hot --event` and perf tell them.

usage: branches_perf.py CYCLOPS WRITE-SAMPLES MAKE-CAPTURE [SEEDS]

Made-up captures with a known answer, and the real ones with branch stacks. `perf report -b` counts entries by
module and prediction, `perf script -F brstack` prints each of them: thread, instruction, flags. What hardware left
empty (from 0 to 0) perf counts as a branch; that is the one thing which has to differ (DIFFERENCE).
"""

import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import small_elf
from harness import Checks, Failed, csv_rows, need, real_captures, run

BRANCH_STACK, PERIOD, ADDR = 1 << 11, 1 << 8, 1 << 3
ANY, CALL_STACK, HW_INDEX, TYPE_SAVE = 1 << 3, 1 << 11, 1 << 17, 1 << 16
FUNCTIONS = {f"work{number}": [0x90909090] * 24 for number in range(5)}
MACHINE_AT, X86_64 = 18, 62
PERF_WIDTH = 20  # of names of modules
KERNEL = 0xffffffff81000000
# PERF_BR_…: is it what the word says? None: the entry does not tell.
TYPES = {"conditional": {1, 9, 10}, "indirect": {3, 5, 6, 10}, "call": {4, 5, 9}, "return": {6, 10}}
KNOWN_TYPES = set(range(1, 14))
TYPE_NAMES = ["", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",
              "SERROR", "NO_TX"]
NEW_TYPE_NAMES = ["FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"] + [""] * 8
SPEC_NAMES = ["", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"]
WRONG_PATH = 1
PRIVILEGE_NAMES = ["", "user", "kernel", "hypervisor"]


def entry(rng, at, style):
    """from, to, flags"""
    if style["empty"] and rng.random() < 0.1:
        return (0, 0, 2)
    starts = list(at.values())
    source = rng.choice(starts) + 4 * int(24 * rng.random() ** 3)
    if rng.random() < 0.1:
        source = KERNEL + 4 * rng.randrange(50)
    elif rng.random() < 0.05:
        source = 0x7000 + rng.randrange(16)
    flags = 0
    if style["predictions"] and rng.random() < style["predictions"]:
        flags |= 1 if rng.random() < 0.2 else 2
    if style["cycles"]:
        flags |= rng.randrange(300) << 4
    if style["types"]:
        flags |= rng.randrange(16) << 20
    if style["speculation"]:
        privilege = rng.choice((0, 2 if source >= KERNEL else 1))
        flags |= rng.randrange(4) << 24 | rng.randrange(16) << 26 | privilege << 30 | rng.choice((0, 0, 4, 12))
    return (source, rng.choice(starts), flags)


STYLES = {
    "lbr": {"predictions": 1, "cycles": True, "types": False, "speculation": False, "empty": True, "branch_type": ANY},
    "brbe": {"predictions": 0.8, "cycles": True, "types": True, "speculation": False, "empty": False, "branch_type": ANY | TYPE_SAVE | HW_INDEX},
    "old": {"predictions": 0, "cycles": False, "types": False, "speculation": False, "empty": False, "branch_type": ANY},
    "new": {"predictions": 0.9, "cycles": True, "types": True, "speculation": True, "empty": True, "branch_type": ANY | TYPE_SAVE | HW_INDEX},
}


def make(write_samples, folder, at, style, seed):
    """Writes a capture; returns its path and its samples: (event, tid, [entries])."""
    rng = random.Random(f"{style} {seed}")
    path = os.path.join(folder, "a.data")
    events = [f"E {name} 0 {config} 0 {PERIOD | BRANCH_STACK:x} {STYLES[style]['branch_type']:x}"
              for config, name in enumerate(("cycles", "instructions"))]
    events.append(f"E chains 0 2 0 {PERIOD | BRANCH_STACK:x} {CALL_STACK | ANY:x}")
    samples, lines = [], []
    for number in range(300):
        event, cpu, pid = rng.choices((0, 1, 2), (6, 3, 1))[0], rng.randrange(2), 100 + rng.randrange(2)
        tid = pid + rng.randrange(2) * 10
        entries = [entry(rng, at, STYLES[style]) for _ in range(rng.randrange(17))]
        samples.append((event, tid, entries))
        words = " ".join(f"{word:x}" for each in entries for word in each)
        lines.append(f"S {event:x} {cpu:x} {pid:x} {tid:x} {1000 * number + 5000:x} {rng.choice(list(at.values())):x} 0 "
                     f"{1000 + number:x} 0 0 0 0 2 {words}")
    subprocess.run([write_samples, path, os.path.join(folder, "program"), "x86_64", "GenuineIntel,6,85,4"],
                   input="\n".join(events + lines).encode() + b"\n", check=True)
    return path, samples


def build(path):
    """A program of x86 with these functions; returns their addresses."""
    at = small_elf.write(path, FUNCTIONS)
    with open(path, "r+b") as file:
        file.seek(MACHINE_AT)
        file.write(struct.pack("<H", X86_64))
    return at


def hot(cyclops, path, event, by, *options):
    return csv_rows(cyclops, "hot", "--event", event, "--by", by, "--all", "--format", "csv", *options, path)


def place(address):
    """As `--by place` names it: offset in the program, or the address."""
    return address - 0x400000 if 0x400000 <= address < 0x410000 else address


def expected(samples, event, matches, tells):
    """{(tid, place): (matching, all, those that tell)} of the stacks of one event."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for its_event, tid, entries in samples:
        for source, target, flags in entries if its_event == event else ():
            if (source, target) == (0, 0):
                continue
            row = found[tid, place(source)]
            row[0] += matches(flags) and tells(flags)
            row[1] += 1
            row[2] += tells(flags)
    return {key: tuple(row) for key, row in found.items() if row[0] > 0}


def check_made_up(checks, cyclops, path, samples, style):
    questions = {"mispredicted": (lambda flags: flags & 1, lambda flags: flags & 3 != 0),
                 "!mispredicted": (lambda flags: flags & 3 == 2, lambda flags: flags & 3 != 0),
                 "branch": (lambda flags: 1, lambda flags: 1), "taken": (lambda flags: 1, lambda flags: 1)}
    for word in ("mispredicted,conditional", "mispredicted && !conditional"):
        questions[word] = (lambda flags, is_not="!" in word: flags & 1 and ((flags >> 20 & 15) in TYPES["conditional"]) != is_not,
                           lambda flags: flags & 3 != 0 and (flags >> 20 & 15) in KNOWN_TYPES)
    for word, kinds in TYPES.items():
        questions[word] = (lambda flags, kinds=kinds: (flags >> 20 & 15) in kinds,
                           lambda flags: (flags >> 20 & 15) in KNOWN_TYPES)
    for word, (matches, tells) in questions.items():
        all_flags = [flags for event, _, entries in samples if event < 2 for _, _, flags in entries]
        if not any(tells(flags) for flags in all_flags):
            try:
                hot(cyclops, path, word, "place")
                checks.fail(f"{style}: {word} is told, and nothing was recorded of it")
            except Failed as failed:
                checks.expect("exit status 4" in str(failed), f"{style}: {word}: {failed}")
            continue
        rows = hot(cyclops, path, word, "thread,place")
        for number, name in enumerate(("cycles", "instructions")):
            wanted = expected(samples, number, lambda flags, m=matches: bool(m(flags)), lambda flags, t=tells: bool(t(flags)))
            ours = {(int(row["tid"]), int(row["offset"], 0)):
                    (int(row["samples"]), int(row["branches"]), float(row["branch_share"]))
                    for row in rows if row["event"] == f"branches of {name}"}
            checks.equal(f"{style}: {word} of {name}", sorted((key, row[:2]) for key, row in ours.items()),
                         sorted((key, row[:2]) for key, row in wanted.items()))
            for key, (n, _, telling) in wanted.items():
                checks.expect(abs(ours[key][2] - n / telling) < 1e-9, f"{style}: {word}: part at {key}: {ours[key]}")
        checks.expect(not any("chains" in row["event"] for row in rows), f"{style}: call stacks are no branches")
    for word in ("l1d-refill", "not-taken", "load"):
        try:
            hot(cyclops, path, word, "place")
            checks.fail(f"{style}: {word} is told")
        except Failed as failed:
            checks.expect("branch stacks" in str(failed), f"{style}: {word}: {failed}")


def check_cycles(checks, cyclops, path, samples):
    """Mean cycles from the branch before, of entries that say it."""
    cycles = collections.defaultdict(list)
    for event, _, entries in samples:
        for source, _, flags in entries if event == 0 else ():
            if flags >> 4 & 0xffff:
                cycles[place(source)].append(flags >> 4 & 0xffff)
    for row in hot(cyclops, path, "cycles,branch", "place"):
        its = cycles[int(row["offset"], 0)]
        told = float(row["branch_cycles"] or "nan")
        checks.count("means of cycles")
        checks.expect(abs(told - sum(its) / len(its)) < 1e-6 if its else told != told, f"cycles at {row['offset']}: {told}")


def check_report(checks, cyclops, path):
    """Modules and their predictions. perf 6.1 crashes where it is to name functions, and mixes up rows where some
    entries do not tell (DIFFERENCE), so those are compared with perf script."""
    text = run("perf", "report", "-b", "-i", path, "--stdio", "-F", "overhead,sample", "-s", "dso_from,mispredict", "-t",
               ";").decode()
    missed, event = collections.Counter(), None
    for line in text.splitlines():
        name = re.search(r"of event '(.*)'", line)
        event = name[1] if name else event
        row = re.match(r" *[\d.]+% *; *(\d+) *;(.*);Y", line)
        if row and event != "chains":
            missed[row[2].strip()[:PERF_WIDTH]] += int(row[1])
    ours = collections.Counter()
    for row in hot(cyclops, path, "mispredicted", "module"):
        # Without a map of the kernel perf knows no module there.
        kernel = row["module"] == "[kernel.kallsyms]" and "[kernel.kallsyms]" not in missed
        name = re.sub(r"^perf-(\d+)\.map$", r"[JIT] tid \1", row["module"])
        ours["[unknown]" if kernel else name[:PERF_WIDTH]] += int(row["samples"])
    checks.equal(f"mispredicted by module in {os.path.basename(path)}", sorted(ours.items()), sorted(missed.items()),
                 "perf report")


def check_functions(checks, cyclops, path):
    """Functions that perf script names at the start of each branch."""
    text = run("perf", "script", "-i", path, "-F", "event,brstacksym").decode()
    found = collections.defaultdict(collections.Counter)
    for line in text.splitlines():
        event, *entries = line.split()
        for each in entries if event == "cycles:" else ():
            name, target, flag = each.split("/")[:3]
            if "+" in name:
                found[name.split("+")[0]][flag == "M"] += 1
    for row in hot(cyclops, path, "cycles,mispredicted", "function", "--symfs", "/"):
        if row["module"] != "program":
            continue
        its = found[row["function"]]
        checks.count("functions")
        checks.expect((int(row["samples"]), int(row["branches"])) == (its[True], its[True] + its[False]),
                      f"{row['function']}: {row['samples']} of {row['branches']}, perf script has {its}")


def check_annotate(checks, cyclops, path, samples):
    """The branches of a function and those mispredicted, of all events; nothing says how often they were not taken."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for event, _, entries in samples:
        for source, _, flags in entries if event < 2 else ():
            row = found[source]
            row[0] += 1
            row[1] += flags & 3 != 0
            row[2] += flags & 1
    for row in csv_rows(cyclops, "annotate", "--symfs", "/", "--table", "instructions", "--format", "csv", path, "work2"):
        n, n_telling, n_missed = found[int(row["address"], 0)]
        checks.count("annotated instructions")
        checks.expect(int(row["branches"] or 0) == n and row["taken"] == "", f"annotate: {row['address']}: {row['branches']}")
        told = float(row["mispredicted"] or "nan")
        checks.expect(abs(told - n_missed / n_telling) < 1e-9 if n_telling else told != told,
                      f"annotate: {row['address']}: {told} of {n_missed} / {n_telling}")


def without_wrong_paths(samples):
    return [(event, tid, [each for each in entries if each[2] >> 24 & 3 != WRONG_PATH]) for event, tid, entries in samples]


def decoded(flags):
    """mispredicted, predicted, cycles, type, spec, priv, in_tx, abort: as the table branches has them."""
    number = flags >> 20 & 15
    tells = flags & 3 != 0
    return (["false", "true"][flags & 1] if tells else "", ["false", "true"][flags >> 1 & 1] if tells else "",
            str(flags >> 4 & 0xffff or ""), TYPE_NAMES[number] if number < 15 else NEW_TYPE_NAMES[flags >> 26 & 15],
            SPEC_NAMES[flags >> 24 & 3], PRIVILEGE_NAMES[flags >> 30 & 3], ["false", "true"][flags >> 2 & 1],
            ["false", "true"][flags >> 3 & 1])


def exported(cyclops, path, *options):
    """Rows of the table branches by sample."""
    stacks = collections.OrderedDict()
    for row in csv_rows(cyclops, "export", "--table", "branches", *options, path):
        stacks.setdefault(row["sample"], []).append(row)
    return list(stacks.values())


def check_export(checks, cyclops, path, samples):
    """Each entry with its position and all that its flags say; those of wrong paths, too."""
    wanted = [[(str(position), *decoded(entry[2]), hex(entry[0]), hex(entry[1])) for position, entry in enumerate(entries)
               if entry[:2] != (0, 0)] for event, _, entries in samples if event < 2]
    columns = ("position", "mispredicted", "predicted", "cycles", "type", "spec", "priv", "in_tx", "abort", "from", "to")
    ours = [[tuple(row[column] for column in columns) for row in rows] for rows in exported(cyclops, path)]
    checks.equal("exported entries", ours, [rows for rows in wanted if rows])


def check_select(checks, cyclops, path, samples, at):
    """What is selected is entries: by their own places and targets."""
    chosen = [(event, tid, [each for each in entries if each[1] == at["work1"] and 0x400000 <= each[0] < 0x410000])
              for event, tid, entries in samples]
    rows = hot(cyclops, path, "cycles,branch", "thread,place", "--select", f"target == {at['work1']} && module == program")
    wanted = expected(chosen, 0, lambda flags: True, lambda flags: True)
    checks.equal("selected entries", sorted(((int(row["tid"]), int(row["offset"], 0)), int(row["samples"])) for row in rows),
                 sorted((key, row[0]) for key, row in wanted.items()))


def check_threads(checks, cyclops, path):
    """The same rows for any number of workers."""
    texts = {run(cyclops, "hot", "--event", "branch", "--by", "thread,place,event", "--all", "--format", "csv", "--jobs", n,
                 path) for n in (1, 2, 3)}
    checks.expect(len(texts) == 1, "the answer depends on the number of threads")


def check_export_script(checks, cyclops, path):
    """The table branches of a real capture, entry by entry, as perf script prints it."""
    theirs = []
    for line in run("perf", "script", "-i", path, "-F", "brstack").decode().splitlines():
        stack = [each.split("/")[:6] for each in line.split() if not each.startswith("0x0/0x0/")]
        if stack:
            theirs.append(stack)
    marks = {("true", "false"): "M", ("false", "true"): "P", ("", ""): "-"}
    ours = [[[row["from"], row["to"], marks[row["mispredicted"], row["predicted"]], "X" if row["in_tx"] == "true" else "-",
              "A" if row["abort"] == "true" else "-", row["cycles"] or "0"] for row in rows] for rows in exported(cyclops, path)]
    # perf sorts by time, and the captures are in the order of the file.
    checks.equal(f"exported entries of {os.path.basename(path)}", sorted(ours), sorted(theirs), "perf script")


def check_script(checks, cyclops, path):
    """Each entry of a real capture by thread and address, as perf prints it."""
    text = run("perf", "script", "-i", path, "-F", "tid,brstack").decode()
    missed, every = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        tid, *entries = line.split()
        for each in entries:
            source, target, flag = each.split("/")[:3]
            if int(source, 16) or int(target, 16):
                every[int(tid)] += 1
                missed[int(tid)] += flag == "M"
    rows = hot(cyclops, path, "branch", "thread")
    checks.equal(f"entries in {os.path.basename(path)}", sorted((int(row["tid"]), int(row["samples"])) for row in rows),
                 sorted(every.items()), "perf script")
    rows = hot(cyclops, path, "mispredicted", "thread")
    checks.equal(f"mispredicted in {os.path.basename(path)}",
                 sorted((int(row["tid"]), int(row["samples"])) for row in rows),
                 sorted((tid, n) for tid, n in missed.items() if n), "perf script")


def check_beside_spe(checks, cyclops, make_capture, path):
    """SPE records and branch stacks in one capture: each counted for itself, and as if it were alone."""
    run(make_capture, "--records", 3000, "--samples", 400, "--memory-samples", 100, "--branches", "--cpus", 2, "-o", path)
    rows = hot(cyclops, path, "mispredicted", "thread")
    found = collections.Counter()
    for row in rows:
        found[row["event"], int(row["tid"])] += int(row["samples"])
        checks.expect((row["branches"] == "") == (row["event"] == "arm_spe"), f"both: branches of {row['event']}")
        checks.expect((row["estimated_operations"] == "") != (row["event"] == "arm_spe"), f"both: estimates of {row['event']}")
    theirs = collections.Counter()
    for line in run("perf", "script", "-i", path, "--no-itrace", "-F", "tid,brstack").decode().splitlines():
        tid, *entries = line.split()
        theirs["branches of cycles:u", int(tid)] += sum(each.split("/")[2] == "M" for each in entries)
    for row in csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", path):
        theirs["arm_spe", int(row["tid"] or -1)] += "MISPRED" in row["events"]
    checks.equal("mispredicted beside SPE records", sorted(found.items()), sorted((+theirs).items()), "perf script and export")
    # What SPE records are compared with chooses no branch entries; what is asked for does.
    for options, event in ((("--against", "memory"), "cycles:u"), (("--event", "cycles:u", "--against", "memory"), "cycles:u"),
                           (("--event", "memory"), None)):
        chosen = [(row["event"], row["tid"], row["samples"]) for row in hot(cyclops, path, "mispredicted", "thread", "--table", "hot", *options)
                  if row["event"].startswith("branches")]
        wanted = [(row["event"], row["tid"], row["samples"]) for row in rows if row["event"] == f"branches of {event}"]
        checks.equal(f"branch entries with {options[1:]}", sorted(chosen), sorted(wanted))


def main():
    cyclops, write_samples, make_capture = map(os.path.abspath, sys.argv[1:4])
    n_seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-branches-") as folder:
        program = os.path.join(folder, "program")
        at = build(program)
        for seed in range(n_seeds):
            for style in STYLES:
                path, samples = make(write_samples, folder, at, style, seed)
                check_export(checks, cyclops, path, samples)
                samples = without_wrong_paths(samples)
                check_made_up(checks, cyclops, path, samples, style)
                check_annotate(checks, cyclops, path, samples)
                check_select(checks, cyclops, path, samples, at)
                check_threads(checks, cyclops, path)
                if STYLES[style]["cycles"]:
                    check_cycles(checks, cyclops, path, samples)
                if STYLES[style]["predictions"] and not STYLES[style]["speculation"]:  # perf counts wrong paths (DIFFERENCE)
                    check_functions(checks, cyclops, path)
                if STYLES[style]["predictions"] == 1:
                    check_report(checks, cyclops, path)
        check_beside_spe(checks, cyclops, make_capture, os.path.join(folder, "b.data"))
    for path in real_captures():
        if "branch" in path:
            check_script(checks, cyclops, path)
            check_export_script(checks, cyclops, path)
            check_report(checks, cyclops, path)
    checks.finish()


if __name__ == "__main__":
    main()
