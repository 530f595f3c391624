/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 8 << 20 };

/* The whole pages between these bytes that are in memory. */
static size_t pages_there(const char *bytes, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n_there = 0;
	uintptr_t from = ((uintptr_t)bytes + page - 1) / page * page;
	size_t n_pages = ((uintptr_t)bytes + n - from) / page;
	unsigned char *there = calloc(n_pages, 1);

	assert_non_null(there);
	assert_int_equal(mincore((void *)from, n_pages * page, there), 0);
	for (size_t i = 0; i < n_pages; i++)
		n_there += there[i] & 1;
	free(there);
	return n_there;
}

static void test_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *bytes = mem_zalloc_pages(BYTES / 16, 16);

	(void)state;
	assert_true(pages_there(bytes, BYTES) >= BYTES / page - 1);
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(bytes[i], 0);
	free(bytes);
}

/* What is asked for in pieces of any size is zero, be it of memory that was used before. */
static void test_zeroed(void **state)
{
	static const size_t sizes[] = { 1, 100, 4095, 4096, 4097, 200 << 10 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		char *used = mem_alloc(sizes[i], 1), *bytes;

		for (size_t at = 0; at < sizes[i]; at++)
			used[at] = 1;
		free(used);
		bytes = mem_zalloc_pages(sizes[i], 1);
		for (size_t at = 0; at < sizes[i]; at++)
			assert_int_equal(bytes[at], 0);
		free(bytes);
	}
	free(mem_zalloc_pages(0, 8));
}

/* What was there stays, and all behind it is zero, of nothing too. */
static void test_grow_zeroed(void **state)
{
	enum { FEW = 3, MORE = 1000 };
	uint64_t *items = mem_grow_zeroed(NULL, 0, FEW, sizeof(*items));

	(void)state;
	for (size_t i = 0; i < FEW; i++) {
		assert_int_equal(items[i], 0);
		items[i] = i + 1;
	}
	items = mem_grow_zeroed(items, FEW, MORE, sizeof(*items));
	for (size_t i = 0; i < MORE; i++)
		assert_int_equal(items[i], i < FEW ? i + 1 : 0);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_grow_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
