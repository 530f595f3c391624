#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Time in page faults: what report says of call chains that are made up, for x86 and Arm; and of a program that faults, beside
what perf says of the kernel's entry; and whether the remedy takes the faults away.

usage: page_faults.py CYCLOPS WRITE-SAMPLES PROGRAM
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import small_elf
from harness import ENVIRONMENT, Checks, run

KERNEL, USER = "ffffffffffffff80", "fffffffffffffe00"  # in a chain: what follows is the kernel's, the program's
CHAINS = 0x127  # a sample's fields: place, thread, time, chain, period
IMAGE = 0xFFFFFFC008000000
NOP = 0xD503201F
N = 200
ARM = ["clear_page", "do_anonymous_page", "handle_mm_fault", "do_page_fault", "do_translation_fault", "do_mem_abort", "el0_da"]
X86 = ["clear_page_erms", "do_anonymous_page", "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault",
       "asm_exc_page_fault"]
COPY = ["copy_page", "wp_page_copy", "do_wp_page", "handle_mm_fault", "do_page_fault", "do_mem_abort", "el0_da"]
FILE = ["filemap_map_pages", "do_read_fault", "do_fault", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"]
POPULATE = ["clear_page_erms", "do_anonymous_page", "handle_mm_fault", "faultin_page", "__get_user_pages", "__mm_populate", "ksys_mmap"]
READ = ["copy_to_iter", "filemap_read", "ksys_read", "el0_svc"]
NAMES = sorted({name for chain in (ARM, X86, COPY, FILE, POPULATE, READ) for name in chain})

# What the kernel does for fill(), in so many of N samples, and what is said of it; the rest is work() itself.
MADE = [
    (ARM, 120, "fill", "reuse-memory", "maps memory that is touched for the first time"),
    (X86, 60, "fill", "reuse-memory", "maps memory that is touched for the first time"),
    (COPY, 80, "fill", "copy-less", "copies pages on a write"),
    (FILE, 100, "fill", "map-ahead", "maps pages of files"),
    (ARM, 15, None, None, None),  # less than a tenth
    (POPULATE, 120, None, None, None),  # no fault
    (READ, 120, None, None, None),
]

# Of the program: who faults, the remedy, and what that is here: arguments, what is in the environment.
KEEP = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"}
REAL = [
    ("fresh", "touch_pages", "reuse-memory", [("kept", {}), ("huge", {})]),
    ("malloc", "touch_pages", "reuse-memory", [("kept", {}), ("malloc", KEEP)]),
    ("fork", "touch_pages", "copy-less", []),
    ("file", "read_pages", "map-ahead", [("file-read", {})]),
]
ROUNDS = 12
LEAST_FAULTS = 5000  # else too few samples are of them
FILE_BYTES, PAGE = 32 << 20, 4096
ENTRY = re.compile(r"asm_exc_page_fault|el0_da")


def report(cyclops, path, *words):
    return json.loads(run(cyclops, "report", "--format", "json", *words, path))


def write_made(writer, folder, chain, n):
    program, path = os.path.join(folder, "program"), os.path.join(folder, "made.data")
    at = small_elf.write(program, {"fill": [NOP] * 8, "work": [NOP] * 8})
    kernel = {name: IMAGE + 0x100 * i for i, name in enumerate(NAMES, 1)}
    with open(os.path.join(folder, "kallsyms"), "w", encoding="ascii") as file:
        file.writelines(f"{address:016x} T {name}\n" for name, address in [("_text", IMAGE), *kernel.items(), ("_etext", IMAGE + 0x10000)])
    lines = [f"E cpu-clock 1 0 0 {CHAINS:x} 0", f"M {0xffffffff:x} {IMAGE:x} 10000 {IMAGE:x} 1 [kernel.kallsyms]_text"]
    for i in range(N):
        user = [at["fill"] + 4] if i < n else [at["work"] + 8]
        in_kernel = [kernel[name] + 0x10 for name in chain] if i < n else []
        words = [KERNEL, *(f"{a:x}" for a in in_kernel)] if in_kernel else []
        words += [USER, *(f"{a:x}" for a in user)]
        lines.append(f"S 0 0 64 64 {10**9 + 1000 * i:x} {(in_kernel or user)[0]:x} 0 f4240 0 0 0 0 {1 if in_kernel else 2} {' '.join(words)}")
    subprocess.run([writer, path, program, "aarch64", "0x00000000410fd0c0"], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def check_made(checks, cyclops, writer, folder):
    for chain, n, function, remedy, words in MADE:
        path = write_made(writer, folder, chain, n)
        options = ["--kallsyms", os.path.join(folder, "kallsyms"), "--symfs", "/"]
        rows = report(cyclops, path, *options)["findings"]
        faults = [row for row in rows if row["kind"] == "page-faults"]
        checks.count("chains made up")
        if function is None:
            checks.expect(not faults, f"{chain[0]} {n}: {faults}")
            continue
        if not checks.expect(len(faults) == 1 and rows[0] is faults[0], f"{chain[0]}: {rows}"):
            continue
        row = faults[0]
        share = n / N
        checks.expect(row["function"] == function and row["remedy_id"] == remedy, f"{chain[0]}: {row}")
        checks.expect(abs(row["share"] - share) < 1e-9 and row["samples"] == n, f"{chain[0]}: {row}")
        checks.expect(abs(row["share_error"] - 1.96 * (share * (1 - share) / N) ** 0.5) < 0.01, f"{chain[0]}: {row['share_error']}")
        checks.expect(words in run(cyclops, "report", "--all", *options, path).decode(), words)
        # what the kernel does in a fault is no finding of its own
        checks.expect(all(row["kind"] == "page-faults" or row["function"] == "work" for row in rows), f"{chain[0]}: {rows}")


def entry_of(path):
    """perf's `children` of the kernel's entry for faults, as a share; None: no kernel function has a name."""
    lines = run("perf", "report", "-i", path, "--children", "--stdio", "-g", "none", "--percent-limit", "0").decode().splitlines()
    shares = [float(line.split()[0].rstrip("%")) / 100 for line in lines if ENTRY.search(line) and "%" in line]
    return shares[0] if shares else None


def cost_of(program, how, environment, file):
    """Page faults, and seconds of CPU, of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, how, str(ROUNDS), file], env={**os.environ, **environment}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_minflt - before.ru_minflt, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_real(checks, cyclops, program, folder):
    path, file = os.path.join(folder, "real.data"), os.path.join(folder, "pages")
    with open(file, "wb", buffering=0) as pages:
        for _ in range(FILE_BYTES // PAGE):  # what is written at once is mapped at once
            pages.write(bytes(PAGE))
    for how, function, remedy, remedies in REAL:
        faults, cpu = cost_of(program, how, {}, file)
        if faults < LEAST_FAULTS:
            print(f"{how}: skipped, this kernel maps many pages of a file at once")
            continue
        done = subprocess.run([cyclops, "record", "-e", "cpu-clock", "-g", "-o", path, "--", program, how, str(ROUNDS), file],
                              env=ENVIRONMENT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"the program that faults: skipped, {done.stderr.strip()}")
            return
        share = entry_of(path) if shutil.which("perf") else None
        rows = report(cyclops, path)["findings"]
        if share is None:
            print(f"{how}: skipped, perf or the kernel's names are not there")
            continue
        row = rows[0] if rows else {}
        checks.expect(row.get("kind") == "page-faults" and row["function"] == function and row["remedy_id"] == remedy, f"{how}: {rows}")
        checks.expect(abs(row.get("share", 0) - share) < 0.0001, f"{how}: {row.get('share')}, perf {share}")
        checks.count("programs that fault, as in perf")
        for other, environment in remedies:
            fewer, less = cost_of(program, other, environment, file)
            if other == "huge" and 4 * fewer >= faults:
                print("huge pages: skipped, there are none")
                continue
            checks.expect(4 * fewer < faults, f"{how}: {faults} faults, {other} {environment}: {fewer}")
            # huge pages are cleared as well; of files a third of the time is of faults: too little to be told beside other work
            checks.expect(other in ("huge", "file-read") or 2 * less < cpu, f"{how}: {cpu} s of CPU, {other} {environment}: {less}")
            checks.count("remedies")


def main():
    cyclops, writer, program = (os.path.abspath(path) for path in sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_made(checks, cyclops, writer, folder)
        check_real(checks, cyclops, program, folder)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
