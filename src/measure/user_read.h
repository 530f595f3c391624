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

/* A value, and what user_times() makes times of. */
struct user_reading {
	uint64_t value;
	uint64_t enabled, running; /* ns, but for the clock */
	uint64_t clock;
};

/* Bits of `capabilities`. */
enum { USER_RDPMC = 1 << 2, USER_TIME = 1 << 3, USER_TIME_SHORT = 1 << 5 };

/* Orders reads of the page and of counters; the kernel changes the page on this CPU only. */
static inline void user_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/*
 * Reads the event's value, and its times if `with_times`. False if the event is not on a counter now,
 * or may not be read here.
 */
static inline bool user_read(const volatile struct perf_event_mmap_page *page,
			     const struct user_counters *cpu, bool with_times,
			     struct user_reading *out)
{
	uint64_t raw;
	uint32_t seq;

	do {
		uint32_t index;
		unsigned unused_bits;

		seq = page->lock;
		user_barrier();
		index = page->index;
		if (index == 0 || !(page->capabilities & USER_RDPMC))
			return false;
		unused_bits = 64u - page->pmc_width;
		raw = (uint64_t)page->offset;
		if (with_times) {
			uint64_t offset_ns = page->time_offset;

			out->enabled = page->time_enabled + offset_ns;
			out->running = page->time_running + offset_ns;
			out->clock = cpu->clock();
		}
		/* Counters are pmc_width wide, and the offset is that of a signed value. */
		raw += (uint64_t)((int64_t)(cpu->counter(index - 1) << unused_bits) >> unused_bits);
		user_barrier();
	} while (page->lock != seq);
	out->value = raw;
	return true;
}

/*
 * How long the event has been enabled and on a counter at a reading. It may be another moment now: the
 * page says how to convert the clock, which does not change. Not for pages without USER_TIME.
 */
static inline void user_times(const volatile struct perf_event_mmap_page *page,
			      const struct user_reading *r, uint64_t *enabled_ns,
			      uint64_t *running_ns)
{
	uint64_t cycles = r->clock, whole, rest, ns;

	if (page->capabilities & USER_TIME_SHORT)
		cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
	whole = cycles >> page->time_shift;
	rest = cycles & (((uint64_t)1 << page->time_shift) - 1);
	ns = whole * page->time_mult + (rest * page->time_mult >> page->time_shift);
	*enabled_ns = r->enabled + ns;
	*running_ns = r->running + ns;
}

#endif
