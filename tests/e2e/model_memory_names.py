#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Data without symbols of a real program with threads: model_memory_names.py CYCLOPS.

A program of two threads, with the C library, says where each has its thread-local variables and where
its nodes on the heap are. It runs on the modelled machine; `cyclops addr` must count for each of these
what was recorded at those addresses, no more and no less. Without the emulator or the cross compiler
the test is skipped.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

from harness import Checks, csv_rows, environment_of_guests, need, run

COMPILER = "aarch64-linux-gnu-gcc"
LOOPS = "sym=~'^(count|walk)'"
SOURCE = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct counters { unsigned long hits, misses; };
struct node { struct node *next; long value; };
static _Thread_local struct counters mine;
static _Thread_local long list[64];
static struct node *head;
#define OWN __attribute__((noinline)) static void

OWN count(long n)
{
	for (long i = 0; i < n; i++) {
		*(volatile unsigned long *)&mine.misses += 1;
		((volatile long *)list)[i & 63] += 1;
	}
}
OWN walk(long n)
{
	while (n-- > 0)
		for (struct node *p = head; p != NULL; p = *(struct node *volatile *)&p->next)
			*(volatile long *)&p->value += 1;
}
static void *work(void *p)
{
	count(30000);
	walk(100);
	printf("mine %p %zu\\nlist %p %zu\\n", (void *)&mine, sizeof(mine), (void *)list, sizeof(list));
	return p;
}
int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 64; i++) {
		struct node *n = malloc(sizeof(*n));

		n->next = head;
		head = n;
		printf("node %p %zu\\n", (void *)n, sizeof(*n));
	}
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
"""


def recorded(cyclops, capture, places):
    """Records by what was accessed, and by the function that did so."""
    counts = collections.Counter()
    for row in csv_rows(cyclops, "export", "--format", "csv", "--symfs", "/", "--select", LOOPS, capture):
        if row["vaddr"] and row["op"] in ("LD", "ST", "LD ST"):
            address = int(row["vaddr"], 16)
            for name, start, size in places:
                if start <= address < start + size:
                    counts[name] += 1
    return counts


def check(cyclops, options, folder, checks):
    source, program = os.path.join(folder, "threads.c"), os.path.join(folder, "threads")
    capture = os.path.join(folder, "threads.data")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(COMPILER, "-O2", "-g", *options, source, "-o", program)
    said = subprocess.run([cyclops, "model", "-L", "/usr/aarch64-linux-gnu", "-o", capture, "--", program], check=True,
                          capture_output=True, env=environment_of_guests()).stdout.decode()
    words = [line.split() for line in said.split("\n") if line.startswith(("mine ", "list ", "node "))]
    truth = recorded(cyclops, capture, [(name, int(start, 16), int(size)) for name, start, size in words])
    rows = json.loads(run(cyclops, "addr", "--all", "--symfs", "/", "--select", LOOPS, "--format", "json", capture))["objects"]
    found = collections.Counter()
    for row in rows:
        name = {"struct node": "node"}.get(row["object"].split(": ")[-1], row["object"])
        if name in ("mine", "list", "node"):
            found[name] += row["records"]
            # whether the heap's mapping is in the capture depends on when it grew
            kinds = ("heap", "anonymous", "unknown") if name == "node" else ("thread-local",)
            checks.expect(row["kind"] in kinds, f"{options}: {row}")
    checks.expect(found == truth and len(truth) == 3 and min(truth.values()) > 10,
                  f"{options}: addr says {found}, recorded {truth}")
    checks.count("records", sum(truth.values()))


def main():
    need(COMPILER)
    need("qemu-aarch64")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for options in (["-static"], ["-no-pie", "-fno-pie"], ["-pie", "-fPIE"]):
            check(sys.argv[1], options, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
