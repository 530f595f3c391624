#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin, built with the sanitizers, in the emulator.

usage: model_sanitized.py [--all] COMPILER CYCLOPS PLUGIN DATA_DIR

The emulator itself has no sanitizers, so those of COMPILER, gcc or clang, have to be loaded before it.
One of the sample programs, or all, runs with everything switched on; a complaint ends it. Others run with
options that take other ways through the plugin. Without the emulator or the sanitizer's library the test is skipped.
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile

from harness import Failed, SKIP, need, run

LIBRARIES = {"gcc": ["libasan.so", "libubsan.so"], "clang": [f"libclang_rt.asan-{platform.machine()}.so"]}
OPTIONS = ["--event", "retired", "--min-latency", "3", "--set", "huge_pages=1", "--set", "n_cpus=2"]
SAMPLES = ["-c", "1024", "--sample", "cycles:997", "--sample", "inst_retired:97:skid=512", "--sample",
           "stall_backend:211:precise", "--sample", "pc_write_spec:97", "--counters", "2", "--branch-stack=64"]
FAULTS = ["random_periods=1", "stack_wrong_newest=30", "stack_shallow=30", "stack_wrong_path=50", "interrupt_cycles=500"]


def library(compiler, name):
    path = run(compiler, f"-print-file-name={name}").decode().strip()
    if not os.path.isabs(path):
        print(f"skipped: {name} is not installed")
        sys.exit(SKIP)
    return path


def write_emulator(path, compiler):
    """A script that runs the emulator with the sanitizers."""
    libraries = ":".join(library(compiler, name) for name in LIBRARIES[compiler])
    path.write_text(f"#!/bin/sh\nLD_PRELOAD={libraries} exec qemu-aarch64 \"$@\"\n")
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
    has_all = sys.argv[1] == "--all"
    compiler, *paths = sys.argv[1 + has_all:]
    for program in ("qemu-aarch64", compiler):
        need(program)
    cyclops, plugin, data = (pathlib.Path(path).resolve() for path in paths)
    programs = [data / "root/opt/demo/demo",
                *(path for path in sorted((data / "root/opt/kernels").iterdir())
                  if has_all and not path.suffix)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_emulator(folder / "emulator", compiler)
        for program in programs:
            check(cyclops, plugin, folder, program, [])
        check(cyclops, plugin, folder, data / "root/opt/kernels/sharing", OPTIONS)
        check(cyclops, plugin, folder, data / "root/opt/kernels/sharing", SAMPLES)
        check(cyclops, plugin, folder, data / "root/opt/kernels/copies",
              SAMPLES + [word for fault in FAULTS for word in ("--set", fault)])
        check(cyclops, plugin, folder, data / "root/opt/kernels/pages", ["--what-if", "all"])
        check(cyclops, plugin, folder, data / "root/opt/kernels/sharing", ["--what-if", "coherence,huge-pages"])


if __name__ == "__main__":
    main()
