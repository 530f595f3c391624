/* SPDX-License-Identifier: Apache-2.0 */
/* Rings go through all their lines, in any order, and through nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "latency/ring.h"
#include "latency/sizes.h"

static struct ring_memory memory_of(size_t size)
{
	struct ring_memory m;
	struct err err;

	if (ring_memory_init(&m, size, false, "test", &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

/* Follows the ring: `n` different lines, all of them at the start of a line below `end`, then the first one again. */
static void check_ring(const struct ring_memory *m, void **first, size_t n, size_t end)
{
	bool *seen = mem_zalloc(end / m->line + 1, sizeof(*seen));
	void **at = first;

	for (size_t i = 0; i < n; i++) {
		size_t offset = (size_t)((char *)at - m->start);

		assert_true(offset < end);
		assert_int_equal(offset % m->line, 0);
		assert_false(seen[offset / m->line]);
		seen[offset / m->line] = true;
		at = *at;
	}
	assert_ptr_equal(at, first);
	assert_ptr_equal(ring_follow(first, n), first);
	assert_ptr_equal(ring_follow(first, n + 3), **(void ****)*first);
	free(seen);
}

static void has_all_lines_in_each_order(void **state)
{
	/* with a last page that is cut, and less than a page */
	static const size_t n_lines[] = { 1, 2, 3, 63, 64, 65, 640, 64 * 17 + 5 };
	struct ring_memory m = memory_of(1 << 20);

	(void)state;
	for (int order = 0; order < N_RING_ORDERS; order++)
		for (size_t i = 0; i < COUNT(n_lines); i++)
			for (uint64_t seed = 0; seed < 5; seed++) {
				size_t size = n_lines[i] * m.line;

				check_ring(&m, ring_link(&m, size, (enum ring_order)order, seed),
					   n_lines[i], size);
			}
	ring_memory_release(&m);
}

/* In order 'page' each page is left once for the next one; in order 'line' each line is left for the one behind it. */
static void keeps_to_its_order(void **state)
{
	enum { SIZE = 1 << 20 };
	struct ring_memory m = memory_of(SIZE);
	size_t n = SIZE / m.line, n_changes = 0, n_steps = 0;
	void **at = ring_link(&m, SIZE, RING_PAGE, 7);

	(void)state;
	for (size_t i = 0; i < n; i++, at = *at) {
		size_t here = (size_t)((char *)at - m.start),
		       next = (size_t)(*(char **)at - m.start);

		n_changes += here / m.page != next / m.page;
		n_steps += next == here + m.line;
	}
	assert_int_equal(n_changes, SIZE / m.page);
	assert_true(n_steps < n / 10); /* within a page they are shuffled */
	at = ring_link(&m, SIZE, RING_LINE, 7);
	for (size_t i = 0; i + 1 < n; i++, at = *at)
		assert_ptr_equal(*at, (char *)at + m.line);
	at = ring_link(&m, SIZE, RING_RANDOM, 7);
	n_changes = 0;
	for (size_t i = 0; i < n; i++, at = *at)
		n_changes += (size_t)((char *)at - m.start) / m.page !=
			     (size_t)(*(char **)at - m.start) / m.page;
	assert_true(n_changes > n * 9 / 10);
	ring_memory_release(&m);
}

static void has_a_line_in_each_page(void **state)
{
	enum { PAGES = 130 };
	long page = sysconf(_SC_PAGESIZE);
	struct ring_memory m = memory_of((size_t)page * PAGES);

	(void)state;
	for (size_t n = 1; n <= PAGES; n += 43) {
		void **first = ring_link_pages(&m, n, n), **at = first;
		bool seen[PAGES] = { 0 };

		for (size_t i = 0; i < n; i++, at = *at) {
			size_t offset = (size_t)((char *)at - m.start);

			assert_false(seen[offset / m.page]);
			seen[offset / m.page] = true;
			assert_int_equal(offset % m.page, offset / m.page * m.line % m.page);
		}
		assert_ptr_equal(at, first);
	}
	ring_memory_release(&m);
}

/* A seed decides all; another one decides otherwise. */
static void repeats_by_seed(void **state)
{
	enum { SIZE = 64 << 10 };
	struct ring_memory m = memory_of(SIZE);
	char *kept = mem_alloc(1, SIZE);

	(void)state;
	(void)ring_link(&m, SIZE, RING_RANDOM, 3);
	memcpy(kept, m.start, SIZE);
	(void)ring_link(&m, SIZE, RING_RANDOM, 4);
	assert_memory_not_equal(kept, m.start, SIZE);
	(void)ring_link(&m, SIZE, RING_RANDOM, 3);
	assert_memory_equal(kept, m.start, SIZE);
	free(kept);
	ring_memory_release(&m);
}

static void says_that_there_is_too_little_memory(void **state)
{
	struct ring_memory m;
	struct err err;

	(void)state;
	assert_int_equal(ring_memory_init(&m, (size_t)1 << 50, false, "--sizes", &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.text, "--sizes: "));
	assert_non_null(strstr(err.text, " of memory are needed, and "));
}

static void reads_sizes(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		uint64_t first, second, last;
	} cases[] = {
		{ "4K..64M", 29, 4096, 6144, 64 << 20 },
		{ "4k..64MiB", 29, 4096, 6144, 64 << 20 },
		{ "4096..5000", 2, 4096, 4992, 4992 },
		{ "1M,16K", 2, 16 << 10, 1 << 20, 1 << 20 },
		{ "1.5M,16KB,16K", 2, 16 << 10, 3 << 19, 3 << 19 },
		{ "8K", 1, 8192, 0, 8192 },
		{ "8K..8K", 1, 8192, 0, 8192 },
	};
	static const char *const wrong[] = { "",    "K",      "4K..",	    "..4K", "8K..4K",
					     "4K,", "4K;8K",  "4K..8K,",    "4Q",   "64",
					     "-4K", "99999T", "4K..99999T", "4K 8K" };
	struct sizes sizes;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(sizes_parse(cases[i].text, 64, &sizes, &err), 0);
		assert_int_equal(sizes.n, cases[i].n);
		assert_int_equal(sizes.items[0], cases[i].first);
		if (sizes.n > 1)
			assert_int_equal(sizes.items[1], cases[i].second);
		assert_int_equal(sizes.items[sizes.n - 1], cases[i].last);
		for (size_t k = 1; k < sizes.n; k++)
			assert_true(sizes.items[k] > sizes.items[k - 1]);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(sizes_parse(wrong[i], 64, &sizes, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_all_lines_in_each_order),
		cmocka_unit_test(keeps_to_its_order),
		cmocka_unit_test(has_a_line_in_each_page),
		cmocka_unit_test(repeats_by_seed),
		cmocka_unit_test(says_that_there_is_too_little_memory),
		cmocka_unit_test(reads_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
