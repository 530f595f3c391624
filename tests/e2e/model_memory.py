#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of the model with a program that makes code again and again: model_memory.py CYCLOPS.

The program maps a page, fills it with instructions that it never had before, calls them, and unmaps it.
What the emulator and the model hold of that must not grow with the number of rounds. Without the emulator
or the cross compiler the test is skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Failed, need, run

SOURCE = """
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { WORDS = 1000, SIZE = 4096, ADD = 0x11000000, RETURN = 0xd65f03c0 };
int main(int argc, char **argv)
{
	unsigned rounds = (unsigned)atoi(argv[1]), sum = 0;
	for (unsigned i = 0; i < rounds; i++) {
		uint32_t *code = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (unsigned k = 0; k < WORDS; k++)
			code[k] = ADD | (i * 7 + k) % 4096 << 10;
		code[WORDS] = RETURN;
		mprotect(code, SIZE, PROT_READ | PROT_EXEC);
		__builtin___clear_cache((char *)code, (char *)code + SIZE);
		sum += ((unsigned (*)(unsigned))(uintptr_t)code)(i);
		munmap(code, SIZE);
	}
	return sum == 0;
}
"""
FEW, MANY = 2000, 6000
INSTRUCTIONS_EACH = 2000  # of a round, at least

# What decoded code takes at most, and the growth of a round that would be too much: a fifth of
# what the code of a round takes.
MOST_KB = 320 << 10
GROWTH_KB = 12


def run_rounds(cyclops, folder, rounds):
    """Runs the program; returns the largest memory of the emulator, in KiB, and the instructions."""
    process = subprocess.Popen([cyclops, "model", "-o", "out.data", "--counts", "counts.json", "--",
                                folder / "program", str(rounds)], cwd=folder, env=ENVIRONMENT,
                               stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{rounds} rounds: exit status {process.returncode}")
    events = json.loads((folder / "counts.json").read_text())["events"]
    return usage.ru_maxrss, events["INST_RETIRED"]["count"]


def main():
    cyclops = os.path.realpath(sys.argv[1])
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc"):
        need(program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.c").write_text(SOURCE)
        run("aarch64-linux-gnu-gcc", "-O2", "-static", "-o", folder / "program", folder / "program.c")
        (few_kb, _), (many_kb, n) = (run_rounds(cyclops, folder, rounds) for rounds in (FEW, MANY))
    print(f"{FEW} rounds: {few_kb} KiB; {MANY} rounds, {n} instructions: {many_kb} KiB")
    if n < MANY * INSTRUCTIONS_EACH:
        sys.exit(f"only {n} instructions were seen")
    if many_kb > MOST_KB or many_kb - few_kb > GROWTH_KB * (MANY - FEW):
        sys.exit("memory grows with the code that is made")


if __name__ == "__main__":
    main()
