#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Memory that two processes share, at different addresses: `cyclops c2c --physical` finds the line.

usage: c2c_physical.py CYCLOPS WRITE-ACCESSES
"""

import argparse
import json
import os
import subprocess
import tempfile

from c2c_names import A64, LD, PEER, ST, build, marked_code
from harness import Checks, need, run

WRITER, READER = 500, 600  # pids
HERE, THERE, PHYSICAL = 0x10000000, 0x10800040, 0x80001000
COUNT, LIMIT = 8, 48  # members of the struct account


def code_of(code, member, operation):
    """The instruction that accesses the member."""
    return next(address for address, op, mark in code if mark[3] == member and op == operation)


def write(tools, folder, records):
    path = os.path.join(folder, "perf.data")
    text = "\n".join(" ".join(map(str, record)) for record in sorted(records, key=lambda r: (r[0], int(r[3], 16))))
    subprocess.run([tools[1], path, "/program"], input=text.encode(), check=True)
    return path


def records_of(code, with_physical):
    """A process writes a member, another reads one that is beside it."""
    out = []
    for i in range(100):
        for cpu, pid, member, operation, base in ((0, WRITER, "struct account.count", ST, HERE),
                                                  (1, READER, "struct account.limit", LD, THERE)):
            offset = COUNT if operation == ST else LIMIT
            record = [cpu, pid, pid, f"{1000 + 10 * i + cpu:x}", f"{code_of(code, member, operation):x}",
                      f"{base + offset:x}", operation, PEER, "60"]
            out.append(record + [f"{PHYSICAL + offset:x}"] * with_physical)
    return out


def private_records(code):
    """Two threads of one process, without physical addresses: at a line of their own."""
    out = []
    for i in range(100):
        for cpu, member, operation, offset in ((2, "struct account.count", ST, COUNT),
                                               (3, "struct account.limit", LD, LIMIT)):
            out.append([cpu, WRITER, WRITER + cpu, f"{1000 + 10 * i + cpu:x}",
                        f"{code_of(code, member, operation):x}", f"{HERE + 0x1000 + offset:x}", operation, PEER,
                        "60"])
    return out


def lines_of(tools, folder, path, *options):
    answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json", *options, path))
    return {int(line["address"], 16): line for line in answer["lines"]}


def check(tools, folder, checks):
    code = marked_code(A64, build(A64, 2, folder))
    path = write(tools, folder, records_of(code, True) + private_records(code))

    apart = lines_of(tools, folder, path)
    for line in apart.values():
        checks.expect(not line["is_physical"], f"virtual: {line}")
    for address in (HERE, THERE):
        checks.expect(apart.get(address, {}).get("verdict") != "false-sharing", f"{address:#x}: {apart}")

    lines = lines_of(tools, folder, path, "--physical")
    line = lines.get(PHYSICAL, {})
    fields = {(a["field"], a["pid"], a["records"]) for a in line.get("accesses", [])}
    checks.expect(line.get("verdict") == "false-sharing" and line["is_physical"], f"physical: {lines}")
    checks.expect(line.get("processes") == 2 and line.get("records") == 200 and line.get("pages") == 1,
                  f"physical: {line}")
    checks.expect(fields == {("struct account.count", WRITER, 100), ("struct account.limit", READER, 100)},
                  f"physical: {fields}")
    checks.expect((line.get("object"), line.get("object_bytes")) == ("struct account", 56), f"physical: {line.get('object')}")
    checks.expect("count" in line.get("fix", "") and "limit" in line.get("fix", ""), f"physical: {line.get('fix')}")
    private = lines.get(HERE + 0x1000, {})
    checks.expect(private.get("verdict") == "false-sharing" and not private["is_physical"], f"private: {private}")
    checks.expect(set(lines) == {PHYSICAL, HERE + 0x1000}, f"lines: {sorted(map(hex, lines))}")

    one, three = (run(tools[0], "c2c", "--physical", "--all", "-j", jobs, "--format", "json", path)
                  for jobs in ("1", "3"))
    checks.expect(one == three, "the answer depends on the number of threads")

    path = write(tools, folder, records_of(code, False))
    done = subprocess.run([tools[0], "c2c", "--physical", path], capture_output=True, check=False)
    checks.expect(done.returncode == 4 and b"no physical addresses" in done.stderr,
                  f"without physical addresses: {done.returncode}, {done.stderr}")
    checks.count("captures", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cyclops")
    parser.add_argument("write_accesses")
    args = parser.parse_args()
    need(A64 + "gcc")
    need(A64 + "objdump")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check((args.cyclops, args.write_accesses), folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
