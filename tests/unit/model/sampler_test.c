/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations are sampled, which collide, and which the filters let pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/sampler.h"
#include "spe/packet.h"

/* Runs over `n` operations, one a cycle, each done at once. Returns the number of samples. */
static uint64_t count_samples(const struct sampling *sampling, uint64_t seed, uint64_t n,
			      uint64_t *out_least, uint64_t *out_most)
{
	struct counts counts = { 0 };
	struct sampler s;
	uint64_t last = 0;

	*out_least = UINT64_MAX;
	*out_most = 0;
	sampler_init(&s, sampling, seed, &counts);
	for (uint64_t i = 1; i <= n; i++) {
		if (!sampler_tick(&s))
			continue;
		assert_true(sampler_begin(&s, i));
		sampler_end(&s, &(struct spe_record){ 0 }, i);
		if (i - last < *out_least)
			*out_least = i - last;
		if (i - last > *out_most)
			*out_most = i - last;
		last = i;
	}
	assert_int_equal(counts.n[COUNT_SAMPLE_FILTRATE], counts.n[COUNT_SAMPLE_FEED]);
	return counts.n[COUNT_SAMPLE_FEED];
}

static void intervals_are_as_asked_for(void **state)
{
	const struct sampling plain = { .interval = 1024 };
	const struct sampling jittered = { .interval = 1024, .has_jitter = true };
	uint64_t least, most;

	(void)state;
	assert_int_equal(count_samples(&plain, 1, 1024 * 1000, &least, &most), 1000);
	assert_int_equal(least, 1024);
	assert_int_equal(most, 1024);
	/* The jitter is 127.5 on average. */
	assert_in_range(count_samples(&jittered, 1, 1151500 * 10, &least, &most), 9980, 10020);
	assert_int_equal(least, 1024);
	assert_int_equal(most, 1024 + 255);
}

static void samples_collide(void **state)
{
	const struct sampling sampling = { .interval = 256 };
	struct counts counts = { 0 };
	struct sampler s;

	(void)state;
	sampler_init(&s, &sampling, 0, &counts);
	assert_true(sampler_begin(&s, 100));
	sampler_end(&s, &(struct spe_record){ 0 }, 400);
	assert_false(sampler_collided(&s));
	assert_false(sampler_begin(&s, 399));
	assert_true(sampler_collided(&s));
	assert_false(sampler_collided(&s)); /* it was told */
	assert_true(sampler_begin(&s, 400));
	assert_int_equal(counts.n[COUNT_SAMPLE_FEED], 2);
	assert_int_equal(counts.n[COUNT_SAMPLE_COLLISION], 1);
}

static void filters_choose(void **state)
{
	enum { LOAD = 0, STORE = 1, VECTOR_LOAD = 4, ATOMIC = 6, EXCLUSIVE_STORE = 0xb };
	const struct spe_record load = {
		.op_class = SPE_OP_LDST, .op = LOAD, .total = 20, .events = 0x1e
	};
	const struct spe_record vector = { .op_class = SPE_OP_LDST, .op = VECTOR_LOAD };
	const struct spe_record store = { .op_class = SPE_OP_LDST, .op = STORE };
	const struct spe_record exclusive = { .op_class = SPE_OP_LDST, .op = EXCLUSIVE_STORE };
	const struct spe_record atomic = { .op_class = SPE_OP_LDST, .op = ATOMIC };
	const struct spe_record branch = { .op_class = SPE_OP_BRANCH, .op = 1 };
	const struct spe_record other = { .op_class = SPE_OP_OTHER };
	const struct {
		struct sampling sampling;
		const struct spe_record *record;
		bool passes;
	} cases[] = {
		{ { 0 }, &other, true },
		{ { .loads = true }, &load, true },
		{ { .loads = true }, &vector, true },
		{ { .loads = true }, &store, false },
		{ { .loads = true }, &exclusive, false },
		{ { .loads = true }, &atomic, true },
		{ { .loads = true }, &other, false },
		{ { .stores = true }, &load, false },
		{ { .stores = true }, &store, true },
		{ { .stores = true }, &exclusive, true },
		{ { .stores = true }, &atomic, true },
		{ { .branches = true }, &branch, true },
		{ { .branches = true }, &load, false },
		{ { .branches = true, .loads = true }, &load, true },
		{ { .branches = true, .loads = true }, &store, false },
		{ { .min_latency = 20 }, &load, true },
		{ { .min_latency = 21 }, &load, false },
		{ { .events = 0x0c }, &load, true },
		{ { .events = 0x2c }, &load, false },
		{ { .events = 0x0c, .stores = true }, &load, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sampling sampling = cases[i].sampling;
		struct counts counts = { 0 };
		struct sampler s;

		sampling.interval = 1024;
		sampler_init(&s, &sampling, 0, &counts);
		if (sampler_end(&s, cases[i].record, 1) != cases[i].passes)
			fail_msg("case %zu", i);
		assert_int_equal(counts.n[COUNT_SAMPLE_FILTRATE], cases[i].passes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_as_asked_for),
		cmocka_unit_test(samples_collide),
		cmocka_unit_test(filters_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
