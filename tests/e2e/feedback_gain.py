#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What programs gain that BOLT and clang optimise with our profiles, in cycles of the machine model: feedback_gain.py CYCLOPS [ROUNDS].

A program of 400 functions is written here, whose rare code lies between the common one, so that the instruction cache misses. Its
profiles are of SPE records and of branch stacks of the model; beside them those that perf2bolt and llvm-profgen make of the same
branch stacks. Ours must gain 95 % of what theirs do. Needs bolt-19, clang-19, lld-19, llvm-19, perf and the emulator.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need, run, skip

LLVM = pathlib.Path("/usr/lib/llvm-19/bin")
TOOLS = ("llvm-bolt", "perf2bolt", "llvm-profgen", "llvm-profdata", "clang", "ld.lld")
N_FUNCTIONS, N_PARTS, N_RARE, N_STATE = 400, 4, 14, 64
ROUNDS = 300
LEAST_PART = 0.95
FREESTANDING = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib",
                "-Wl,--emit-relocs,--build-id"]
GCC = ["aarch64-linux-gnu-gcc", *FREESTANDING, "-fno-asynchronous-unwind-tables"]
CLANG = [LLVM / "clang", "--target=aarch64-linux-gnu", *FREESTANDING, "-fdebug-info-for-profiling", f"--ld-path={LLVM / 'ld.lld'}"]
BOLT = ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions", "-split-all-cold"]
SAMPLES = ["--sample=pc_write_spec:61:precise", "--branch-stack=32"]


def write_source(path, rounds):
    """Each function has some parts, each with a long piece that is rarely executed."""
    rng = random.Random(7)
    lines = ["typedef unsigned long word;", f"static word state[{N_STATE}];", "static volatile word sink;"]
    for number in range(N_FUNCTIONS):
        lines.append(f"__attribute__((noinline)) static word f{number}(word x)\n{{")
        for _ in range(N_PARTS):
            mask = rng.choice([63, 127, 255])
            lines.append(f"\tif ((x >> {rng.randrange(8)} & {mask}) == {rng.randrange(mask)}) {{")
            lines += [f"\t\tx = (x ^ state[{rng.randrange(N_STATE)}]) * {rng.randrange(1 << 16) | 1} + {rng.randrange(1000)};"
                      for _ in range(N_RARE)]
            lines.append(f"\t}}\n\tx = x * 6364136223846793005u + {rng.randrange(1 << 20) * 2 + 1};\n\tx ^= x >> {rng.randrange(17, 30)};")
        lines.append("\treturn x;\n}")
    calls = "\n".join(f"\t\tx = f{number}(x);" for number in range(N_FUNCTIONS))
    lines.append(f"""__attribute__((noinline)) static word work(word x)
{{
	for (unsigned r = 0; r < {rounds}; r++) {{
{calls}
	}}
	return x;
}}
static void leave(void)
{{
	register long number __asm__("x8") = 93, status __asm__("x0") = 0;

	__asm__ volatile("svc 0" : "+r"(status) : "r"(number));
}}
void _start(void)
{{
	for (int i = 0; i < {N_STATE}; i++)
		state[i] = (word)i * 2654435761u;
	sink = work(12345);
	leave();
}}""")
    path.write_text("\n".join(lines) + "\n")


class Folder:
    def __init__(self, cyclops, path):
        self.cyclops, self.path = cyclops, path

    def at(self, name):
        return self.path / name

    def cycles(self, program):
        run(self.cyclops, "model", "-o", self.at("x.data"), "--counts", self.at("counts.json"), "--", self.at(program))
        return json.loads(self.at("counts.json").read_text())["events"]["CPU_CYCLES"]["count"]

    def record(self, program):
        run(self.cyclops, "model", "-o", self.at(f"{program}-spe.data"), "--", self.at(program))
        run(self.cyclops, "model", "-o", self.at(f"{program}-stacks.data"), *SAMPLES, "--", self.at(program))

    def export(self, program, kind, format_, name):
        run(self.cyclops, "export", "--symfs", "/", "--format", format_, "-o", self.at(name), self.at(f"{program}-{kind}.data"))


