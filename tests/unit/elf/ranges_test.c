/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { WIDTH = 20 };

/*
 * Ranges as a picture: each text is one range, its letter the value. `expected` is what
 * ranges_find() says for each column.
 */
static const struct picture {
	const char *name;
	const char *added[5];
	const char *expected;
} pictures[] = {
	{ "none", { NULL }, "                    " },
	{ "one", { "  aaaa" }, "  aaaa              " },
	{ "apart", { "aa", "     bb" }, "aa   bb             " },
	{ "touching", { "aaa", "   bbb" }, "aaabbb              " },
	{ "nested", { "aaaaaaaa", "  bbb" }, "aabbbaaa            " },
	{ "nested twice", { "aaaaaaaa", " bbbbb", "  cc" }, "abccbbaa            " },
	{ "overlapping", { "aaaaa", "   bbbbb" }, "aaabbbbb            " },
	{ "overlap inside", { "aaaaaaaaaa", " bbbb", "   cccc" }, "abbccccaaa          " },
	{ "same start: shorter", { "aaaaaaaa", "bbb" }, "bbbaaaaa            " },
	{ "same range: smaller", { "bbb", "aaa" }, "aaa                 " },
	{ "order does not matter", { "     ccc", "  bbbb", "aaaaaaaa" }, "aabbbccc            " },
	{ "two in one", { "aaaaaaaaaa", " bb", "     cc" }, "abbaaccaaa          " },
};

static void add(struct ranges *ranges, const char *drawn)
{
	size_t start = strspn(drawn, " ");

	ranges_add(ranges, start, strlen(drawn), (uint32_t)drawn[start]);
}

static void test_pictures(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pictures); i++) {
		const struct picture *p = &pictures[i];
		struct ranges ranges = { 0 };
		char found[WIDTH + 1] = { 0 };

		for (size_t k = 0; k < COUNT(p->added) && p->added[k] != NULL; k++)
			add(&ranges, p->added[k]);
		ranges_build(&ranges);
		for (size_t at = 0; at < WIDTH; at++) {
			const struct range *range = ranges_find(&ranges, at);

			found[at] = range == NULL ? ' ' : (char)range->value;
		}
		if (strcmp(found, p->expected) != 0)
			fail_msg("%s: found \"%s\"", p->name, found);
		ranges_release(&ranges);
	}
}

static void test_extremes(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	ranges_add(&ranges, 0, UINT64_MAX, 1);
	ranges_add(&ranges, UINT64_MAX - 1, UINT64_MAX, 2);
	ranges_add(&ranges, 5, 5, 3);
	ranges_add(&ranges, 9, 7, 4);
	ranges_build(&ranges);
	assert_int_equal(ranges_find(&ranges, 0)->value, 1);
	assert_int_equal(ranges_find(&ranges, 5)->value, 1);
	assert_int_equal(ranges_find(&ranges, 8)->value, 1);
	assert_int_equal(ranges_find(&ranges, UINT64_MAX - 1)->value, 2);
	assert_null(ranges_find(&ranges, UINT64_MAX));
	ranges_release(&ranges);
}

/* The same as asking all ranges, for made-up ones. */
static void test_against_search(void **state)
{
	struct range all[200];
	struct ranges ranges = { 0 };
	uint32_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < COUNT(all); i++) {
		random = random * 1664525 + 1013904223;
		all[i].start = random >> 22;
		random = random * 1664525 + 1013904223;
		all[i].end = all[i].start + 1 + (random >> 25);
		all[i].value = i;
		ranges_add(&ranges, all[i].start, all[i].end, i);
	}
	ranges_build(&ranges);
	for (uint64_t at = 0; at < 1200; at++) {
		const struct range *best = NULL, *found = ranges_find(&ranges, at);

		for (size_t i = 0; i < COUNT(all); i++) {
			const struct range *r = &all[i];

			if (at < r->start || at >= r->end)
				continue;
			if (best == NULL || r->start > best->start ||
			    (r->start == best->start && r->end < best->end))
				best = r;
		}
		assert_int_equal(best == NULL, found == NULL);
		if (best != NULL)
			assert_int_equal(best->value, found->value);
	}
	ranges_release(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_against_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
