#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Which variable is at an address, for pages of all sizes, and where data mappings were not recorded.

usage: data_places.py CYCLOPS WRITE-ACCESSES

Programs and libraries are linked in all usual ways. For each, captures are made with the mappings
that a loader makes with pages of 4, 16 and 64 KiB, as recorders write them down: all, only those of
code, or those of code with the first one as long as all of them together, as it is mapped at first.
Variables are accessed where nm says that they are. What is said must be the truth, or nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from harness import Checks, need, run

A64 = "aarch64-linux-gnu-"
SOURCE = """
long filled[4] = { 1, 2, 3, 4 };
static const long fixed[4] = { 5, 6, 7, 8 };
static volatile long small, zero[8192]; static long more[40000] __attribute__((aligned(64)));
const long *keep(void) { return fixed; }
long *work(long i) { zero[i] = zero[i + 1] + filled[i & 3]; small += more[i]; return more; }
void _start(void) { work(1); }
"""
NAMES = ("filled", "fixed", "small", "zero", "more")

# What is said of a capture's mappings: whether a name has to be known then.
RECORDED = {"all": True, "code": True, "whole": True}

# Segments next to each other in the file, far from each other in memory, as some linkers lay them out.
SCRIPT = """
PHDRS { ro PT_LOAD FLAGS(4) FILEHDR PHDRS; text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS {
  . = SIZEOF_HEADERS; .rodata : { *(.rodata*) } :ro
  . += 0x10000; .text : { *(.text*) } :text
  . += 0x10000; .data : { *(.data*) } :data
  .bss : { *(.bss*) *(COMMON) } :data
  /DISCARD/ : { *(.eh_frame*) *(.note*) *(.comment) *(.interp) }
}
"""

LAYOUTS = [(kind, page, separate) for kind in ("-static -no-pie", "-shared -fPIC", "-static-pie -fPIE")
           for page in ("0x1000", "0x10000") for separate in ("separate-code", "noseparate-code")]


def build(options, folder):
    source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(A64 + "gcc", "-O1", "-g", "-nostdlib", "-Wl,--build-id=none", *options, source, "-o", program)
    return program


def segments(program):
    """(offset, address, bytes in the file, bytes in memory, flags) of what is loaded, and whether it may be moved."""
    text = run(A64 + "readelf", "-hlW", program).decode()
    # "  LOAD           0x000160 0x0000000000410160 0x0000000000410160 0x000020 0x0400e0 RW  0x10000"
    found = re.findall(r"LOAD +(\S+) (\S+) \S+ +(\S+) +(\S+) ([RWE ]+) 0x", text)
    return ([(*(int(word, 16) for word in words[:4]), words[4]) for words in found],
            "EXEC" not in re.search(r"Type: +(\S+)", text)[1])


def mappings(program, page, recorded):
    """What a loader maps, and what is added to the file's addresses."""
    loads, is_moved = segments(program)
    low = min(address for _, address, _, _, _ in loads) & -page
    high = max(address + memory for _, address, _, memory, _ in loads) + page - 1 & -page
    bias = 0x7F0000000000 + 3 * page - low if is_moved else 0
    out = []
    for number, (offset, address, size, _, flags) in enumerate(loads):
        start, end = address & -page, address + size + page - 1 & -page
        if recorded == "whole" and number == 0:
            end = high
        protection = 4 * ("E" in flags) + 2 * ("W" in flags) + 1
        if recorded == "all" or protection & 4:
            out.append(f"{start + bias:x}:{end - start:x}:{offset & -page:x}:{protection:x}")
    return out, bias


def symbols(program):
    lines = map(str.split, run(A64 + "nm", "-S", program).decode().split("\n"))
    return {words[3]: (int(words[0], 16), int(words[1], 16)) for words in lines if len(words) == 4}


def objects(path, by, tools, folder):
    answer = run(tools[0], "addr", "--by", by, "--all", "--symfs", folder, "--format", "json", path)
    return json.loads(answer)[by + "s"]


