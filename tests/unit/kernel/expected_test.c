/* SPDX-License-Identifier: Apache-2.0 */
/* Expected counts: the embedded file, files that are wrong or cut, judgements. */
#include "kernel/expected/expected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static const struct cache_sizes n1 = { 65536, 1 << 20, 32 << 20, 48, 1280 };

#define HEAD                                                                                       \
	"{\"schema\":1,\"tolerances\":{\"exact\":0.01,\"lines\":0.05,\"never\":0.001,\"range\":0}" \
	","                                                                                        \
	"\"overhead\":1,\"sets\":{\"walks\":[\"DTLB_WALK\",\"ITLB_WALK\"]},\"cases\":["
#define CASE(rest) HEAD "{\"name\":\"a\",\"kernel\":\"chase\"" rest "}]}"

static const char good[] = CASE(
	",\"level\":\"l2\",\"parameters\":{\"iterations\":5000,\"block\":7},\"expect\":["
	"{\"kind\":\"exact\",\"count\":\"3 * iterations\",\"events\":[\"INST_RETIRED\"],"
	"\"architectures\":[\"aarch64\",\"arm\"]},"
	"{\"kind\":\"lines\",\"count\":\"iterations + lines\",\"events\":[\"L1D_CACHE_REFILL\"]},"
	"{\"kind\":\"never\",\"events\":[\"ST_SPEC\",\"@walks\"]},"
	"{\"kind\":\"range\",\"least\":\"iterations\",\"most\":\"2 * "
	"iterations\",\"events\":[\"A\",\"B\"]}]");

static void test_read(void **state)
{
	static const struct {
		const char *event;
		double least, most, from, to;
	} wanted[] = {
		{ "INST_RETIRED", 15000, 15000, 14850, 15151 },
		{ "L1D_CACHE_REFILL", 9096, 9096, 8641.2, 9551.8 },
		{ "ST_SPEC", 0, 0, 0, 6 },
		{ "DTLB_WALK", 0, 0, 0, 6 },
		{ "ITLB_WALK", 0, 0, 0, 6 },
		{ "A", 5000, 10000, 5000, 10001 },
		{ "B", 5000, 10000, 5000, 10001 },
	};
	const struct expected_case *c;
	uint64_t values[N_PARAMETERS];
	struct expected e;
	struct err err;

	(void)state;
	assert_int_equal(expected_read(good, strlen(good), &e, &err), 0);
	c = expected_find(&e, "a");
	assert_non_null(c);
	assert_null(expected_find(&e, "b"));
	assert_int_equal(expected_set_values(c, &n1, values, &err), 0);
	assert_int_equal(values[LINES], 4096);
	assert_int_equal(values[BLOCK], 7);
	values[ITERATIONS]++;
	assert_true(expected_is_case(c, &n1, values));
	values[ITERATIONS]--;
	assert_int_equal(c->n_expectations, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct expectation *x = &c->expectations[i];
		struct expected_count count;

		assert_string_equal(x->event, wanted[i].event);
		assert_int_equal(x->architectures, i == 0 ? ON_AARCH64 | ON_ARM : ON_ALL);
		assert_true(expected_count_of(&e, x, values, &count));
		assert_float_equal(count.least, wanted[i].least, 1e-6);
		assert_float_equal(count.most, wanted[i].most, 1e-6);
		assert_float_equal(count.from, wanted[i].from, 1e-6);
		assert_float_equal(count.to, wanted[i].to, 1e-6);
		assert_int_equal(expected_judge(&count, wanted[i].to), EXPECTED_OK);
		assert_int_equal(expected_judge(&count, wanted[i].to + 1), EXPECTED_OVER);
		if (wanted[i].from > 0)
			assert_int_equal(expected_judge(&count, wanted[i].from - 1),
					 EXPECTED_UNDER);
	}
	values[BLOCK] = 8;
	assert_false(expected_is_case(c, &n1, values));
	expected_release(&e);
}

