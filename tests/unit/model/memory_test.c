/* SPDX-License-Identifier: Apache-2.0 */
/* Caches and the sharing of lines, against sequences worked out by hand (small.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/memory.h"
#include "small.h"

struct step {
	unsigned cpu;
	enum access_kind kind;
	uint64_t line;
	uint64_t cycles; /* until the data is there */
	enum source source;
};

/* Each access begins long after the one before, so that nothing is under way. */
static void run(const char *name, const struct step *steps, size_t n)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	uint64_t time = 0;

	memory_init(&m, &p, counts);
	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		struct access a;

		time += 100000;
		a = memory_access(&m, s->cpu, s->line, s->kind, time);
		if (a.source != s->source || a.ready - time != s->cycles)
			fail_msg("%s, step %zu: %llu cycles from source %u, wanted %llu from %u",
				 name, i, (unsigned long long)(a.ready - time), a.source,
				 (unsigned long long)s->cycles, s->source);
		assert_true(a.finish >= a.ready);
	}
	memory_release(&m);
}

#define LOAD(cpu, line, cycles, source)                                                            \
	{                                                                                          \
		cpu, ACCESS_LOAD, line, cycles, SOURCE_##source                                    \
	}
#define STORE(cpu, line, cycles, source)                                                           \
	{                                                                                          \
		cpu, ACCESS_STORE, line, cycles, SOURCE_##source                                   \
	}
#define FETCH(cpu, line, cycles, source)                                                           \
	{                                                                                          \
		cpu, ACCESS_FETCH, line, cycles, SOURCE_##source                                   \
	}
#define RUN(steps) run(#steps, steps, COUNT(steps))

static void lines_move_down_the_levels(void **state)
{
	/* L1D: sets by line % 2; L2: by line % 4; system cache: by line % 8. Two ways each. */
	static const struct step one_cpu[] = {
		LOAD(0, 8, 1000, DRAM),
		LOAD(0, 8, 4, L1),
		LOAD(0, 10, 1000, DRAM),
		LOAD(0, 12, 1000, DRAM), /* 8 leaves the L1D */
		LOAD(0, 8, 10, L2),	 /* 10 does */
		LOAD(0, 10, 10, L2),
		LOAD(0, 16, 1000, DRAM),	/* 12 leaves the L2, and the L1D */
		LOAD(0, 12, 100, SYSTEM_CACHE), /* and back; 8 leaves the L2 */
		LOAD(0, 8, 100, SYSTEM_CACHE),
	};
	static const struct step code_and_data[] = {
		FETCH(0, 8, 1000, DRAM),
		FETCH(0, 8, 4, L1),
		LOAD(0, 8, 10, L2), /* the L2 has both, the L1s not */
		LOAD(0, 8, 4, L1),
	};

	(void)state;
	RUN(one_cpu);
	RUN(code_and_data);
}

static void lines_move_between_cpus(void **state)
{
	/* CPUs 0 and 1 are one cluster, 2 and 3 the other. */
	static const struct step written_here_read_there[] = {
		STORE(0, 8, 1000, DRAM),
		LOAD(1, 8, 30, PEER_CORE), /* now both share it, and the system cache has it */
		LOAD(0, 8, 4, L1),
		LOAD(2, 8, 100, SYSTEM_CACHE), /* nobody may write it: no need to ask a CPU */
		STORE(0, 8, 204, L1),	       /* a hit, but the others must lose it: 4 + 200 */
		STORE(0, 8, 4, L1),
		LOAD(2, 8, 200, PEER_CLUSTER),
		LOAD(3, 8, 100, SYSTEM_CACHE),
	};
	static const struct step ping_pong[] = {
		STORE(0, 8, 1000, DRAM),
		STORE(2, 8, 200, PEER_CLUSTER),
		STORE(0, 8, 200, PEER_CLUSTER),
		STORE(1, 8, 30, PEER_CORE),
		LOAD(1, 8, 4, L1),
		LOAD(0, 8, 30, PEER_CORE),
	};
	static const struct step clean_line[] = {
		LOAD(0, 8, 1000, DRAM),
		LOAD(1, 8, 30, PEER_CORE),     /* it might have been written: only CPU 0 knows */
		LOAD(2, 8, 200, PEER_CLUSTER), /* shared, but nowhere else than in CPUs */
	};
	static const struct step exclusive_line_needs_no_upgrade[] = {
		LOAD(0, 8, 1000, DRAM),
		STORE(0, 8, 4, L1),
		LOAD(1, 8, 30, PEER_CORE),
	};
	static const struct step upgrade_in_l2[] = {
		LOAD(0, 8, 1000, DRAM),	   LOAD(1, 8, 30, PEER_CORE),
		LOAD(0, 10, 1000, DRAM),   LOAD(0, 12, 1000, DRAM), /* 8 leaves the L1D of 0 */
		STORE(0, 8, 40, L2),				    /* 10 + 30 */
		LOAD(1, 8, 30, PEER_CORE),
	};
	static const struct step written_lines_survive[] = {
		STORE(0, 8, 1000, DRAM),
		LOAD(0, 12, 1000, DRAM),
		LOAD(0, 16, 1000, DRAM), /* 8 leaves CPU 0 */
		LOAD(1, 8, 100, SYSTEM_CACHE),
	};

	(void)state;
	RUN(written_here_read_there);
	RUN(ping_pong);
	RUN(clean_line);
	RUN(exclusive_line_needs_no_upgrade);
	RUN(upgrade_in_l2);
	RUN(written_lines_survive);
}

