/* SPDX-License-Identifier: Apache-2.0 */
/* Idealisations: as text and back, and for which instructions they hold. */
#include "model/ideal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static const struct {
	const char *text;
	bool is_right;
} texts[] = {
	{ "0=now", true },
	{ "8=dram", true },
	{ "ff:1000-2000=a@f", true },
	{ "1:1000-2000:ffffffff00000000-ffffffffffffffff=x=y", true },
	{ "", false },
	{ "8", false },
	{ "=dram", false },
	{ "x=dram", false },
	{ "-8=dram", false },
	{ "100000000=more bits than there are", false },
	{ "8:=dram", false },
	{ "8:1000=dram", false },
	{ "8:1000-=dram", false },
	{ "8:1000-1000=empty", false },
	{ "8:2000-1000=turned", false },
	{ "8:1000-20000000000000000=far", false },
	{ "8 :1000-2000=dram", false },
};

static void text_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct text again = { 0 };
		struct ideal ideal;
		struct err err;
		int rc = ideal_read(texts[i].text, &ideal, &err);

		print_message("%s\n", texts[i].text);
		assert_int_equal(rc, texts[i].is_right ? 0 : -1);
		if (rc < 0) {
			assert_non_null(strstr(err.text, "BITS:START-END=NAME"));
			assert_int_equal(ideal.ranges.n, 0);
			continue;
		}
		ideal_write(&ideal, &again);
		assert_int_equal(again.n, strlen(texts[i].text));
		assert_memory_equal(again.bytes, texts[i].text, again.n);
		text_release(&again);
		ideal_release(&ideal);
	}
}

static const struct {
	const char *text;
	uint64_t pc;
	uint32_t bits;
} places[] = {
	{ "8=dram", 0, 8 },
	{ "8=dram", UINT64_MAX, 8 },
	{ "8:1000-2000=dram@f", 0xfff, 0 },
	{ "8:1000-2000=dram@f", 0x1000, 8 },
	{ "8:1000-2000=dram@f", 0x1fff, 8 },
	{ "8:1000-2000=dram@f", 0x2000, 0 },
	{ "8:1000-2000:3000-3004=dram@f", 0x3000, 8 },
	{ "8:1000-2000:3000-3004=dram@f", 0x3004, 0 },
};

static void ranges_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(places); i++) {
		struct ideal ideal;
		struct err err;

		assert_int_equal(ideal_read(places[i].text, &ideal, &err), 0);
		assert_int_equal(ideal_at(&ideal, places[i].pc), places[i].bits);
		ideal_release(&ideal);
	}
}

/* Each has a bit of its own and a name of its own. */
static void they_differ(void **state)
{
	uint32_t all = 0;

	(void)state;
	for (size_t i = 0; i < n_idealisations; i++) {
		assert_int_equal(__builtin_popcount(idealisations[i].bit), 1);
		assert_int_equal(all & idealisations[i].bit, 0);
		all |= idealisations[i].bit;
		assert_null(strpbrk(idealisations[i].name, "+@,="));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(idealisations[i].name, idealisations[k].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_back),
		cmocka_unit_test(ranges_decide),
		cmocka_unit_test(they_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
