# SPDX-License-Identifier: Apache-2.0
"""
A small AArch64 program that is run here, instruction by instruction, so that all is known of it: how often each
instruction ran, where each branch went, who called whom. Its branch stacks are those of perfect hardware, or of
hardware with a fault.
"""

import collections
import random

import small_elf

NOP, RET, BR_X1, SVC = 0xD503201F, 0xD65F03C0, 0xD61F0020, 0xD4000001
BRANCH_STACK, PERIOD = 1 << 11, 1 << 8
ANY, ANY_RETURN = 1 << 3, 1 << 5
TAKEN_EVENT, CYCLES_EVENT = (4, 0x810C), (4, 0x11)  # type and config
KERNEL = 0xFFFF800010000000
SPEC_WRONG_PATH = 1 << 24
INNER_TRIPS = 8

# Instructions: (kind, where to, how it is decided). Labels stand before the instruction that they name.
FUNCTIONS = {
    "main": ["nop", "outer:", "nop", ("call", "work"), "nop", ("call", "fact"), ("if", "outer", "outer"), "ret"],
    "work": ["nop", "inner:", "nop", "nop", ("if", "inner", "inner"), ("if", "skip", "skip"), "nop", "nop", "skip:", "nop",
             ("indirect", ("case0", "case1", "case2"), "case"), "case0:", "nop", ("jump", "end"), "case1:", "nop", "nop",
             ("jump", "end"), "case2:", "nop", "end:", ("call", "leaf"), "nop", ("call", "tail"), "ret"],
    "leaf": ["nop", "nop", "ret"],
    "tail": ["nop", ("jump", "leaf")],
    "fact": ["nop", ("if", "done", "recursion"), ("call", "fact"), "nop", "done:", "ret"],
    "handler": ["nop", "again:", "nop", ("if", "again", "handler"), "svc"],
}

ALIASES = {"leaf_too": "leaf"}


class Program:
    """Code by address, and the addresses of labels and functions."""

    def __init__(self, path):
        self.at, self.labels, places = {}, {}, {}
        for name, lines in FUNCTIONS.items():
            number = 0
            for line in lines:
                if isinstance(line, str) and line.endswith(":"):
                    places[name, line[:-1]] = number
                else:
                    number += 1
        body = {name: [line for line in lines if not (isinstance(line, str) and line.endswith(":"))]
                for name, lines in FUNCTIONS.items()}
        starts = small_elf.write(path, {name: [NOP] * len(lines) for name, lines in body.items()})
        self.labels = dict(starts)
        for (name, label), number in places.items():
            self.labels[label] = starts[name] + 4 * number
        words = {name: [self.encode(line, starts[name] + 4 * number) for number, line in enumerate(lines)]
                 for name, lines in body.items()}
        small_elf.write(path, words, ALIASES)
        self.functions = {name: (starts[name], starts[name] + 4 * len(lines)) for name, lines in body.items()}
        for name, lines in body.items():
            for number, line in enumerate(lines):
                self.at[starts[name] + 4 * number] = line

    def encode(self, line, address):
        if line in ("nop", "ret", "svc"):
            return {"nop": NOP, "ret": RET, "svc": SVC}[line]
        kind, to = line[:2]
        if kind == "indirect":
            return BR_X1
        words = (self.labels[to] - address) // 4
        if kind == "if":
            return 0x54000001 | (words & 0x7FFFF) << 5
        return (0x94000000 if kind == "call" else 0x14000000) | words & 0x3FFFFFF

    def function_of(self, address):
        return next((name for name, (start, end) in self.functions.items() if start <= address < end), None)


class Run:
    """What happened. `decide(name)` gives the outcomes of decisions."""

    def __init__(self, program, rng, n_outer, signals=0.0):
        self.program, self.rng = program, rng
        self.executed = collections.Counter()  # by address
        self.edges = collections.Counter()  # (from, to), taken
        self.calls = collections.Counter()  # (call instruction, function), tail calls seen through
        self.n_injected = 0
        self.branches = []  # (from, to, cycles, is of the program)
        self.left = {"inner": 0, "outer": n_outer}
        self.signals = signals
        self.run()

    def decide(self, name):
        if name == "inner":
            self.left["inner"] = (self.left["inner"] or INNER_TRIPS) - 1
            return self.left["inner"] > 0
        if name == "outer":
            self.left["outer"] -= 1
            return self.left["outer"] > 0
        return self.rng.random() < {"skip": 0.4, "recursion": 0.5, "handler": 0.5}[name]

    def branch(self, at, to, since):
        self.edges[at, to] += 1
        self.branches.append((at, to, 1 + since))

    def signal(self, back):
        """A signal: the kernel enters the handler, which ends in a system call, and comes back."""
        self.n_injected += 1
        handler = self.program.labels["handler"]
        self.branches.append((KERNEL, handler, 0))
        self.walk(handler, None)
        self.branches.append((KERNEL + 64, back, 0))

    def walk(self, at, until):
        stack, since = [], 0
        while at != until:
            line = self.program.at[at]
            if self.signals and until is not None and self.rng.random() < self.signals:
                self.signal(at)
                since = 0
            self.executed[at] += 1
            since += 1
            if line == "svc" or (line == "ret" and not stack):
                return
            to = self.target(at, line, stack)
            if to is not None:
                self.branch(at, to, since)
                since = 0
            at = at + 4 if to is None else to

    def target(self, at, line, stack):
        """Where the instruction branches to; None if it does not."""
        if line == "nop":
            return None
        if line == "ret":
            return stack.pop()
        kind, target = line[:2]
        if kind == "if" and not self.decide(line[2]):
            return None
        if kind == "call":
            self.calls[at, target] += 1
            stack.append(at + 4)
        return self.program.labels[self.rng.choice(target) if kind == "indirect" else target]

    def run(self):
        self.walk(self.program.labels["main"], 0)


def is_return(program, at):
    return program.at.get(at) == "ret"


def stacks(run, depth, period, rng, fault=None, only_returns=False):
    """Yields (address, entries), newest first: the last branches at each `period`-th."""
    branches = [each for each in run.branches if is_return(run.program, each[0])] if only_returns else run.branches
    for end in range(period, len(branches) + 1, period):
        n = depth if fault != "shallow" else rng.randrange(1, depth + 1)
        entries = []
        for at, to, cycles in reversed(branches[max(0, end - n):end]):
            flags = 2 | cycles << 4
            if fault == "wrong paths" and rng.random() < 0.3:
                entries.append((rng.choice(list(run.program.at)), rng.choice(list(run.program.at)), flags | SPEC_WRONG_PATH))
            entries.append((at, to, flags))
        if fault == "newest" and rng.random() < 0.3:
            entries[0] = (rng.choice(list(run.program.at)), entries[0][1], entries[0][2])
        yield branches[end - 1][1], entries


def lines_of_capture(name, event, branch_type, period, samples):
    """What write-samples reads."""
    yield f"E {name} {event[0]:x} {event[1]:x} 0 {PERIOD | BRANCH_STACK:x} {branch_type:x}"
    for number, (address, entries) in enumerate(samples):
        words = " ".join(f"{word:x}" for entry in entries for word in entry)
        yield f"S 0 0 64 64 {1000 * number + 5000:x} {address:x} 0 {period:x} 0 0 0 0 2 {words}"


def seeded(*words):
    return random.Random(" ".join(map(str, words)))
