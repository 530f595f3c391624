/* SPDX-License-Identifier: Apache-2.0 */
/* What --what-if asks for. */
#include "model/what_if_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/ideal.h"

static const struct {
	const char *text;
	struct {
		const char *name;
		uint32_t bits;
		const char *function;
		uint32_t instructions;
	} items[4];
	const char *error; /* part of the message */
} lists[] = {
	{ "dram", { { "dram", IDEAL_DRAM, NULL } }, NULL },
	{ "dram,l2", { { "dram", IDEAL_DRAM, NULL }, { "l2", IDEAL_L2, NULL } }, NULL },
	{ "dram,dram", { { "dram", IDEAL_DRAM, NULL } }, NULL },
	{ "dram+l2", { { "dram+l2", IDEAL_DRAM | IDEAL_L2, NULL } }, NULL },
	{ "dram@f,dram@g", { { "dram@f", IDEAL_DRAM, "f" }, { "dram@g", IDEAL_DRAM, "g" } }, NULL },
	{ "l1d+width@f<a, b>,l2",
	  { { "l1d+width@f<a, b>", IDEAL_L1D | IDEAL_WIDTH, "f<a, b>" }, { "l2", IDEAL_L2, NULL } },
	  NULL },
	{ "l2@a+b@c", { { "l2@a+b@c", IDEAL_L2, "a+b@c" } }, NULL },
	{ "instructions-0.25,l1d+instructions-1.36@f",
	  { { "instructions-0.25", IDEAL_INSTRUCTIONS, NULL, 250 },
	    { "l1d+instructions-1.36@f", IDEAL_L1D | IDEAL_INSTRUCTIONS, "f", 1360 } },
	  NULL },
	{ "instructions-0.01,instructions-16",
	  { { "instructions-0.01", IDEAL_INSTRUCTIONS, NULL, 10 },
	    { "instructions-16", IDEAL_INSTRUCTIONS, NULL, 16000 } },
	  NULL },
	{ "instructions-", .error = "'instructions-' wants a number from 0.01 to 16" },
	{ "instructions-0", .error = "wants a number from 0.01 to 16" },
	{ "instructions-16.1", .error = "wants a number from 0.01 to 16" },
	{ "instructions--1", .error = "wants a number from 0.01 to 16" },
	{ "instructions-2x", .error = "wants a number from 0.01 to 16" },
	{ "instructions-nan", .error = "wants a number from 0.01 to 16" },
	{ "instructions-2+instructions-3", .error = "'instructions-3' is a second number" },
	{ "instructions", .error = "no idealisation 'instructions'" },
	{ "drma", .error = "no idealisation 'drma'; did you mean dram?" },
	{ "DRAM", .error = "did you mean dram?" },
	{ "zzzzzz", .error = "--what-if=list" },
	{ "dram,", .error = "no idealisation ''" },
	{ ",dram", .error = "no idealisation ''" },
	{ "dram+", .error = "no idealisation ''" },
	{ "dram+drma", .error = "did you mean dram?" },
	{ "@f", .error = "no idealisation ''" },
	{ "dram@", .error = "'dram@' wants a function" },
	{ "all@", .error = "'l1d@' wants a function" },
	{ "alles", .error = "no idealisation 'alles'" },
	{ "all+dram", .error = "no idealisation 'all'" },
};

static void lists_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct what_if_list list;
		struct err err = { 0 };
		int rc = what_if_list_read(lists[i].text, &list, &err);
		size_t n = 0;

		print_message("%s: %s\n", lists[i].text, err.text);
		assert_int_equal(rc, lists[i].error != NULL ? -1 : 0);
		if (rc < 0)
			assert_non_null(strstr(err.text, lists[i].error));
		for (; lists[i].items[n].name != NULL; n++) {
			const struct what_if_item *item = &list.items.items[n];

			assert_true(n < list.items.n);
			assert_string_equal(item->name, lists[i].items[n].name);
			assert_int_equal(item->bits, lists[i].items[n].bits);
			assert_int_equal(item->instructions, lists[i].items[n].instructions);
			assert_int_equal(item->function == NULL,
					 lists[i].items[n].function == NULL);
			if (item->function != NULL)
				assert_string_equal(item->function, lists[i].items[n].function);
		}
		assert_int_equal(list.items.n, n);
		what_if_list_release(&list);
	}
}

/* How many each of these are, of all idealisations. */
static const struct {
	const char *text;
	size_t n_all, n_others;
	const char *function; /* of the last */
} wholes[] = {
	{ "", 1, 0, NULL },
	{ "all", 1, 0, NULL },
	{ "all,dram", 1, 0, NULL },
	{ "dram@f,all", 1, 1, NULL },
	{ "all,dram@f", 1, 1, "f" },
	{ "all@f", 1, 0, "f" },
	{ "all,all@f,all@g", 3, 0, "g" },
};

static void all_are_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wholes); i++) {
		const struct what_if_item *last;
		struct what_if_list list;
		struct err err;

		assert_int_equal(what_if_list_read(wholes[i].text, &list, &err), 0);
		assert_int_equal(list.items.n,
				 wholes[i].n_all * n_idealisations + wholes[i].n_others);
		last = &list.items.items[list.items.n - 1];
		assert_int_equal(last->function == NULL, wholes[i].function == NULL);
		if (last->function != NULL)
			assert_string_equal(last->function, wholes[i].function);
		what_if_list_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(all_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
