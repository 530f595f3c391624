/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures made to be slow: with anything worse than a logarithm in a look-up, or with forks
 * that copy, these would not end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"

enum { N = 40000 };

static void map_numbered(struct fixture *f, uint64_t time_ns, uint32_t pid, uint64_t start,
			 uint64_t length, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "/%u", number);
	feed_map(f, time_ns, pid, start, length, 0, name);
}

static void expect_number(const struct fixture *f, uint32_t pid, uint64_t time_ns, uint64_t address,
			  uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "/%u", number);
	assert_string_equal(path_at(f, pid, time_ns, address), name);
}

/* Each process forks the next and maps one thing of its own, before that or after. */
static void test_chain_of_forks(void **state)
{
	(void)state;
	for (unsigned is_after = 0; is_after < 2; is_after++) {
		struct fixture f;

		fixture_init(&f);
		map_numbered(&f, 1, 1, 0, 1, 0);
		for (uint32_t pid = 2; pid < N; pid++) {
			if (!is_after)
				map_numbered(&f, pid, pid - 1, pid, 1, pid);
			feed_fork(&f, pid, pid, pid, pid - 1, pid - 1);
			if (is_after)
				map_numbered(&f, pid, pid - 1, pid, 1, pid);
		}
		fixture_freeze(&f);
		for (uint32_t pid = 1; pid < N; pid++)
			expect_number(&f, pid, N, 0, 0);
		for (uint32_t address = 2; address < N; address++)
			assert_int_equal(path_at(&f, N - 1, N, address)[0] == '\0', is_after);
		fixture_release(&f);
	}
}

/* One process with many mappings that forks many children, some of which map something. */
static void test_many_children(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (uint32_t i = 0; i < N; i++)
		map_numbered(&f, 1, 1, i, 1, i);
	for (uint32_t pid = 2; pid < N; pid++) {
		feed_fork(&f, pid, pid, pid, 1, 1);
		map_numbered(&f, pid, pid % 2 == 0 ? 1 : pid, pid, 1, N + pid);
	}
	fixture_freeze(&f);
	for (uint32_t pid = 3; pid + 1 < N; pid += 2) {
		expect_number(&f, pid, N, pid, N + pid);
		expect_number(&f, pid, N, pid - 1, N + pid - 1);
		expect_number(&f, pid, N, pid + 1, pid + 1);
	}
	fixture_release(&f);
}

/* Russian dolls, from the outside in and from the inside out. */
static void test_nested(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (uint32_t i = 0; i < N; i++) {
		map_numbered(&f, i + 1, 1, i, 2 * N - 2 * i, i);
		map_numbered(&f, i + 1, 2, N - i, 2 * i + 1, i);
	}
	fixture_freeze(&f);
	for (uint32_t i = 0; i < N; i++) {
		expect_number(&f, 1, N, i, i);
		expect_number(&f, 1, i + 1, N, i);
		expect_number(&f, 2, i + 1, N, i);
		expect_number(&f, 2, N, i + 1, N - 1);
	}
	fixture_release(&f);
}

/* All mappings overlap all others; every second starts a new address space. */
static void test_execs(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (uint32_t i = 0; i < N; i++) {
		if (i % 2 == 0)
			feed_exec(&f, i + 1, 1, "x");
		map_numbered(&f, i + 1, 1, i % 7, UINT64_MAX, i);
	}
	fixture_freeze(&f);
	for (uint32_t i = 0; i < N; i++)
		expect_number(&f, 1, i + 1, 1000, i);
	assert_string_equal(path_at(&f, 1, 0, 1000), "");
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_of_forks),
		cmocka_unit_test(test_many_children),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_execs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
