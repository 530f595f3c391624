#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `cyclops c2c` says is accessed where the data has no name: on the heap and on the stack;
and what it says of the kernel's variables.

usage: c2c_names.py CYCLOPS WRITE-ACCESSES

Programs are compiled at several levels. Marked lines of their source access a member through a
pointer, or a variable in the frame; for each of their instructions, records say that it accessed
memory without a name. What is said of it must be the truth or nothing, and the truth where the
compiler cannot but keep the pointer in a register.
"""

import argparse
import collections
import json
import os
import platform
import re
import subprocess
import tempfile

from harness import Checks, folded, need, run

A64 = "aarch64-linux-gnu-"
BASE, PAGE, LINE = 0x10000000, 4096, 64
LD, ST, PEER = 0, 1, 9

# A mark is: offset of the access in its object; "=", or "?" if it may be unknown, through a pointer;
# "|", or "~" if it may be unknown, in the frame; name of the member.
SOURCE = """
struct pair { int first, second; };
struct account { unsigned long lock, count; struct pair pairs[3]; char name[8]; unsigned long limit; };
typedef struct { long a, b; } plain;
union word { long whole; int half[2]; };
struct list { struct list *next; long value; };

#define OWN __attribute__((noinline, noclone)) void

OWN store(volatile struct account *a)
{
	a->count = 7; /* 8 = struct account.count */
}
OWN load(const volatile struct account *a, long *out)
{
	long found = a->limit; /* 48 ? struct account.limit */
	*out = found;
}
OWN nested(volatile struct account *a)
{
	a->pairs[1].second = 3; /* 28 = struct account.pairs[1].second */
}
OWN first(volatile struct account *a)
{
	a->lock = 1; /* 0 = struct account.lock */
}
OWN element(volatile struct pair *p, long i)
{
	p[i].first = 1; /* 0 ? struct pair.first */
}
OWN element_beside(volatile struct pair *p, long i)
{
	p[i].second = 1; /* 4 ? struct pair.second */
}
OWN typed(volatile plain *u)
{
	u->b = 1; /* 8 = plain.b */
}
OWN part(volatile union word *w)
{
	w->half[1] = 1; /* 4 = union word.{whole,half} */
}
OWN both(volatile struct account *a, volatile struct pair *p)
{
	a->name[3] = 1; /* 43 = struct account.name[3] */
	p->second = 2; /* 4 = struct pair.second */
}
static inline __attribute__((always_inline)) void inner(volatile struct account *inside)
{
	inside->limit = 5; /* 48 = struct account.limit */
}
OWN outer(volatile struct account *a)
{
	inner(a);
}
OWN walk(const volatile struct list *l)
{
	while (l != 0)
		l = l->next; /* 0 ? struct list.next */
}
/* The copy's place is the element, as long as nothing is written there: that is in no frame. */
__attribute__((noipa)) void copied(const unsigned *a, const long *b, long n, long *out)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		unsigned copy = a[i]; long value = b[copy]; sum += value; /* 0 ? *a or *b */
	}
	*out = sum;
}
OWN in_frame(void)
{
	volatile struct pair local;
	volatile long other[4];

	local.first = 1; /* 0 | local.first */
	local.second = 2; /* 4 | local.second */
	other[2] = 3; /* 16 ~ other[2] */
}
void _start(void)
{
	store(0); load(0, 0); nested(0); first(0); element(0, 0); element_beside(0, 0); typed(0);
	part(0); both(0, 0); outer(0); walk(0); copied(0, 0, 0, 0); in_frame();
}
"""

MARK = re.compile(r"/\* (\d+) ([=?|~]) (.*?) \*/")
# "  400100:	f9400001 	ldr	x1, [x0]"
CODE = re.compile(r"^\s*([0-9a-f]+):\t(?:[0-9a-f]+ ?)+\s*(\S+)\s*(.*)$")


def build(prefix, level, folder):
    source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(prefix + "gcc", f"-O{level}", "-g", "-nostdlib", "-static", "-fno-stack-protector", "-fno-pie",
        "-no-pie", "-fcf-protection=none" if not prefix else "-mbranch-protection=none",
        "-Wl,-Ttext-segment=0x400000", "-Wl,--build-id=none", source, "-o", program)
    return program


def is_access(prefix, mnemonic, operands):
    """Does it load or store, and which of the two?"""
    if prefix:
        if "[" not in operands or not mnemonic.startswith(("ld", "st")):
            return None
        return ST if mnemonic.startswith("st") else LD
    if not mnemonic.startswith("mov") or ("(" not in operands and "%fs:" not in operands):
        return None
    return ST if re.search(r"(\)|%fs:0x\w+)$", operands.rstrip()) else LD


def marked_code(prefix, program):
    """(address, operation, mark) of each instruction that accesses memory on a marked line."""
    marks = {n: MARK.search(line) for n, line in enumerate(SOURCE.split("\n"), 1)}
    code = []
    for line in run(prefix + "objdump", "-d", program).decode().split("\n"):
        found = CODE.match(line)
        operation = found and is_access(prefix, found[2], found[3])
        if operation is not None and found:
            code.append((int(found[1], 16), operation))
    text = "\n".join(hex(address) for address, _ in code)
    lines = subprocess.run([prefix + "addr2line", "-e", program], input=text.encode(), check=True,
                           capture_output=True).stdout.decode().split("\n")
    out = []
    for (address, operation), place in zip(code, lines):
        number = re.search(r":(\d+)", place)
        mark = marks.get(int(number[1])) if number else None
        if mark:
            out.append((address, operation, mark))
    return out


def record(code, arch, tools, folder, step=PAGE):
    """Two threads do each of these instructions, in a page of its own."""
    lines = []
    for n, (address, operation, mark) in enumerate(code):
        va = BASE + n * step + int(mark[1])
        for i in range(16):
            cpu = i % 2
            lines.append((cpu, i, f"{cpu} 500 {500 + cpu} {1000 * i + n:x} {address:x} {va:x} "
                                  f"{operation:x} {PEER:x} 60"))
    path = os.path.join(folder, "perf.data")
    text = "\n".join(line for _, _, line in sorted(lines))
    subprocess.run([tools[1], path, "/program", arch], input=text.encode(), check=True)
    return path


def check(prefix, level, tools, folder, checks):
    program = build(prefix, level, folder)
    # Without optimisation pointers are in memory: only what is in the frame is of interest.
    code = [c for c in marked_code(prefix, program) if level > 0 or c[2][2] in "|~"]
    answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json",
                            record(code, "aarch64" if prefix else "x86_64", tools, folder)))
    number_of = {line["line"]: (int(line["address"], 16) - BASE) // PAGE for line in answer["lines"]}
    object_of = {number_of[line["line"]]: (line.get("object_memory"), line.get("object_frame")) for line in answer["lines"]}
    found = {number_of[line["line"]]: line["accesses"][0].get("field") for line in answer["lines"]}
    for n, (address, _, mark) in enumerate(code):
        what = f"{prefix or 'native '}gcc -O{level}: {address:#x}, marked '{mark[0]}'"
        must = mark[2] in "=|"
        name = found.get(n)
        checks.count("named" if name else "not named")
        checks.expect(name in mark[3].split(" or ") or (name is None and not must), f"{what}: said to be {name}")
        if name and mark[2] in "|~":
            checks.expect(object_of[n] == ("stack", "in_frame"), f"{what}: in {object_of[n]}")
        elif name:
            checks.expect(object_of[n][0] == "anonymous", f"{what}: in {object_of[n]}")
    check_addr(found, tools, folder, checks, f"{prefix or 'native '}gcc -O{level}")
    # The struct that is stored to is drawn, for programs as rows.
    if level > 0:
        rows = {(row["object"], row["field"]) for row in answer["layouts"] if row.get("stores") == 8}
        checks.expect({("struct account", "count"), ("plain", "b")} <= rows,
                      f"{prefix or 'native '}gcc -O{level}: layouts {rows}")
    kinds = {mark[2] for _, _, mark in code}
    checks.expect(kinds == ({"|", "~"} if level == 0 else {"=", "?", "|", "~"}), f"marks found: {kinds}")


def check_addr(found, tools, folder, checks, what):
    """`addr` names the same, and all of it; elements of arrays are one."""
    answer = json.loads(run(tools[0], "addr", "--by", "field", "--all", "--symfs", folder, "--format", "json",
                            os.path.join(folder, "perf.data")))
    said = collections.Counter()
    for row in answer["fields"]:
        name = re.fullmatch(r"(?:anonymous: |stack: (?=.* of in_frame))?(.*?)(?: of in_frame)?", row["object"])[1]
        member = row.get("field", "")
        said["" if name.startswith("[") else name + ("." if member else "") + member] += row["records"]
    wanted = collections.Counter()
    for name in found.values():
        wanted[re.sub(r"^other\[2\]$", "other", name or "")] += 16
    checks.expect(said == wanted, f"{what}: addr says {said}, c2c {wanted}")
    # "208 accesses to memory without variables (heap, stack): types come from the code, for 84.6 % of them"
    text = folded(tools[0], "addr", "--symfs", folder, os.path.join(folder, "perf.data"))
    note = re.search(r"(\d+) accesses to memory without .* types come from the code, for (\d+\.\d) %", text)
    part = 100 * (1 - wanted[""] / wanted.total())
    checks.expect(note and int(note[1]) == wanted.total() and abs(float(note[2]) - part) <= 0.05,
                  f"{what}: {note and note[0]}, not {part} of {wanted.total()}")
    checks.count("fields in addr", len(wanted))


def check_stack_page(tools, folder, checks):
    """What a pointer leads to is on the stack if a frame is on the same page."""
    code = marked_code(A64, build(A64, 2, folder))
    code = [next(c for c in code if c[2][3] == name) for name in ("local.first", "struct account.count")]
    for step, where in ((LINE, "stack"), (PAGE, "anonymous")):
        answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json",
                                record(code, "aarch64", tools, folder, step)))
        objects = {int(line["address"], 16): [line.get(name) for name in ("object", "object_bytes", "object_memory")]
                   for line in answer["lines"]}
        checks.expect(objects.get(BASE + step) == ["struct account", 56, where],
                      f"{step} bytes beside a frame: {objects}")


# A mark is: "T"; "=", or "?" if it may be unknown; what is accessed.
THREAD_SOURCE = """
struct pair { long first, second; };
_Thread_local long filled[5] = { 1, 2, 3, 4, 5 };
HIDDEN _Thread_local struct pair mine;
static _Thread_local int list[16];
#define OWN __attribute__((noinline, noclone)) void
OWN use(volatile struct pair *p) { p->second = 1; /* T ? mine.second */ }
OWN store(void)
{
	*(volatile long *)&mine.second = 1; /* T = mine.second */
}
OWN load(volatile int *out)
{
	*(volatile long *)&filled[3] = 4; /* T = filled[3] */
	for (int i = 0; i < 16; i++) {
		*(volatile int *)&list[7] = i; /* T = list[7] */
		*out = i;
	}
}
OWN choose(int which, int i)
{
	volatile long *p = which ? &mine.first : &filled[1];
	*p = 3; /* T ? mine.first */
	*(volatile int *)&list[i] = 3; /* T ? list[2] */
}
OWN other(int which)
{
	switch (which) {
	case 0: *(volatile long *)&mine.first = 1; break; /* T = mine.first */
	case 1: *(volatile long *)&filled[0] = 2; break; /* T = filled[0] */
	}
	store();
	*(volatile long *)&filled[4] = 2; /* T ? filled[4] */
}
void _start(void) { use(&mine); store(); load(list); choose(1, 2); other(1); }
"""
THREAD_MARK = re.compile(r"/\* T ([=?]) (\w+)(\S*) \*/")

# Compiler, how programs are made, whether they are libraries.
THREAD_KINDS = (
    (A64, "-static -no-pie -fno-pie", False), (A64, "-static-pie -fPIE", False),
    (A64, "-static -no-pie -fno-pie -ftls-model=initial-exec", False), (A64, "-shared -fPIC", True),
    (A64, "-shared -fPIC -ftls-model=initial-exec", True), (A64, "-static-pie -fPIE -ftls-model=initial-exec", False),
    ("", "-static -no-pie -fno-pie", False), ("", "-static-pie -fPIE", False),
)


def thread_locals(prefix, program):
    """Where the block of an access begins, by the offset of the variable; and where it is said to begin."""
    text = run(prefix + "nm", program).decode()
    return {words[2]: int(words[0], 16) for words in map(str.split, text.split("\n"))
            if len(words) == 3 and words[1] in "DdBb"}


def marked_thread_locals(prefix, program):
    """(address, is certain, variable, member) of what writes on a marked line."""
    marks = {n: THREAD_MARK.search(line) for n, line in enumerate(THREAD_SOURCE.split("\n"), 1)}
    out = []
    code = [(int(found[1], 16), is_access(prefix, found[2], found[3]), found[3]) for found in
            map(CODE.match, run(prefix + "objdump", "-dw", program).decode().split("\n")) if found]
    code = [(address, "(" in operands and not prefix) for address, operation, operands in code if operation == ST]
    lines = subprocess.run([prefix + "addr2line", "-e", program],
                           input="\n".join(hex(address) for address, _ in code).encode(), check=True,
                           capture_output=True).stdout.decode().split("\n")
    # What x86 has in registers is not followed.
    for (address, is_by_register), place in zip(code, lines):
        number = re.search(r":(\d+)", place)
        mark = marks.get(int(number[1])) if number else None
        if mark:
            out.append((address, mark[1] == "=" and not is_by_register, mark[2], mark[3]))
    return out


MEMBER_OFFSETS = {".first": 0, ".second": 8}


def check_thread_kind(kind, level, tools, folder, checks):
    prefix, options, is_library = kind
    source, program = os.path.join(folder, "threads.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(THREAD_SOURCE.replace("HIDDEN", "__attribute__((visibility(\"hidden\")))" * is_library))
    run(prefix + "gcc", f"-O{level}", "-g", "-nostdlib", "-Wl,--build-id=none", *options.split(),
        *([] if prefix else ["-fcf-protection=none"]), source, "-o", program)
    at, width = thread_locals(prefix, program), {"mine": 1, "filled": 8, "list": 4}
    loads = run(prefix + "readelf", "-lW", program).decode()
    bias = 0 if " EXEC " in loads or "Type: EXEC" in loads or "-no-pie" in options else 0x7F0000000000
    found = re.findall(r"LOAD +(\S+) (\S+) \S+ +(\S+) +\S+ (R E)", loads)
    maps = [f"{(int(v, 16) & ~0xfff) + bias:x}:{int(s, 16) + 0x1fff & ~0xfff:x}:{int(o, 16) & ~0xfff:x}:5"
            for o, v, s, _ in found]
    what = f"{prefix}gcc -O{level} {options}"
    code = marked_thread_locals(prefix, program)
    lines, wanted = [], {}
    for n, (address, is_certain, variable, member) in enumerate(code):
        offset = MEMBER_OFFSETS.get(member, int(member[1:-1]) * width[variable] if "[" in member else 0)
        va = BASE + n * PAGE + at[variable] + offset
        wanted[va] = (is_certain, f"{variable}{member} (thread-local)")
        lines += [(i % 2, i, f"{i % 2} 500 {500 + i % 2} {1000 * i + n:x} {address + bias:x} {va:x} {ST:x} 0 9")
                  for i in range(8)]
    path = os.path.join(folder, "perf.data")
    text = "\n".join(line for _, _, line in sorted(lines))
    subprocess.run([tools[1], path, "/program", "aarch64" if prefix else "x86_64", *maps], input=text.encode(),
                   check=True)
    answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json", path))
    said = {int(line["address"], 16) + access["offset"]: access.get("field")
            for line in answer["lines"] for access in line["accesses"]}
    rows = json.loads(run(tools[0], "addr", "--by", "field", "--all", "--symfs", folder, "--format", "json", path))
    addr_said = {row["object"] for row in rows["fields"] if row["object"] in at}
    checks.expect(addr_said >= {re.split(r"[.\[ ]", name)[0] for is_certain, name in wanted.values() if is_certain},
                  f"{what}: addr says {addr_said}")
    for va, (is_certain, name) in wanted.items():
        is_said = said.get(va)
        may = is_said == name or (not is_certain and (is_said is None or "thread" not in is_said))
        checks.expect(may, f"{what}: {is_said}, not {name}")
        checks.count("thread-local" if is_said and "thread" in is_said else "thread-local, not said")
    checks.expect({name.split(".")[0].split("[")[0] for _, name in wanted.values()} == {"mine", "filled", "list"},
                  f"{what}: {sorted(wanted.items())}")


def check_threads(tools, folder, checks):
    for kind in THREAD_KINDS:
        for level in (0, 1, 2, 3):
            if kind[0] or platform.machine() == "x86_64":
                check_thread_kind(kind, level, tools, folder, checks)


def check_thread_blocks(tools, folder, checks):
    """
    The copies of two threads meet on a line: both are named, and with their threads. What a pointer of
    another thread leads to is named, too.
    """
    source, program = os.path.join(folder, "threads.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(THREAD_SOURCE.replace("HIDDEN", ""))
    run(A64 + "gcc", "-O2", "-g", "-nostdlib", "-static", "-no-pie", "-fno-pie", "-Wl,--build-id=none",
        "-Wl,-Ttext-segment=0x400000", source, "-o", program)
    at, code = thread_locals(A64, program), marked_thread_locals(A64, program)
    place = {variable + member: address for address, is_certain, variable, member in code if is_certain}
    use = next(address for address, _, variable, member in code if variable + member == "mine.second"
               and address < min(place.values()))
    size = int(re.search(r"TLS +\S+ \S+ \S+ \S+ (\S+)", run(A64 + "readelf", "-lW", program).decode())[1], 16)
    step = size + 15 & ~15
    # Blocks are aligned to 16 bytes; the end of one and the begin of the next are on a line.
    first = next(start for start in range(BASE, BASE + LINE, 16)
                 if (start + at["list"] + 28) // LINE == (start + step + at["filled"]) // LINE)
    spots = {"list[7]": first + at["list"] + 28, "filled[0]": first + step + at["filled"],
             "mine.second": first + at["mine"] + 8}
    of_mine = ("mine", "struct pair", 16, "thread-local", 500)
    path = os.path.join(folder, "perf.data")
    for own, other, pc, verdict, wanted in (
            ("list[7]", "filled[0]", place["filled[0]"], "false-sharing",
             ("list and filled", None, None, None, None)),
            ("mine.second", "mine.second", use, "true-sharing", of_mine)):
        text = "\n".join(f"{t} 500 {500 + t} {1000 * i + t:x} {(place[own], pc)[t]:x} {spots[(own, other)[t]]:x} 1 0 9"
                         for t in (0, 1) for i in range(1, 101))
        subprocess.run([tools[1], path, "/program"], input=text.encode(), check=True)
        answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json", path))
        lines = [line for line in answer["lines"] if line["records"] == 200]
        checks.expect([line["verdict"] for line in lines] == [verdict], f"blocks of threads: {answer['lines']}")
        fields = {access.get("field") for line in lines for access in line["accesses"]}
        checks.expect(fields == {f"{own} (thread-local)", f"{other} (thread-local)"}, f"blocks of threads: {fields}")
        told = ("object", "object_type", "object_bytes", "object_memory", "object_tid")
        checks.expect([tuple(map(line.get, told)) for line in lines] == [wanted], f"blocks of threads: {lines}")
        checks.count("blocks of threads")


ZERO_SOURCE = """
struct pair { long first, second; };
long filled[4] = { 1, 2, 3, 4 };
struct pair one __attribute__((aligned(64))), other __attribute__((aligned(64)));
int table[65536] __attribute__((aligned(64)));
void _start(void) { one.first = other.second = table[5] = filled[1]; }
"""


def check_zero(tools, folder, checks):
    """
    What is zero at the start, behind the end of the file's part of the mapping. The order of
    addresses must not matter, and commands must agree.
    """
    source, program = os.path.join(folder, "zero.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(ZERO_SOURCE)
    run(A64 + "gcc", "-O1", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-Wl,--build-id=none",
        "-Wl,-Ttext-segment=0x400000,-z,noseparate-code,-z,max-page-size=0x10000", source, "-o", program)
    symbols = symbols_of(program)
    # "  LOAD           0x000160 0x0000000000410160 0x0000000000410160 0x000020 0x0400e0 RW  0x10000"
    words = next(line.split() for line in run(A64 + "readelf", "-lW", program).decode().split("\n")
                 if re.match(r"\s*LOAD .* RW ", line))
    offset, start, size = (int(words[i], 16) for i in (1, 2, 5))
    first = start & ~0xFFFF
    mapping = f"{first:x}:{(start + size + 0xFFFF & ~0xFFFF) - first:x}:{offset & ~0xFFFF:x}:7"
    truth = {symbols["filled"] + 8: ("filled", "filled[1]"), symbols["one"]: ("one", "one.first"),
             symbols["other"] + 8: ("other", "other.second"), symbols["table"] + 20: ("table", "table[5]"),
             symbols["table"] + 260000: ("table", "table[65000]")}
    path = os.path.join(folder, "perf.data")
    for skipped in range(len(truth)):
        addresses = sorted(truth)[skipped:]
        text = "\n".join(f"{i % 2} 500 {500 + i % 2} {1000 * i:x} 400000 {address:x} 1 0 9"
                         for i in range(0, 16) for address in addresses)
        text = "\n".join(sorted(text.split("\n"), key=lambda line: line[0]))
        subprocess.run([tools[1], path, "/program", "aarch64", "400000:10000:0:5", mapping],
                       input=text.encode(), check=True)
        answer = json.loads(run(tools[0], "c2c", "--all", "--symfs", folder, "--format", "json", path))
        found = {int(line["address"], 16) + access["offset"]: access.get("field")
                 for line in answer["lines"] for access in line["accesses"]}
        wanted = {address: truth[address][1] for address in addresses}
        checks.expect({a: n and n.replace("..", "") for a, n in found.items()} == wanted,
                      f"zero at the start: c2c says {found}, not {wanted}")
        rows = run(tools[0], "addr", "--by", "object", "--symfs", folder, "--format", "json", path)
        objects = {row["object"] for row in json.loads(rows)["objects"]}
        checks.expect(objects == {truth[address][0] for address in addresses},
                      f"zero at the start: addr says {objects}")
        checks.count("names of zeroed data", len(addresses))


def check_no_addresses(tools, folder, checks):
    """Without addresses nothing can be said of lines: both commands say so, and it is no failure."""
    path = os.path.join(folder, "perf.data")
    private = "".join(f"0 500 500 {1000 * i:x} 400000 {BASE:x} 1 0 9\n" for i in range(1, 5))
    for records, can_tell in (("", False), (private.replace(f"{BASE:x}", "0"), False), (private, True)):
        subprocess.run([tools[1], path, "/program"], input=records.encode(), check=True)
        text = folded(tools[0], "c2c", path)
        checks.expect(("No access with a data address was found: SPE records" in text) != can_tell
                      and ("No line is contended" in text) == can_tell, f"c2c of {records!r}: {text}")
        if records == "":
            said = folded(tools[0], "addr", path)
            checks.expect(said.lower() in text.lower(), f"no records: addr says {said}, c2c {text}")
        checks.count("captures without addresses", not can_tell)


def check_cost(tools, folder, checks):
    """Latencies overlap: their sum is no time that was lost, and is not said to be."""
    path = os.path.join(folder, "perf.data")
    records = "".join(f"{t} 500 {500 + t} {1000 * i:x} 400000 {BASE + 8 * t:x} {ST if t == 0 else LD:x} 9 c8\n"
                      for t in (0, 1) for i in range(1, 40))
    subprocess.run([tools[1], path, "/program"], input=records.encode(), check=True)
    text = folded(tools[0], "c2c", path)
    checks.expect("39 loads from another core: mean 200 cycles" in text and "lost" not in text,
                  f"the cost of a line: {text}")
    line = json.loads(run(tools[0], "c2c", "--format", "json", path))["lines"][0]
    # The interval is 1024 operations, and what its jitter adds.
    checks.expect(1024 <= line["lost_cycles"] / (39 * 200) <= 1026, f"lost_cycles: {line['lost_cycles']}")
    checks.count("costs of lines")


KERNEL = 0xFFFF800008000000
KERNEL_SOURCE = """
struct counters { unsigned long hits, misses; };
struct counters counters __attribute__((aligned(64))) = { 1, 2 };
static volatile unsigned long table[8] __attribute__((aligned(64))) = { 1 };
__asm__(".globl _text; .section .text; _text: nop");
void work(void) { table[1] = counters.misses; }
"""


def symbols_of(program):
    text = run(A64 + "nm", program).decode()
    return {words[2]: int(words[0], 16) for words in map(str.split, text.split("\n")) if len(words) == 3}


def names_in_kernel(addresses, options, tools, folder):
    """What is said of these addresses, which two threads write to."""
    lines = []
    for i in range(16):
        for address in addresses:
            lines.append((i % 2, i, f"{i % 2} 500 {500 + i % 2} {1000 * i:x} 400000 {address:x} 1 0 9"))
    path = os.path.join(folder, "perf.data")
    text = "\n".join(line for _, _, line in sorted(lines))
    subprocess.run([tools[1], path, "/program"], input=text.encode(), check=True)
    answer = json.loads(run(tools[0], "c2c", "--all", "--format", "json", *options, path))
    return {int(line["address"], 16) + access["offset"]: access.get("field")
            for line in answer["lines"] for access in line["accesses"]}


def check_kernel(tools, folder, checks):
    """Variables of the kernel: by kallsyms, which has no types, and by its file."""
    source, vmlinux = os.path.join(folder, "kernel.c"), os.path.join(folder, "vmlinux")
    with open(source, "w") as file:
        file.write(KERNEL_SOURCE)
    run(A64 + "gcc", "-O1", "-g", "-nostdlib", "-static", "-ffreestanding", "-mcmodel=large", "-fno-pie",
        "-no-pie", f"-Wl,-Ttext={KERNEL:#x},-Tdata={KERNEL + 0x800000:#x},-e,work", source, "-o", vmlinux)
    symbols = symbols_of(vmlinux)
    kallsyms = os.path.join(folder, "kallsyms")
    with open(kallsyms, "w") as file:
        for name in ("_text", "counters", "table"):
            kind = {"_text": "T", "counters": "D", "table": "d"}[name]
            file.write(f"{symbols[name]:016x} {kind} {name}\n")
    for options, names in ((["--kallsyms", kallsyms], ("counters+0x8", "table+0x10")),
                           (["--vmlinux", vmlinux], ("counters.misses", "table[2]"))):
        addresses = [symbols["counters"] + 8, symbols["table"] + 16, KERNEL + 0x4000000]
        found = names_in_kernel(addresses, options, tools, folder)
        for address, name in zip(addresses, (*names, None)):
            checks.expect(found.get(address, "not listed") == name,
                          f"kernel, {options[0]}: {address:#x} is said to be {found.get(address)}, not {name}")
        checks.count("names in the kernel", 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cyclops")
    parser.add_argument("write_accesses")
    args = parser.parse_args()
    need(A64 + "gcc")
    need(A64 + "objdump")
    prefixes = [A64] + ([""] if platform.machine() == "x86_64" else [])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for prefix in prefixes:
            for level in (0, 1, 2, 3):
                check(prefix, level, (args.cyclops, args.write_accesses), folder, checks)
        check_threads((args.cyclops, args.write_accesses), folder, checks)
        check_thread_blocks((args.cyclops, args.write_accesses), folder, checks)
        check_stack_page((args.cyclops, args.write_accesses), folder, checks)
        check_no_addresses((args.cyclops, args.write_accesses), folder, checks)
        check_cost((args.cyclops, args.write_accesses), folder, checks)
        check_zero((args.cyclops, args.write_accesses), folder, checks)
        check_kernel((args.cyclops, args.write_accesses), folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
