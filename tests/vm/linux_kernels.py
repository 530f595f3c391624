#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The tests of the emulated Neoverse N1 under other kernels: Debian 11's 5.10, 12's 6.1, 13's 6.12.

usage: linux_kernels.py FOLDER CYCLOPS DUMP_SAMPLES    FOLDER: where scripts/kernels.sh puts them; the others as of record.py
"""

import os
import pathlib
import subprocess
import sys

import guest

TESTS = {"machine": [], "stat": [], "record": sys.argv[2:]}


def main():
    guest.need_guest()
    folder = pathlib.Path(sys.argv[1])
    subprocess.run(["sh", guest.ROOT / "scripts/kernels.sh", folder], check=True)
    failed = []
    for kernel in sorted(folder.glob("*/boot/vmlinuz-*")):
        for name, arguments in TESTS.items():
            done = subprocess.run([sys.executable, guest.ROOT / f"tests/vm/{name}.py", *arguments], check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, "CYCLOPS_KERNEL": str(kernel)})
            print(f"{kernel.name}: {name}: {'passed' if done.returncode == 0 else done.stdout.decode(errors='replace')}")
            if done.returncode != 0:
                failed.append(f"{kernel.name}: {name}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
