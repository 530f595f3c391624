#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `cyclops c2c` makes of objects on the heap that reach over several lines, that code knows in parts,
and that stand side by side: model_objects.py CYCLOPS.

A program of two threads, with the C library, runs on the modelled machine. It says where its objects
are. Without the emulator or the cross compiler the test is skipped.
"""

import json
import os
import subprocess
import sys
import tempfile

from harness import Checks, environment_of_guests, need, run

COMPILER = "aarch64-linux-gnu-gcc"
SOURCE = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Two lines: what the reader reads is on both. */
struct job { long id, mask, limit, done, rest[12]; };
/* Its parts are handed out by pointers of their own. */
struct head { long reads; };
struct tail { long pad, writes; };
struct whole { long first; struct head head; struct tail tail; long last; };
/* One for each thread. */
struct slot { long n; int kind; long sum; };
/* Memory that was one thing and then another. */
struct before { long a[3]; };
struct after { int x; struct before *next; long y; };

static struct job *job;
static struct whole *whole;
static struct slot *slots;
static void *reused;
static long sums[2][16] __attribute__((aligned(64)));
#define OWN __attribute__((noinline)) static void
#define AT(member) (*(volatile __typeof__(member) *)&(member))

OWN finish(struct job *j) { AT(j->done) += 1; }
OWN check(struct job *j, long *sum) { *sum += AT(j->limit) + AT(j->rest[8]); }
OWN begin(struct head *h, long *sum) { *sum += AT(h->reads); }
OWN end(struct tail *t) { AT(t->writes) += 1; }
OWN both(struct whole *w, long *sum) { *sum += AT(w->last); }
OWN bump(struct slot *s) { AT(s->n) += 1; AT(s->sum) += 2; }
OWN early(struct before *b) { AT(b->a[0]) += 3; }
OWN late(struct after *a) { AT(a->y) += 4; }
static pthread_barrier_t start; /* however late the host starts the second thread */
static void *write_all(void *p)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < 30000; i++) {
		finish(job);
		end(&whole->tail);
		bump(&slots[0]);
		bump(&slots[2]);
		early(reused);
	}
	return p;
}
static void *read_all(void *p)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < 30000; i++) {
		check(job, sums[0]);
		begin(&whole->head, sums[0]);
		both(whole, sums[0]);
		bump(&slots[1]);
		bump(&slots[3]);
		late(reused);
	}
	return p;
}
static void *lines(size_t n, size_t offset)
{
	char *p = aligned_alloc(64, 256);

	memset(p, 0, 256);
	printf("object %p %zu\\n", (void *)(p + offset), n);
	return p + offset;
}
int main(void)
{
	pthread_t threads[2];

	job = lines(sizeof(*job), 32);
	whole = lines(sizeof(*whole), 0);
	slots = lines(4 * sizeof(*slots), 8);
	reused = lines(24, 0);
	pthread_barrier_init(&start, NULL, 2);
	pthread_create(&threads[0], NULL, write_all, NULL);
	pthread_create(&threads[1], NULL, read_all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""

# Of the object: what findings call it, and what their fix says.
WANTED = {
    "job": (["struct job (128 bytes"],
            ["group the members by thread: `limit`, `rest`", " | `done`", "multiple of 64"], ["move `done`"]),
    "whole": (["struct whole (40 bytes"],
              ["group the members by thread: `head`, `last`", " | `tail`", "multiple of 64"], ["struct head", "struct tail"]),
    "slots": (["struct slot (4 side by side, 24 bytes each", "lines 0x"],
              ["alignas(64) on struct slot. Each grows from 24 to 64 bytes"], ["Allocate each"]),
    "reused": (["struct before (24 bytes", "struct after (24 bytes"], [], ["side by side"]),
}


def check(cyclops, folder, checks):
    source, program = os.path.join(folder, "objects.c"), os.path.join(folder, "objects")
    capture = os.path.join(folder, "objects.data")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(COMPILER, "-O2", "-g", "-static", source, "-o", program)
    said = subprocess.run([cyclops, "model", "--set", "quantum=100", "-o", capture, "--", program], check=True,
                          capture_output=True, env=environment_of_guests()).stdout.decode()
    places = [line.split()[1:] for line in said.split("\n") if line.startswith("object ")]
    answer = json.loads(run(cyclops, "c2c", "--symfs", "/", "--format", "json", capture))
    lines = {line["line"]: line for line in answer["lines"]}
    for (name, (claims, fix, never)), (start, size) in zip(WANTED.items(), places):
        first, last = int(start, 16) & -64, (int(start, 16) + int(size) - 1) & -64
        found = [f for f in answer["findings"] if first <= int(lines[f["line"]]["address"], 16) <= last]
        checks.expect(len(found) == 1, f"{name}: {len(found)} findings")
        for finding in found:
            said = finding["claim"] + finding.get("fix", "")
            checks.expect(all(word in finding["claim"] for word in claims), f"{name}: {finding['claim']}")
            checks.expect(all(word in finding.get("fix", "") for word in fix), f"{name}: {finding.get('fix')}")
            checks.expect(not any(word in said for word in never), f"{name}: {said}")
            checks.count("objects")
    rest = [row for row in answer["layouts"] if row["object"] == "struct job" and row["field"] == "rest"]
    checks.expect(len(rest) == 1 and rest[0].get("loads", 0) > 10, f"what is on the second line of job: {rest}")


def main():
    need(COMPILER)
    need("qemu-aarch64")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
