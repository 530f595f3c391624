/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fixture.h"
#include "table/answer.h"

static void assert_markdown(struct table *const *list, size_t n, const struct document *d,
			    const char *expected)
{
	char *got = fixture_render("markdown", d, list, n);

	assert_string_equal(got, expected);
	free(got);
}

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "" },
	{ "latency_cycles", "latency", "cycles", CELL_COUNT, 0, "" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR, "" },
	{ "machine", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "" },
};

static void the_answer_is_first_and_cells_are_escaped(void **state)
{
	static const struct {
		const char *name, *escaped;
	} names[] = {
		{ "plain", "plain" },
		{ "a|b", "a\\|b" },
		{ "vector<int*>::f", "vector\\<int\\*\\>::f" },
		{ "count_up", "count_up" },
		{ "__strcmp__", "\\_\\_strcmp\\_\\_" },
		{ "a\\b`c`[d]~$e$", "a\\\\b\\`c\\`\\[d\\]\\~\\$e\\$" },
		{ "a&lt;", "a&amp;lt;" },
		{ "\xff\n|", "\\\\xff\\\\x0a\\|" },
		{ "\xc3\xa4", "\xc3\xa4" },
	};
	static const struct document document = { .command = "hot", .is_modelled = true };
	struct text expected = { 0 };
	struct table answer, t;
	struct table *const list[] = { &answer, &t };

	(void)state;
	answer_init(&answer);
	answer_say(&answer, "50 %% is in <f>.");
	answer_say(&answer, "1. Do it.");
	table_init(&t, "hot", "Hot | spots", columns, COUNT(columns));
	text_str(&expected, "*modelled: these numbers are simulated, not measured*\n\n"
			    "**50 % is in \\<f\\>.**\n\n"
			    "1\\. Do it.\n\n"
			    "### Hot \\| spots\n\n"
			    "| name | latency (cycles) | share |\n"
			    "| :--- | ---: | ---: |\n");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct cell *row = table_add_row(&t);

		row[0] = cell_text(names[i].name);
		row[1] = cell_count(1000 + i);
		row[2] = cell_marked(cell_number(0.5), i == 0 ? MARK_SPARSE : MARK_EXACT);
		row[3] = cell_count(7);
		text_format(&expected, "| %s | 1 00%zu | 50.0 %%%s |\n", names[i].escaped, i,
			    i == 0 ? "?" : "");
	}
	table_note(&t, "- a note");
	text_str(&expected, "\n\\- a note\n\n? too few samples\n\n");
	text_char(&expected, '\0');
	assert_markdown(list, COUNT(list), &document, expected.bytes);
	text_release(&expected);
	table_release(&answer);
	table_release(&t);
}

/* All rows of a table have as many cells as its head, whatever is in them. */
static void rows_have_the_cells_of_the_head(void **state)
{
	static const struct document document = { .command = "hot" };
	void (*const fixtures[])(struct table *) = { fixture_hot, fixture_calls };

	(void)state;
	for (size_t i = 0; i < COUNT(fixtures); i++) {
		struct table t, *list[] = { &t };
		size_t n_cells = 0, n_rows = 0;
		char *got, *save = NULL;

		fixtures[i](&t);
		got = fixture_render("markdown", &document, list, 1);
		for (char *line = strtok_r(got, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save)) {
			size_t n = 0;

			if (line[0] != '|')
				continue;
			for (char *at = line; *at != '\0'; at++)
				n += *at == '|' && (at == line || at[-1] != '\\');
			assert_true(n_cells == 0 || n == n_cells);
			n_cells = n;
			n_rows++;
		}
		assert_int_equal(n_rows, table_n_rows(&t) + 2);
		free(got);
		table_release(&t);
	}
}

static void facts_and_findings_are_lists(void **state)
{
	static const struct document document = { .command = "stat" };
	struct table facts, findings;
	struct table *const list[] = { &facts, &findings };
	char *got;

	(void)state;
	fixture_facts(&facts);
	fixture_findings(&findings);
	got = fixture_render("markdown", &document, list, COUNT(list));
	assert_non_null(strstr(got, "- **program**: walk"));
	assert_non_null(strstr(got, "\n1. **83.9 % of cycles stalled in the back end**: 36.8 G"));
	assert_non_null(strstr(got, "\n    - try: huge pages\n"));
	free(got);
	table_release(&facts);
	table_release(&findings);
}

static void an_empty_table_says_so(void **state)
{
	static const struct document document = { .command = "hot" };
	struct table t, *list[] = { &t };

	(void)state;
	table_init(&t, "hot", "Hot", columns, COUNT(columns));
	assert_markdown(list, 1, &document, "### Hot\n\nnone\n\n");
	table_note(&t, "there are no samples");
	assert_markdown(list, 1, &document, "### Hot\n\nthere are no samples\n\n");
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_first_and_cells_are_escaped),
		cmocka_unit_test(rows_have_the_cells_of_the_head),
		cmocka_unit_test(facts_and_findings_are_lists),
		cmocka_unit_test(an_empty_table_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
