#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the members at each byte of hundreds of structs with those that gdb tells.

Structs are made up at random in C and C++ (nested, anonymous, unions, arrays, bit-fields,
packed, aligned, base classes, templates), built with what compilers and DWARF versions there
are; a Rust program is written by hand. gdb describes the types, and the paths that follow
from its description must be ours, byte by byte.

usage: layouts_vs_gdb.py LAYOUTS [STRUCTS]    so many of each compiler
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
N_STRUCTS = 40

BASES = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
         "unsigned long", "long long", "float", "double", "void *", "char *", "int (*)(int)"]

# What runs inside gdb: prints as the tool does, from gdb's own description of the types.
GDB = r'''
import gdb

class Member:
    def __init__(self, f):
        self.name, self.is_base_class = f.name, f.is_base_class
        self.type, self.bitpos, self.bitsize = plain(f.type), f.bitpos, f.bitsize

class Type:
    def __init__(self, t):
        self.code, self.sizeof, self.of = t.code, t.sizeof, t
        self.known = None

    def target(self):
        self.known = self.known or plain(self.of.target())
        return self.known

    def members(self):
        if self.known is None:
            self.known = [Member(f) for f in self.of.fields() if hasattr(f, "bitpos")]
        return self.known

TYPES = {}

def plain(t):
    """gdb is slow to ask: each named type is looked at once."""
    if isinstance(t, Type):
        return t
    t = t.strip_typedefs().unqualified()
    if not t.name:
        return Type(t)
    return TYPES.setdefault(str(t), Type(t))

def members(t):
    return t.members()

def covers(f, bit0, byte):
    """Has the member a bit of the byte?"""
    at = bit0 + f.bitpos
    bits = f.bitsize or 8 * plain(f.type).sizeof
    return at < 8 * (byte + 1) and at + bits > 8 * byte

def used(t, bit0, byte):
    t = plain(t)
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return any(covers(f, bit0, byte) and (f.bitsize or used(f.type, bit0 + f.bitpos, byte))
                   for f in members(t))
    if t.code == gdb.TYPE_CODE_ARRAY:
        size = plain(t.target()).sizeof
        return size == 0 or used(t.target(), bit0 + 8 * size * ((byte - bit0 // 8) // size), byte)
    return True

def path(t, bit0, byte, so_far):
    t = plain(t)
    if t.code == gdb.TYPE_CODE_ARRAY:
        size = plain(t.target()).sizeof
        if size == 0:
            return so_far
        i = (byte - bit0 // 8) // size
        return path(t.target(), bit0 + 8 * size * i, byte, so_far + "[%d]" % i)
    if t.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return so_far
    found = [f for f in members(t) if covers(f, bit0, byte)
             and (f.bitsize or used(f.type, bit0 + f.bitpos, byte))]
    dot = "." if so_far and not so_far.endswith(".") else ""
    if not found:
        return so_far + dot + "(padding)"
    if len(found) > 1:
        names = [f.name if f.name and not f.is_base_class else "?" for f in found]
        return so_far + dot + "{" + ",".join(names[:4]) + (",…" if len(names) > 4 else "") + "}"
    f = found[0]
    if f.name and not f.is_base_class:
        so_far += dot + f.name
    return so_far if f.bitsize else path(f.type, bit0 + f.bitpos, byte, so_far)

for line in open(NAMES):
    name, address = line.split()
    try:
        value = gdb.parse_and_eval(name)
    except gdb.error:
        value = gdb.parse_and_eval("rust::" + name)
    print("variable\t%s\t%d" % (name, value.type.sizeof))
    whole = plain(value.type)
    for byte in range(min(value.type.sizeof, 256)):
        print("%d\t%s" % (byte, path(whole, 0, byte, "")))
'''


