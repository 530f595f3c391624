/* SPDX-License-Identifier: Apache-2.0 */
/* --columns, --wide, and the answer that only people see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "table/answer.h"

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "name" },
	{ "cycles", NULL, "cycles", CELL_COUNT, 0, "cycles" },
	{ "limit", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY, "limit" },
};

static void fill(struct table *t)
{
	struct cell *row;

	table_init(t, "t", NULL, columns, 3);
	row = table_add_row(t);
	row[0] = cell_text("main");
	row[1] = cell_count(10);
	row[2] = cell_count(20);
}

/* Renders what --columns leaves of `list`; NULL and the message of the error, or text to be freed. */
static char *render(const char *format, const char *names, struct table *const *list, size_t n,
		    struct err *err)
{
	const struct document document = { .command = "test", .version = "1", .is_plural = n > 1 };
	struct tables tables = { 0 };
	char *text = NULL;

	for (size_t i = 0; i < n; i++)
		*vec_add(&tables.list) = list[i];
	if (tables_keep_columns(&tables, names, err) == 0)
		text = fixture_render(format, &document, tables.list.items, tables.list.n);
	vec_release(&tables.list);
	return text;
}

static void assert_kept(const char *format, const char *names, const char *expected)
{
	struct err err;
	struct table t;
	char *text;

	fill(&t);
	text = render(format, names, (struct table *const[]){ &t }, 1, &err);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	table_release(&t);
}

static void keeps_columns_in_the_order_asked_for(void **state)
{
	(void)state;
	assert_kept("csv", "cycles,name", "cycles,name\n10,main\n");
	assert_kept("csv", "name", "name\nmain\n");
}

static void shows_columns_for_programs(void **state)
{
	(void)state;
	assert_kept("text", "limit,name", "limit (cycles)  name\n            20  main\n");
}

static void refuses_unknown_columns(void **state)
{
	static const struct {
		const char *names, *expected;
	} cases[] = {
		{ "cycle", "--columns: there is no column 'cycle'; did you mean 'cycles'?" },
		{ "name,zzzzzzz",
		  "--columns: there is no column 'zzzzzzz'; there are name, cycles, limit" },
		{ ",", "--columns: found no name" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err err;
		struct table t;

		fill(&t);
		assert_null(render("csv", cases[i].names, (struct table *const[]){ &t }, 1, &err));
		assert_string_equal(err.text, cases[i].expected);
		table_release(&t);
	}
}

static void leaves_out_tables_that_have_none(void **state)
{
	struct table t, facts, answer;
	struct err err;
	char *text;

	(void)state;
	fill(&t);
	fixture_facts(&facts);
	answer_init(&answer);
	answer_say(&answer, "%s is slow.", "main");
	text = render("text", "cycles", (struct table *const[]){ &answer, &facts, &t }, 3, &err);
	assert_non_null(text);
	assert_string_equal(text, "main is slow.\n\ncycles\n    10\n");
	free(text);
	table_release(&t);
	table_release(&facts);
	table_release(&answer);
}

/* Rows of the inner table find theirs by the first column. */
static void keeps_the_key_of_nested_tables(void **state)
{
	struct table lines, accesses;
	struct err err;
	char *text;

	(void)state;
	fixture_lines(&lines, &accesses);
	table_nest(&lines, &accesses);
	text = render("json", accesses.columns[1].name, (struct table *const[]){ &lines }, 1, &err);
	assert_non_null(text);
	assert_non_null(strstr(text, lines.columns[0].name));
	assert_non_null(strstr(text, accesses.columns[1].name));
	free(text);
	table_release(&lines);
	table_release(&accesses);
}

static void only_people_see_the_answer(void **state)
{
	struct document document = { .command = "test", .version = "1", .is_modelled = true };
	struct table t, answer;
	char *text;

	(void)state;
	fill(&t);
	answer_init(&answer);
	answer_say(&answer, "main is slow.");
	answer_say(&answer, "Fix: less of it.");
	text = fixture_render("text", &document, (struct table *const[]){ &answer, &t }, 2);
	assert_string_equal(text, "modelled: these numbers are simulated, not measured\n"
				  "main is slow.\nFix: less of it.\n\n"
				  "name  cycles\nmain      10\n");
	free(text);
	text = fixture_render("json", &document, (struct table *const[]){ &answer, &t }, 2);
	assert_null(strstr(text, "answer"));
	free(text);
	text = fixture_render("csv", &document, (struct table *const[]){ &answer, &t }, 2);
	assert_string_equal(text, "name,cycles,limit,modelled\nmain,10,20,true\n");
	free(text);
	table_release(&t);
	table_release(&answer);
}

static void wide_text_hides_nothing(void **state)
{
	struct document document = { .width = 40, .is_wide = true };
	struct table t;
	char *text;

	(void)state;
	fixture_hot(&t);
	text = fixture_render("text", &document, (struct table *const[]){ &t }, 1);
	assert_null(strstr(text, "hidden columns"));
	assert_non_null(strstr(text, "12348"));
	free(text);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_columns_in_the_order_asked_for),
		cmocka_unit_test(shows_columns_for_programs),
		cmocka_unit_test(refuses_unknown_columns),
		cmocka_unit_test(leaves_out_tables_that_have_none),
		cmocka_unit_test(keeps_the_key_of_nested_tables),
		cmocka_unit_test(only_people_see_the_answer),
		cmocka_unit_test(wide_text_hides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
