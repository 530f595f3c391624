/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel needs of a system: a start, text out, fresh memory, threads. No library, so that
 * programs are a few KiB and nothing runs but what is written here. AArch64 Linux only.
 */
#ifndef CYCLOPS_KERNELS_START_H
#define CYCLOPS_KERNELS_START_H

#include <stddef.h>
#include <stdint.h>

/* Keeps a function as it is written: not inlined, not specialised, not merged with its twin. */
#define KERNEL __attribute__((noipa))

/* The kernel's work. Its result is the exit status. */
int kernel_main(void);

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

enum {
	SYS_WRITE = 64,
	SYS_EXIT = 93,
	SYS_EXIT_GROUP = 94,
	SYS_FUTEX = 98,
	SYS_CLONE = 220,
	SYS_MMAP = 222,
};

/* Memory that nobody has touched: all zeros. */
static inline void *fresh_memory(size_t size)
{
	enum { READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22 };

	return (void *)system_call(SYS_MMAP, 0, (long)size, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
}

/* A number that looks random; the state must not be 0. */
static inline uint32_t next_random(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

struct thread {
	void (*run)(void *);
	void *argument;
	int is_running; /* the kernel clears it, and wakes who waits */
};

/* Where a thread begins; thread_start() put its struct on top of its stack. */
static inline __attribute__((noreturn, used)) void thread_begin(struct thread *thread)
{
	thread->run(thread->argument);
	system_call(SYS_EXIT, 0, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static inline void thread_start(struct thread *thread, void (*run)(void *), void *argument)
{
	enum {
		STACK_SIZE = 64 * 1024,
		SHARE_ALL =
			0x00000f00 | 0x00010000 | 0x00040000, /* VM … SIGHAND, THREAD, SYSVSEM */
		CLEAR_WHEN_DONE = 0x00200000,
	};
	char *stack = (char *)fresh_memory(STACK_SIZE) + STACK_SIZE;
	register long x8 __asm__("x8") = SYS_CLONE;
	register long x0 __asm__("x0") = SHARE_ALL | CLEAR_WHEN_DONE;
	register char *x1 __asm__("x1") = stack;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register int *x4 __asm__("x4") = &thread->is_running;
	register struct thread *x19 __asm__("x19") = thread;

	*thread = (struct thread){ .run = run, .argument = argument, .is_running = 1 };
	__asm__ volatile("svc 0\n"
			 "cbnz x0, 1f\n"
			 "mov x29, xzr\n"
			 "mov x30, xzr\n"
			 "mov x0, x19\n"
			 "bl thread_begin\n"
			 "1:\n"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19)
			 : "memory", "x30");
}

static inline void thread_join(struct thread *thread)
{
	int value;

	while ((value = __atomic_load_n(&thread->is_running, __ATOMIC_ACQUIRE)) != 0)
		system_call(SYS_FUTEX, (long)&thread->is_running, 0, value, 0, 0, 0);
}

void _start(void);

__attribute__((noreturn)) void _start(void)
{
	system_call(SYS_EXIT_GROUP, kernel_main(), 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

/* What the compiler makes of loops that copy and clear. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memset(void *to, int byte,
									   size_t size);
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memset(void *to, int byte,
									   size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

#endif
