/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a counter without the kernel, by its mapped page (struct perf_event_mmap_page). The counter
 * must be of the calling thread.
 */
#ifndef CYCLOPS_MEASURE_USER_READ_H
#define CYCLOPS_MEASURE_USER_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* What the instructions of the CPU give. Tests replace it. */
struct user_counters {
	uint64_t (*counter)(uint32_t index); /* index 31 of Arm: the cycle counter */
	uint64_t (*clock)(void);	     /* what time_mult and time_shift convert */
};

struct user_reading {
	uint64_t value, enabled_ns, running_ns;
};

/* Orders reads of the page and of counters; the kernel changes the page on this CPU only. */
static inline void user_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A clock value as ns to add to the page's times. */
static inline uint64_t user_elapsed_ns(const struct perf_event_mmap_page *page, uint64_t cycles)
{
	uint64_t whole, rest;

	if (page->cap_user_time_short)
		cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
	whole = cycles >> page->time_shift;
	rest = cycles & (((uint64_t)1 << page->time_shift) - 1);
	return page->time_offset + whole * page->time_mult +
	       (rest * page->time_mult >> page->time_shift);
}

/*
 * Reads the event's value, and its times if `with_times`. False if the event is not on a counter now,
 * or may not be read here.
 */
static inline bool user_read(const volatile struct perf_event_mmap_page *page,
			     const struct user_counters *cpu, bool with_times,
			     struct user_reading *out)
{
	uint32_t seq;

	do {
		uint32_t index;
		uint64_t raw;

		seq = page->lock;
		user_barrier();
		index = page->index;
		if (index == 0 || !page->cap_user_rdpmc)
			return false;
		out->value = (uint64_t)page->offset;
		if (with_times) {
			uint64_t ns;

			out->enabled_ns = page->time_enabled;
			out->running_ns = page->time_running;
			if (!page->cap_user_time)
				return false;
			ns = user_elapsed_ns((const struct perf_event_mmap_page *)(uintptr_t)page,
					     cpu->clock());
			out->enabled_ns += ns;
			out->running_ns += ns;
		}
		/* Counters are pmc_width wide, and the offset is that of a signed value. */
		raw = cpu->counter(index - 1) << (64 - page->pmc_width);
		out->value += (uint64_t)((int64_t)raw >> (64 - page->pmc_width));
		user_barrier();
	} while (page->lock != seq || (seq & 1) != 0);
	return true;
}

#endif
