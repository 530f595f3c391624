/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of known length, for the emulated Neoverse N1. Writes the output of libcyclops.
 *
 * usage: measure-program WHAT OUT    WHAT: pairs, pairs1, pairs2, pairs4, bare, loops, turns, phases,
 *                                  long
 *
 *   pairs   "outer" has PAIRS times an empty "pair", counted in the kernel, too
 *   pairsN  the same with N events, without the kernel
 *   bare    no library: prints how many instructions it takes to read 1, 2 and 4 events twice by their pages
 *   loops   "loop" is LOOPS instructions, ten times
 *   turns   "constant" is the same loop many times, with twelve events in six sets that take turns
 *   phases  "phases" is a loop of short instructions, then system calls, with these sets
 *   long    "long" is longer than a counter of 32 bits
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "cyclops/measure.h"
#include "measure/counters_here.h"

enum { PAIRS = 1000, MOST_BARE = 4 };

#define TWELVE                                                                                     \
	"{CPU_CYCLES,INST_RETIRED},{CPU_CYCLES,INST_RETIRED},{CPU_CYCLES,INST_RETIRED},"           \
	"{CPU_CYCLES,INST_RETIRED},{CPU_CYCLES,INST_RETIRED},{CPU_CYCLES,INST_RETIRED}"

/* 2 n instructions, and 1. */
static void spin(uint64_t n)
{
	__asm__ volatile("1:	subs %0, %0, #1\n"
			 "	b.ne 1b\n"
			 : "+r"(n)
			 :
			 : "cc");
}

static void measure_pairs(struct cyclops *m)
{
	int outer = cyclops_region(m, "outer"), pair = cyclops_region(m, "pair");

	/* once, so that memory is touched */
	for (int i = 0; i < 2; i++) {
		cyclops_begin(m, outer);
		for (int k = 0; k < PAIRS; k++) {
			cyclops_begin(m, pair);
			cyclops_end(m, pair);
		}
		cyclops_end(m, outer);
		if (i == 0)
			cyclops_reset(m);
	}
}

static void measure_loops(struct cyclops *m)
{
	int loop = cyclops_region(m, "loop");

	for (int i = 0; i < 10; i++) {
		cyclops_begin(m, loop);
		spin(500000);
		cyclops_end(m, loop);
	}
}

static void measure_turns(struct cyclops *m)
{
	int constant = cyclops_region(m, "constant");

	for (int i = 0; i < 200; i++) {
		cyclops_begin(m, constant);
		spin(2500000);
		cyclops_end(m, constant);
	}
}

static void measure_phases(struct cyclops *m)
{
	int phases = cyclops_region(m, "phases");

	cyclops_begin(m, phases);
	spin(50000000);
	for (int i = 0; i < 20000; i++)
		(void)getppid();
	cyclops_end(m, phases);
}

static void measure_long(struct cyclops *m)
{
	int region = cyclops_region(m, "long");

	cyclops_begin(m, region);
	spin(2200000000u);
	cyclops_end(m, region);
}

/* An event of the calling thread, with its page; NULL if it cannot be opened. */
static const volatile struct perf_event_mmap_page *open_page(uint64_t event, int *leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = event,
		.config1 = 2, /* read by instructions */
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, *leader, 0);
	void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	*leader = *leader < 0 ? fd : *leader;
	return page == MAP_FAILED ? NULL : page;
}

/* The least that reads an event: its page says which counter it is on, what to add, and that this holds. */
static inline __attribute__((always_inline)) uint64_t bare_read(
	const volatile struct perf_event_mmap_page *page, unsigned unused_bits)
{
	uint64_t value;
	uint32_t lock;

	do {
		lock = page->lock;
		value = counter_here(page->index - 1) << unused_bits;
		value = (uint64_t)page->offset + (uint64_t)((int64_t)value >> unused_bits);
	} while (page->lock != lock);
	return value;
}

/* Instructions for two readings of n events, the second less the first. */
#define BARE(n)                                                                                    \
	static uint64_t bare_##n(const volatile struct perf_event_mmap_page *const *pages,         \
				 const volatile struct perf_event_mmap_page *instructions)         \
	{                                                                                          \
		uint64_t before = bare_read(instructions, 0), after;                               \
		volatile uint64_t differences[n] __attribute__((unused));                          \
		for (int k = 0; k < PAIRS; k++) {                                                  \
			uint64_t values[n];                                                        \
			order_before_counters();                                                   \
			_Pragma("GCC unroll 4") for (int i = 0; i < (n); i++) values[i] =          \
				bare_read(pages[i], 32);                                           \
			order_before_counters();                                                   \
			_Pragma("GCC unroll 4") for (int i = 0; i < (n); i++) differences[i] =     \
				bare_read(pages[i], 32) - values[i];                               \
		}                                                                                  \
		after = bare_read(instructions, 0);                                                \
		return (after - before) / PAIRS;                                                   \
	}
BARE(1)
BARE(2)
BARE(4)

static int measure_bare(void)
{
	static const uint64_t events[MOST_BARE] = { 0x11, 0x08, 0x10, 0x12 };
	const volatile struct perf_event_mmap_page *pages[MOST_BARE];
	int leader = -1;

	for (int i = 0; i < MOST_BARE; i++) {
		pages[i] = open_page(events[i], &leader);
		if (pages[i] == NULL || pages[i]->index == 0)
			return 1;
	}
	printf("%llu %llu %llu\n", (unsigned long long)bare_1(pages, pages[1]),
	       (unsigned long long)bare_2(pages, pages[1]),
	       (unsigned long long)bare_4(pages, pages[1]));
	return 0;
}

static const struct {
	const char *name, *events;
	int privilege, all_sets;
	void (*measure)(struct cyclops *);
} subjects[] = {
	{ "pairs", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER_AND_KERNEL, 0, measure_pairs },
	{ "pairs1", "CPU_CYCLES", CYCLOPS_USER, 0, measure_pairs },
	{ "pairs4", "CPU_CYCLES,INST_RETIRED,BR_MIS_PRED,BR_PRED", CYCLOPS_USER, 0, measure_pairs },
	{ "pairs2", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER, 0, measure_pairs },
	{ "loops", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER, 0, measure_loops },
	{ "turns", TWELVE, CYCLOPS_USER, 1, measure_turns },
	{ "phases", TWELVE, CYCLOPS_USER, 1, measure_phases },
	{ "long", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER, 0, measure_long },
};

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "bare") == 0)
		return measure_bare();
	for (size_t i = 0; argc == 3 && i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		struct cyclops_options o = { .sz = sizeof(o) };
		struct cyclops *m;
		int error;

		if (strcmp(subjects[i].name, argv[1]) != 0)
			continue;
		o.events = subjects[i].events;
		o.privilege = subjects[i].privilege;
		o.all_sets = subjects[i].all_sets;
		o.out = argv[2];
		error = cyclops_open(&m, &o);
		if (error < 0)
			fprintf(stderr, "%s\n", cyclops_why(m));
		subjects[i].measure(m);
		return cyclops_close(m) < 0 || error < 0;
	}
	return 2;
}
