/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of known length, for the emulated Neoverse N1. Writes the output of libcyclops.
 *
 * usage: measure-program WHAT OUT    WHAT: pairs, loops, turns, phases, long
 *
 *   pairs   "outer" has PAIRS times an empty "pair", counted in the kernel, too
 *   loops   "loop" is LOOPS instructions, ten times
 *   turns   "constant" is the same loop many times, with twelve events in six sets that take turns
 *   phases  "phases" is a loop of short instructions, then system calls, with these sets
 *   long    "long" is longer than a counter of 32 bits
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cyclops/measure.h"

enum { PAIRS = 1000 };

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

static const struct {
	const char *name, *events;
	int privilege, all_sets;
	void (*measure)(struct cyclops *);
} subjects[] = {
	{ "pairs", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER_AND_KERNEL, 0, measure_pairs },
	{ "loops", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER, 0, measure_loops },
	{ "turns", TWELVE, CYCLOPS_USER, 1, measure_turns },
	{ "phases", TWELVE, CYCLOPS_USER, 1, measure_phases },
	{ "long", "CPU_CYCLES,INST_RETIRED", CYCLOPS_USER, 0, measure_long },
};

int main(int argc, char **argv)
{
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
