/* SPDX-License-Identifier: Apache-2.0 */
/* Microbenchmarks: their tables, the memory they make, and that each runs here with any choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernel/loops/emit.h"
#include "kernel/loops/inside.h"

/* A name is unique, says something, has iterations, and limits that hold the default. */
static void test_tables(void **state)
{
	const struct microbenchmark *m;

	(void)state;
	for (size_t i = 0; (m = microbenchmark_at(i)) != NULL; i++) {
		assert_ptr_equal(microbenchmark_find(m->name), m);
		assert_true(m->iteration[0] != '\0' && m->proves[0] != '\0');
		assert_true(microbenchmark_takes(m, ITERATIONS));
		assert_true((m->architectures & ON_AARCH64) != 0);
		for (enum parameter p = 0; p < N_PARAMETERS; p++) {
			const struct parameter_range *r = &m->parameters[p];

			assert_true(r->least <= r->usual && r->usual <= r->most);
		}
		/* lines are needed where there is a level */
		assert_true(m->n_arrays == 0 || microbenchmark_takes(m, LINES));
	}
}

static void test_set(void **state)
{
	const struct microbenchmark *m = microbenchmark_find("chase");
	uint64_t values[N_PARAMETERS];
	struct err err;

	(void)state;
	microbenchmark_set_usual(m, values);
	assert_int_equal(microbenchmark_set(m, "lines", 2, values, &err), 0);
	assert_int_equal(values[LINES], 2);
	assert_int_equal(microbenchmark_set(m, "lines", 1, values, &err), -1);
	assert_string_equal(err.text, "kernel chase: lines is from 2 to 33554432, not 1");
	assert_int_equal(microbenchmark_set(m, "iterations", UINT64_C(1) << 32, values, &err), -1);
	assert_int_equal(microbenchmark_set(m, "stride", 12, values, &err), -1);
	assert_string_equal(err.text, "kernel chase: stride is a multiple of 8, not 12");
	assert_int_equal(microbenchmark_set(m, "busy", 1, values, &err), -1);
	assert_string_equal(
		err.text,
		"kernel chase has no 'busy'; it has iterations, lines, stride, block, huge");
	assert_int_equal(values[LINES], 2);
}

static void test_levels(void **state)
{
	static const struct cache_sizes n1 = { 65536, 1 << 20, 32 << 20, 48, 1280 };
	static const struct {
		const char *kernel, *level;
		uint64_t lines, stride;
	} cases[] = {
		{ "chase", "l1", 512, 64 },	{ "chase", "l2", 4096, 64 },
		{ "chase", "llc", 262144, 64 }, { "chase", "dram", 1048576, 64 },
		{ "chase", "tlb2", 332, 4160 }, { "chase", "walk", 2560, 4160 },
		{ "triad", "l1", 170, 0 },	{ "triad", "dram", 349525, 0 },
		{ "snoop", "l2", 4096, 0 },
	};
	static const struct cache_sizes unknown = { 0 };
	uint64_t values[N_PARAMETERS];
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct microbenchmark *m = microbenchmark_find(cases[i].kernel);

		microbenchmark_set_usual(m, values);
		assert_int_equal(microbenchmark_set_level(m, cases[i].level, &n1, values, &err), 0);
		assert_int_equal(values[LINES], cases[i].lines);
		assert_int_equal(values[STRIDE], cases[i].stride);
		assert_int_equal(
			microbenchmark_set_level(m, cases[i].level, &unknown, values, &err), -1);
	}
	assert_int_equal(
		microbenchmark_set_level(microbenchmark_find("chase"), "l4", &n1, values, &err),
		-1);
	assert_string_equal(err.text,
			    "there is no level 'l4'; there are l1, l2, llc, dram, tlb2, walk");
	assert_int_equal(
		microbenchmark_set_level(microbenchmark_find("divide"), "l1", &n1, values, &err),
		-1);
	assert_int_equal(
		microbenchmark_set_level(microbenchmark_find("triad"), "walk", &n1, values, &err),
		-1);
	assert_string_equal(err.text, "kernel triad has no level walk");
}

/* A ring goes through all places and is back after as many steps, not earlier. */
static void test_ring(void **state)
{
	enum { N = 777, STRIDE_WORDS = 9 };
	static void *places[N * STRIDE_WORDS];
	static const size_t blocks[] = { 0, 1, 10 };

	(void)state;
	for (size_t b = 0; b < COUNT(blocks); b++) {
		void **at = places;
		size_t steps = 0;

		make_pointer_ring(places, N, STRIDE_WORDS * sizeof(*places), blocks[b]);
		do {
			at = *at;
			assert_int_equal((at - places) % STRIDE_WORDS, 0);
			steps++;
		} while (at != places && steps <= N);
		assert_int_equal(steps, N);
	}
}

/* A run of a chase ends so many steps further in the ring. */
static void test_chase_goes_on(void **state)
{
	const struct microbenchmark *m = microbenchmark_find("chase");
	struct microbenchmark_run run;
	uint64_t values[N_PARAMETERS];
	struct err err;
	void *first;

	(void)state;
	microbenchmark_set_usual(m, values);
	values[LINES] = 50;
	values[ITERATIONS] = 49;
	if (!microbenchmark_is_here(m))
		skip();
	assert_int_equal(microbenchmark_prepare(m, values, ANY_CPU, &run, &err), 0);
	first = run.position;
	m->run(&run);
	assert_ptr_equal(*(void **)run.position, first);
	microbenchmark_release(&run);
}

/* Prepares, runs twice and releases. */
static void run_with(const struct microbenchmark *m, const uint64_t values[N_PARAMETERS])
{
	struct microbenchmark_run run;
	struct err err;

	if (microbenchmark_prepare(m, values, ANY_CPU, &run, &err) == 0) {
		m->run(&run);
		m->run(&run);
	} else {
		print_message("%s\n", err.text);
		assert_int_equal(err.code, ERR_USAGE); /* too much code */
	}
	microbenchmark_release(&run);
}

/* Each with few iterations, and with each parameter at its least and at more than usual. */
static void test_all_run(void **state)
{
	const struct microbenchmark *m;
	uint64_t values[N_PARAMETERS];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; (m = microbenchmark_at(i)) != NULL; i++) {
		if (!microbenchmark_is_here(m))
			continue;
		n++;
		for (enum parameter p = 0; p < N_PARAMETERS; p++) {
			const struct parameter_range *r = &m->parameters[p];

			if (!microbenchmark_takes(m, p))
				continue;
			microbenchmark_set_usual(m, values);
			values[ITERATIONS] = 20;
			if (p != ITERATIONS) {
				values[p] = r->least;
				run_with(m, values);
				values[p] = r->most < 2 * r->usual + 1 ? r->most : 2 * r->usual + 1;
			}
			if (r->step > 1)
				values[p] -= values[p] % r->step;
			run_with(m, values);
		}
	}
	assert_true(n > 20 || MICROBENCHMARK_ARCHITECTURE == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),	      cmocka_unit_test(test_set),
		cmocka_unit_test(test_levels),	      cmocka_unit_test(test_ring),
		cmocka_unit_test(test_chase_goes_on), cmocka_unit_test(test_all_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
