#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A locker and readers that share two cache lines, and the same with lines of their own:
model_readers.py CYCLOPS KERNELS.

The program runs on the modelled machine; `cyclops c2c` must find both lines, name their members
and say what to change. Of the padded program there is nothing to say. Without the emulator or the
cross compiler the test is skipped.
"""

import json
import os
import sys
import tempfile

from harness import Checks, need, run

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib"]

# With the usual quantum, one of three threads is long done with a line when the next one gets it.
MACHINE = ["--set", "quantum=100"]


def findings_of(cyclops, kernels, folder, *flags):
    program, capture = os.path.join(folder, "readers"), os.path.join(folder, "out.data")
    run(COMPILER, *FLAGS, *flags, os.path.join(kernels, "readers.c"), "-o", program)
    run(cyclops, "model", *MACHINE, "-o", capture, "--", program)
    return json.loads(run(cyclops, "c2c", "--symfs", "/", "--format", "json", capture))


def check_shared(answer, checks):
    lines = {line["object"]: line for line in answer["lines"] if line.get("object")}
    found = answer["findings"]  # one, of both: they are of one type and shared alike
    for name in ("first", "second"):
        line = lines.get(name, {})
        finding = found[0] if found else {}
        fields = {access.get("field") for access in line.get("accesses", [])}
        checks.count("shared lines")
        checks.expect(line.get("verdict") == "false-sharing", f"{name}: {line.get('verdict')}")
        checks.expect({f"{name}.holder", f"{name}.limits[0]", f"{name}.limits[1]"} <= fields,
                      f"{name}: {fields}")
        checks.expect("limits" in finding.get("fix", "") and "sizeof(struct shared) grows from 64 to 128" in
                      finding.get("fix", ""), f"{name}: fix {finding.get('fix')}")
        checks.expect((finding.get("writer"), finding.get("function")) == ("take_locks", "add_limits"),
                      f"{name}: {finding.get('writer')}, {finding.get('function')}")
    checks.expect(len(found) == 1, f"{len(found)} findings")


def main():
    cyclops, kernels = sys.argv[1:]
    need(COMPILER)
    need("qemu-aarch64")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_shared(findings_of(cyclops, kernels, folder), checks)
        padded = findings_of(cyclops, kernels, folder, "-DPADDED")
        checks.expect(not padded["findings"], f"padded: {padded['findings']}")
        checks.count("padded twins")
    checks.finish()


if __name__ == "__main__":
    main()
