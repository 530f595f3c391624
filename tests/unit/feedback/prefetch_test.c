/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a load, by its samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "feedback/prefetch.h"

enum { SAMPLES = 20, STEP_NS = 1000 };

/* Samples that are so many bytes and STEP_NS apart. */
static struct load_sum walk(int64_t bytes, size_t n, uint64_t n_missed, uint64_t cycles)
{
	struct load_sum l = { .n_missed = n_missed,
			      .n_timed = cycles > 0 ? n_missed : 0,
			      .cycles = cycles * n_missed };
	uint64_t address = 1 << 30;

	for (size_t i = 0; i < n; i++, address += (uint64_t)bytes) {
		addr_pattern_add(&l.walk, address);
		if (i == 0)
			continue;
		addr_pattern_add_pair(&l.walk, address - (uint64_t)bytes, address);
		*(bytes > 0 ? &l.up_bytes : &l.down_bytes) +=
			(uint64_t)(bytes > 0 ? bytes : -bytes);
		*(bytes > 0 ? &l.up_ns : &l.down_ns) += STEP_NS;
	}
	return l;
}

/* At 1 GHz, so that cycles are nanoseconds; what differs is the stride, as the divisor of all distances. */
static void test_judge(void **state)
{
	static const struct {
		int64_t bytes;
		uint64_t stride, n_missed, cycles;
		size_t n;
		enum prefetch_verdict verdict;
		int64_t ahead;
	} cases[] = {
		/* 100 iterations a step, 10 ns each: 30 of them pass in 300 ns */
		{ 12800, 128, SAMPLES, 300, SAMPLES, PREFETCH_PROPOSED, 30 * 128 },
		{ -12800, 128, SAMPLES, 300, SAMPLES, PREFETCH_PROPOSED, -30 * 128 },
		/* as much as begins: 301 ns are 31 iterations */
		{ 12800, 128, SAMPLES, 301, SAMPLES, PREFETCH_PROPOSED, 31 * 128 },
		/* a line at least, in whole strides */
		{ 2400, 24, SAMPLES, 1, SAMPLES, PREFETCH_PROPOSED, 72 },
		{ 12800, 128, SAMPLES, 1, SAMPLES, PREFETCH_PROPOSED, 128 },
		{ 12800, 128, 15, 300, 15, PREFETCH_FEW, 0 },
		{ 12800, 128, SAMPLES / 4, 300, SAMPLES, PREFETCH_PROPOSED, 30 * 128 },
		{ 12800, 128, SAMPLES / 4 - 1, 300, SAMPLES, PREFETCH_HITS, 0 },
		{ 12800, 128, SAMPLES, 0, SAMPLES, PREFETCH_NO_LATENCY, 0 },
		/* 19 steps of 100 iterations, of which half are 950 */
		{ 12800, 128, SAMPLES, 9500, SAMPLES, PREFETCH_PROPOSED, 950 * 128 },
		{ 12800, 128, SAMPLES, 9501, SAMPLES, PREFETCH_SHORT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct load_sum l =
			walk(cases[i].bytes, cases[i].n, cases[i].n_missed, cases[i].cycles);
		int64_t ahead = 0;

		l.walk.divisor = cases[i].stride;
		assert_int_equal(prefetch_judge(&l, 1e9, &ahead), cases[i].verdict);
		assert_int_equal(ahead, cases[i].ahead);
	}
}

static void test_no_stride(void **state)
{
	struct load_sum l = walk(12800, SAMPLES, SAMPLES, 300);
	int64_t ahead = 0;

	(void)state;
	l.walk.n_up = l.walk.n_down = SAMPLES / 2;
	assert_int_equal(prefetch_judge(&l, 1e9, &ahead), PREFETCH_NO_STRIDE);
	l = walk(0, SAMPLES, SAMPLES, 300); /* always the same address */
	assert_int_equal(prefetch_judge(&l, 1e9, &ahead), PREFETCH_NO_STRIDE);
}

/* Two threads that walk elsewhere are one load, of the same pace. */
static void test_threads(void **state)
{
	struct load_sum both = { 0 }, one = walk(12800, SAMPLES, SAMPLES, 300);
	int64_t ahead = 0;

	(void)state;
	one.walk.divisor = 128;
	load_sum_merge_other(&both, &one);
	one.walk.any += 1 << 20;
	one.walk.most += 1 << 20;
	load_sum_merge_other(&both, &one);
	assert_int_equal(both.walk.n, 2 * SAMPLES);
	assert_int_equal(prefetch_judge(&both, 1e9, &ahead), PREFETCH_PROPOSED);
	assert_int_equal(ahead, 30 * 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_no_stride),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
