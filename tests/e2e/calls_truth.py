#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Calls out of the returns in branch stacks, against what a program did that is run here.

usage: calls_truth.py CYCLOPS WRITE-SAMPLES [LOOPS]

Stacks of all branches and of returns alone, with kinds of branches and without: then returns are known by the
program's code. There is a tail call, recursion, and signals, whose handlers return to where no call ends.
"""

import csv
import math
import os
import subprocess
import sys
import tempfile

from branch_program import ALIASES, ANY, ANY_RETURN, TAKEN_EVENT, Program, Run, is_return, lines_of_capture, seeded, stacks
from harness import Checks, Failed, run

PERIOD = {ANY: 97, ANY_RETURN: 23}
RETURNS_EVENT = (4, 0x0E)
TYPE_RETURN, TYPE_CALL, TYPE_JUMP = 6 << 20, 4 << 20, 2 << 20
# (filter, with kinds, part of instructions before which there is a signal)
CASES = [(ANY, False, 0), (ANY, True, 0), (ANY_RETURN, False, 0), (ANY_RETURN, True, 0), (ANY, False, 0.002)]


def with_types(program, samples):
    for address, entries in samples:
        typed = []
        for at, to, flags in entries:
            line = program.at.get(at, "nop")
            kind = {"ret": TYPE_RETURN}.get(line) or {"call": TYPE_CALL}.get(line[0], TYPE_JUMP)
            typed.append((at, to, flags | kind))
        yield address, typed


def true_calls(program, made):
    """{(caller, site, callee, via): calls}: the callee is what returns."""
    found = {}
    for (site, target), n in made.calls.items():
        callee, via = ("leaf", "tail") if target == "tail" else (target, "")
        found[program.function_of(site), hex(site), callee, via] = n
    return found


def check_case(checks, cyclops, write_samples, folder, program, n_loops, case):
    filter_, has_types, signals = case
    where = f"filter {filter_}, types {has_types}, signals {signals}"
    rng = seeded(where)
    made = Run(program, rng, n_loops, signals)
    period, path = PERIOD[filter_], os.path.join(folder, "a.data")
    samples = list(stacks(made, 32, period, rng, only_returns=filter_ == ANY_RETURN))
    if has_types:
        samples = list(with_types(program, samples))
    event = RETURNS_EVENT if filter_ == ANY_RETURN else TAKEN_EVENT
    lines = lines_of_capture("trigger", event, filter_, period, samples)
    subprocess.run([write_samples, path, os.path.join(folder, "program"), "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    text = run(cyclops, "calls", "--symfs", "/", "--format", "csv", "-i", path).decode()
    rows = list(csv.DictReader(text.splitlines()))
    wanted = true_calls(program, made)
    checks.equal(f"{where}: calls", sorted((row["caller"], row["site"], row["callee"], row["via"]) for row in rows), sorted(wanted))
    for row in rows:
        truth = wanted[row["caller"], row["site"], row["callee"], row["via"]]
        told, error = float(row["calls"]), float(row["calls_se"])
        checks.count("numbers of calls")
        checks.expect(abs(told - truth) < 4 * error + 40 * signals * truth, f"{where}: {row}: {truth} calls")
        checks.expect(0 < error < truth * 6 / math.sqrt(int(row["records"])), f"{where}: {row}: its error")
        if filter_ == ANY and not signals:
            checks.expect(abs(float(row["returns_per_call"]) - 1) < 0.1, f"{where}: {row}")
    recorded = sum(is_return(program, at) or (has_types and flags & TYPE_RETURN == TYPE_RETURN)
                   for _, entries in samples for at, _, flags in entries)
    checks.expect(sum(int(row["records"]) for row in rows) == recorded, f"{where}: {recorded} returns were recorded")
    check_function(checks, cyclops, path, where, rows)


def check_returns_elsewhere(checks, cyclops, write_samples, folder, program, n_loops):
    """Returns to where no call ends, as of a thunk or longjmp(), are counted apart, and are nobody's calls."""
    rng, path, elsewhere = seeded("elsewhere"), os.path.join(folder, "e.data"), program.labels["inner"]
    samples = [(address, [(at, elsewhere if rng.random() < 0.05 else to, flags) for at, to, flags in entries])
               for address, entries in stacks(Run(program, rng, n_loops), 32, PERIOD[ANY_RETURN], rng, only_returns=True)]
    lines = lines_of_capture("trigger", RETURNS_EVENT, ANY_RETURN, PERIOD[ANY_RETURN], samples)
    subprocess.run([write_samples, path, os.path.join(folder, "program"), "aarch64", "0x00000000410fd0c0"],
                   input="\n".join(lines).encode() + b"\n", check=True)
    targets = [to for _, entries in samples for _, to, _ in entries]
    lost = targets.count(elsewhere)
    text = run(cyclops, "calls", "--symfs", "/", "--format", "csv", "-i", path).decode()
    records = sum(int(row["records"]) for row in csv.DictReader(text.splitlines()))
    checks.expect(lost > 100 and records == len(targets) - lost, f"returns elsewhere: {lost} of {len(targets)}, {records} are calls")
    text = run(cyclops, "calls", "--symfs", "/", "-i", path).decode()
    checks.expect(f"{lost} of them ({100 * lost / len(targets):.1f} %)" in text, f"returns elsewhere: {lost}: {text}")
    # such stacks have no segments: what is not known is not 0
    text = run(cyclops, "blocks", "--symfs", "/", "-i", path, "work").decode()
    checks.expect("only some kinds of branches" in text and "executions  " not in text, f"blocks by returns: {text}")


