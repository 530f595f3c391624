#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What is said of data that optimised code reaches through pointers that no variable in a register
holds: `stats->limit`, `pool->conns[i].rx`, `a[i]` with static pointers.

usage: c2c_pointers.py CYCLOPS WRITE-ACCESSES

A program makes objects, says where they are, and uses them in many ways. What each of its
instructions truly accesses is found out by running it: on x86-64 step by step, with all registers;
for AArch64 on the model, which gives each access its address. Then records say that each of these
instructions accessed memory without a name. What is said of it must be true of all that it was
seen to access, or nothing may be said. How much is said is counted.
"""

import argparse
import collections
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile

from harness import Checks, environment_of_guests, run, skip

A64 = "aarch64-linux-gnu-"
BASE, PAGE = 0x10000000, 4096
LD, ST, PEER = 0, 1, 9
# Of the instructions of a program that access objects, so many have to be named.
LEAST_PART = 0.7

SHARED = """
struct stats { long requests, before, limit, errors; };
struct stats *elsewhere;
"""

# "p: a b" in a comment: the pointer p points to elements of a or b.
SOURCE = """
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define OWN __attribute__((noinline, noclone, section("traced")))
struct stats { long requests, before, limit, errors; };
struct conn { long id; volatile long rx; long tx; int state, timeout; struct conn *next; double mean; };
struct base { long kind; struct conn *owned; };
struct pool {
	struct conn *conns; long n; struct conn *head; struct stats *stats; double *weights;
	union { struct conn *conn; struct stats *stats; } either;
	void *raw; struct conn *table[4]; struct { long depth; struct stats *inner; } nested;
	struct base base; unsigned char flags[8]; long last;
};
extern struct stats *elsewhere;
static struct pool *pool; static struct stats *stats; static void *opaque; static struct pool direct;
static double *a, *b, *c; static float *f; static int *numbers; static unsigned char *bytes, *others;
static long *longs; static double **rows; static struct stats *many[4]; static char *text;
static struct { long filler; struct conn *first; } holder;
typedef struct conn conn_type;
static conn_type *const volatile *fixed;

/* Pointers: a: a; b: b; c: c; f: f; numbers: numbers; bytes: bytes; others: others; longs: longs;
   rows: rows; pool->weights: a; rows[]: a b c; *rows: a; choice: a b; x: a; y: b; link: head next; ids: id;
   many: many; fixed: fixed; up: longs; down: longs; from: bytes; to: others; text: text; fixed[]: conn */

