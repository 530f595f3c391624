#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Straight-line loops on the machine model beside llvm-mca: model_mca.py CYCLOPS [--table].

llvm-mca has dependencies, latencies, execution units and the width of a Neoverse N1, as the model has
them, so both must say the same. How long a division takes depends on the numbers: these rows are only
shown. --table prints the rows of docs/model.md. Without llvm-mca for this CPU or the cross compiler the
test is skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import Checks, need, run, skip

COMPILER = "aarch64-linux-gnu-gcc"
MCAS = ("llvm-mca-19", "llvm-mca-20", "llvm-mca-21")  # those before have no Neoverse N1 of their own
FEW, MANY = 2000, 12000  # iterations: the difference has no beginning and no end

# What limits it, its name, the body. x20 counts, x21 points to memory whose words hold their own address.
LOOPS = [
    ("chain", "add", "add x1, x1, #1"),
    ("chain", "shifted add", "add x1, x1, x2, lsl #2"),
    ("chain", "multiply, 64 bits", "mul x1, x1, x2"),
    ("chain", "crc32", "crc32x w1, w1, x2"),
    ("chain", "fadd", "fadd d1, d1, d2"),
    ("chain", "fmul", "fmul d1, d1, d2"),
    ("chain", "fmadd, multiplicand", "fmadd d1, d1, d2, d3"),
    ("chain", "vector fadd", "fadd v1.4s, v1.4s, v2.4s"),
    ("chain", "vector add", "add v1.4s, v1.4s, v2.4s"),
    ("chain", "load", "ldr x21, [x21]"),
    ("chain", "load, eor, add", "ldr x1, [x21]\neor x1, x1, x1\nadd x21, x21, x1"),
    ("registers", "integer to float and back", "scvtf d1, x1\nfcvtzs x1, d1"),
    ("width", "four adds", "add x1, x1, #1\nadd x2, x2, #1\nadd x3, x3, #1\nadd x4, x4, #1"),
    ("units", "four multiplies", "mul x1, x9, x10\nmul x2, x9, x10\nmul x3, x9, x10\nmul x4, x9, x10"),
    ("chain", "eight chains of fmadd", "\n".join(f"fmadd d{i}, d{i}, d10, d11" for i in range(8))),
    ("units", "six loads", "\n".join(f"ldr x{i}, [x21, #{8 * i}]" for i in range(1, 7))),
    ("chain", "logical operation, shifted", "eor x1, x2, x1, lsl #7"),
    ("chain", "multiply high", "umulh x1, x1, x2"),
    ("registers", "general to vector and back", "fmov d1, x1\nfmov x1, d1"),
    ("units", "three sums, shifted by 5", "\n".join(f"add x{i}, x9, x10, lsl #5" for i in range(1, 4))),
    ("units", "four multiplies, 32 bits", "\n".join(f"mul w{i}, w9, w10" for i in range(1, 5))),
    ("units", "three loads of pairs", "\n".join(f"ldp x{i}, x{i + 1}, [x21, #{16 * i}]" for i in (1, 3, 5))),
    ("units", "four stores", "\n".join(f"str x{i}, [x21, #{8 * i}]" for i in range(1, 5))),
    ("units", "copy of 32 bytes, vectors", "ldp q1, q2, [x21]\nstp q1, q2, [x21, #64]"),
    ("units", "three vector shifts", "\n".join(f"ushr v{i}.4s, v9.4s, #3" for i in range(3))),
    ("units", "two vector multiplies", "\n".join(f"mul v{i}.4s, v9.4s, v10.4s" for i in range(2))),
    ("units", "three vector sums, a shift", "ushr v0.4s, v9.4s, #3\n" +
     "\n".join(f"add v{i}.4s, v9.4s, v10.4s" for i in range(1, 4))),
    ("units", "two divisions, floating point", "fdiv d1, d9, d10\nfdiv d2, d9, d10"),
    ("data", "division, 64 bits", "udiv x1, x1, x2"),
    ("data", "two independent divisions, 64 bits", "udiv x1, x9, x10\nudiv x2, x9, x10"),
    ("units", "a[i] = b[i] * c + a[i]",
     "ldr d1, [x21]\nldr d2, [x21, #64]\nfmadd d3, d2, d10, d1\nstr d3, [x21, #128]"),
]

PROGRAM = """
	.globl _start
_start:
	adrp x21, memory
	add x21, x21, :lo12:memory
	str x21, [x21]
	mov x20, #{n}
	.p2align 6
loop:
{body}
	subs x20, x20, #1
	b.ne loop
	mov x0, #0
	mov x8, #93
	svc #0
	.bss
	.p2align 12
memory:
	.space 4096
"""


def modelled(cyclops, folder, body):
    """Cycles of an iteration."""
    cycles = []
    for n in (FEW, MANY):
        source, program, counts = (os.path.join(folder, name) for name in ("loop.s", "loop", "counts.json"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(n=n, body=body))
        run(COMPILER, "-march=armv8.2-a+crc", "-nostdlib", "-static", source, "-o", program)
        run(cyclops, "model", "-o", os.path.join(folder, "loop.data"), "--counts", counts, "--", program)
        with open(counts, encoding="utf-8") as file:
            cycles.append(json.load(file)["events"]["CPU_CYCLES"]["count"])
    return (cycles[1] - cycles[0]) / (MANY - FEW)


def analysed(mca, folder, body):
    """The same by llvm-mca."""
    source, cycles = os.path.join(folder, "body.s"), []
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"{body}\nsubs x20, x20, #1\nb.ne loop\n")
    for n in (FEW, MANY):
        answer = json.loads(run(mca, "-mtriple=aarch64", "-mcpu=neoverse-n1", "-mattr=+crc", f"-iterations={n}",
                                "-json", source))
        cycles.append(answer["CodeRegions"][0]["SummaryView"]["TotalCycles"])
    return (cycles[1] - cycles[0]) / (MANY - FEW)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--table"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    need("qemu-aarch64")
    need(COMPILER)
    mca = next((name for name in MCAS if shutil.which(name) is not None), None)
    if mca is None:
        skip("llvm-mca of LLVM 19 or later is not installed")
    checks, cyclops = Checks(), os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory() as folder:
        for limit, name, body in LOOPS:
            ours, theirs = modelled(cyclops, folder, body), analysed(mca, folder, body)
            if "--table" in sys.argv:
                print(f"| {name} | {limit} | {ours:.2f} | {theirs:.2f} |")
            if limit != "data":
                checks.expect(abs(ours - theirs) <= 0.05 * theirs, f"{name}: {ours}, llvm-mca {theirs}")
            checks.count("loops")
    checks.finish()


if __name__ == "__main__":
    main()