static void test_wrong_files(void **state)
{
	static const struct {
		const char *text, *said;
	} wrong[] = {
		{ "[]", "schema: missing, wanted 1" },
		{ "{\"schema\":2}", "schema: found 2, wanted 1" },
		{ "{\"schema\":1}", "exact: missing, wanted a share of 1" },
		{ "{\"schema\":1,\"tolerances\":{\"exact\":0,\"lines\":0,\"never\":0,\"range\":0}}",
		  "overhead: missing" },
		{ CASE(",\"kernel\":\"chase\""), "duplicate object key" },
		{ HEAD "{\"name\":\"a\",\"kernel\":\"none\"}]}",
		  "found \"none\", wanted a microbenchmark" },
		{ CASE(",\"level\":\"l7\""), "level: found \"l7\", wanted a level" },
		{ CASE(",\"parameters\":{\"busy\":1}"), "kernel chase has no 'busy'" },
		{ CASE(",\"parameters\":{\"lines\":-1}"), "lines: found -1, wanted a number" },
		{ CASE(",\"parameters\":{\"lines\":1}"), "lines is from 2" },
		{ CASE(",\"expect\":[{\"events\":[]}]"),
		  "events: found [], wanted a list of names" },
		{ CASE(",\"expect\":[{\"events\":[\"A\"],\"kind\":\"x\"}]"),
		  "row 1: kind: found \"x\"" },
		{ CASE(",\"expect\":[{\"events\":[\"@x\"],\"kind\":\"never\"}]"),
		  "the name of a set" },
		{ CASE(",\"expect\":[{\"events\":[\"A\"],\"kind\":\"exact\"}]"), "count: missing" },
		{ CASE(",\"expect\":[{\"events\":[\"A\"],\"kind\":\"exact\",\"count\":\"busy\"}]"),
		  "'busy' is no parameter of chase" },
		{ CASE(",\"expect\":[{\"events\":[\"A\"],\"kind\":\"never\",\"architectures\":["
		       "\"mips\"]}]"),
		  "wanted aarch64, x86_64 or arm" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct expected e;
		struct err err;

		assert_int_equal(expected_read(wrong[i].text, strlen(wrong[i].text), &e, &err), -1);
		if (strstr(err.text, wrong[i].said) == NULL)
			fail_msg("%zu: %s", i, err.text);
		expected_release(&e);
	}
}

/* Cut at each byte, nothing but an error comes of it. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t n = 0; n < strlen(good); n++) {
		struct expected e;
		struct err err;
		char copy[sizeof(good)];

		memcpy(copy, good, n);
		assert_int_equal(expected_read(copy, n, &e, &err), -1);
		expected_release(&e);
	}
}

/* In the embedded file names are unique, no event has two rows in a case, and formulas have values. */
static void test_embedded(void **state)
{
	uint64_t values[N_PARAMETERS];
	struct expected e;
	struct err err;

	(void)state;
	expected_open(&e);
	assert_true(e.n_cases > 40);
	for (size_t i = 0; i < e.n_cases; i++) {
		const struct expected_case *c = &e.cases[i];

		assert_ptr_equal(expected_find(&e, c->name), c);
		assert_int_equal(expected_set_values(c, &n1, values, &err), 0);
		for (size_t k = 0; k < c->n_expectations; k++) {
			const struct expectation *x = &c->expectations[k];
			struct expected_count count;

			assert_true(expected_count_of(&e, x, values, &count));
			assert_true(count.least <= count.most && count.from <= count.to);
			for (size_t m = 0; m < k; m++)
				if (strcmp(c->expectations[m].event, x->event) == 0 &&
				    (c->expectations[m].architectures & x->architectures) != 0)
					fail_msg("%s: two rows for %s", c->name, x->event);
		}
	}
	/* each microbenchmark has a case */
	for (size_t i = 0; microbenchmark_at(i) != NULL; i++) {
		size_t k = 0;

		while (k < e.n_cases && e.cases[k].kernel != microbenchmark_at(i))
			k++;
		if (k == e.n_cases)
			fail_msg("no case of %s", microbenchmark_at(i)->name);
	}
	expected_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_embedded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