OWN long limit(long n) { long s = 0; for (long i = 0; i < n; i++) { s += stats->limit; asm volatile("" ::: "memory"); } return s; }
OWN void count(long n) { for (long i = 0; i < n; i++) ((volatile struct stats *)stats)->requests++; }
OWN void receive(long n) { for (long i = 0; i < n; i++) pool->conns[i & 3].rx++; }
OWN void receive_int(int n) { for (int i = 0; i < n; i++) pool->conns[i].rx += i; }
OWN void triad(long n) { for (long i = 0; i < n; i++) a[i] = b[i] + 3 * c[i]; }
OWN void singles(int n) { for (int i = 0; i < n; i++) f[i] = f[i] * 2 + numbers[i]; }
OWN void backwards(long n) { for (long i = n; i-- > 0;) a[i] += b[n - 1 - i]; }
OWN double stencil(long n) { double s = 0; for (long i = 1; i + 1 < n; i++) s += a[i - 1] - 2 * a[i] + a[i + 1]; return s; }
OWN double strided(long n) { double s = 0; for (long i = 0; i < n; i += 3) s += a[i] * b[2 * i]; return s; }
OWN long sum_bytes(long n) { long s = 0; for (long i = 0; i < n; i++) s += bytes[i]; return s; }
OWN void copy_bytes(long n) { for (long i = 0; i < n; i++) others[i] = bytes[i]; }
OWN long compare(long n) { long i = 0; while (i < n && bytes[i] == others[i]) i++; return i; }
OWN long differ(const unsigned char *from, const unsigned char *to, long n) { long s = 0; for (long i = 0; i < n; i++) s += from[i] != to[i]; return s; }
OWN long walk(void) { long s = 0; for (struct conn *l = pool->head; l != 0; l = l->next) s += l->tx; return s; }
OWN long unlink_one(long id) { struct conn **link = &pool->head; while (*link != 0) { if ((*link)->id == id) { struct conn *gone = *link; *link = gone->next; gone->timeout = 0; return gone->tx; } link = &(*link)->next; } return 0; }
OWN long of_union(int k) { return k ? pool->either.conn->id : pool->either.stats->errors; }
OWN long of_void(void) { return ((struct stats *)opaque)->errors + ((struct conn *)pool->raw)->tx; }
OWN long cast(long n) { long s = 0; for (long i = 0; i < n; i++) s += *(long *)(text + 8 * i); return s; }
OWN double choose(int k, long n) { double *choice = k ? a : b; double s = 0; for (long i = 0; i < n; i++) s += choice[i]; return s; }
OWN void exchange(long n) { double *x = a, *y = b; for (long i = 0; i < n; i++) { double t = x[i]; x[i] = y[i]; y[i] = t; } }
OWN long which(int k) { struct stats *q = k ? stats : pool->stats; return q->errors; }
OWN long other_unit(void) { return elsewhere->before + elsewhere->errors; }
OWN void states(void) { for (struct conn *p = pool->conns; p < pool->conns + 4; p++) p->state++; }
OWN double table_rows(long n) { double s = 0; for (long i = 0; i < 3; i++) for (long j = 0; j < n; j++) s += rows[i][j]; return s; }
OWN long globals(long i) { return many[i & 3]->requests + pool->table[i & 3]->id + direct.conns[i & 1].tx + holder.first->rx; }
OWN long nested(void) { return pool->nested.inner->limit + pool->base.owned->timeout; }
OWN void weigh(long n) { for (long i = 0; i < n; i++) pool->weights[i] *= pool->conns[i & 3].mean; }
OWN void assign(long i) { pool->conns[i] = pool->conns[i + 1]; }
OWN long atomic(void) { return __atomic_fetch_add(&stats->errors, 1, 5) + __atomic_exchange_n(&pool->n, 4, 5); }
OWN long many_ids(long n) { long *ids = &pool->conns[0].id, s = 0; for (long i = 0; i < n; i++) s += ids[i * (long)(sizeof(struct conn) / 8)]; return s; }
OWN long outer(long i) { struct conn *const *at = &pool->conns[i].next; const struct conn *whole = (const struct conn *)((const char *)at - offsetof(struct conn, next)); return whole->tx + whole->timeout; }
OWN long nearer(long i, long k) { struct conn *p = i < k ? &pool->conns[i] : &pool->conns[k]; return p->id + p->state; }
OWN void called(long i) { struct conn *p = &pool->conns[i & 3]; limit(1); p->rx++; limit(1); p->tx = i; }
OWN long up_and_down(long n) { long *up = longs, *down = longs + n, s = 0; while (up < down) s += *up++ ^ *--down; return s; }
OWN long list_of(long n) { long s = 0; for (long i = 0; i < n; i++) s += fixed[i & 1]->tx; return s; }
OWN void clear(long n) { memset(longs, 0, n * sizeof(long)); for (long i = 0; i < n; i++) longs[i] = i; }
OWN long flags(void) { long s = 0; for (int i = 0; i < 8; i++) s += pool->flags[i]; return s + pool->last; }
OWN void fill_all(long n) { for (long i = 0; i < n; i++) { pool->conns[i].id = i; pool->conns[i].mean = 1; stats->before += i; } }
OWN long deep(void) { return pool->conns->next->next->tx + pool->head->next->next->next->rx; }
OWN void work(long n)
{
	limit(n); count(n); receive(n); receive_int(3); triad(n); singles((int)n); backwards(n); stencil(n); strided(n / 2);
	sum_bytes(n); copy_bytes(n); compare(n); differ(bytes, others, n); fill_all(4); walk(); deep(); unlink_one(2); of_union(0);
	of_union(1); of_void(); cast(n); choose(0, n); choose(1, n); exchange(n); which(0); which(1); other_unit(); states();
	table_rows(n); globals(1); globals(2); nested(); weigh(n); assign(0); atomic(); many_ids(4); outer(1); nearer(0, 1);
	nearer(2, 1); called(2); up_and_down(n); list_of(4); clear(n); flags();
}
static char *next_free;
static void *make(const char *name, const char *type, size_t size, size_t n)
{
	void *made = next_free;
	next_free += size * n + 64 + 63 & ~(size_t)63;
	printf("object %s %s %lx %lu %lu\\n", name, type, (unsigned long)made, (unsigned long)size, (unsigned long)n);
	return made;
}
#define MEMBER(type, m) printf("member %s %s %lu %lu\\n", #type, #m, (unsigned long)offsetof(struct type, m), (unsigned long)sizeof(((struct type *)0)->m))
#if defined(__x86_64__)
#include <signal.h>
#include <ucontext.h>
extern char __start_traced[], __stop_traced[];
static unsigned long (*trace)[18];
static unsigned long n_steps;
/* By DWARF's numbers. */
static const int places[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
static void step(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	(void)signal; (void)info;
	if ((char *)r[REG_RIP] < __start_traced || (char *)r[REG_RIP] >= __stop_traced || n_steps == 1 << 16) return;
	for (int i = 0; i < 17; i++) trace[n_steps][i] = (unsigned long)r[places[i]];
	n_steps++;
}
static void traced(long n)
{
	struct sigaction action = { 0 };
	trace = mmap(0, sizeof(*trace) << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	action.sa_sigaction = step; action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, 0);
	asm volatile("sub $128, %rsp; pushf; orl $0x100, (%rsp); popf; add $128, %rsp");
	work(n);
	asm volatile("sub $128, %rsp; pushf; andl $~0x100, (%rsp); popf; add $128, %rsp");
	for (unsigned long i = 0; i < n_steps; i++) {
		printf("step");
		for (int k = 0; k < 17; k++) printf(" %lx", trace[i][k]);
		printf("\\n");
	}
}
#else
static void traced(long n) { for (int i = 0; i < 2500; i++) work(n); }
#endif
int main(void)
{
	long n = 36;
	next_free = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stats = make("stats", "stats", sizeof(*stats), 1);
	pool = make("pool", "pool", sizeof(*pool), 1);
	pool->conns = make("conns", "conn", sizeof(struct conn), 40);
	pool->head = pool->conns + 8;
	for (long i = 0; i < 16; i++) pool->conns[i].next = pool->conns + 8 + (i + 1) % 8;
	pool->conns[15].next = 0; pool->conns[0].next = pool->conns + 1;
	for (long i = 0; i < 16; i++) pool->conns[i].id = i - 8;
	pool->stats = make("stats2", "stats", sizeof(*stats), 1);
	elsewhere = make("stats3", "stats", sizeof(*stats), 1);
	opaque = elsewhere; pool->raw = pool->conns;
	pool->either.stats = pool->stats; if (n == 1) pool->either.conn = pool->conns;
	pool->either.conn = pool->conns;
	a = make("a", "double", 8, 80); b = make("b", "double", 8, 80); c = make("c", "double", 8, 80);
	f = make("f", "float", 4, 80); numbers = make("numbers", "int", 4, 80);
	bytes = make("bytes", "char", 1, 80); others = make("others", "char", 1, 80);
	longs = make("longs", "long", 8, 80); text = make("text", "char", 1, 400);
	rows = make("rows", "pointer", 8, 3); rows[0] = a; rows[1] = b; rows[2] = c;
	for (int i = 0; i < 4; i++) { many[i] = i & 1 ? stats : pool->stats; pool->table[i] = pool->conns + i; }
	fixed = make("fixed", "pointer", 8, 2); ((conn_type **)fixed)[0] = pool->conns + 20; ((conn_type **)fixed)[1] = pool->conns + 21;
	direct.conns = pool->conns + 30; holder.first = pool->conns + 32; pool->weights = a;
	pool->nested.inner = elsewhere; pool->base.owned = pool->conns + 33;
	MEMBER(stats, requests); MEMBER(stats, before); MEMBER(stats, limit); MEMBER(stats, errors);
	MEMBER(conn, id); MEMBER(conn, rx); MEMBER(conn, tx); MEMBER(conn, state); MEMBER(conn, timeout); MEMBER(conn, next); MEMBER(conn, mean);
	MEMBER(pool, conns); MEMBER(pool, n); MEMBER(pool, head); MEMBER(pool, stats); MEMBER(pool, weights); MEMBER(pool, either);
	MEMBER(pool, raw); MEMBER(pool, table); MEMBER(pool, nested); MEMBER(pool, base); MEMBER(pool, flags); MEMBER(pool, last);
	fflush(stdout);
	traced(n);
	return 0;
}
"""

POINTERS = {name: set(objects.split()) for name, objects in
            re.findall(r"([\w\[\]>*-]+): ([\w ]+)", re.search(r"Pointers: (.*?)\*/", SOURCE, re.DOTALL)[1])}
REGISTERS = {name: n for n, name in enumerate(("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                               *(f"r{n}" for n in range(8, 16))))}
# "  400100:	mov    0x8(%rax,%rcx,8),%rdx"
CODE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")
OPERAND = re.compile(r"(%fs:)?(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),(\d))?\)")


class World:
    """What the program says of its objects."""

    def __init__(self, text):
        self.objects = [(name, kind, int(start, 16), int(size), int(n)) for name, kind, start, size, n in
                        re.findall(r"^object (\S+) (\S+) (\S+) (\S+) (\S+)$", text, re.MULTILINE)]
        self.members = collections.defaultdict(list)
        for kind, name, offset, size in re.findall(r"^member (\S+) (\S+) (\S+) (\S+)$", text, re.MULTILINE):
            self.members[kind].append((name, int(offset), int(size)))

    def at(self, address):
        """(object, type, offset in the element, names that are true of it), or None."""
        for name, kind, start, size, n in self.objects:
            if start <= address < start + size * n:
                offset = (address - start) % size
                return name, kind, offset
        return None

    def is_true(self, said, place):
        """Is a name true of what is at a place?"""
        name, kind, offset = place
        if said.startswith("*"):
            allowed = POINTERS.get(said[1:].split("+")[0], set())
            member = next((m for m, at, size in self.members[kind] if at <= offset < at + size), None)
            return name in allowed or member in allowed or kind in allowed
        found = re.match(r"(?:struct )?(\w+)\.(.*)", said)
        if not found or found[1].removesuffix("_type") != kind:
            return False
        first = re.split(r"[.\[]|\.\.", found[2])[0]
        return any(m == first and at <= offset < at + size for m, at, size in self.members[kind])


def build(prefix, compiler, level, folder):
    source, shared, program = (os.path.join(folder, name) for name in ("program.c", "shared.c", "program"))
    for path, text in ((source, SOURCE), (shared, SHARED)):
        with open(path, "w") as file:
            file.write(text)
    run(prefix + compiler, f"-O{level}", "-g", "-w", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-Wl,--build-id=none",
        "-fno-strict-aliasing", *(["-mno-outline-atomics"] if prefix else ["-fcf-protection=none"]),
        source, shared, "-o", program)
    return program


def by_steps(program):
    """World, and {instruction: addresses}, of a run step by step."""
    text = subprocess.run([program], check=True, capture_output=True, env=environment_of_guests()).stdout.decode()
    operands = {}
    for line in run("objdump", "-d", "--no-show-raw-insn", "-j", "traced", program).decode().split("\n"):
        found = CODE.match(line)
        operand = found and OPERAND.search(found[3])
        if operand and not found[2].startswith(("lea", "nop", "call", "jmp", "prefetch")) and "rip" not in found[3]:
            operands[int(found[1], 16)] = operand
    seen = collections.defaultdict(set)
    for line in re.findall(r"^step (.*)$", text, re.MULTILINE):
        r = [int(word, 16) for word in line.split()]
        operand = operands.get(r[16])
        if operand is None or operand[1]:
            continue
        base = r[REGISTERS[operand[3][1:]]] if operand[3] else 0
        index = r[REGISTERS[operand[4][1:]]] * int(operand[5]) if operand[4] else 0
        seen[r[16]].add((base + index + int(operand[2] or "0", 16)) & (1 << 64) - 1)
    return World(text), seen


def by_model(program, cyclops, folder):
    """The same on the model, by samples."""
    path = os.path.join(folder, "model.data")
    text = run(cyclops, "model", "--loads", "--stores", "-o", path, "--", program).decode()
    seen = collections.defaultdict(set)
    rows = run(cyclops, "export", path).decode().split("\n")
    columns = {name: n for n, name in enumerate(rows[0].split(","))}
    for row in rows[1:]:
        words = row.split(",")
        if len(words) > 5 and words[columns["vaddr"]]:
            seen[int(words[columns["pc"]], 16)].add(int(words[columns["vaddr"]], 16))
    return World(text), seen


def sections(prefix, program):
    """START:LENGTH:OFFSET:PROTECTION of the program's segments, for write-accesses."""
    loads = run(prefix + "readelf", "-lW", program).decode()
    out = []
    for offset, start, size, flags in re.findall(r"LOAD +(\S+) (\S+) \S+ +(\S+) +\S+ (...) ", loads):
        first, last = int(start, 16) & ~0xFFF, (int(start, 16) + int(size, 16) + 0xFFF) & ~0xFFF
        out.append(f"{first:x}:{last - first:x}:{int(offset, 16) & ~0xFFF:x}:{5 if 'E' in flags else 3}")
    return out


def check(prefix, compiler, level, args, folder, checks):
    program = build(prefix, compiler, level, folder)
    world, seen = by_steps(program) if not prefix else by_model(program, args.cyclops, folder)
    traced = re.search(r"\] traced +\S+ +(\S+) +\S+ +(\S+)", run(prefix + "readelf", "-SW", program).decode())
    first, size = int(traced[1], 16), int(traced[2], 16)
    places = {}
    for pc, addresses in sorted(seen.items()):
        found = {world.at(address) for address in addresses}
        if None not in found and first <= pc < first + size:
            places[pc] = found
    what = f"{prefix or 'native '}{compiler} -O{level}"
    checks.expect(len(places) > 60, f"{what}: only {len(places)} instructions were seen")
    lines = []
    for n, (pc, found) in enumerate(places.items()):
        va = BASE + n * PAGE + min(offset for _, _, offset in found)
        lines += [(i % 2, i, f"{i % 2} 500 {500 + i % 2} {1000 * i + n:x} {pc:x} {va:x} {ST:x} {PEER:x} 60")
                  for i in range(4)]
    path = os.path.join(folder, "perf.data")
    subprocess.run([args.write_accesses, path, "/program", "aarch64" if prefix else "x86_64", *sections(prefix, program)],
                   input="\n".join(line for _, _, line in sorted(lines)).encode(), check=True)
    answer = json.loads(run(args.cyclops, "c2c", "--all", "--symfs", folder, "--format", "json", path))
    said = {(int(line["address"], 16) - BASE) // PAGE: access.get("field")
            for line in answer["lines"] for access in line["accesses"]}
    n_named = 0
    for n, (pc, found) in enumerate(places.items()):
        name = said.get(n)
        n_named += name is not None
        checks.expect(name is None or all(world.is_true(name, place) for place in found),
                      f"{what}: {pc:#x} is said to access {name}, but it is {sorted(found)}")
        if args.verbose and name is None:
            print(f"{what}: {pc:#x} not named: {sorted(found)}")
    print(f"{what}: {n_named} of {len(places)} instructions named")
    checks.count("named", n_named)
    checks.count("not named", len(places) - n_named)
    checks.expect(n_named >= LEAST_PART * len(places), f"{what}: {n_named} of {len(places)} named")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cyclops")
    parser.add_argument("write_accesses")
    parser.add_argument("--verbose", action="store_true", help="list what has no name")
    args = parser.parse_args()
    compilers = [("", "gcc"), ("", "clang")] if platform.machine() == "x86_64" else []
    if shutil.which("qemu-aarch64"):
        compilers.append((A64, "gcc"))
    compilers = [(prefix, name) for prefix, name in compilers if shutil.which(prefix + name)]
    if not compilers:
        skip("neither x86-64, nor a compiler and an emulator of AArch64")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for prefix, compiler in compilers:
            for level in (1, 2, 3):
                check(prefix, compiler, level, args, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
