/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be recorded, whose shares are known:
 *
 *	record-program busy MS			three parts in work_a(), one in work_b()
 *	record-program threads N MS		the same in N more threads; says so when they are there
 *	record-program children N		N processes, one after another, that exec this: busy 2
 *	record-program faults MS		a page fault after the other
 *	record-program calls N			called_with(i, 2 * i) for i = 0 … N - 1; prints its address
 *	record-program moves CPU MS		goes to that CPU, then as busy
 *	record-program bpf NAME			loads a BPF program; says so, or what is wrong; ends with its input
 *	record-program ignore MS		as busy, ignoring SIGINT and SIGTERM; says so
 */
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

/*
 * Multiplications that wait for each other: as long wherever the code stands and whatever other
 * threads do, which accesses to memory are not.
 */
static inline unsigned long multiply(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

__attribute__((noinline)) static unsigned long work_a(unsigned long x, unsigned long n)
{
	return multiply(x, 3 * n);
}

__attribute__((noinline)) static unsigned long work_b(unsigned long x, unsigned long n)
{
	return multiply(x, n);
}

__attribute__((noinline)) long called_with(long a, long b);
__attribute__((noinline)) long called_with(long a, long b)
{
	sink += (unsigned long)(a ^ b);
	return a + b;
}

/* CPU time of the thread, so that a busy machine changes nothing. */
static long thread_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Turns differ in length, so that they do not keep step with whoever samples. */
static void be_busy(long ms)
{
	unsigned long x = 1;

	while (thread_ms() < ms) {
		unsigned long n = 4096 + (x >> 51);

		x = work_b(work_a(x, n), n);
	}
	sink = x;
}

/* As many as the kernel can answer, so that what they leave comes soon, however coarse its clock is. */
static void fault(long ms)
{
	const size_t page = 4096, size = 256 * page;

	while (thread_ms() < ms) {
		char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		if (pages == MAP_FAILED)
			exit(1);
		for (size_t i = 0; i < size; i += page)
			((volatile char *)pages)[i] = 1;
		munmap(pages, size);
	}
}

static void *thread(void *ms)
{
	be_busy(*(long *)ms);
	return NULL;
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void run_threads(int n, long ms)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, &ms);
	say_ready();
	be_busy(ms);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void run_children(int n, char *self)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/proc/self/exe", self, "busy", "2", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

static void move_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		perror("sched_setaffinity");
		exit(1);
	}
}

/* A socket filter that returns 0: two instructions. */
static void load_bpf(const char *name)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "GPL";
	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	if (syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) < 0) {
		puts(strerror(errno));
		fflush(stdout);
	} else {
		say_ready();
	}
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (argc > 2 && strcmp(argv[1], "busy") == 0) {
		be_busy(n);
	} else if (argc > 3 && strcmp(argv[1], "threads") == 0) {
		run_threads((int)n, strtol(argv[3], NULL, 10));
	} else if (argc > 2 && strcmp(argv[1], "children") == 0) {
		run_children((int)n, argv[0]);
	} else if (argc > 2 && strcmp(argv[1], "faults") == 0) {
		fault(n);
	} else if (argc > 2 && strcmp(argv[1], "calls") == 0) {
		printf("%p\n", (void *)called_with);
		fflush(stdout);
		for (long i = 0; i < n; i++)
			called_with(i, 2 * i);
	} else if (argc > 3 && strcmp(argv[1], "moves") == 0) {
		move_to_cpu((int)n);
		be_busy(strtol(argv[3], NULL, 10));
	} else if (argc > 2 && strcmp(argv[1], "bpf") == 0) {
		load_bpf(argv[2]);
		getchar();
	} else if (argc > 2 && strcmp(argv[1], "ignore") == 0) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		say_ready();
		be_busy(n);
	} else {
		return 2;
	}
	return argc > 4 ? atoi(argv[4]) : 0;
}
