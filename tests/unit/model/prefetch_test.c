/* SPDX-License-Identifier: Apache-2.0 */
/* What the prefetchers ask for, and what it is worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/memory.h"
#include "model/prefetch.h"
#include "small.h"

enum { PC = 0x1000, START = 0x100000 };

static void strides_are_learnt(void **state)
{
	static const struct {
		int64_t stride;
		unsigned distance;
		int64_t first[4]; /* offsets asked for by the first access that asks, in order */
		unsigned asking;  /* which access that is, from 0 */
	} cases[] = {
		{ 64, 2, { 64, 128 }, 3 },
		{ 448, 3, { 448, 896, 1344 }, 3 },
		{ -64, 2, { -64, -128 }, 3 },
		{ 16, 2, { 64, 128 }, 4 }, /* a new line at every fourth access */
		{ 64, 0, { 0 }, UINT32_MAX },
		{ 4096, 2, { 0 }, UINT32_MAX }, /* too far */
		{ 0, 2, { 0 }, UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct prefetcher p = { .distance = cases[i].distance, .longest_stride = 2048 };
		uint64_t vas[PREFETCH_MAX];
		unsigned asking = UINT32_MAX;

		for (unsigned n = 0; n < 16 && asking == UINT32_MAX; n++) {
			uint64_t va = START + (uint64_t)(cases[i].stride * (int64_t)n);
			size_t found = prefetcher_train_stride(&p, PC, va, vas);

			if (found == 0)
				continue;
			asking = n;
			assert_int_equal(found, cases[i].distance);
			for (size_t k = 0; k < found; k++)
				assert_int_equal((int64_t)(vas[k] - va), cases[i].first[k]);
		}
		if (asking != cases[i].asking)
			fail_msg("case %zu: access %u asks", i, asking);
	}
}

/* Once it is ahead, each access asks for one more; another stride makes it begin again. */
static void one_more_for_each_access(void **state)
{
	struct prefetcher p = { .distance = 3, .longest_stride = 2048 };
	uint64_t vas[PREFETCH_MAX];

	(void)state;
	for (unsigned n = 0; n < 4; n++)
		prefetcher_train_stride(&p, PC, START + 64 * n, vas);
	assert_int_equal(prefetcher_train_stride(&p, PC, START + 64 * 4, vas), 1);
	assert_int_equal(vas[0], START + 64 * 7);
	assert_int_equal(prefetcher_train_stride(&p, PC, START + 64 * 9, vas), 0);
	assert_int_equal(prefetcher_train_stride(&p, PC, START + 64 * 10, vas), 0);
	assert_int_equal(prefetcher_train_stride(&p, PC + 4, START, vas),
			 0); /* another instruction */
}

/* Lines in a row, whoever uses them; each access calls for the line after those asked for. */
static void streams_are_followed(void **state)
{
	static const struct {
		uint64_t line;
		size_t n;	/* lines that are called for … */
		uint64_t first; /* … from here … */
		int step;	/* … up or down */
	} steps[] = {
		{ 100, 0, 0, 0 }, { 101, 0, 0, 0 },    { 500, 0, 0, 0 },   { 102, 3, 103, 1 },
		{ 499, 0, 0, 0 }, { 498, 3, 497, -1 }, { 103, 1, 106, 1 }, { 104, 1, 107, 1 },
		{ 700, 0, 0, 0 }, { 702, 0, 0, 0 },    { 704, 0, 0, 0 },   { 497, 1, 494, -1 },
		{ 106, 0, 0, 0 }, { 105, 1, 108, 1 }, /* 106 came early: a stream of its own */
	};
	struct prefetcher p = { .distance = 3 };
	uint64_t vas[PREFETCH_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		size_t n = prefetcher_train_stream(&p, steps[i].line * LINE_BYTES + i, vas);

		if (n != steps[i].n)
			fail_msg("step %zu: %zu lines", i, n);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(vas[k],
					 (steps[i].first + (uint64_t)(steps[i].step * (int)k)) *
						 LINE_BYTES);
	}
	p.distance = 0;
	assert_int_equal(prefetcher_train_stream(&p, 106 * LINE_BYTES, vas), 0);
}

