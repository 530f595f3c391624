#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops kernel NAME: every microbenchmark runs here, and for AArch64 under qemu; what is chosen is what runs;
what is wrong is said.

usage: kernel_command.py CYCLOPS
"""

import json
import pathlib
import shutil
import subprocess
import sys

from harness import ENVIRONMENT, Checks, run

RUNNER = "src/kernel/runner/cyclops-kernel-aarch64"
FEW = 100

# Arguments, exit status, a part of what is said.
WRONG = [
    (["kernel"], 2, "wanted one NAME"),
    (["kernel", "chase", "copy"], 2, "wanted one NAME"),
    (["kernel", "chas"], 2, "there is no kernel 'chas'; did you mean chase?"),
    (["kernel", "chase", "--lines", "x"], 2, "--lines: 'x' is not a number"),
    (["kernel", "chase", "--lines", "-1"], 2, "--lines: '-1' is not a number"),
    (["kernel", "chase", "--lines", "99999999999G"], 2, "--lines: '99999999999G' is not a number"),
    (["kernel", "chase", "--lines", "1"], 2, "lines is from 2 to 33554432, not 1"),
    (["kernel", "chase", "--depth", "3"], 2, "kernel chase has no 'depth'"),
    (["kernel", "chase", "--level", "l9"], 2, "there is no level 'l9'"),
    (["kernel", "divide", "--level", "l1"], 2, "kernel divide has no level"),
    (["kernel", "chase-l2", "--level", "l1"], 2, "chase-l2 has a level; --level is for chase"),
    (["kernel", "chase", "--cpu", "65535"], 2, "--cpu: cannot run on CPU 65535"),
    (["kernel", "chase", "--cpu", "0", "--model"], 2, "--cpu is about this machine"),
    (["kernel", "--calibrate", "chase"], 2, "'chase': --calibrate measures all penalties, and takes no NAME"),
    (["kernel", "--validate", "--lines", "3"], 2, "--lines is about one run"),
]


def answer(cyclops, *words):
    return json.loads(run(cyclops, "kernel", *words, "--format", "json"))


def check_all_here(cyclops, checks):
    """Each runs with few iterations, and its time is that of all of them."""
    for row in json.loads(run(cyclops, "list", "kernels", "--format", "json"))["kernels"]:
        if not row["here"]:
            continue
        found = answer(cyclops, row["kernel"], "--iterations", FEW)["run"][0]
        checks.expect(found["kernel"] == row["kernel"] and found["iterations"] == FEW, f"{row['kernel']}: {found}")
        checks.expect(found["time_ns"] > 0 and abs(found["iteration_ns"] * FEW - found["time_ns"]) < 1e-6 * found["time_ns"],
                      f"{row['kernel']}: {found}")
        checks.count("kernels here")


def check_all_emulated(cyclops, checks):
    runner = pathlib.Path(cyclops).parent / RUNNER
    if not shutil.which("qemu-aarch64") or not runner.exists():
        print("no kernels of AArch64: no emulator or no compiler")
        return
    for row in json.loads(run(cyclops, "list", "kernels", "--format", "json"))["kernels"]:
        done = subprocess.run(["qemu-aarch64", runner, row["kernel"], f"iterations={FEW}"], env=ENVIRONMENT,
                              capture_output=True, text=True, check=False)
        checks.expect(done.returncode == 0 and not done.stderr, f"qemu {row['kernel']}: {done.returncode} {done.stderr}")
        checks.count("kernels under qemu-aarch64")
    done = subprocess.run(["qemu-aarch64", runner, "chase", "lines=1"], env=ENVIRONMENT, capture_output=True, text=True,
                          check=False)
    checks.expect(done.returncode == 2 and "lines is from 2" in done.stderr, f"qemu chase lines=1: {done}")


def check_choice(cyclops, checks):
    """Parameters make the case, and units of 1024 are understood."""
    found = answer(cyclops, "forward", "--overlap", "0", "--iterations", "2K")["run"][0]
    checks.expect(found.get("case") == "forward-free" and found["iterations"] == 2048, f"forward: {found}")
    found = answer(cyclops, "forward", "--iterations", "10")["run"][0]
    checks.expect(found.get("case") == "forward-blocked", f"forward: {found}")
    found = answer(cyclops, "normal", "--iterations", "10")["run"][0]
    checks.expect(found["kernel"] == "denormal" and found.get("case") == "normal", f"normal: {found}")
    found = answer(cyclops, "branches", "--branches", "7", "--iterations", "10")["run"][0]
    checks.expect("case" not in found, f"branches: {found}")
    # no machine tells the sizes of its TLBs
    found = answer(cyclops, "chase", "--level", "tlb2", "--l1-tlb", "64", "--l2-tlb", "1536", "--iterations", "10")["run"][0]
    checks.expect(found.get("case") == "chase-tlb2", f"chase --level tlb2: {found}")
    checks.count("choices", 5)


def check_faults(cyclops, checks):
    """The kernel counts a fault for each page, and at most two more, wherever it counts them at all."""
    pages = 3000
    for row in answer(cyclops, "faults", "--iterations", pages)["counts"]:
        if row["event"] == "page-faults" and "count" in row:
            checks.expect(pages <= row["count"] <= pages + 2, f"faults: {row}")
            checks.count("page faults", row["count"])


def check_wrong(cyclops, checks):
    for words, status, said in WRONG:
        done = subprocess.run([cyclops, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        checks.expect(done.returncode == status and said in done.stderr and not done.stdout,
                      f"{' '.join(words)}: {done.returncode} {done.stderr}")
        checks.count("refusals")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    checks = Checks()
    check_all_here(sys.argv[1], checks)
    check_all_emulated(sys.argv[1], checks)
    check_choice(sys.argv[1], checks)
    check_faults(sys.argv[1], checks)
    check_wrong(sys.argv[1], checks)
    checks.finish()


if __name__ == "__main__":
    main()