def check_function(checks, cyclops, path, where, rows):
    """Callers and callees of one function, and what the graphs have."""
    for name in ("leaf", "fact", "work"):
        text = run(cyclops, "calls", "--symfs", "/", "--format", "csv", "-i", path, name).decode()
        tables = {part.partition("\n")[0]: list(csv.DictReader(part.partition("\n")[2].splitlines()))
                  for part in text.split("# table ")[1:]}
        for table, column in (("callers", "callee"), ("callees", "caller")):
            checks.equal(f"{where}: {table} of {name}", [(row["site"], row["records"]) for row in tables[table]],
                         [(row["site"], row["records"]) for row in rows if row[column] == name])
        if name in ALIASES.values():
            alias = next(alias for alias, of in ALIASES.items() if of == name)
            same = run(cyclops, "calls", "--symfs", "/", "--format", "csv", "-i", path, alias).decode()
            checks.equal(f"{where}: {alias} is {name}", same.splitlines(), text.splitlines())
    edges = {(row["caller"], row["callee"]) for row in rows}
    drawn = {tuple(line.split()[0:3:2]) for line in run(cyclops, "calls", "--symfs", "/", "--graph", "text", "-i", path).decode().splitlines()
             if ">" in line}
    checks.equal(f"{where}: drawn calls", sorted(drawn), sorted(edges))
    dot = run(cyclops, "calls", "--symfs", "/", "--graph", "dot", "-i", path).decode()
    checks.expect(dot.count("->") == len(edges) and dot.startswith("digraph"), f"{where}: {dot}")
    try:
        run(cyclops, "calls", "--symfs", "/", "-i", path, "factt")
        checks.fail("calls of no function")
    except Failed as failed:
        checks.expect("did you mean fact" in str(failed), f"{failed}")


def main():
    cyclops, write_samples = map(os.path.abspath, sys.argv[1:3])
    n_loops = int(sys.argv[3]) if len(sys.argv) > 3 else 8000
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-calls-") as folder:
        program = Program(os.path.join(folder, "program"))
        for case in CASES:
            check_case(checks, cyclops, write_samples, folder, program, n_loops, case)
        check_returns_elsewhere(checks, cyclops, write_samples, folder, program, n_loops)
    checks.finish()


if __name__ == "__main__":
    main()
