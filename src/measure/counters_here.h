/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and clocks of this CPU, by instructions. */
#ifndef CYCLOPS_MEASURE_COUNTERS_HERE_H
#define CYCLOPS_MEASURE_COUNTERS_HERE_H

#include <stdint.h>
#include <time.h>

#if defined(__aarch64__)

#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define COUNTER_LANDING "bti j; nop;"
#define COUNTER_SHIFT "4"
#else
#define COUNTER_LANDING
#define COUNTER_SHIFT "3"
#endif

/* The instruction has the number of the register: a jump to the one of 32 that is wanted. */
static inline __attribute__((always_inline)) uint64_t counter_here(uint32_t index)
{
	uint64_t value, at;

	__asm__ volatile(
		"	adr	%1, 1f\n"
		"	ubfiz	%0, %2, #" COUNTER_SHIFT ", #5\n"
		"	add	%1, %1, %0\n"
		"	br	%1\n"
		"1:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16\n"
		"	" COUNTER_LANDING "mrs %0, pmevcntr\\n\\()_el0; b 2f\n"
		"	.endr\n"
		"	.irp	n, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n"
		"	" COUNTER_LANDING "mrs %0, pmevcntr\\n\\()_el0; b 2f\n"
		"	.endr\n"
		"	" COUNTER_LANDING "mrs %0, pmccntr_el0\n"
		"2:\n"
		: "=&r"(value), "=&r"(at)
		: "r"((uint64_t)index));
	return value;
}

static inline void order_before_counters(void)
{
	__asm__ volatile("isb" ::: "memory");
}

static inline uint64_t clock_here(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}

#elif defined(__x86_64__)

static inline uint64_t counter_here(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t clock_here(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline void order_before_counters(void)
{
	__asm__ volatile("lfence" ::: "memory");
}

#else

static inline uint64_t counter_here(uint32_t index)
{
	(void)index;
	return 0;
}

static inline uint64_t clock_here(void)
{
	return 0;
}

static inline void order_before_counters(void)
{
}

#endif

/* The clock of durations; measure_ns() converts it. */
static inline uint64_t measure_ticks(void)
{
#if defined(__aarch64__)
	return clock_here();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* The clock of pages at a moment that has just been told by measure_ticks(). */
static inline uint64_t clock_at(uint64_t ticks)
{
#if defined(__aarch64__)
	return ticks; /* it is the same */
#else
	(void)ticks;
	return clock_here();
#endif
}

#endif