class Maker:
    """Makes up struct definitions, each of members known before."""

    def __init__(self, seed, is_cxx):
        self.random = random.Random(seed)
        self.is_cxx = is_cxx
        self.structs = []
        self.lines = []
        self.n = 0

    def name(self):
        self.n += 1
        return f"m{self.n}"

    def type(self):
        if self.structs and self.random.random() < 0.3:
            return self.random.choice(self.structs[-40:])
        return self.random.choice(BASES)

    def declare(self, type_, name):
        dims = "".join(f"[{self.random.randint(1, 4)}]" for _ in range(self.random.choice([0, 0, 0, 1, 2])))
        if type_ == "int (*)(int)":
            return f"int (*{name}{dims})(int);"
        return f"{type_} {name}{dims};"

    def member(self, depth, in_union):
        what = self.random.random()
        if what < 0.2 and not in_union:
            type_ = self.random.choice(["int", "unsigned", "unsigned char", "unsigned long long"])
            width = self.random.randint(1, {"unsigned char": 8, "unsigned long long": 64}.get(type_, 32))
            return f"{type_} {self.name()} : {width};"
        if what < 0.35 and depth < 3:
            kind = self.random.choice(["struct", "union"])
            body = " ".join(self.member(depth + 1, kind == "union") for _ in range(self.random.randint(1, 4)))
            return f"{kind} {{ {body} }} {self.random.choice(['', self.name()])};"
        aligned = " __attribute__((aligned(16)))" if what > 0.97 else ""
        return self.declare(self.type(), self.name())[:-1] + aligned + ";"

    def struct(self, number):
        kind = self.random.choice(["struct"] * 5 + ["union"])
        name = f"s{number}"
        body = " ".join(self.member(0, kind == "union") for _ in range(self.random.randint(1, 9)))
        packed = " __attribute__((packed))" if self.random.random() < 0.1 else ""
        bases = ""
        if self.is_cxx and kind == "struct" and self.cxx_bases:
            count = self.random.choice([0, 0, 1, 2])
            chosen = self.random.sample(self.cxx_bases, min(count, len(self.cxx_bases)))
            bases = " : " + ", ".join(chosen) if chosen else ""
        virtual = " virtual ~%s() {}" % name if bases and self.random.random() < 0.2 else ""
        self.lines.append(f"{kind} {name}{bases} {{ {body}{virtual} }}{packed};")
        if self.is_cxx and kind == "struct" and not virtual:
            self.cxx_bases = (self.cxx_bases + [name])[-6:] if not bases else self.cxx_bases
        if virtual:
            return  # it has a constructor: must not stand in unions
        self.structs.append(f"{kind} {name}" if not self.is_cxx else name)
        if self.random.random() < 0.2:
            self.lines.append(f"typedef {self.structs[-1]} t{number};")
            self.structs.append(f"t{number}")

    def source(self, n_structs):
        self.cxx_bases = []
        sized = []
        for i in range(n_structs):
            self.struct(i)
            sized.append(f"v{i}")
        names = [f"{'union' if l.startswith('union') else 'struct'} {l.split()[1]}"
                 for l in self.lines if not l.startswith("typedef")]
        for i, name in enumerate(names):
            dims = "[2]" if i % 7 == 0 else ""
            self.lines.append(f"{name} v{i}{dims};")
        self.lines.append("int main(void) { return 0; }")
        return "\n".join(self.lines), sized


RUST = '''
#[derive(Clone, Copy)] #[repr(C)] pub struct Inner { a: u8, b: u32, c: [u16; 3] }
pub struct Plain { a: u8, b: u64, c: u16, d: Inner, e: (u32, u8) }
pub struct Nested { list: [Inner; 4], p: Plain, f: f64 }
#[repr(C)] pub union Both { a: u64, b: [u8; 8], c: f32 }
pub mod deep { pub struct Here { pub x: i32, pub y: super::Inner } }
#[no_mangle] pub static mut v0: Inner = Inner { a: 1, b: 2, c: [3; 3] };
#[no_mangle] pub static mut v1: Plain = Plain { a: 1, b: 2, c: 3, d: Inner { a: 1, b: 2, c: [3; 3] }, e: (1, 2) };
#[no_mangle] pub static mut v2: Nested = Nested { list: [Inner { a: 1, b: 2, c: [3; 3] }; 4],
  p: Plain { a: 1, b: 2, c: 3, d: Inner { a: 1, b: 2, c: [3; 3] }, e: (1, 2) }, f: 0.0 };
#[no_mangle] pub static mut v3: Both = Both { a: 1 };
#[no_mangle] pub static mut v4: deep::Here = deep::Here { x: 1, y: Inner { a: 1, b: 2, c: [3; 3] } };
fn main() { unsafe { v0.a += 1; v1.a += 1; v2.f += 1.0; v3.a += 1; v4.x += 1;
  println!("{} {} {} {} {}", v0.b, v1.b, v2.f, v3.a, v4.x); } }
'''

BUILDS = [(f"{cc}-dwarf{d}-{seed}", cc, f"-gdwarf-{d} {more}", seed)
          for seed, (cc, d, more) in enumerate(
              [("gcc", 4, ""), ("gcc", 5, ""), ("gcc", 2, ""), ("gcc", 3, "-gstrict-dwarf"),
               ("clang", 4, ""), ("clang", 5, ""),
               ("g++", 4, ""), ("g++", 5, ""), ("g++", 4, "-fdebug-types-section"),
               ("g++", 5, "-gsplit-dwarf"), ("clang++", 4, ""), ("clang++", 5, ""),
               ("aarch64-linux-gnu-gcc", 5, "")])]


