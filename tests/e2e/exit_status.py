#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Exit statuses of each command: 0 answered, 1 cannot, 2 wrong usage, 3 a gate failed, 4 no data of this kind;
of commands that run a program also the program's. The manual page names those that can occur, and each of
them is asked for here.

usage: exit_status.py CYCLOPS MAKE-CAPTURE DATA

What needs an emulator, or a kernel that lets whoever asks count and sample, is left out where there is none.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, has_kernels, has_model, run, table_of

DONE, FAILED, USAGE, GATE, NO_DATA = range(5)
CANNOT_RUN, NOT_FOUND, KILLED = 126, 127, 128 + 9

# Of a capture: the same for all commands that need no more.
CAPTURE = {DONE: "full", FAILED: "none.data", NO_DATA: "empty"}

# By command: what it is asked for each status. Wrong usage is an option that no command has.
ASKED = {
    "report": CAPTURE,
    "hot": {**CAPTURE, GATE: "full --fail-if 'samples > 0'"},
    "annotate": CAPTURE,
    "mem": {**CAPTURE, GATE: "full --fail-if 'loads > 0'"},
    "c2c": {**CAPTURE, GATE: "full --fail-if 'contended_load_share >= 0'"},
    "addr": CAPTURE,
    "quality": CAPTURE,
    "export": {**CAPTURE, DONE: "full --table spe"},
    "collect": {DONE: "--into x1 full", FAILED: "--into x2 full none.data", NO_DATA: "--into x3 empty"},
    "fleet": {DONE: "top x --print-sql", FAILED: "coverage x1 --program none/duckdb", GATE: "top x1 --program ./engine --fail-if 'share(f) > 1%'",
              NO_DATA: "top none"},
    "dump": {**CAPTURE, NO_DATA: "empty --packets"},
    "blocks": {DONE: "--symfs root demo.data count_kinds", FAILED: "none.data", NO_DATA: "full"},
    "calls": {DONE: "stacks", FAILED: "none.data", NO_DATA: "full"},
    "cycles": {DONE: "full --template neoverse-n1", FAILED: "none.data --template neoverse-n1",
               NO_DATA: "empty --template haswell"},
    "diff": {DONE: "full full", FAILED: "full none.data", GATE: "a.csv b.csv --fail-if 'ipc > -100%'",
             NO_DATA: "a.csv b.csv --fail-if 'time > 5%'"},
    "stat": {DONE: "--import a.csv", FAILED: "--import none.csv", GATE: "--import a.csv --fail-if 'ipc < 9'",
             NO_DATA: "--import a.csv --fail-if 'time > 1'"},
    "run": {DONE: "--model --folder f1 -- pages", FAILED: "--folder none/folder -- true",
            GATE: "--model --folder f2 --fail-if 'ipc > 0.000001' -- pages",
            NO_DATA: "--model --folder f3 --fail-if 'remote_access_pki > 1' -- pages"},
    "record": {DONE: "-e cpu-clock -o x -- true", FAILED: "-o none/folder/x -- true"},
    "model": {DONE: "-o x -- pages", FAILED: "-o none/folder/x -- none"},
    "catalog": {DONE: "update --dry-run cpu.json", FAILED: "update none.json"},
    "list": {DONE: "cpus", FAILED: "cpus --catalog none.json"},
    "doctor": {FAILED: "--catalog none.json"},  # 0 where hardware counts, which few test machines let it
    "latency": {DONE: "--import arm1176.dat", FAILED: "--import none.dat"},
    "kernel": {DONE: "--validate --model chase-l1", FAILED: "--validate --catalog none.json",
               GATE: "--validate --model --fail-if 'wrong < 99' LD_SPEC chase-l1", NO_DATA: "--validate --model page-faults"},
    "help": {DONE: "hot"},
}

# More ways to some statuses, and those of programs.
MORE = [
    (USAGE, "help none"), (USAGE, "list cpus none"), (USAGE, "none"), (USAGE, ""), (DONE, "--version"),
    (USAGE, "hot full --fail-if 'samples'"), (USAGE, "hot full --junit x"), (USAGE, "hot full --format none"),
    (NO_DATA, "diff a.csv full"), (USAGE, "hot full --event none"), (NO_DATA, "mem full --select tid=77 --fail-if 'loads > 0'"),
    (DONE, "hot full --select tid=77"), (FAILED, "hot full --fail-if 'share(none) > 1%'"),
    (7, "stat -e page-faults -- sh -c 'exit 7'"), (KILLED, "stat -e page-faults -- sh -c 'kill -9 $$'"),
    (NOT_FOUND, "stat -e page-faults -- ./none"), (CANNOT_RUN, "stat -e page-faults -- ./full"),
    (3, "stat -e page-faults -- sh -c 'exit 3'"), (GATE, "stat -e page-faults --fail-if 'page-faults > 0' -- sh -c 'exit 7'"),
    (7, "stat -e page-faults --fail-if 'page-faults < 0' -- sh -c 'exit 7'"),
    (FAILED, "stat -e page-faults --fail-if 'page-faults < 0' -- sh -c 'exit 3'"),
    (7, "run --folder g1 -- sh -c 'exit 7'"), (3, "run --folder g2 -- sh -c 'exit 3'"),
    (FAILED, "run --folder g3 --fail-if 'time > 100 s' -- sh -c 'exit 3'"),
    (GATE, "run --folder g4 --fail-if 'time < 100 s' -- sh -c 'exit 7'"),
    (7, "record -e cpu-clock -o x -- sh -c 'exit 7'"), (KILLED, "record -e cpu-clock -o x -- sh -c 'kill -9 $$'"),
    (NOT_FOUND, "record -e cpu-clock -o x -- ./none"), (CANNOT_RUN, "record -e cpu-clock -o x -- ./full"),
]