/* Requests of several CPUs for one line: each waits until the one before has it. */
static void requests_for_a_line_wait(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;

	(void)state;
	memory_init(&m, &p, counts);
	memory_access(&m, 1, 100, ACCESS_LOAD, 0); /* so that more than one CPU has lines */
	assert_int_equal(memory_access(&m, 0, 8, ACCESS_STORE, 10000).ready, 11000);
	assert_int_equal(memory_access(&m, 2, 8, ACCESS_STORE, 10100).ready, 11200);
	assert_int_equal(memory_access(&m, 0, 8, ACCESS_LOAD, 10300).ready, 11400);
	assert_int_equal(memory_access(&m, 0, 8, ACCESS_STORE, 11404).ready, 11408 + 200);
	assert_int_equal(memory_access(&m, 2, 9, ACCESS_STORE, 10500).ready, 11500); /* another */
	assert_int_equal(memory_access(&m, 2, 8, ACCESS_LOAD, 20000).ready, 20200);
	memory_release(&m);
}

/* A second load of a line that is on its way waits for it, and counts as a miss of its source. */
static void lines_under_way_are_misses(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	struct access first, second, late;

	(void)state;
	memory_init(&m, &p, counts);
	first = memory_access(&m, 0, 8, ACCESS_LOAD, 100);
	second = memory_access(&m, 0, 8, ACCESS_LOAD, 300);
	late = memory_access(&m, 0, 8, ACCESS_LOAD, 1096);
	assert_int_equal(first.ready, 1100);
	assert_int_equal(second.ready, 1100);
	assert_int_equal(second.source, SOURCE_DRAM);
	assert_true(second.missed_l1 && second.missed_l2);
	assert_int_equal(late.ready, 1100);
	assert_int_equal(late.source, SOURCE_L1);
	assert_false(late.missed_l1);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_RD], 3);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_REFILL_RD], 1);
	memory_release(&m);
}

/* Two lines may be on their way (small.h); the next waits until one of them is there. */
static void misses_queue_up(void **state)
{
	static const uint64_t ready[] = { 1000, 1000, 2000, 2000, 3000 };
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;

	(void)state;
	memory_init(&m, &p, counts);
	for (size_t i = 0; i < COUNT(ready); i++)
		assert_int_equal(memory_access(&m, 0, 8 + i, ACCESS_LOAD, 0).ready, ready[i]);
	memory_release(&m);

	p.outstanding_misses = 8;
	p.dram_line_gap = 70;
	memory_init(&m, &p, counts);
	for (size_t i = 0; i < COUNT(ready); i++)
		assert_int_equal(memory_access(&m, 0, 8 + i, ACCESS_LOAD, 0).ready, 1000 + 70 * i);
	memory_release(&m);
}

/* A short miss ends before a long one that began earlier, and makes room. */
static void the_first_place_that_is_free_is_taken(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	struct access a;

	(void)state;
	memory_init(&m, &p, counts);
	memory_access(&m, 1, 8, ACCESS_STORE, 0);
	memory_access(&m, 0, 9, ACCESS_LOAD, 10000); /* until 11000 */
	memory_access(&m, 0, 8, ACCESS_LOAD, 10000); /* from CPU 1: until 10030 */
	a = memory_access(&m, 0, 10, ACCESS_LOAD, 10000);
	assert_int_equal(a.start, 10030);
	assert_int_equal(a.ready, 11030);
	memory_release(&m);
}

/* Lines that were written are written back; the L2 sees that as an access. */
static void write_backs_are_counted(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;

	(void)state;
	memory_init(&m, &p, counts);
	memory_access(&m, 0, 8, ACCESS_STORE, 0);
	memory_access(&m, 0, 10, ACCESS_LOAD, 10000);
	memory_access(&m, 0, 12, ACCESS_LOAD, 20000); /* 8 leaves the L1D */
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_WB], 1);
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_WR], 2);
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_RD], 2);
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_WB], 0);
	memory_access(&m, 0, 16, ACCESS_LOAD, 30000); /* 8 leaves the L2 */
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_WB], 1);
	assert_int_equal(counts[0].n[COUNT_BUS_ACCESS_WR], 1);
	memory_release(&m);
}