def check(program, page, recorded, tools, folder, checks, what):
    at = symbols(program)
    maps, bias = mappings(program, page, recorded)
    if not maps:
        return
    path = os.path.join(folder, "perf.data")
    pc = at["work"][0] + bias
    # The first and the last byte of each; as many accesses as tell them apart.
    text = "".join(f"0 500 500 {1000 * i + n:x} {pc:x} {address + bias:x} 1 0 9\n"
                   for n, name in enumerate(NAMES) for address in (at[name][0], sum(at[name]) - 8)
                   for i in range(1, n + 2))
    subprocess.run([tools[1], path, "/program", "aarch64", *maps], input=text.encode(), check=True)
    found = {row["object"]: row["records"] for row in objects(path, "object", tools, folder)}
    wanted = {name: 2 * (n + 1) for n, name in enumerate(NAMES)}
    checks.expect(found == wanted, f"{what}: {maps}: {found}")
    checks.count(f"names with mappings of {recorded}", len(NAMES))


def check_ambiguous(tools, folder, checks):
    """Two segments of code in one page, far from each other in memory: which of them was mapped?"""
    script, source = os.path.join(folder, "two.ld"), os.path.join(folder, "two.s")
    program = os.path.join(folder, "program")
    with open(script, "w") as file:
        file.write("PHDRS { a PT_LOAD FLAGS(5); b PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }\n"
                   "SECTIONS { . = 0x200; .text : { *(.text) } :a . += 0x10000; .other : { *(.other) } :b\n"
                   "  . += 0x10000; .data : { *(.data) } :data }\n")
    with open(source, "w") as file:
        file.write(".text; .globl work; work: ret; .section .other,\"ax\"; other: ret\n"
                   ".data; .globl filled; .type filled,%object; .size filled,16; filled: .quad 1,2\n")
    run(A64 + "gcc", "-nostdlib", "-shared", "-Wl,--build-id=none", f"-Wl,-T,{script}", source, "-o", program)
    filled = int(next(line.split()[0] for line in run(A64 + "nm", program).decode().split("\n")
                      if line.endswith(" filled")), 16)
    path = os.path.join(folder, "perf.data")
    text = f"0 500 500 1000 7f0000000200 {0x7F0000000000 + filled:x} 1 0 9\n"
    one = "7f0000000000:10000:0:5"
    for maps, is_known in (([one], False), ([one, "7f0000010000:10000:0:5"], True)):
        subprocess.run([tools[1], path, "/program", "aarch64", *maps], input=text.encode(), check=True)
        found = {row["object"] for row in objects(path, "object", tools, folder)}
        done = subprocess.run([tools[0], "addr", "--symfs", folder, path], capture_output=True, check=True)
        checks.expect(("filled" in found) == is_known, f"two segments of code, {maps}: {found}")
        said = b"does not tell where its data is" in b" ".join(done.stderr.split())
        checks.expect(said != is_known, f"two segments of code, {maps}: {done.stderr.decode()}")
        checks.count("mappings that may be of two segments")


def main():
    tools = sys.argv[1:3]
    need(A64 + "gcc")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "layout.ld")
        with open(script, "w") as file:
            file.write(SCRIPT)
        layouts = [f"{kind} -Wl,-z,max-page-size={page},-z,{separate}" for kind, page, separate in LAYOUTS]
        layouts += [f"-static -no-pie -Wl,-T,{script}", f"-shared -fPIC -Wl,-T,{script}"]
        for layout in layouts:
            program = build(layout.split(), folder)
            for page in (0x1000, 0x4000, 0x10000):
                # Smaller pages than the kernel's cannot be loaded.
                if "max-page-size=0x1000," in layout and page > 0x1000:
                    continue
                for recorded in RECORDED:
                    check(program, page, recorded, tools, folder, checks,
                          f"{layout}, pages of {page // 1024} KiB, mappings of {recorded}")
        check_ambiguous(tools, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
