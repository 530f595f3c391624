/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "gate/gate.h"
#include "gate/junit.h"
#include "table/utf8.h"

static void a_condition_is_name_sign_number_unit(void **state)
{
	static const struct {
		const char *text, *name;
		bool is_less, or_equal;
		enum condition_unit unit;
		double limit;
	} cases[] = {
		{ "ipc < -3%", "ipc", true, false, CONDITION_PERCENT, -0.03 },
		{ " total>=5 % ", "total", false, true, CONDITION_PERCENT, 0.05 },
		{ "function:chase > 1e6", "function:chase", false, false, CONDITION_PLAIN, 1e6 },
		{ "a<b>::c(int) <= 0%", "a<b>::c(int)", true, true, CONDITION_PERCENT, 0 },
		{ "share(a<b>) < 7 %", "share(a<b>)", true, false, CONDITION_PERCENT, 0.07 },
		{ "time > 2 s", "time", false, false, CONDITION_TIME, 2e9 },
		{ "time > 1.5ms ", "time", false, false, CONDITION_TIME, 1.5e6 },
		{ "time>3us", "time", false, false, CONDITION_TIME, 3e3 },
		{ "time>4ns", "time", false, false, CONDITION_TIME, 4 },
	};
	static const char *const bad[] = {
		"",	     "ipc",	  "< 3",   "ipc <", "ipc < x",	   "ipc < 3 %%",
		"ipc < 3 x", "ipc < nan", "> inf", " <1",   "ipc < 3 s s", "time < 3 sec",
	};
	struct condition c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(condition_parse(cases[i].text, &c, &err), 0);
		assert_int_equal(c.name_size, strlen(cases[i].name));
		assert_memory_equal(c.name, cases[i].name, c.name_size);
		assert_int_equal(c.is_less, cases[i].is_less);
		assert_int_equal(c.or_equal, cases[i].or_equal);
		assert_int_equal(c.unit, cases[i].unit);
		assert_true(fabs(c.limit - cases[i].limit) < 1e-9);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (condition_parse(bad[i], &c, &err) == 0)
			fail_msg("'%s' is taken for a condition", bad[i]);
		assert_int_equal(err.code, ERR_USAGE);
	}
}

/* Whatever is cut off a condition: no byte behind it is read, and it is a condition or an error. */
static void a_condition_may_be_cut_anywhere(void **state)
{
	static const char whole[] = "share(a<b>::c(int)) >= 12.5 %";

	(void)state;
	for (size_t n = 0; n <= strlen(whole); n++) {
		char *text = mem_strndup(whole, n);
		struct condition c;
		struct err err;

		if (condition_parse(text, &c, &err) == 0)
			assert_true(c.name >= text && c.name + c.name_size <= text + n &&
				    c.name_size > 0 && isfinite(c.limit));
		else
			assert_int_equal(err.code, ERR_USAGE);
		free(text);
	}
}

static const struct quantity quantities[] = {
	{ "ipc", NULL, "", false, "instructions in a cycle" },
	{ "dram_share", NULL, "", true, "part of the loads" },
	{ "share", "FUNCTION", "", true, "part of the time" },
	{ "time", NULL, "ns", false, "of the run" },
};

