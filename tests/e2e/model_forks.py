#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that fork, under the model: model_forks.py CYCLOPS.

Loops as those of lat_mem_rd and bw_mem in a child that the parent waits for; many children; children that
are killed, that execute another program, that outlive their parent, that share memory. Their records, side-band
records, counts and truth are in the results, which are the same each time. Clocks tell modelled time.
Without the emulator or the cross compiler the test is skipped.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Failed, Functions, csv_rows, need, run

SOURCE = r"""
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define KEEP __attribute__((noipa))
enum { STEP = 4096, SIZE = 1 << 22, LOADS = 100000 };
static char *memory;
static int pipes[2];
static volatile int *shared;
KEEP static void work(unsigned n) { for (volatile unsigned i = 0; i < n; i++) ; }
KEEP static void *chase(unsigned n)
{
	void **at = (void **)memory;
	while (n-- > 0)
		at = *at;
	return at;
}
KEEP static uint64_t add_all(unsigned rounds)
{
	uint64_t sum = 0;
	while (rounds-- > 0)
		for (unsigned i = 0; i < SIZE / 8; i += 8)
			sum += ((volatile uint64_t *)memory)[i];
	return sum;
}
static double now_us(void)
{
	struct timeval t;
	gettimeofday(&t, 0);
	return t.tv_sec * 1e6 + t.tv_usec;
}
static uint64_t timer(void)
{
	uint64_t t;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t) :: "memory");
	return t;
}
static void *spin(void *unused)
{
	for (int i = 0; i < 300; i++)
		work(100);
	return unused;
}
static int child(const char *how)
{
	char byte;
	if (!strcmp(how, "latency")) {
		memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < SIZE; i += STEP)
			*(void **)(memory + i) = memory + (i + STEP) % SIZE;
		chase(LOADS / 10);
		double begin = now_us();
		int is_there = chase(LOADS) != 0;
		double ns = (now_us() - begin) * 1000 / LOADS;
		if (write(pipes[1], &ns, sizeof(ns)) < 0)
			return 9;
		return is_there ? 0 : 8;
	}
	if (!strcmp(how, "bandwidth")) {
		memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(memory, 1, SIZE);
		uint64_t begin = timer(), frequency;
		int sum = add_all(2) != 0;
		__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
		double ns = (timer() - begin) * 1e9 / frequency / (2 * SIZE / 64);
		if (write(pipes[1], &ns, sizeof(ns)) < 0)
			return 9;
		return sum ? 0 : 8;
	}
	if (!strcmp(how, "closing")) { /* all files, and another one by the number of each */
		for (int i = 3; i < 64; i++)
			close(i);
		if (chdir("/") < 0 || open("/dev/null", O_WRONLY) != 3 || dup(3) != 4 || dup(3) != 5)
			return 9;
		work(600000);
	}
	if (!strcmp(how, "aborted"))
		abort();
	if (!strcmp(how, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "endless"))
		for (;;)
			work(1000);
	if (!strcmp(how, "orphan"))
		work(3000000);
	if (!strcmp(how, "asleep"))
		pause();
	if (!strcmp(how, "executed")) {
		execl("/nonexistent", "x", (char *)0);
		execl("/bin/true", "true", (char *)0);
	}
	if (!strcmp(how, "piped"))
		for (int i = 0; i < 20 && read(pipes[0], &byte, 1) == 1; i++)
			work(1000);
	if (!strcmp(how, "nested") && fork() == 0)
		work(50000), _exit(0);
	if (!strcmp(how, "nested"))
		wait(0);
	shared[0]++;
	work(30000);
	return 5;
}
int main(int argc, char **argv)
{
	const char *how = argv[1];
	int n = argc > 2 ? atoi(argv[2]) : 1, status = 0;
	pthread_t thread;
	pid_t pid = 0;
	double ns = 0;
	shared = mmap(0, STEP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pipe(pipes) < 0)
		return 1;
	if (!strcmp(how, "threads"))
		pthread_create(&thread, 0, spin, 0);
	work(10000);
	for (int i = 0; i < n; i++)
		if ((pid = fork()) == 0)
			_exit(child(how));
	work(60000);
	if (!strcmp(how, "orphan"))
		return 3;
	if (!strcmp(how, "endless") || !strcmp(how, "asleep"))
		kill(pid, SIGKILL);
	if (!strcmp(how, "piped"))
		for (int i = 0; i < 20; i++)
			work(3000), status = write(pipes[1], "x", 1);
	if (!strcmp(how, "latency") || !strcmp(how, "bandwidth"))
		status = read(pipes[0], &ns, sizeof(ns));
	for (int i = 0; i < n; i++)
		wait(&status);
	if (!strcmp(how, "threads"))
		pthread_join(thread, 0);
	printf("%x %d %.2f\n", status, shared[0], ns);
	return 3;
}
"""

