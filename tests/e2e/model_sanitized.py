#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin, built with the sanitizers, in the emulator: model_sanitized.py CYCLOPS PLUGIN DATA_DIR.

The emulator itself has no sanitizers, so theirs have to be loaded before it. All sample programs
run, with everything switched on; a complaint ends them. Without the emulator or the sanitizer's
library the test is skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from harness import SKIP, Failed, need, run

OPTIONS = ["--event", "retired", "--min-latency", "3", "--set", "huge_pages=1", "--set", "n_cpus=2"]


def library(name):
    path = run("gcc", f"-print-file-name={name}").decode().strip()
    if not os.path.isabs(path):
        print(f"skipped: {name} is not installed")
        sys.exit(SKIP)
    return path


def write_emulator(path):
    """A script that runs the emulator with the sanitizers."""
    path.write_text("#!/bin/sh\nLD_PRELOAD="
                    f"{library('libasan.so')}:{library('libubsan.so')} exec qemu-aarch64 \"$@\"\n")
    path.chmod(0o755)


def check(cyclops, plugin, folder, program, options):
    command = [cyclops, "model", "--emulator", folder / "emulator", "--plugin", plugin, "-o",
               folder / "out.data", "--truth", folder / "truth", "--counts", folder / "counts",
               *options, "--", program]
    environment = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                   "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0"}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0 or done.stderr:
        raise Failed(f"{program.name}: status {done.returncode}: {done.stderr[:2000]}")
    print(f"{program.name} {' '.join(options)}: {(folder / 'out.data').stat().st_size} bytes")


def main():
    for program in ("qemu-aarch64", "gcc"):
        need(program)
    cyclops, plugin = (os.path.realpath(path) for path in sys.argv[1:3])
    data = pathlib.Path(sys.argv[3]).resolve()
    programs = [data / "root/opt/demo/demo",
                *(path for path in sorted((data / "root/opt/kernels").iterdir()) if not path.suffix)]
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_emulator(folder / "emulator")
            for program in programs:
                check(cyclops, plugin, folder, program, [])
            check(cyclops, plugin, folder, data / "root/opt/kernels/sharing", OPTIONS)
            check(cyclops, plugin, folder, data / "root/opt/kernels/copies", ["--what-if", "all"])
            check(cyclops, plugin, folder, data / "root/opt/kernels/sharing", ["--what-if", "coherence,huge-pages"])
    except Failed as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