def build(name, compiler, options, seed, folder, n_structs):
    """The program and the names of its variables, or None if it cannot be built here."""
    out = folder / name
    if shutil.which(compiler) is None:
        print(f"{name}: left out, no {compiler}")
        return None
    if compiler == "rustc":
        text, names, suffix = RUST, [f"v{i}" for i in range(5)], "rs"
        command = ["rustc", "-g", "--crate-type", "bin"]
    else:
        is_cxx = "++" in compiler
        text, names = Maker(seed, is_cxx).source(n_structs)
        suffix = "cc" if is_cxx else "c"
        command = [compiler, "-w", *options.split()]
    source = folder / f"{name}.{suffix}"
    source.write_text(text)
    done = subprocess.run([*command, source, "-o", out], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        if compiler == "rustc":
            print(f"{name}: left out, cannot be built: {done.stderr.strip().splitlines()[-1:]}")
            return None
        raise SystemExit(f"{name}: {done.stderr[:1000]}")
    return out, names


def addresses(program, names):
    found = {}
    for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            found[words[2]] = words[0]
    return [f"{name} {found[name]}" for name in names if name in found]


def parse(text, n_columns):
    """By (variable, byte): the path; by variable: its size."""
    paths, sizes, variable = {}, {}, None
    for line in text.splitlines():
        words = line.split("\t")
        if words[0] == "variable":
            variable = words[1]
            sizes[variable] = words[2]
        elif variable is not None and len(words) >= 1 and words[0].isdigit():
            paths[variable, int(words[0])] = words[1] if len(words) > 1 else ""
    return paths, sizes


def is_same(ours, theirs):
    """Members without a name in a list are shown by their type; gdb's script says "?"."""
    if ours == theirs:
        return True
    if "?" not in theirs or "{" not in theirs:
        return False
    head, _, rest = theirs.partition("{")
    if not ours.startswith(head + "{"):
        return False
    mine = ours[len(head) + 1:].rstrip("}").replace("{…", "").split(",")
    return len(mine) == len(rest.rstrip("}").split(","))


def compare(tool, program, names, folder):
    lines = "\n".join(addresses(program, names)) + "\n"
    (folder / "names").write_text(lines)
    script = folder / "oracle.py"
    script.write_text(f"NAMES = {str(folder / 'names')!r}\n" + GDB)
    theirs = subprocess.run(["gdb", "-batch", "-nx", "-ex", f"source {script}", program], cwd=folder,
                            capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"})
    if theirs.returncode != 0 or "variable" not in theirs.stdout:
        print(f"{program.name}: left out, gdb: {theirs.stderr.strip().splitlines()[-1:]}")
        return 0, 0, []
    ours = subprocess.run([tool, program], input=lines, cwd=folder, capture_output=True, text=True, check=True)
    our_paths, our_sizes = parse(ours.stdout, 5)
    their_paths, their_sizes = parse(theirs.stdout, 3)
    wrong = [f"size of {v}: {our_sizes.get(v)}, gdb {s}" for v, s in their_sizes.items() if our_sizes.get(v) != s]
    wrong += [f"{k}: '{our_paths.get(k)}', gdb '{p}'" for k, p in their_paths.items()
              if not is_same(our_paths.get(k, "absent"), p)]
    return len(their_sizes), len(their_paths), wrong


def main():
    tool = os.path.abspath(sys.argv[1])
    n_of_each = int(sys.argv[2]) if len(sys.argv) > 2 else N_STRUCTS
    if shutil.which("gdb") is None or shutil.which("nm") is None:
        print("skipped: gdb or nm is not installed")
        return SKIPPED
    n_structs = n_bytes = n_wrong = 0
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        for name, compiler, options, seed in [*BUILDS, ("rust", "rustc", "", 0)]:
            built = build(name, compiler, options, seed, folder, n_of_each)
            if built is None:
                continue
            structs, n, wrong = compare(tool, *built, folder)
            n_structs += structs
            n_bytes += n
            n_wrong += len(wrong)
            print(f"{name}: {structs} variables, {n} bytes, {len(wrong)} differ")
            for line in wrong[:8]:
                print("   ", line)
    print(f"{n_structs} variables, {n_bytes} bytes, {n_wrong} differ")
    if n_structs == 0:
        return SKIPPED
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
