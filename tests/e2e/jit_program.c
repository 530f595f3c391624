/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A just-in-time compiler that compiles one loop: it writes jit-PID.dump into the current folder, as perf inject -j
 * wants it. The function "first" is replaced at its address by "second", and that is moved.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = 62 };
#else
enum { MACHINE = 183 };
#endif

enum { CODE_LOAD, CODE_MOVE, DEBUG_INFO, PAGE_ROOM = 65536, SPINS = 20000 };

/* Copied to where code is made, and called there alone: nothing in it depends on its address. */
__attribute__((used, noinline, section("spin_code"))) static void spin(volatile unsigned long *n)
{
	for (unsigned long i = 0; i < SPINS; i++)
		*n += i;
}
extern const char __start_spin_code[], __stop_spin_code[];

static FILE *dump;
static unsigned long counter;

static uint64_t monotonic_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, dump) != size)
		exit(1);
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_prefix(uint32_t id, uint32_t size)
{
	put_u32(id);
	put_u32(size);
	put_u64(monotonic_ns(CLOCK_MONOTONIC));
}

static size_t spin_size(void)
{
	return (size_t)(__stop_spin_code - __start_spin_code);
}

static void put_load(const char *name, const char *at, uint64_t index)
{
	size_t size = spin_size();

	put_prefix(CODE_LOAD, (uint32_t)(16 + 40 + strlen(name) + 1 + size));
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uint64_t)at);
	put_u64((uint64_t)at);
	put_u64(size);
	put_u64(index);
	put(name, strlen(name) + 1);
	put(at, size);
	fflush(dump);
}

static void put_move(const char *from, const char *to, uint64_t index)
{
	put_prefix(CODE_MOVE, 16 + 48);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uint64_t)to);
	put_u64((uint64_t)from);
	put_u64((uint64_t)to);
	put_u64(spin_size());
	put_u64(index);
	fflush(dump);
}

/*
 * Lines of the code that is loaded next: three for every four bytes in turn, the second in another file. Its name
 * stands for the third, too.
 */
static void put_lines(const char *at, uint32_t first)
{
	static const char *const files[] = { "loop.jit", "inlined.jit", "\xff" };
	size_t n = (spin_size() + 3) / 4, size = 0;

	for (size_t i = 0; i < n; i++)
		size += 16 + strlen(files[i % 3]) + 1;
	put_prefix(DEBUG_INFO, (uint32_t)(16 + 16 + size));
	put_u64((uint64_t)at);
	put_u64(n);
	for (size_t i = 0; i < n; i++) {
		put_u64((uint64_t)at + 4 * i);
		put_u32(first + (uint32_t)i);
		put_u32(0);
		put(files[i % 3], strlen(files[i % 3]) + 1);
	}
}

static void *open_dump(void)
{
	char name[64];
	void *marker;

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	dump = fopen(name, "w+");
	if (dump == NULL)
		exit(1);
	put_u32(0x4a695444);
	put_u32(1);
	put_u32(40);
	put_u32(MACHINE);
	put_u32(0);
	put_u32((uint32_t)getpid());
	put_u64(monotonic_ns(CLOCK_MONOTONIC));
	put_u64(0);
	fflush(dump);
	marker = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		      fileno(dump), 0);
	if (marker == MAP_FAILED)
		exit(1);
	return marker;
}

static void write_code(char *at)
{
	if (mprotect(at, PAGE_ROOM, PROT_READ | PROT_WRITE) != 0)
		exit(1);
	memcpy(at, __start_spin_code, spin_size());
	if (mprotect(at, PAGE_ROOM, PROT_READ | PROT_EXEC) != 0)
		exit(1);
	__builtin___clear_cache(at, at + spin_size());
}

static void run_code(char *at, uint64_t cpu_ns)
{
	uint64_t end = monotonic_ns(CLOCK_PROCESS_CPUTIME_ID) + cpu_ns;
	void (*code)(volatile unsigned long *);

	memcpy(&code, &at, sizeof(code));
	while (monotonic_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		code(&counter);
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000u : 100000000u;
	char *a, *b;

	open_dump();
	a = mmap(NULL, 2 * PAGE_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED)
		return 1;
	b = a + PAGE_ROOM;
	write_code(a);
	put_lines(a, 100);
	put_load("first", a, 0);
	run_code(a, cpu_ns);
	write_code(a);
	put_lines(a, 500);
	put_load("second", a, 1);
	run_code(a, cpu_ns);
	write_code(b);
	put_move(a, b, 1);
	run_code(b, cpu_ns);
	put_prefix(3, 16); /* close */
	fclose(dump);
	return 0;
}
