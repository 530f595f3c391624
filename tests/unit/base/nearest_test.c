/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/nearest.h"

static const char *const words[] = { "report", "record", "hot", "export", NULL };

static const char *at(const void *context, size_t i)
{
	return ((const char *const *)context)[i];
}

static void test_nearest(void **state)
{
	static const struct {
		const char *word, *expected;
	} cases[] = {
		{ "report", "report" }, { "reprot", "report" }, { "ho", "hot" },
		{ "hpt", "hot" },	{ "exprot", "export" }, { "rec", "record" },
		{ "elephants", NULL },	{ "", NULL },		{ "x", NULL },
	};
	char longer[200];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *found = nearest_word(cases[i].word, at, words);

		if (cases[i].expected == NULL)
			assert_null(found);
		else
			assert_string_equal(found, cases[i].expected);
	}
	memset(longer, 'r', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_null(nearest_word(longer, at, words));
}

static void test_several(void **state)
{
	static const struct {
		const char *word;
		size_t max;
		const char *expected;
	} cases[] = {
		{ "re", 4, "report record" },	    /* two prefixes: in their order */
		{ "port", 4, "report export hot" }, /* inside of two; hot: a small distance */
		{ "REC", 4, "record" },		    /* in three letters one edit is much */
		{ "hot", 1, "hot" },
		{ "hot", 0, "" },
		{ "recort", 4, "report record export" }, /* one, two and three edits */
		{ "elephants", 4, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *found[4];
		char all[64] = "";
		size_t n = nearest_words(cases[i].word, at, words, found, cases[i].max);

		for (size_t k = 0; k < n; k++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 k > 0 ? " " : "", found[k]);
		assert_string_equal(all, cases[i].expected);
	}
}

static void test_list(void **state)
{
	static const char *const none[] = { NULL };
	static const char all[] = "report, record, hot, export";

	(void)state;
	for (size_t size = 1; size <= sizeof(all) + 1; size++) {
		char out[64];

		memset(out, '#', sizeof(out));
		assert_ptr_equal(list_words(at, words, out, size), out);
		assert_int_equal(strlen(out), size <= sizeof(all) ? size - 1 : sizeof(all) - 1);
		assert_memory_equal(out, all, strlen(out));
		assert_int_equal(out[size], '#');
	}
	assert_string_equal(list_words(at, none, (char[4]){ "abc" }, 4), "");
}

static void test_did_you_mean(void **state)
{
	char out[64];

	(void)state;
	assert_string_equal(did_you_mean("recrod", at, words, "", out, sizeof(out)),
			    "; did you mean record?");
	assert_string_equal(did_you_mean("zzzzzz", at, words, " (or not)", out, sizeof(out)),
			    " (or not)");
	assert_string_equal(did_you_mean("recrod", at, words, "", out, 8), "; did y");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_did_you_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