def ask(cyclops, folder, line, **more):
    return subprocess.run([cyclops, *line], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, **more)


def make_inputs(cyclops, maker, data, folder):
    for name, records, samples in (("full", 3000, 200), ("empty", 0, 0)):
        run(maker, "--output", os.path.join(folder, name), "--records", records, "--samples", samples)
    for name, file in (("a.csv", "counts/stride.csv"), ("b.csv", "counts/stride-ahead.csv"), ("root", "root"),
                       ("demo.data", "demo.data"), ("pages", "root/opt/kernels/pages"), ("arm1176.dat", "latency/arm1176.dat")):
        os.symlink(os.path.join(data, file), os.path.join(folder, name))
    with open(os.path.join(folder, "cpu.json"), "w", encoding="ascii") as file:
        file.write('{"schema": 1, "id": "neoverse-n1", "events": [{"name": "CPU_CYCLES", "code": "0x11", "class": "cycles"}],'
                   ' "metrics": [], "groups": [], "topdown": null, "drilldown": {}, "variants": []}')
    # in place of DuckDB, which need not be there: an engine that always says the same
    engine = os.path.join(folder, "engine")
    with open(engine, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ncat <<'END'\ncaptures,hosts,first_day,last_day,records,modelled,with_losses,unscaled\n"
                   "1,1,2026-11-26,2026-11-26,9,0,0,0\nevent,function,module,share,share_error,weight,records,hosts,saturated\n"
                   "cycles,f,m,0.5,,9,9,1,0\nEND\n")
    os.chmod(engine, 0o755)
    if has_model():
        run(cyclops, "model", "-c", 1024, "--sample", "BR_RETIRED:101", "--branch-stack", "-o", "stacks", "--",
            os.path.join(data, "root/opt/kernels/copies"), cwd=folder)


def can_be_asked(cyclops, line, allowed):
    """Is there what it takes? `allowed`: does the kernel let cyclops count and sample?"""
    if "kernel" in line and "--model" in line:
        return has_kernels(cyclops)
    if "pages" in line or "stacks" in line:
        return has_model()
    return allowed or "--" not in line or "none/folder" in line or "none/folder/x" in line


def check_status(checks, cyclops, folder, line, status):
    done = ask(cyclops, folder, line, stdout=subprocess.DEVNULL)
    checks.expect(done.returncode == status, f"{line}: status {done.returncode}, not {status}: {done.stderr}")
    is_own = "sh" not in line  # not that of a program, which is in the answer
    checks.expect(bool(done.stderr) or status not in (FAILED, USAGE) or not is_own, f"{line}: says nothing")
    checks.count(f"status {status}")


def check_page(checks, cyclops, command, asked):
    """The page names exactly the statuses that are asked for here."""
    page = " ".join(run(cyclops, "help", command).decode().split())
    found = re.search(r"EXIT STATUS .*?((?:[0-4], )*[0-4] or [0-4]): see EXIT STATUS in cyclops\(1\)", page)
    named = {int(digit) for digit in re.findall("[0-4]", found[1])} if found else set()
    wanted = {*asked, USAGE} | ({DONE} if command == "doctor" else set())
    checks.expect(named == wanted, f"cyclops-{command}(1) names the statuses {named}, and {wanted} occur")
    checks.count("pages")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(cyclops, maker, data, folder)
        allowed = all(ask(cyclops, folder, line.split(), stdout=subprocess.DEVNULL).returncode == DONE
                      for line in ("stat -e page-faults -- true", "record -e cpu-clock -o x -- true"))
        for command, asked in table_of(cyclops, ASKED):
            if command != "help":
                check_page(checks, cyclops, command, asked)
            lines = {status: [command, *shlex.split(words)] for status, words in asked.items()}
            for status, line in {**lines, USAGE: [command, "--no-such-option"]}.items():
                if can_be_asked(cyclops, line, allowed):
                    check_status(checks, cyclops, folder, line, status)
            for status in {DONE, GATE} & lines.keys():
                line = lines[status]
                if command in ("run", "record", "model") or not can_be_asked(cyclops, line, allowed):
                    continue
                with open("/dev/full", "wb") as full:
                    done = ask(cyclops, folder, line, stdout=full)
                checks.expect(done.returncode == FAILED and done.stderr,
                              f"{line} on a full disk: status {done.returncode}: {done.stderr}")
                checks.count("full disks")
        for status, words in MORE:
            line = shlex.split(words)
            if can_be_asked(cyclops, line, allowed):
                check_status(checks, cyclops, folder, line, status)
    return checks.finish()


sys.exit(main())