def report(checks, what, before, cycles):
    """Cycles by profile; those of the other tools are `perf`."""
    theirs = before - cycles["perf"]
    print(f"{what}: {before} cycles without a profile; with that of other tools {cycles['perf']}: {theirs / before:.1%} less")
    checks.expect(theirs > 0.1 * before, f"{what}: the program has nothing to gain")
    for name, now in cycles.items():
        if name == "perf":
            continue
        print(f"{what}: {name}: {now}: {(before - now) / before:.1%} less, {(before - now) / theirs:.1%} of that gain")
        checks.count("profiles")
        checks.expect(before - now >= LEAST_PART * theirs, f"{what}: {name}: {now}, {cycles['perf']} of other tools")


def check_bolt(checks, folder):
    subprocess.run([*GCC, "-o", folder.at("gcc"), folder.at("program.c")], check=True)
    folder.record("gcc")
    for kind in ("spe", "stacks"):
        folder.export("gcc", kind, "bolt", f"{kind}.fdata")
        folder.export("gcc", kind, "bolt-pre-aggregated", f"{kind}.pa")
        run(LLVM / "perf2bolt", "-pa", "-p", folder.at(f"{kind}.pa"), "-o", folder.at(f"{kind}-pa.fdata"), folder.at("gcc"))
    run(LLVM / "perf2bolt", "-p", folder.at("gcc-stacks.data"), "-o", folder.at("perf.fdata"), folder.at("gcc"))
    cycles = {}
    for name in ("perf", "spe", "stacks", "spe-pa", "stacks-pa"):
        said = run(LLVM / "llvm-bolt", folder.at("gcc"), "-o", folder.at(f"gcc.{name}"), "-data", folder.at(f"{name}.fdata"), *BOLT)
        cycles[name] = folder.cycles(f"gcc.{name}")
        checks.expect(b"invalid" not in said and b"stale" not in said, f"llvm-bolt says of {name}: {said.decode()[-2000:]}")
    report(checks, "BOLT", folder.cycles("gcc"), cycles)


def check_clang(checks, folder):
    subprocess.run([*CLANG, "-o", folder.at("clang"), folder.at("program.c")], check=True)
    folder.record("clang")
    for kind in ("spe", "stacks"):
        folder.export("clang", kind, "autofdo", f"{kind}.prof")
        run(LLVM / "llvm-profdata", "merge", "--sample", folder.at(f"{kind}.prof"), "-o", folder.at("x.profdata"))
    script = subprocess.run(["perf", "script", "-F", "ip,brstack", "-i", folder.at("clang-stacks.data")], env=ENVIRONMENT, check=True,
                            capture_output=True).stdout
    folder.at("perf.script").write_bytes(script)
    run(LLVM / "llvm-profgen", f"--binary={folder.at('clang')}", f"--perfscript={folder.at('perf.script')}", "-o", folder.at("perf.prof"))
    cycles = {}
    for name in ("perf", "spe", "stacks"):
        subprocess.run([*CLANG, f"-fprofile-sample-use={folder.at(name + '.prof')}", "-o", folder.at(f"clang.{name}"),
                        folder.at("program.c")], check=True)
        cycles[name] = folder.cycles(f"clang.{name}")
    report(checks, "clang", folder.cycles("clang"), cycles)


def main():
    cyclops = os.path.realpath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    for program in ("qemu-aarch64", GCC[0], "perf"):
        need(program)
    for tool in TOOLS:
        if not (LLVM / tool).exists():
            skip(f"{tool} of LLVM 19 is not installed (bolt-19, clang-19, lld-19, llvm-19)")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-gain-") as name:
        folder = Folder(cyclops, pathlib.Path(name))
        write_source(folder.at("program.c"), rounds)
        check_bolt(checks, folder)
        check_clang(checks, folder)
    checks.finish()


if __name__ == "__main__":
    main()
