/* SPDX-License-Identifier: Apache-2.0 */
/* Lines whose reloads may count are let through, and few others. So are those of many processes at one address, each on its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/lines/sieve.h"

enum { LINE_BYTES = 64, N_LINES = 1000, ENOUGH = 50, SPACE = 3 };

/* What is done to a line of each number modulo COUNT(done). */
static const struct {
	uint32_t n;
	bool has_reload, is_let_through;
} done[] = {
	{ 1, false, false },	     { 2, true, false },     { ENOUGH, false, false },
	{ ENOUGH - 1, true, false }, { ENOUGH, true, true },
};

static uint64_t address_of(uint32_t line)
{
	return 0xffff80001000 + (uint64_t)line * LINE_BYTES;
}

/* Accesses come to two sieves by turns, as to those of two workers; only the last one of a line may be a reload. */
static void add_line(struct c2c_sieve *sieves[2], uint32_t line, uint32_t n, bool has_reload)
{
	for (uint32_t i = 0; i < n; i++) {
		struct c2c_sieve *sieve = sieves[i % 2];
		const struct c2c_sieve_access access = c2c_sieve_access_of(
			sieve, SPACE, address_of(line), has_reload && i + 1 == n);

		c2c_sieve_add(sieve, &access, 1);
	}
}

static void test_lines(void **state)
{
	struct c2c_sieve *sieves[2] = { c2c_sieve_new(LINE_BYTES), c2c_sieve_new(LINE_BYTES) };
	struct address_filter filter;
	uint32_t n_wrong = 0;

	(void)state;
	for (uint32_t line = 0; line < N_LINES; line++)
		add_line(sieves, line, done[line % COUNT(done)].n,
			 done[line % COUNT(done)].has_reload);
	c2c_sieve_merge(sieves[0], sieves[1]);
	assert_int_equal(c2c_sieve_lines(sieves[0], ENOUGH, &filter),
			 N_LINES / COUNT(done) * ENOUGH);
	for (uint32_t line = 0; line < N_LINES; line++) {
		bool may_have = address_filter_may_have(&filter, address_of(line) + 8);

		assert_int_equal(may_have, c2c_sieve_may_have(sieves[0], SPACE, address_of(line)));
		if (done[line % COUNT(done)].is_let_through)
			assert_true(may_have);
		else
			n_wrong += may_have;
	}
	assert_true(n_wrong < N_LINES / 50);
	address_filter_release(&filter);

	assert_int_equal(c2c_sieve_lines(sieves[0], 10 * ENOUGH, &filter), 0);
	address_filter_release(&filter);
	c2c_sieve_free(sieves[0]);
	c2c_sieve_free(sieves[1]);
}

/* Each process but the last one accesses the line too seldom, although all of them together do not. */
static void test_spaces(void **state)
{
	enum { N_SPACES = 64, LAST = N_SPACES - 1 };
	struct c2c_sieve *sieve = c2c_sieve_new(LINE_BYTES);
	struct address_filter filter;
	uint32_t n_wrong = 0;

	(void)state;
	for (uint32_t space = 0; space < N_SPACES; space++) {
		const struct c2c_sieve_access access =
			c2c_sieve_access_of(sieve, space, address_of(0), true);

		for (uint32_t i = 0; i < (space == LAST ? ENOUGH * N_SPACES : ENOUGH); i++)
			c2c_sieve_add(sieve, &access, 1);
	}
	assert_int_equal(c2c_sieve_lines(sieve, 2 * ENOUGH * N_SPACES, &filter), 0);
	address_filter_release(&filter);
	assert_true(c2c_sieve_lines(sieve, ENOUGH * N_SPACES, &filter) > 0);
	assert_true(address_filter_may_have(&filter, address_of(0)));
	assert_true(c2c_sieve_may_have(sieve, LAST, address_of(0)));
	for (uint32_t space = 0; space < LAST; space++)
		n_wrong += c2c_sieve_may_have(sieve, space, address_of(0));
	assert_true(n_wrong < N_SPACES / 2);
	address_filter_release(&filter);
	c2c_sieve_free(sieve);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines),
					    cmocka_unit_test(test_spaces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