/*
 * A CPU that writes a line makes the copies of the others invalid: they count it, not the writer.
 */
static void invalidations_are_counted(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;

	(void)state;
	memory_init(&m, &p, counts);
	memory_access(&m, 0, 8, ACCESS_LOAD, 0);
	memory_access(&m, 1, 8, ACCESS_LOAD, 10000);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_INVAL], 0);
	memory_access(&m, 2, 8, ACCESS_STORE, 20000);
	memory_access(&m, 2, 8, ACCESS_STORE, 30000);
	for (int cpu = 0; cpu < 4; cpu++) {
		assert_int_equal(counts[cpu].n[COUNT_L1D_CACHE_INVAL], cpu < 2);
		assert_int_equal(counts[cpu].n[COUNT_L2D_CACHE_INVAL], cpu < 2);
	}
	/* What left the L1D before is invalidated in the L2 alone. */
	memory_access(&m, 2, 10, ACCESS_LOAD, 40000);
	memory_access(&m, 2, 12, ACCESS_LOAD, 50000);
	memory_access(&m, 1, 8, ACCESS_STORE, 60000);
	assert_int_equal(counts[2].n[COUNT_L1D_CACHE_INVAL], 0);
	assert_int_equal(counts[2].n[COUNT_L2D_CACHE_INVAL], 1);
	memory_release(&m);
}

static void latencies_vary_around_the_mean(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	uint64_t sum = 0, least = UINT64_MAX, most = 0;
	struct memory m;

	(void)state;
	p.dram_spread = 80;
	memory_init(&m, &p, counts);
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t time = i * 100000;
		uint64_t cycles = memory_access(&m, 0, i * 64, ACCESS_LOAD, time).ready - time;

		sum += cycles;
		least = cycles < least ? cycles : least;
		most = cycles > most ? cycles : most;
	}
	assert_int_equal(least, 920);
	assert_int_equal(most, 1080);
	assert_in_range(sum / 10000, 998, 1002);
	memory_release(&m);
}

/* What must hold whatever the CPUs do: one writer, or readers only; the L2 contains the L1D. */
static void check_line(const struct memory *m, uint64_t line)
{
	uint64_t holders = m->held == HELD_BY_MORE ? directory_holders(&m->directory, line)
			   : assoc_peek(&m->cpus[m->first_cpu].l2, line) != NULL
				   ? (uint64_t)1 << m->first_cpu
				   : 0;
	unsigned n_holders = 0, n_owners = 0;

	for (unsigned cpu = 0; cpu < m->params->n_cpus; cpu++) {
		const struct entry *l1 = assoc_peek(&m->cpus[cpu].l1d, line);
		const struct entry *l2 = assoc_peek(&m->cpus[cpu].l2, line);

		assert_int_equal(holders >> cpu & 1, l2 != NULL);
		assert_true(l1 == NULL || l2 != NULL);
		if (l2 == NULL)
			continue;
		n_holders++;
		n_owners += l2->state != LINE_SHARED;
		if (l1 != NULL && l1->state == LINE_MODIFIED)
			assert_int_equal(l2->state, LINE_MODIFIED);
		if (l1 != NULL && l2->state == LINE_SHARED)
			assert_int_equal(l1->state, LINE_SHARED);
	}
	assert_true(n_owners == 0 || n_holders == 1);
}

static void random_accesses_keep_lines_coherent(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	uint32_t random = 7;

	(void)state;
	memory_init(&m, &p, counts);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t line;

		random = random * 1664525 + 1013904223;
		line = random >> 12 & 31;
		memory_access(&m, random >> 20 & 3, line, (random >> 24) % 5, i * 7);
		check_line(&m, line);
		check_line(&m, i % 32);
	}
	memory_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_move_down_the_levels),
		cmocka_unit_test(lines_move_between_cpus),
		cmocka_unit_test(requests_for_a_line_wait),
		cmocka_unit_test(lines_under_way_are_misses),
		cmocka_unit_test(misses_queue_up),
		cmocka_unit_test(the_first_place_that_is_free_is_taken),
		cmocka_unit_test(write_backs_are_counted),
		cmocka_unit_test(invalidations_are_counted),
		cmocka_unit_test(latencies_vary_around_the_mean),
		cmocka_unit_test(random_accesses_keep_lines_coherent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
