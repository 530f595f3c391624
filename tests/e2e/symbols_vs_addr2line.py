#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares functions, lines and inline chains with those of another tool.

Small programs are built in many ways (compilers, DWARF versions, machines, split, compressed,
stripped); for addresses all over their code, our answer must be that of llvm-symbolizer (or
addr2line), and the function must be one that nm has there. What cannot be built here is
named and left out.

usage: symbols_vs_addr2line.py RESOLVE [PLACES]    at most so many addresses of each program
"""

import ctypes.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent / "symbols"
MAX_PLACES = int(sys.argv[2]) if len(sys.argv) > 2 else 800
SKIPPED = 77

C = f"{HERE}/inlines.c -nostdlib -static"
CXX = f"{HERE}/inlines.cc"
ARM = "--target=armv7-linux-gnueabihf -fuse-ld=lld"

# Name, tools that must be there, and the commands; {out} is the program.
BUILDS = [
    *((f"gcc-dwarf{d}-O{o}", "gcc", [f"gcc -gdwarf-{d} -O{o} {C} -o {{out}}"])
      for d in (4, 5) for o in (0, 2)),
    *((f"g++-dwarf{d}-O{o}", "g++", [f"g++ -gdwarf-{d} -O{o} {CXX} -o {{out}}"])
      for d in (4, 5) for o in (0, 2)),
    *((f"clang++-dwarf{d}-O2", "clang++", [f"clang++ -gdwarf-{d} -O2 {CXX} -o {{out}}"])
      for d in (4, 5)),
    ("clang", "clang", [f"clang -g -O2 {C} -o {{out}}"]),
    *((f"gcc-relative-dwarf{d}", "gcc", [
        "mkdir -p relative/below", f"cp {HERE}/inlines.c relative", "ln -sfn ../inlines.c relative/below/inlines.c",
        f"gcc -gdwarf-{d} -O2 relative/below/../inlines.c -nostdlib -static -o {{out}}"]) for d in (4, 5)),
    ("g++-lto", "g++", [f"g++ -g -O2 -flto {CXX} -o {{out}}"]),
    ("g++-types", "g++", [f"g++ -gdwarf-4 -fdebug-types-section -O2 {CXX} -o {{out}}"]),
    ("g++-compressed", "g++", [f"g++ -g -gz=zlib -O2 {CXX} -o {{out}}"]),
    ("g++-split", "g++", [f"g++ -g -gsplit-dwarf -O2 {CXX} -o {{out}}"]),
    ("clang++-split", "clang++", [f"clang++ -g -gsplit-dwarf -O2 {CXX} -o {{out}}"]),
    ("lld-sections", "g++ ld.lld",
     [f"g++ -g -O2 -ffunction-sections -Wl,--gc-sections -fuse-ld=lld {CXX} -o {{out}}"]),
    ("i386", "gcc", [f"gcc -m32 -g -O2 {C} -o {{out}}"]),
    ("aarch64", "aarch64-linux-gnu-gcc", [f"aarch64-linux-gnu-gcc -g -O2 {C} -o {{out}}"]),
    ("arm", "clang ld.lld", [f"clang {ARM} -g -O2 {C} -o {{out}}"]),
    ("thumb", "clang ld.lld", [f"clang {ARM} -mthumb -g -O2 {C} -o {{out}}"]),
    ("rust", "rustc", [f"rustc -g -O {HERE}/inlines.rs -o {{out}}"]),
    ("rust-v0", "rustc",
     [f"rustc -g -O -C symbol-mangling-version=v0 {HERE}/inlines.rs -o {{out}}"]),
]

# The same for programs whose debug information was moved or changed; {twin} is the program
# before that, which the other tool is asked about.
CHANGES = [
    ("debuglink", "g++ objcopy", [
        "objcopy --only-keep-debug {twin} {out}.debug",
        "objcopy --strip-all --add-gnu-debuglink={out}.debug {twin} {out}"]),
    ("dwz", "g++ dwz", ["cp {twin} {out}", "dwz {out}"]),
    ("dwz-common", "g++ dwz", [
        "cp {twin} {out}", "cp {twin} {out}.other", "dwz -m {out}.common {out} {out}.other"]),
]


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def build(name, tools, commands, folder, **names):
    """Returns the program, or None, having said why, if it cannot be built here."""
    missing = [tool for tool in tools.split() if shutil.which(tool) is None]
    out = folder / name
    if missing:
        print(f"{name}: left out, no {' and no '.join(missing)}")
        return None
    for command in commands:
        done = subprocess.run(command.format(out=out, **names).split(), cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name}: left out, cannot be built: {done.stderr.strip().splitlines()[-1:]}")
            return None
    return out


def code_offsets(program):
    """Pairs of file offset and address, spread over all sections with code."""
    pairs = []
    for line in run(["readelf", "-SW", program]).splitlines():
        match = re.match(r"\s*\[ *\d+\] (\.text\S*) +PROGBITS +(\w+) +(\w+) +(\w+) ", line)
        if match:
            address, offset, size = (int(number, 16) for number in match.groups()[1:])
            pairs += [(offset + i, address + i) for i in range(size)]
    return pairs[:: len(pairs) // MAX_PLACES + 1]


def place_of(path):
    """The file of a source path, with its folders, of which tools leave ".." as it is or not."""
    return os.path.normpath(path) if path and not path.startswith("??") else "??"


def ask_ours(resolve, program, pairs):
    """For each pair: address, function, and the frames (function, file, line)."""
    text = "".join(f"{offset:x}\n" for offset, _ in pairs)
    answers = []
    for line in run([*resolve, program], text).splitlines():
        fields = line.split("\t")
        if fields[0] == "place":
            answers.append((int(fields[2], 16), fields[3], []))
        else:
            function, path, number = fields[1:4]
            answers[-1][2].append((function or "??", place_of(path), int(number)))
    return answers


def ask_theirs(program, addresses):
    """The same frames by address, from the other tool."""
    tool = shutil.which("llvm-symbolizer")
    if tool:
        command = [tool, f"--obj={program}", "--output-style=GNU", "--no-demangle"]
    else:
        command = ["addr2line", "-e", str(program)]
    text = "".join(f"{address:#x}\n" for address in addresses)
    frames, function = {}, None
    for line in run([*command, "-f", "-i", "-a"], text).splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            chain = frames.setdefault(int(line, 16), [])
        elif function is None:
            function = line
        else:
            path, _, number = line.split(" (discriminator")[0].rpartition(":")
            number = int(number) if number.isdigit() else 0
            chain.append((function, place_of(path), number))
            function = None
    return frames


def demangle(names):
    names = sorted(set(names))
    plain = run(["c++filt", "-p"], "\n".join(names) + "\n").split("\n")
    # c++filt leaves in what tells versions of a Rust crate apart, and types of constants.
    verbose = re.compile(r"::h[0-9a-f]{16}\b|(?<=\w)\[[0-9a-f]{10,16}\]"
                         r"|(?<=\w): (?:[iu](?:8|16|32|64|128|size)|bool|char)\b")
    return {name: verbose.sub("", text) for name, text in zip(names, plain)}


def symbols_of(program):
    """Start, end and name of each function; on Arm, an odd start means Thumb code."""
    found = []
    is_arm = bool(re.search(r"Machine: +ARM$", run(["readelf", "-h", program]), re.MULTILINE))
    for line in run(["nm", "-S", "--defined-only", program]).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwWiuV":
            start = int(fields[0], 16) & (~1 if is_arm else -1)
            found.append((start, start + int(fields[1], 16), fields[3]))
    return found


def normal(chain, names, has_ours):
    """What another tool takes from the symbol table, with `names` for this address, is not
    about lines; and functions that a linker folded have several names."""
    if len(chain) == 1 and (chain[0][1] in ("??", "?") or (chain[0][2] == 0 and not has_ours)):
        return []
    if chain and chain[-1][0] in names:
        return [*chain[:-1], (None, *chain[-1][1:])]
    return chain


def same_frames(ours, theirs, names):
    """addr2line (2.40) mixes up files and misses inlined functions: only its line counts."""
    if shutil.which("llvm-symbolizer") is None:
        return not theirs or not ours or theirs[0][2] in (ours[0][2], 0)
    theirs = normal(theirs, names, bool(ours))
    if len(ours) != len(theirs):
        return False
    return all(a[1:] == b[1:] and b[0] in (a[0], None) for a, b in zip(ours, theirs))


def compare(resolve, name, program, twin):
    pairs = code_offsets(twin)
    answers = ask_ours(resolve, program, pairs)
    theirs = ask_theirs(twin, [address for _, address in pairs])
    symbols = symbols_of(twin)
    plain = demangle([f for chain in theirs.values() for f, _, _ in chain] +
                     [symbol[2] for symbol in symbols])
    n_wrong = 0
    for (_, expected), (address, function, frames) in zip(pairs, answers):
        chain = [(plain[f], path, line) for f, path, line in theirs[expected]]
        names = {plain[n] for start, end, n in symbols if start <= expected < end}
        problem = None
        if address != expected:
            problem = f"address {address:#x}"
        elif function not in names and (function or names) and names:
            problem = f"function {function!r}, nm says {names}"
        elif not same_frames(frames, chain, names):
            problem = f"frames\n  {frames}, not\n  {chain}"
        if problem:
            n_wrong += 1
            if n_wrong <= 3:
                print(f"{name}: {expected:#x}: {problem}")
    n_frames = sum(len(frames) for _, _, frames in answers)
    print(f"{name}: {len(pairs)} places, {n_frames} frames, {n_wrong} differ")
    if len(answers) != len(pairs) or n_frames < len(pairs) // 10:
        print(f"{name}: too few answers")
        return False
    return n_wrong == 0


def compare_debuginfod(resolve, folder, twin):
    """The program stripped, its debug file served by a server that is a folder."""
    if ctypes.util.find_library("debuginfod") is None:
        print("debuginfod: left out, no libdebuginfod")
        return True
    build_id = re.search(r"Build ID: (\w+)", run(["readelf", "-n", twin]))
    program = build("debuginfod", "objcopy", ["objcopy --strip-all {twin} {out}"], folder,
                    twin=twin)
    if build_id is None or program is None:
        print("debuginfod: left out, the program has no build-id")
        return True
    served = folder / "served" / "buildid" / build_id[1]
    served.mkdir(parents=True)
    shutil.copy(twin, served / "debuginfo")
    os.environ["DEBUGINFOD_URLS"] = f"file://{folder}/served"
    os.environ["DEBUGINFOD_CACHE_PATH"] = str(folder / "cache")
    return compare([*resolve, "--debuginfod"], "debuginfod", program, twin)


def main():
    resolve = [os.path.abspath(sys.argv[1])]
    needed = ["c++filt", "nm", "readelf", "addr2line"]
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing:
        print("skipped: no", ", no ".join(missing))
        return SKIPPED
    is_good, n_built = True, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, tools, commands in BUILDS:
            program = build(name, tools, commands, folder)
            if program:
                n_built += 1
                is_good &= compare(resolve, name, program, program)
        twin = folder / "g++-dwarf5-O2"
        for name, tools, commands in CHANGES if twin.exists() else []:
            program = build(name, tools, commands, folder, twin=twin)
            if program:
                is_good &= compare(resolve, name, program, twin)
        if twin.exists():
            is_good &= compare_debuginfod(resolve, folder, twin)
    if n_built == 0:
        print("skipped: nothing can be built here")
        return SKIPPED
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
