#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual machine itself: what the other tests of this folder take for granted."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import guest  # noqa: E402
from harness import Checks  # noqa: E402

CORE = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"


def main():
    guest.need_guest()
    checks = Checks()
    with guest.Guest() as machine:
        done = machine.run("echo out; echo err >&2; exit 7")
        checks.expect((done.status, done.out, done.err) == (7, b"out\n", b"err\n"), "status and output")
        done = machine.run("id -u; exit 3", user="user")
        checks.expect((done.status, done.out) == (3, b"1000\n"), "another user")
        data = bytes(range(256)) * 64
        machine.run("i=0; while [ $i -lt 64 ]; do for h in 0 1 2 3; do for m in 0 1 2 3 4 5 6 7; do "
                    "for l in 0 1 2 3 4 5 6 7; do printf \"\\\\$h$m$l\"; done; done; done; "
                    "i=$((i+1)); done >/tmp/bytes")
        checks.expect(machine.read("/tmp/bytes") == data, "files come out as they are")
        midr = int(machine.run(f"cat {CORE}").text, 16)
        checks.expect((midr >> 24, midr >> 4 & 0xfff) == (0x41, 0xd0c), f"a Neoverse N1, not {midr:#x}")
        pmus = machine.run("ls /sys/bus/event_source/devices").text.split()
        checks.expect(any(name.startswith("armv8_pmuv3") for name in pmus), f"a PMU among {pmus}")
        checks.expect(not any("spe" in name for name in pmus), "no SPE")
        done = machine.run("cyclops --version")
        checks.expect(done.status == 0 and "aarch64" in done.text, f"cyclops runs: {done.messages}")
        checks.count("answers of the machine", 7)
    checks.finish()


main()