# how, what it prints (None: anything), processes in the side-band, what is said
CASES = (
    (["none"], "500 1 0.00\n", 2, ""),
    (["none", "40"], "500 40 0.00\n", 41, ""),
    (["nested"], "500 1 0.00\n", 3, ""),
    (["piped"], "500 1 0.00\n", 2, ""),
    (["closing"], "500 1 0.00\n", 2, ""),
    (["killed"], "9 0 0.00\n", 2, ""),
    (["endless"], "9 0 0.00\n", 2, ""),
    (["asleep"], "9 0 0.00\n", 2, ""),
    (["aborted"], "6 0 0.00\n", 2, ""),
    (["executed"], "0 0 0.00\n", 2, "1 process of the program executed another program"),
    (["orphan"], "", 2, ""),
    (["latency"], None, 2, ""),
    (["bandwidth"], None, 2, ""),
)


def model(cyclops, folder, *arguments):
    done = subprocess.run([cyclops, "model", "-o", "out.data", "--counts", "counts.json", "--truth", "truth.json",
                           "--", folder / "program", *arguments], cwd=folder, text=True, env=ENVIRONMENT,
                          check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    return done, [(folder / name).read_bytes() for name in ("out.data", "counts.json", "truth.json")]


def records(cyclops, folder):
    return csv_rows(cyclops, "export", "--table", "spe", "--format", "csv", folder / "out.data")


def processes(cyclops, folder):
    """Those that the side-band names: the first one, and what FORK records say."""
    text = run(cyclops, "dump", folder / "out.data").decode(errors="replace")
    forks = [dict(word.split("=", 1) for word in line.split() if "=" in word)
             for line in text.splitlines() if " FORK " in line]
    return 1 + sum(fork["pid"] != fork["ppid"] for fork in forks)


def check_results(cyclops, folder, name, wanted):
    counts = {event: count["count"] for event, count in
              json.loads((folder / "counts.json").read_text())["events"].items()}
    truth = json.loads((folder / "truth.json").read_text())
    rows = records(cyclops, folder)
    executed = sum(one["n"] for one in truth["instructions"])
    if executed != counts["INST_RETIRED"] or len(rows) != counts["SAMPLE_FILTRATE"]:
        raise Failed(f"{name}: {executed} instructions and {len(rows)} records, counted "
                     f"{counts['INST_RETIRED']} and {counts['SAMPLE_FILTRATE']}")
    if processes(cyclops, folder) != wanted:
        raise Failed(f"{name}: {processes(cyclops, folder)} processes, wanted {wanted}")
    return truth, rows


def check_case(cyclops, folder, arguments, printed, n_processes, said):
    name = " ".join(arguments)
    done, first = model(cyclops, folder, *arguments)
    said_lines = [line for line in done.stderr.splitlines() if line.startswith("cyclops: ")]
    if done.returncode != 3 or (printed is not None and done.stdout != printed) or (
            len(said_lines) != bool(said) or (said and said not in said_lines[0])):
        raise Failed(f"{name}: status {done.returncode}, printed {done.stdout!r}, said {done.stderr!r}")
    if model(cyclops, folder, *arguments)[1] != first:
        raise Failed(f"{name}: two runs gave different results")
    check_results(cyclops, folder, name, n_processes)
    print(f"{name}: {done.stdout.strip()}")
    return float(done.stdout.split()[-1]) if printed is None else None


def check_measured(cyclops, folder, how, function, loads, ns):
    """What the child measured with its clock is what the truth has of it, and so are its records."""
    truth, rows = check_results(cyclops, folder, how, 2)
    where = Functions(folder / "program").ranges[function]
    inside = [one for one in truth["instructions"] if int(one["pc"], 16) in where]
    n_loads = sum(one["n"] for one in inside if one["class"] == 1 and one["op"] & 1 == 0)
    tids = collections.Counter(row["tid"] for row in rows if int(row["pc"], 16) in where)
    modelled = sum(one["cycles"] for one in inside) / n_loads / 2.8
    print(f"{how}: {ns:.2f} ns for each load by its own clock, {modelled:.2f} in truth; records of {dict(tids)}")
    if n_loads < loads or set(tids) != {"1001"} or abs(ns / modelled - 1) > 0.03:
        raise Failed(f"{how}: {n_loads} loads, records of {dict(tids)}, {ns} and {modelled} ns")


def main():
    cyclops = os.path.realpath(sys.argv[1])
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc", "nm"):
        need(program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.c").write_text(SOURCE)
        run("aarch64-linux-gnu-gcc", "-O2", "-static", "-pthread", "-o", folder / "program", folder / "program.c")
        for case in CASES:
            ns = check_case(cyclops, folder, *case)
            if case[0] == ["latency"]:
                check_measured(cyclops, folder, "latency", "chase", 100000, ns)
            if case[0] == ["bandwidth"]:
                check_measured(cyclops, folder, "bandwidth", "add_all", 100000, ns)
        done, _ = model(cyclops, folder, "threads")  # forks while another thread runs
        if done.returncode != 3 or done.stdout != "500 1 0.00\n" or done.stderr:
            raise Failed(f"threads: status {done.returncode}, {done.stdout!r}, {done.stderr!r}")
        check_results(cyclops, folder, "threads", 2)


if __name__ == "__main__":
    main()
