#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Objects of one type at different addresses, and what `cyclops c2c` makes of them.

usage: c2c_instances.py CYCLOPS WRITE-ACCESSES

A program has functions that access members of a struct through a pointer, and an array of the same
struct; records say which thread did that to which object. One cause has to be one finding, with the
number of objects, the cost of all of them, and the accesses of all in one drawing.
"""

import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from harness import Checks, need, run

A64 = "aarch64-linux-gnu-"
HEAP, LINE, PID = 0x10000000, 64, 500
LD, ST, ATOMIC = 0x00, 0x01, 0x06
L1, PEER = 0x0, 0x9
HIT, WAIT = 4, 104

SOURCE = """
struct conn { unsigned long id, lock, refs, pad[5], sent, more[7]; };
struct other { unsigned long a, b, rest[14]; };
struct conn table[64] __attribute__((aligned(64)));
#define OWN __attribute__((noinline, noclone)) void
OWN take(volatile struct conn *c) { c->lock = 1; /* take */ }
OWN look(const volatile struct conn *c, long *out) { *out = c->refs; /* look */ }
OWN send(volatile struct conn *c) { c->sent = 1; /* send */ }
OWN sent(const volatile struct conn *c, long *out) { *out = c->sent; /* sent */ }
OWN name(const volatile struct conn *c, long *out) { *out = c->id; /* name */ }
OWN put(volatile struct other *o) { o->a = 1; /* put */ }
OWN get(const volatile struct other *o, long *out) { *out = o->b; /* get */ }
void _start(void) { long x; take(table); look(table, &x); send(table); sent(table, &x); name(table, &x);
	put((void *)table); get((void *)table, &x); }
