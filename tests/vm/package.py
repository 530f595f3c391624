#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The Debian package for Arm servers, installed on the emulated Neoverse N1 by its own dpkg: what a user does first.

usage: package.py PACKAGE     cyclops_VERSION_arm64.deb, which `make dist ARCH=arm64` packs
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import guest  # noqa: E402
from harness import Checks  # noqa: E402

SAMPLES = "/usr/share/cyclops/samples"
# Spends time in its own shell, as record and run need.
BUSY = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
# Words, exit status, what the answer or its messages have.
QUESTIONS = (
    ("mkdir -p /var/lib/dpkg/info; touch /var/lib/dpkg/status; dpkg -i /cyclops.deb", 0, ""),
    ("cyclops --version", 0, "static"),
    ("cyclops --version", 0, "aarch64"),
    (f"cyclops report {SAMPLES}/chase.data", 0, "SPE records"),
    (f"cyclops c2c --symfs {SAMPLES}/root {SAMPLES}/sharing.data", 0, "False sharing in account"),
    (f"cyclops annotate --symfs {SAMPLES}/root {SAMPLES}/chase.data", 0, "ldr"),
    (f"cyclops record -e cpu-clock -o /tmp/r.data -- {BUSY}", 0, "samples"),
    ("cyclops report /tmp/r.data", 0, "busybox"),
    ("cyclops c2c /tmp/r.data", 4, "No access with a data address"),
    (f"cyclops stat -e cycles,instructions -- {BUSY}", 0, "instructions"),
    (f"cyclops run -o /tmp/run -- {BUSY}", 0, "the files are in"),
    ("cyclops run --model -o /tmp/model -- /usr/lib/cyclops/cyclops-model.so", 1, "qemu-aarch64"),
    ("cyclops doctor", None, "Neoverse N1"),
)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    guest.need_guest()
    checks = Checks()
    with guest.Guest(files={"/bin/cyclops": b"#!/bin/sh\nexec /usr/bin/cyclops \"$@\"\n", "/cyclops.deb": sys.argv[1]}) as machine:
        for words, status, wanted in QUESTIONS:
            done = machine.run(words)
            said = " ".join((done.text + done.messages).split())
            checks.expect(status in (None, done.status) and wanted in said, f"{words}: {done.status}: {said[-600:]}")
            checks.count("commands on the emulated machine")
    checks.finish()


main()
