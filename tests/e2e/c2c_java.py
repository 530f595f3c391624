#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Are fields of Java objects named by a heap map? A program runs in a real VM and says where its objects are, which
it proves by reading them at these addresses; tools/java writes the map; records are made of accesses to the
addresses that the program said.

usage: c2c_java.py [--all] CYCLOPS WRITE-ACCESSES
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import Checks, environment_of_guests, run, skip

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parents[1] / "tools" / "java" / "heap-map.sh"
LD, ST, L1, PEER = 0, 1, 0, 9
CODE = 0x7E0000001000  # compiled by the VM: in no file
N = 40
CLASSES = ["HotFields$Pair", "long[]"]
WIDE = "wide pointers"
COLLECTORS = {
    WIDE: ["-XX:+UseSerialGC", "-XX:-UseCompressedOops"],
    "narrow pointers": ["-XX:+UseSerialGC"],
    "G1": ["-XX:+UseG1GC"],
}
# Narrow pointers have their twin in G1, which has them, too.
FEW = (WIDE, "G1")


class Vm:
    """A VM with the program in it. Pipes are those of this process: it ends with them."""

    def __init__(self, folder, flags):
        # Where memory is reserved below 4 GiB is the VM's choice; the smaller the heap the surer it is.
        self.process = subprocess.Popen(["java", "-Xmx32m", *flags, "-cp", str(folder), "HotFields"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment_of_guests())
        self.first = self.process.stdout.readline()

    def places(self):
        pid, *addresses, is_true = self.first.split()
        return int(pid), [int(word, 16) for word in addresses], is_true == "true"

    def say_again(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def write_map(vm, path, *classes):
    """The map; None if this machine lets nobody look into another process."""
    done = subprocess.run(["sh", TOOL, str(vm.process.pid), path, *classes], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=environment_of_guests(), check=False)
    if done.returncode != 0 and ("ptrace" in done.stderr.lower() or "permitted" in done.stderr.lower()):
        return None
    if done.returncode != 0:
        raise AssertionError(f"{TOOL}: {done.stderr[-600:]}")
    return path


def capture(writer, folder, pid, accesses):
    """A capture of (cpu, thread, address, operation, source) in turn."""
    lines = []
    for cpu, tid, address, operation, source in accesses:
        for i in range(N):
            latency = 300 if source == PEER else 4
            lines.append(f"{cpu} {pid} {tid} {1000 + 100 * i + cpu:x} {CODE + 4 * operation:x} {address:x} {operation:x} "
                         f"{source:x} {latency:x}")
    lines.sort(key=lambda line: (int(line.split()[0]), int(line.split()[3], 16)))
    out = folder / "java.data"
    subprocess.run([writer, out, "/nonexistent/program"], input="\n".join(lines) + "\n", text=True, check=True)
    return out


def expect(checks, what, holds, found):
    checks.count(what)
    checks.expect(holds, f"{what}: {found}")


def ask(cyclops, command, heap_map, data):
    return json.loads(run(cyclops, command, "--format", "json", "--heap-map", heap_map, data))


def fields_of(answer):
    """What is done to which field of the lines."""
    return {(access["op"], access["field"]) for line in answer["lines"] for access in line["accesses"]}


def check_sharing(checks, cyclops, writer, folder, vm, heap_map):
    pid, (pair, hits, misses, slots), _ = vm.places()
    data = capture(writer, folder, pid, [(0, pid, hits, ST, L1), (1, pid + 1, misses, LD, PEER)])
    answer = ask(cyclops, "c2c", heap_map, data)
    finding = answer["findings"][0]

    expect(checks, "verdict", finding["kind"] == "false-sharing", finding["kind"])
    expect(checks, "class in the claim", "HotFields$Pair (" in finding["claim"], finding["claim"])
    expect(checks, "fields", fields_of(answer) == {("store", "HotFields$Pair.hits"), ("load", "HotFields$Pair.misses")},
           answer["lines"])
    expect(checks, "the fix is Java's", "@Contended" in finding["fix"], finding["fix"])
    members = {row["field"]: row["offset"] for row in answer["layouts"] if row.get("loads") or row.get("stores")}
    expect(checks, "offsets", members == {"hits": hits - pair, "misses": misses - pair}, members)
    said = answer["notes"]["sharing"]
    expect(checks, "of one moment", "of one moment (20" in str(said), said)

    rows = ask(cyclops, "addr", heap_map, data)["objects"]
    expect(checks, "addr names the class", rows[0]["object"] == "HotFields$Pair", rows)

    data = capture(writer, folder, pid, [(0, pid, slots + 8, ST, L1), (1, pid + 1, slots + 16, LD, PEER)])
    answer = ask(cyclops, "c2c", heap_map, data)
    finding = answer["findings"][0]
    expect(checks, "verdict on an array", finding["kind"] == "false-sharing", finding["kind"])
    expect(checks, "element", ("store", "long[][1]") in fields_of(answer), answer["lines"])

    data = capture(writer, folder, pid + 5, [(0, pid + 5, hits, ST, L1), (1, pid + 6, misses, LD, PEER)])
    answer = ask(cyclops, "c2c", heap_map, data)
    expect(checks, "another process", "HotFields" not in answer["findings"][0]["claim"], answer["findings"][0]["claim"])
    said = answer["notes"]["sharing"]
    expect(checks, "is said", f"process {pid}, whose heap it is, is not in the capture" in str(said), said)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="one more collector")
    parser.add_argument("cyclops")
    parser.add_argument("writer")
    options = parser.parse_args()
    checks = Checks()

    for name in ("java", "javac", "jhsdb"):
        if shutil.which(name) is None:
            skip(f"{name} is not installed (openjdk-17-jdk-headless)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("javac", "-d", folder, HERE / "HotFields.java")
        for collector, flags in COLLECTORS.items():
            if collector not in FEW and not options.all:
                continue
            vm = Vm(folder, flags)
            try:
                if collector != WIDE and (not vm.first or not vm.places()[2]):
                    print(f"{collector}: not tried: the VM has its heap above 4 GiB")
                    continue
                expect(checks, "the program's own addresses", vm.places()[2], vm.first)
                classes = CLASSES if collector == "G1" else []
                heap_map = write_map(vm, str(folder / "heap.map"), *classes)
                if heap_map is None:
                    skip("no process may be traced here (ptrace)")
                expect(checks, f"{collector}: nothing moved", vm.say_again() == vm.first, vm.first)
                check_sharing(checks, os.path.abspath(options.cyclops), options.writer, folder, vm, heap_map)
            finally:
                vm.end()
    checks.finish()


if __name__ == "__main__":
    main()
