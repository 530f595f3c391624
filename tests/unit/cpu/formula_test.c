/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/formula.h"

/* A is 6, B is 4, ZERO is 0, HUGE is large; nothing else has a value. */
static bool value_of(void *context, size_t name, double *out)
{
	static const struct {
		const char *name;
		double value;
	} values[] = { { "A", 6 }, { "B", 4 }, { "ZERO", 0 }, { "HUGE", 1e308 } };
	const struct formula *f = context;

	for (size_t i = 0; i < COUNT(values); i++) {
		if (strcmp(values[i].name, f->names[name]) == 0) {
			*out = values[i].value;
			return true;
		}
	}
	return false;
}

static void calculates(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{ "A", 6 },
		{ "12", 12 },
		{ "2.5", 2.5 },
		{ "A - B - 1", 1 },
		{ "A / B / 2", 0.75 },
		{ "A + B * 2", 14 },
		{ "(A + B) * 2", 20 },
		{ "A - (B - 1)", 3 },
		{ "100 * (1 - B / A * 3)", -100 },
		{ "((((A))))", 6 },
		{ " A*\tB\n", 24 },
		{ "A / B * A / B", 2.25 },
		{ "A * B + A * B - A / 3", 46 },
		{ "ZERO / A", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena memory = { 0 };
		struct formula f;
		struct err err;
		double value = -1;

		if (formula_parse(cases[i].text, &memory, &f, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(formula_evaluate(&f, value_of, &f, &value));
		assert_true(value == cases[i].value);
		assert_string_equal(f.text, cases[i].text);
		arena_release(&memory);
	}
}

static void has_no_answer(void **state)
{
	static const char *const cases[] = {
		"A / ZERO",    "A + UNKNOWN",	     "UNKNOWN",
		"1 / (B - 4)", "ZERO / ZERO",	     "HUGE * 100",
		"A.B",	       "HUGE + HUGE - HUGE", "0 * (A / ZERO)",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena memory = { 0 };
		struct formula f;
		struct err err;
		double value = 17;

		assert_int_equal(formula_parse(cases[i], &memory, &f, &err), 0);
		assert_false(formula_evaluate(&f, value_of, &f, &value));
		assert_true(value == 17);
		arena_release(&memory);
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		uint64_t at;
		const char *says;
	} cases[] = {
		{ "", 0, "ends" },
		{ "A +", 3, "ends" },
		{ "A B", 2, "operator" },
		{ "(A", 2, "not closed" },
		{ "A)", 1, "too many" },
		{ "* A", 0, "wanted a name" },
		{ "A + + B", 4, "wanted" },
		{ "-A", 0, "wanted a name" },
		{ "A % B", 2, "operator" },
		{ "()", 1, "wanted a name" },
		{ "A,B", 1, "operator" },
		{ "2A", 1, "operator" },
		{ "A..", 3, NULL },
		{ "1.", 1, "operator" },
		{ "min(A,B)", 3, "operator" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena memory = { 0 };
		struct formula f;
		struct err err = { 0 };
		int rc = formula_parse(cases[i].text, &memory, &f, &err);

		assert_int_equal(rc, cases[i].says == NULL ? 0 : -1);
		if (rc < 0) {
			assert_int_equal(err.at, cases[i].at);
			assert_non_null(strstr(err.text, cases[i].says));
		}
		arena_release(&memory);
	}
}

/* Each prefix is either a formula or an error; none is read past its end. */
static void is_cut_anywhere(void **state)
{
	static const char text[] = "100 * ((1 - OP_RETIRED / OP_SPEC) * (1 - STALL / (C * 5)))";
	size_t n_formulas = 0;

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *cut = mem_strndup(text, len);
		struct arena memory = { 0 };
		struct formula f;
		struct err err;

		n_formulas += formula_parse(cut, &memory, &f, &err) == 0;
		arena_release(&memory);
		free(cut);
	}
	assert_int_equal(n_formulas, 5); /* "1", "10", "100", "100 " and all of it */
}

static void bounds_its_depth(void **state)
{
	static const struct {
		const char *open, *close;
	} shapes[] = { { "(", ")" }, { "1+(", ")" }, { "A*(B-", ")" } };
	enum { DEEP = 1000 };

	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++) {
		char text[DEEP * 8] = "";
		struct arena memory = { 0 };
		struct formula f;
		struct err err;

		for (size_t n = 0; n < DEEP; n++)
			strcat(text, shapes[i].open);
		strcat(text, "A");
		for (size_t n = 0; n < DEEP; n++)
			strcat(text, shapes[i].close);
		assert_int_equal(formula_parse(text, &memory, &f, &err), -1);
		assert_non_null(strstr(err.text, "too deeply nested"));
		arena_release(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calculates),	    cmocka_unit_test(has_no_answer),
		cmocka_unit_test(refuses),	    cmocka_unit_test(is_cut_anywhere),
		cmocka_unit_test(bounds_its_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
