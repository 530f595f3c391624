#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what functions are called with, and compares with what the program calls them with.

usage: arguments.py CYCLOPS PROGRAM...

The programs are builds of arguments_program.c. Registers come from breakpoints, which need no
counters, but rights for perf events and debug registers. Where the machine has neither, or is no
x86-64 (the numbers of registers differ), this is skipped.
"""

import json
import math
import os
import platform
import subprocess
import sys
import tempfile

import harness

ROUNDS = 400
MAX_BREAKPOINTS = 4  # that the hardware has


def series(function):
    return [function(i) for i in range(ROUNDS)]


def wrap(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


PLAIN = {
    "delta": ("int32_t", series(lambda i: -(i % 100))),
    "n": ("size_t", series(lambda i: i * i)),
    "text": ("const char *", None),
    "byte": ("unsigned char", series(lambda i: i % 256)),
}

# The integer arguments of each function: name, type, values (None: addresses).
FUNCTIONS = {
    "plain": PLAIN,
    "with_floats": {
        "level": ("int16_t", series(lambda i: i - 50)),
        "mask": ("uint32_t", series(lambda i: 0xffffffff - i)),
    },
    "with_structs": {
        "small": ("int8_t", series(lambda i: wrap(-i, 8))),
        "is_odd": ("_Bool", series(lambda i: i % 2)),
    },
    "with_result": {
        "seed": ("uint64_t", series(lambda i: (1 << 64) - 1 - i)),
        "color": ("enum color", series(lambda i: 0 if i % 2 == 0 else 7)),
    },
    "with_wide": {
        "a": ("int", series(lambda i: i)),
        "b": ("int", series(lambda i: -i)),
    },
    "many": {
        "a": ("int", series(lambda i: i)),
        "b": ("int", series(lambda i: 1)),
        "c": ("int", series(lambda i: 2)),
        "d": ("int", series(lambda i: 3)),
        "e": ("int", series(lambda i: 4 * i)),
        "last": ("int", series(lambda i: 7)),
    },
    "copy": {
        "to": ("char *", None),
        "from": ("const char *", None),
        "n": ("size_t", series(lambda i: 1 << (i % 16))),
    },
    "forward": {
        "delta": ("int32_t", series(lambda i: i)),
        "n": ("size_t", series(lambda i: 5)),
        "text": ("const char *", None),
        "byte": ("unsigned char", series(lambda i: 3)),
    },
}


def is_close(found, wanted):
    return math.isclose(float(found), wanted, rel_tol=1e-12, abs_tol=1e-12)


def check_argument(checks, where, row, kind, values):
    n_values = ROUNDS
    checks.expect(row["type"] == kind, f"{where}: type {row['type']}, not {kind}")
    checks.expect(int(row["samples"]) == n_values, f"{where}: {row['samples']} values, not {n_values}")
    checks.count("arguments")
    if values is None:
        checks.expect(row["min_address"].startswith("0x") and not row["min"] and not row["mean"] and not row["rms"], f"{where}: {row}")
        return
    checks.expect((int(row["min"]), int(row["max"])) == (min(values), max(values)),
                  f"{where}: {row['min']} to {row['max']}, not {min(values)} to {max(values)}")
    mean = sum(values) / len(values)
    rms = math.sqrt(sum(v * v for v in values) / len(values))
    checks.expect(is_close(row["mean"], mean), f"{where}: mean {row['mean']}, not {mean}")
    checks.expect(is_close(row["rms"], rms), f"{where}: rms {row['rms']}, not {rms}")


def check_histogram(checks, where, steps, values):
    """Each value lies in one step."""
    for step in steps:
        low = step["from"] if step["from"] != "" else None
        high = step["to"] if step["to"] != "" else None
        n = sum(1 for v in values if (v < 0 if low is None else v >= int(low)) and (high is None or v < int(high)))
        checks.expect(int(step["samples"]) == n, f"{where}: {step}, {n} expected")
    total = sum(int(step["samples"]) for step in steps)
    checks.expect(total == len(values), f"{where}: {total} values in the steps, not {len(values)}")


def rows_of(cyclops, path, *options):
    return harness.csv_rows(cyclops, "hot", "--arguments", "--format", "csv", "--all", *options, path)


def check_capture(checks, cyclops, program, path, names):
    rows = rows_of(cyclops, path)
    steps = rows_of(cyclops, path, "--histogram", "--table", "histogram")
    for name in names:
        found = [row for row in rows if row["function"] == name]
        wanted = FUNCTIONS[name]
        # The last arguments of `many` find no room in registers: they are not there.
        there = [row["argument"] for row in found]
        want = [argument for argument in wanted if not (name == "many" and argument == "last")]
        want = want if name != "many" or "last" not in there else list(wanted)
        if not checks.expect(there == want, f"{program}: {name}({there}), not {want}"):
            continue
        for row in found:
            kind, values = wanted[row["argument"]]
            where = f"{program}: {name}({row['argument']})"
            check_argument(checks, where, row, kind, values)
            if values is not None:
                check_histogram(checks, where, [step for step in steps if step["function"] == name and
                                                step["argument"] == row["argument"]], values)


def check_forms(checks, cyclops, path):
    """Any number of threads says the same; so do json and text; the selection narrows."""
    first = harness.run(cyclops, "hot", "--arguments", "--histogram", "--format", "csv", "-j", "1", path)
    checks.expect(first == harness.run(cyclops, "hot", "--arguments", "--histogram", "--format", "csv", "-j", "7", path),
                  "-j 7 says something else than -j 1")
    rows = json.loads(harness.run(cyclops, "hot", "--arguments", "--format", "json", "--all", path))["arguments"]
    checks.expect(len(rows) == len(rows_of(cyclops, path)), "json and csv have other rows")
    text = harness.run(cyclops, "hot", "--arguments", "--histogram", path).decode()
    checks.expect(all(len(line) <= 100 for line in text.splitlines()), "wider than 100 columns")
    some = rows_of(cyclops, path, "--select", "sym=plain")
    checks.expect({row["function"] for row in some} == {"plain"}, f"--select sym=plain: {some}")
    by_rms = [float(row["rms"] or 0) for row in rows_of(cyclops, path, "--sort", "rms")]
    checks.expect(by_rms == sorted(by_rms, reverse=True), f"--sort rms: {by_rms}")


def check_errors(checks, cyclops, path, without):
    for words, text in ((["--by", "line", path], "--arguments is a question of its own"),
                        ([without], "no event of this capture records registers"),
                        (["--sort", "nothing", path], "nothing")):
        done = subprocess.run([cyclops, "hot", "--arguments", *words], env=harness.ENVIRONMENT,
                              capture_output=True, text=True, check=False)
        checks.expect(done.returncode in (1, 2, 4) and text in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        checks.count("errors")


def record(cyclops, path, events, *words):
    options = [word for event in events for word in ("-e", event)]
    return subprocess.run([cyclops, "record", "-q", "-o", path, *options, *words], env=harness.ENVIRONMENT,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if platform.machine() != "x86_64":
        harness.skip("registers of this machine are not known to the test")
    checks = harness.Checks()
    cyclops, programs = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            where = dict(line.split() for line in harness.run(program).decode().splitlines())
            names = list(FUNCTIONS)
            for i in range(0, len(names), MAX_BREAKPOINTS):
                part = names[i:i + MAX_BREAKPOINTS]
                path = os.path.join(folder, f"{os.path.basename(program)}{i}")
                done = record(cyclops, path, [f"mem:{where[name]}:x" for name in part], "--regs", "--", program,
                              str(ROUNDS))
                if done.returncode != 0:
                    harness.skip(f"breakpoints cannot be recorded here: {done.stderr}")
                check_capture(checks, cyclops, os.path.basename(program), path, part)
        first = os.path.join(folder, f"{os.path.basename(programs[0])}0")
        check_forms(checks, cyclops, first)
        without = os.path.join(folder, "without")
        record(cyclops, without, ["cpu-clock"], "--", programs[0], "1000")
        check_errors(checks, cyclops, first, without)
    checks.finish()


if __name__ == "__main__":
    main()