static void a_gate_is_about_a_quantity_of_the_command(void **state)
{
	static const struct {
		const char *text;
		size_t quantity;
		const char *argument;
	} cases[] = {
		{ "ipc < 1.5", 0, NULL },
		{ "IPC < 1.5", 0, NULL },
		{ "dram_share > 20%", 1, NULL },
		{ "dram_share > 0.2", 1, NULL },
		{ "share(parse) > 10 %", 2, "parse" },
		{ "share(operator()(int)) > 10 %", 2, "operator()(int)" },
		{ "share((a)) > 1", 2, "(a)" },
		{ "time < 2 s", 3, NULL },
		{ "time < 200", 3, NULL },
	};
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "dram_shar < 1", "did you mean 'dram_share'" },
		{ "wrongest < 1", "there are ipc, dram_share, share, time" },
		{ "ipc < 3%", "ipc is no share" },
		{ "ipc < 3 s", "ipc is no time" },
		{ "dram_share > 20", "did you mean 20 %?" },
		{ "dram_share > 1 s", "no time" },
		{ "share > 10 %", "written share(FUNCTION)" },
		{ "share() > 10 %", "written share(FUNCTION)" },
		{ "ipc(main) > 1", "nothing in parentheses" },
		{ "share(parse > 10 %", "there is no 'share(parse'" },
	};
	struct gate g;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *argument = cases[i].argument;

		if (gate_parse(cases[i].text, quantities, COUNT(quantities), &g, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(g.quantity, cases[i].quantity);
		assert_int_equal(g.argument == NULL, argument == NULL);
		if (argument == NULL)
			continue;
		assert_int_equal(g.argument_size, strlen(argument));
		assert_memory_equal(g.argument, argument, g.argument_size);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (gate_parse(bad[i].text, quantities, COUNT(quantities), &g, &err) == 0)
			fail_msg("'%s' is taken for a gate", bad[i].text);
		assert_int_equal(err.code, ERR_USAGE);
		if (strstr(err.text, bad[i].error) == NULL)
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static void judgements_follow_value_error_and_bounds(void **state)
{
	static const struct {
		const char *text;
		struct measured measured;
		bool is_failed;
		enum gate_certainty certainty;
		const char *sentence;
	} cases[] = {
		{ "ipc < 1.5",
		  { 0.23, 0.23, 0.23, 0.23, 0.23 },
		  true,
		  GATE_CERTAIN,
		  "ipc 0.23 (limit 1.5): FAIL" },
		{ "ipc < 0.2",
		  { 0.23, 0.21, 0.25, 0.23, 0.23 },
		  false,
		  GATE_CERTAIN,
		  "ipc 0.23 ± 0.020 (limit 0.2): pass" },
		{ "ipc < 0.22",
		  { 0.23, 0.21, 0.25, 0.23, 0.23 },
		  false,
		  GATE_WITHIN,
		  "within the error, the measured value decides): pass" },
		{ "ipc < 0.24",
		  { 0.23, 0.21, 0.25, 0.23, 0.23 },
		  true,
		  GATE_WITHIN,
		  "within the error, the measured value decides): FAIL" },
		{ "ipc < 0.2", { 0.23, NAN, NAN, 0.23, 0.23 }, false, GATE_UNKNOWN, "not known" },
		{ "ipc <= 0.23", { 0.23, 0.23, 0.23, 0.23, 0.23 }, true, GATE_CERTAIN, "FAIL" },
		{ "ipc >= 0.23", { 0.23, 0.23, 0.23, 0.23, 0.23 }, true, GATE_CERTAIN, "FAIL" },
		{ "ipc > 0.23", { 0.23, 0.23, 0.23, 0.23, 0.23 }, false, GATE_CERTAIN, "pass" },
		{ "ipc < 0.23", { 0.23, 0.23, 0.23, 0.23, 0.23 }, false, GATE_CERTAIN, "pass" },
		{ "dram_share > 20%",
		  { 0.155, 0.15, 0.16, 0.155, 0.5 },
		  true,
		  GATE_UNDECIDED,
		  "dram_share ≥ 15.5 % ± 0.50 % (limit 20 %; undecided, which counts as failed" },
		{ "dram_share > 60%",
		  { 0.155, 0.15, 0.16, 0.155, 0.5 },
		  false,
		  GATE_CERTAIN,
		  "dram_share ≥ 15.5 % ± 0.50 % (limit 60 %): pass" },
		{ "share(f) > 10 %",
		  { 0.3, 0.2, 0.4, 0.3, 0.3 },
		  true,
		  GATE_CERTAIN,
		  "share(f) 30.0 % ± 10.0 % (limit 10 %): FAIL" },
		{ "time > 2 s",
		  { 1.5e9, NAN, NAN, 1.5e9, 1.5e9 },
		  false,
		  GATE_UNKNOWN,
		  "time 1.50 s (limit 2.00 s; error not known): pass" },
	};
	static const char *const words[] = { "certain", "within", "unknown", "undecided" };
	size_t n_failed = 0;
	struct gates gates;

	(void)state;
	gates_init(&gates);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gate_verdict v;
		struct gate g;
		struct err err;

		if (gate_parse(cases[i].text, quantities, COUNT(quantities), &g, &err) < 0)
			fail_msg("%s", err.text);
		v = gate_verdict_of(&g.condition, &cases[i].measured);
		if (v.is_failed != cases[i].is_failed || v.certainty != cases[i].certainty)
			fail_msg("%zu %s: %d %d", i, cases[i].text, v.is_failed, v.certainty);
		gates_add(&gates, &g, &quantities[g.quantity], &cases[i].measured);
		if (strstr(gates.results.items[i].sentence, cases[i].sentence) == NULL)
			fail_msg("%s", gates.results.items[i].sentence);
		n_failed += v.is_failed;
		assert_string_equal(
			table_cell(&gates.table, i, (size_t)table_column(&gates.table, "certainty"))
				->text,
			words[v.certainty]);
		assert_string_equal(
			table_cell(&gates.table, i, (size_t)table_column(&gates.table, "result"))
				->text,
			v.is_failed ? "failed" : "passed");
	}
	assert_int_equal(gates.n_failed, n_failed);
	gates_release(&gates);
}

/* Is it XML's text: UTF-8, no control characters but the newline, and '&' only in entities? */
/* The table of conditions stands behind the answers, before all else; where there is no condition there is none. */
static void conditions_stand_behind_the_answer(void **state)
{
	struct table answer = { .style = TABLE_ANSWER }, second = answer, rows = { 0 };
	struct table *const given[] = { &answer, &second, &rows };

	(void)state;
	for (size_t n = 0; n <= COUNT(given); n++)
		for (int n_conditions = 0; n_conditions < 2; n_conditions++) {
			struct tables tables = { 0 }, shown;
			struct gates g;
			size_t at = 0;

			gates_init(&g);
			if (n_conditions > 0)
				gates_add_error(&g, "share > 1", "why");
			for (size_t i = 0; i < n; i++)
				*vec_add(&tables.list) = given[i];
			shown = gates_shown(&g, &tables);
			assert_int_equal(shown.list.n, n + (size_t)n_conditions);
			for (size_t i = 0; i < n; i++) {
				if (i == 2 && n_conditions > 0)
					assert_ptr_equal(shown.list.items[at++], &g.table);
				assert_ptr_equal(shown.list.items[at++], given[i]);
			}
			if (n < 3 && n_conditions > 0)
				assert_ptr_equal(shown.list.items[at], &g.table);
			vec_release(&shown.list);
			vec_release(&tables.list);
			gates_release(&g);
		}
}

static void junit_has_a_case_for_each_condition(void **state)
{
	struct gate_result results[] = {
		{ "ipc < 1.5", "ipc 0.23 (limit 1.5): FAIL", true },
		{ "time > 2 s", "time 1.50 s (limit 2.00 s): pass", false },
		{ "\x1b > 2", "\"\xff\" was not counted", .is_error = true },
	};
	static const char expected[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n"
		"  <testsuite name=\"cyclops stat\" tests=\"3\" failures=\"1\" errors=\"1\">\n"
		"    <properties>\n"
		"      <property name=\"a\" value=\"&lt;old&gt;\"/>\n"
		"      <property name=\"b\" value=\"new\"/>\n"
		"      <property name=\"modelled\" value=\"true\"/>\n"
		"    </properties>\n"
		"    <testcase classname=\"cyclops.stat\" name=\"ipc &lt; 1.5\">\n"
		"      <failure message=\"ipc 0.23 (limit 1.5): FAIL\" type=\"gate\"/>\n"
		"    </testcase>\n"
		"    <testcase classname=\"cyclops.stat\" name=\"time &gt; 2 s\">\n"
		"      <system-out>time 1.50 s (limit 2.00 s): pass</system-out>\n"
		"    </testcase>\n"
		"    <testcase classname=\"cyclops.stat\" name=\"\\x1b &gt; 2\">\n"
		"      <error message=\"&quot;\\xff&quot; was not counted\" type=\"gate\"/>\n"
		"    </testcase>\n"
		"  </testsuite>\n"
		"</testsuites>\n";
	const struct gates gates = {
		.results = { .items = results, .n = COUNT(results) },
		.files = { "<old>", "new" },
		.is_modelled = true,
	};
	struct text xml = { 0 };

	(void)state;
	junit_put(&gates, "stat", &xml);
	assert_int_equal(xml.n, strlen(expected));
	assert_memory_equal(xml.bytes, expected, xml.n);
	text_release(&xml);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_is_name_sign_number_unit),
		cmocka_unit_test(a_condition_may_be_cut_anywhere),
		cmocka_unit_test(a_gate_is_about_a_quantity_of_the_command),
		cmocka_unit_test(judgements_follow_value_error_and_bounds),
		cmocka_unit_test(conditions_stand_behind_the_answer),
		cmocka_unit_test(junit_has_a_case_for_each_condition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