"""
OFFSETS = {"take": 8, "look": 16, "send": 64, "sent": 64, "name": 0, "put": 0, "get": 8}
CODE = re.compile(r"^\s*([0-9a-f]+):\t(?:[0-9a-f]+ ?)+\s*(\S+)\s*(.*)$")


def build(folder):
    """Address of the instruction of each mark, and of the table."""
    source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(A64 + "gcc", "-O2", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-Wl,-Ttext-segment=0x400000",
        "-Wl,--build-id=none", source, "-o", program)
    return places_of(program), symbols_of(program)["table"]


def symbols_of(program):
    return {words[2]: int(words[0], 16) for words in map(str.split, run(A64 + "nm", program).decode().split("\n"))
            if len(words) == 3}


def places_of(program):
    places, function = {}, None
    for text in run(A64 + "objdump", "-d", program).decode().split("\n"):
        start = re.match(r"^[0-9a-f]+ <(\w+)>:", text)
        function = start[1] if start else function
        code = CODE.match(text)
        if code and function in OFFSETS and "[x0" in code[3]:
            places.setdefault(function, int(code[1], 16))
    return places


class Case:
    def __init__(self, places, seed):
        self.places, self.rng, self.records = places, random.Random(seed), []

    def add(self, thread, function, start, n=1, source=L1, at=(0, 1)):
        operation = ST if function in ("take", "send", "put") else LD
        for _ in range(n):
            time = int(10**6 * self.rng.uniform(*at))
            self.records.append((thread, time, self.places[function], start + OFFSETS[function], operation, source,
                                 WAIT if source == PEER else HIT))
        return self

    def background(self, n):
        for i in range(n):
            self.records.append((15, 100 + i, self.places["name"], HEAP + 0x800000 + 4096 * (i % 64), LD, L1, HIT))
        return self

    def ask(self, tools, folder, *options, text=False):
        lines = [f"{thread} {PID} {PID + thread} {1000 + time:x} {pc:x} {address:x} {op:x} {source:x} {latency:x} 0 0 0"
                 for thread, time, pc, address, op, source, latency in sorted(self.records)]
        path = os.path.join(folder, "perf.data")
        subprocess.run([tools[1], path, "/program"], input="\n".join(lines).encode(), check=True)
        shape = [] if text else ["--format", "json"]
        said = run(tools[0], options[0], "--symfs", folder, *options[1:], *shape, path).decode()
        return " ".join(said.split()) if text else json.loads(said)

    def share(self, is_one=lambda record: True):
        loads = [r for r in self.records if r[4] == LD]
        return sum(r[6] - HIT for r in loads if r[5] == PEER and is_one(r)) / sum(r[6] for r in loads)


def connections(case, n, step=192, start=HEAP, owners=4, per=3):
    """One thread takes the lock of its own connections, another one looks at the references."""
    for i in range(n):
        owner = i % owners
        at = start + i * step
        source = PEER if (at + 8) // LINE == (at + 16) // LINE else L1
        case.add(owner, "take", at, per).add((owner + 1) % owners, "look", at, per).add((owner + 1) % owners, "look", at, 1, source)
    return case


def check_askers(places, tools, folder, checks):
    """A report, and a c2c that shows less, say the same of a cause, also if more lines are of it than are looked at."""
    case = connections(Case(places, 5), 6000, per=1)
    whole = case.ask(tools, folder, "c2c")["findings"][0]
    for words, fix in ((["c2c", "--top", "1"], "fix"), (["report"], "try")):
        found = next(f for f in case.ask(tools, folder, *words)["findings"] if f["kind"] == whole["kind"])
        same = [found[name] == whole[name] for name in ("claim", "share", "share_error", "function", "writer")]
        checks.expect(all(same) and found[fix] == whole["fix"], f"{words}: {found}; c2c: {whole}")
    checks.count("findings as others are told them", 2)


def check_heap(places, tools, folder, checks):
    """Hardly a sample of each object, but many objects: one finding, with all costs and all accesses."""
    for n, step in ((240, 192), (240, 208), (3000, 192)):
        case = connections(Case(places, n), n, step).background(100)
        answer = case.ask(tools, folder, "c2c")
        found = answer["findings"]
        what = f"{n} objects, {step} bytes apart"
        if not checks.expect(len(found) == 1, f"{what}: {[f['claim'] for f in found]}"):
            return
        f = found[0]
        on_line = [(HEAP + i * step + 8) // LINE == (HEAP + i * step + 16) // LINE for i in range(n)]
        checks.expect(f["kind"] == "false-sharing" and f["objects"] == sum(on_line), f"{what}: {f['objects']} in {f['claim']}")
        checks.expect(f"struct conn (128 bytes, anonymous) in {sum(on_line)} objects" in f["claim"], f"{what}: {f['claim']}")
        expected = case.share(lambda r: on_line[(r[3] - HEAP) // step])
        checks.expect(abs(f["share"] - expected) < 1e-9, f"{what}: share {f['share']}, expected {expected}")
        checks.expect("move `refs` to its own cache line: alignas(64)" in f["fix"] and
                      "Allocate each at a multiple of 64" in f["fix"], f"{what}: {f['fix']}")
        rows = {(row["field"], row.get("role")): (row["loads"], row["stores"]) for row in answer["layouts"]
                if "loads" in row and row.get("finding") == 1}
        checks.expect(rows == {("lock", "A"): (0, 3 * sum(on_line)), ("refs", "B"): (4 * sum(on_line), 0)}, f"{what}: {rows}")
        checks.expect({line["finding"] for line in answer["lines"] if line.get("finding")} == {1}, f"{what}: lines")
        sharing = answer["sharing"][0]
        counts = [sharing[name] for name in ("contended_lines", "contended_objects", "false_sharing", "true_sharing", "unknown")]
        checks.expect(counts == [sum(on_line), sum(on_line), 1, 0, 0] and abs(sharing["share"] - expected) < 1e-9,
                      f"{what}: {sharing}")
        if n == 240:
            report = case.ask(tools, folder, "report")
            said = [finding for finding in report["findings"] if finding["kind"] == "false-sharing"]
            checks.expect(len(said) == 1 and abs(said[0]["share"] - expected) < 1e-9, f"{what}: report: {report['findings']}")
        checks.count("types")


def check_other_lines(places, tools, folder, checks):
    """Two causes in one type are two findings; what else is done to the objects is drawn, too."""
    case = Case(places, 1)
    for i in range(60):
        at = HEAP + 128 * 3 * i
        connections(case, 1, start=at, owners=2, per=4)
        case.add(2, "name", at, 1)
        for t in (3, 4):
            case.add(t, "send", at, 3).add(t, "sent", at, 2).add(t, "sent", at, 1, PEER)
    answer = case.background(50).ask(tools, folder, "c2c")
    kinds = [(f["kind"], f["objects"], f["n_lines"]) for f in answer["findings"]]
    checks.expect(sorted(kinds) == [("false-sharing", 60, 60), ("true-sharing", 60, 60)], f"two causes: {kinds}")
    shares = [f["share"] for f in answer["findings"]]
    checks.expect(shares == sorted(shares, reverse=True) and shares[0] > shares[1], f"two causes: {shares}")
    for f in answer["findings"]:
        rows = collections.Counter()
        for row in answer["layouts"]:
            if row.get("finding") == answer["findings"].index(f) + 1 and "loads" in row:
                rows[row["field"]] += row["loads"] + row["stores"]
        checks.expect(rows == {"id": 60, "lock": 240, "refs": 300, "sent": 720}, f"two causes: {rows}")
    tids = {row.get("tid") for row in answer["layouts"] if "loads" in row and "finding" in row}
    checks.expect(tids == {PID + t for t in range(5)}, f"the same threads in all objects: {tids}")
    checks.count("causes")


def check_array(places, table, tools, folder, checks):
    """Elements of an array that are as long as lines are objects; the array is named."""
    answer = connections(Case(places, 2), 50, 128, table, per=4).background(50).ask(tools, folder, "c2c")
    found = answer["findings"]
    checks.expect(len(found) == 1 and found[0]["objects"] == 50 and "table" in found[0]["claim"] and
                  "in 50 objects" in found[0]["claim"], f"array: {[f['claim'] for f in found]}")
    checks.expect({row["field"] for row in answer["layouts"]} >= {"id", "lock", "refs", "sent"}, f"array: {answer['layouts']}")
    checks.count("arrays")


def check_types(places, tools, folder, checks):
    """Types do not mix; one object is no group; objects that nobody contends for do not count."""
    case = connections(Case(places, 3), 30, per=4)
    for i in range(20):
        at = HEAP + 0x100000 + 256 * i
        case.add(6, "put", at, 4).add(7, "get", at, 3).add(7, "get", at, 1, PEER)
    connections(case, 1, start=HEAP + 0x200000, per=40)
    for i in range(40):
        case.add(9, "take", HEAP + 0x300000 + 192 * i, 5)
    answer = case.background(50).ask(tools, folder, "c2c")
    said = {f["claim"].split(", line")[0]: f["objects"] for f in answer["findings"]}
    checks.expect(said == {"false sharing: struct conn (128 bytes, anonymous) in 31 objects": 31,
                           "false sharing: struct other (128 bytes, anonymous) in 20 objects": 20}, f"types: {said}")
    one = connections(Case(places, 4), 1, per=40)
    one.add(7, "look", HEAP, 20, PEER)
    found = one.background(50).ask(tools, folder, "c2c")["findings"]
    checks.expect(len(found) == 1 and "objects" not in found[0] and "in 1" not in found[0]["claim"], f"one object: {found}")
    checks.count("types", 2)


def check_symmetric(places, tools, folder, checks):
    """Threads that all do the same to all objects share in truth."""
    case = Case(places, 5)
    for i in range(100):
        at = HEAP + 128 * 2 * i
        for t in (i % 4, (i + 1) % 4):
            case.add(t, "send", at, 2).add(t, "sent", at, 1).add(t, "sent", at, 1, PEER)
    found = case.background(50).ask(tools, folder, "c2c")["findings"]
    checks.expect([(f["kind"], f["objects"]) for f in found] == [("true-sharing", 100)], f"symmetric: {found}")
    checks.expect("give each thread a copy of `sent` on its own cache line" in found[0]["fix"], f"symmetric: {found[0]['fix']}")
    checks.count("symmetric")


def check_phases(places, tools, folder, checks):
    """A thread makes objects, others use them then: many loads wait, once each, and there is no sharing."""
    case = Case(places, 6)
    for i in range(200):
        at = HEAP + 128 * 2 * i
        case.add(0, "take", at, 9, at=(0, 0.4)).add(1, "look", at, 1, PEER, at=(0.41, 0.42)).add(1, "look", at, 9, at=(0.43, 1))
    answer = case.background(50).ask(tools, folder, "c2c")
    checks.expect(answer["findings"] == [], f"one after the other: {[f['claim'] for f in answer['findings']]}")
    sharing = answer["sharing"][0]
    checks.expect(sharing["successive_lines"] == 200 and abs(sharing["successive_share"] - case.share()) < 1e-9,
                  f"one after the other: {sharing}")
    checks.count("one after the other")


CXX_SOURCE = """
template <class... A> struct tuple_of_arguments { long a; };
template <class F, class... A> struct invoker_state_of_a_thread { long id, lock; F last_value_seen; tuple_of_arguments<A...> t; };
#define STATE invoker_state_of_a_thread<long, tuple_of_arguments<long, unsigned char, const char *>, tuple_of_arguments<double>>
extern "C" {
__attribute__((noinline, noclone)) void take(volatile STATE *s) { s->lock = 1; }
__attribute__((noinline, noclone)) void look(const volatile STATE *s, long *out) { *out = s->last_value_seen; }
void _start(void) { long x; take((STATE *)0); look((STATE *)0, &x); }
}
"""


def check_long_names(tools, folder, checks):
    """What a template is made of is left out, the member is not."""
    source, program = os.path.join(folder, "program.cc"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(CXX_SOURCE)
    run(A64 + "g++", "-O2", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-Wl,-Ttext-segment=0x400000",
        "-Wl,--build-id=none", source, "-o", program)
    case = Case(places_of(program), 9)
    for i in range(30):
        connections(case, 1, 128, HEAP + 128 * i, owners=2, per=4)
    text = case.ask(tools, folder, "c2c", text=True)
    checks.expect("false sharing: invoker_state_of_a_thread<...> (32 bytes, anonymous) in 30 objects" in text, f"claim: {text}")
    checks.expect("invoker_state_of_a_thread<...>.last_value_seen look+0x0" in text, f"reads: {text}")
    checks.expect("last_value_seen 150 0" in text and "<...> t" in text, f"drawing: {text}")
    checks.count("long names")


def check_addr(places, table, tools, folder, checks):
    """The members of all objects of a type, on the heap and in an array; other data is left out."""
    case = connections(Case(places, 8), 20).add(3, "send", table, 5)
    case.add(6, "put", HEAP + 0x100000, 9)
    case.ask(tools, folder, "addr")
    path = os.path.join(folder, "perf.data")
    answer = json.loads(run(tools[0], "addr", "--type", "struct conn", "--symfs", folder, "--format", "json", path))
    found = {(row["object"], row["field"]): row["records"] for row in answer["fields"]}
    checks.expect(found == {("anonymous: struct conn", "lock"): 60, ("anonymous: struct conn", "refs"): 80,
                            ("table", "sent"): 5}, f"addr of a type: {found}")
    for options, words in ((["--type", "struct list"], "no debug information of a type"),
                           (["--type", "64"], "a size needs --base ADDR"), (["--type", "struct conn", "--by", "line"], "--type alone shows fields")):
        done = subprocess.run([tools[0], "addr", *options, "--symfs", folder, path], capture_output=True, check=False)
        checks.expect(done.returncode == 2 and words in " ".join(done.stderr.decode().split()), f"addr {options}: {done}")
    checks.count("addr", 4)


def check_threads(places, tools, folder, checks):
    """The answer is the same for any number of threads."""
    case = connections(Case(places, 7), 500, 208).background(100)
    said = {case.ask(tools, folder, "c2c", "-j", str(n), "--full", text=True) for n in (1, 2, 4)}
    checks.expect(len(said) == 1, f"{len(said)} answers")


def main():
    tools = sys.argv[1:3]
    need(A64 + "gcc")
    need(A64 + "g++")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        places, table = build(folder)
        check_heap(places, tools, folder, checks)
        check_askers(places, tools, folder, checks)
        check_other_lines(places, tools, folder, checks)
        check_array(places, table, tools, folder, checks)
        check_types(places, tools, folder, checks)
        check_symmetric(places, tools, folder, checks)
        check_phases(places, tools, folder, checks)
        check_addr(places, table, tools, folder, checks)
        check_long_names(tools, folder, checks)
        places, table = build(folder)
        check_threads(places, tools, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