/* There are so many places for streams: the one not seen for longest makes room. */
static void old_streams_are_forgotten(void **state)
{
	struct prefetcher p = { .distance = 3 };
	uint64_t vas[PREFETCH_MAX];

	(void)state;
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < STREAMS; i++)
			assert_int_equal(
				prefetcher_train_stream(&p, (1000 * i + round) * LINE_BYTES, vas),
				round == 2 ? 3 : 0);
	prefetcher_train_stream(&p, 3 * LINE_BYTES,
				vas); /* the first goes on, the second is the oldest */
	prefetcher_train_stream(&p, 500 * LINE_BYTES, vas);
	assert_int_equal(prefetcher_train_stream(&p, 4 * LINE_BYTES, vas), 1);
	assert_int_equal(prefetcher_train_stream(&p, 1003 * LINE_BYTES, vas), 0);
}

static void late_prefetches_are_told(void **state)
{
	struct params params = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	struct access late, early;

	(void)state;
	params.outstanding_misses = 2;
	memory_init(&m, &params, counts);
	memory_prefetch(&m, 0, 8, true, 100);
	memory_prefetch(&m, 0, 9, true, 100);
	memory_prefetch(&m, 0, 10, true, 100); /* two are under way: this one is dropped */
	assert_null(assoc_peek(&m.cpus[0].l1d, 10));
	late = memory_access(&m, 0, 8, ACCESS_LOAD, 600);
	assert_true(late.was_late && late.missed_l1);
	assert_int_equal(late.source, SOURCE_DRAM);
	assert_int_equal(late.ready, 1100);
	early = memory_access(&m, 0, 9, ACCESS_LOAD, 2000);
	assert_false(early.was_late || early.missed_l1);
	assert_int_equal(early.source, SOURCE_L1);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_REFILL_RD], 1); /* of demands: the late one */
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_REFILL_RD], 2);

	memory_prefetch(&m, 0, 12, false, 3000); /* into the L2 */
	late = memory_access(&m, 0, 12, ACCESS_LOAD, 3200);
	assert_int_equal(late.source, SOURCE_DRAM);
	assert_int_equal(late.ready, 4000);
	memory_release(&m);
}

/* An instruction that prefetches accesses the L1D, but is no demand: what comes after it is. */
static void instructions_that_prefetch(void **state)
{
	struct params params = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;
	struct access a;

	(void)state;
	memory_init(&m, &params, counts);
	memory_access(&m, 0, 8, ACCESS_PREFETCH, 100);
	memory_access(&m, 0, 8, ACCESS_PREFETCH, 200);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_RD], 2);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_REFILL_RD], 0);
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_REFILL_RD], 1);
	a = memory_access(&m, 0, 8, ACCESS_LOAD, 600);
	assert_true(a.was_late);
	a = memory_access(&m, 0, 8, ACCESS_LOAD, 700); /* the same line: not another refill */
	assert_true(a.missed_l1 && !a.was_late);
	assert_int_equal(counts[0].n[COUNT_L1D_CACHE_REFILL_RD], 1);
	memory_release(&m);
}

/* What the next-line prefetcher brings into the L2 is no access of the L1: the bus sees it. */
static void prefetches_into_the_l2_are_not_counted_there(void **state)
{
	struct params params = small_params();
	struct counts counts[4] = { 0 };
	struct memory m;

	(void)state;
	memory_init(&m, &params, counts);
	memory_prefetch(&m, 0, 8, false, 100);
	assert_true(memory_has(&m, 0, 8));
	assert_false(memory_has(&m, 0, 9));
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_RD], 0);
	assert_int_equal(counts[0].n[COUNT_L2D_CACHE_REFILL_RD], 0);
	assert_int_equal(counts[0].n[COUNT_LL_CACHE_RD], 1);
	assert_int_equal(counts[0].n[COUNT_BUS_ACCESS_RD], 1);
	memory_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_are_learnt),
		cmocka_unit_test(one_more_for_each_access),
		cmocka_unit_test(streams_are_followed),
		cmocka_unit_test(old_streams_are_forgotten),
		cmocka_unit_test(late_prefetches_are_told),
		cmocka_unit_test(instructions_that_prefetch),
		cmocka_unit_test(prefetches_into_the_l2_are_not_counted_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
