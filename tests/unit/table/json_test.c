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

static const struct document hot_document = { .command = "hot", .version = "1.2" };

/* The rows of a table, as they stand between its name and the notes. */
static void assert_rows(struct table *t, const char *expected)
{
	char *got = fixture_render("json", &hot_document, &t, 1);
	char *rows = strstr(got, "}},\n");
	char *notes = strstr(got, "\"notes\":");

	assert_non_null(rows);
	assert_non_null(notes);
	*notes = '\0';
	assert_string_equal(rows + 4, expected);
	free(got);
}

static void one_document(void **state)
{
	static const struct column columns[] = {
		{ "name", NULL, "", CELL_TEXT, COLUMN_MESSAGE, "what \"it\" is" },
		{ "size", NULL, "bytes", CELL_COUNT, COLUMN_TRUST, "how large" },
		{ "hint", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY, "for people" },
	};
	struct document d = { .command = "hot", .version = "1.2", .is_modelled = true };
	struct table t, empty;
	char *got;

	(void)state;
	table_init(&t, "things", NULL, columns, COUNT(columns));
	table_init(&empty, "others", NULL, columns, 1);
	table_add_row(&t)[0] = cell_text("a");
	table_add_row(&t)[1] = cell_count(UINT64_MAX);
	table_note(&t, "one");
	table_note(&t, "two");
	got = fixture_render("json", &d, (struct table *[]){ &t, &empty }, 2);
	assert_string_equal(
		got,
		"{\"schema\":2,\"cyclops\":\"1.2\",\"command\":\"hot\",\"modelled\":true,\n"
		"\"columns\":{\"things\":{\"name\":{\"type\":\"string\",\"unit\":\"\",\"meaning\":"
		"\"what \\\"it\\\" is\",\"message\":true},\"size\":{\"type\":\"integer\",\"unit\":"
		"\"bytes\",\"meaning\":\"how "
		"large\",\"trust\":true}},\"others\":{\"name\":{\"type\":"
		"\"string\",\"unit\":\"\",\"meaning\":\"what \\\"it\\\" is\",\"message\":true}}},\n"
		"\"things\":[\n"
		"{\"name\":\"a\"},\n"
		"{\"size\":18446744073709551615}\n"
		"],\n"
		"\"others\":[\n"
		"],\n"
		"\"notes\":{\"things\":[\"one\",\"two\"]}}\n");
	free(got);
	table_release(&t);
	table_release(&empty);
}

static void values_by_kind(void **state)
{
	static const struct column columns[] = { { "v", NULL, "", CELL_COUNT, 0, "" } };
	const struct {
		struct cell cell;
		const char *expected;
	} cases[] = {
		{ cell_count(0), "{\"v\":0}" },
		{ cell_signed(-5), "{\"v\":-5}" },
		{ cell_number(0.25), "{\"v\":0.25}" },
		{ cell_number(1e300 * 1e300), "{}" },
		{ cell_hex(0x1f), "{\"v\":\"0x1f\"}" },
		{ cell_bool(true), "{\"v\":true}" },
		{ { .type = CELL_NONE }, "{}" },
		{ cell_text(NULL), "{}" },
		{ cell_text(""), "{\"v\":\"\"}" },
		{ cell_text("a\"b\\c"), "{\"v\":\"a\\\"b\\\\c\"}" },
		{ cell_text("\n\t\x1b\x7f"), "{\"v\":\"\\u000a\\u0009\\u001b\\u007f\"}" },
		{ cell_text("é\xff\xe2\x82"), "{\"v\":\"é\\ufffd\\ufffd\\ufffd\"}" },
		{ cell_text("\u202e\xc2\x9b"), "{\"v\":\"\\u202e\\u009b\"}" },
		{ cell_marked(cell_count(7), MARK_SCALED), "{\"v\":7,\"v_trust\":\"scaled\"}" },
		{ cell_marked(cell_count(7), MARK_SPARSE), "{\"v\":7,\"v_trust\":\"sparse\"}" },
		{ cell_marked(cell_count(7), MARK_SATURATED),
		  "{\"v\":7,\"v_trust\":\"saturated\"}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char expected[128] = "\"t\":[\n";
		struct table t;

		table_init(&t, "t", NULL, columns, 1);
		table_add_row(&t)[0] = cases[i].cell;
		strcat(strcat(expected, cases[i].expected), "\n],\n");
		assert_rows(&t, expected);
		table_release(&t);
	}
}

static void nested_rows_stand_in_their_row(void **state)
{
	struct table lines, accesses;

	(void)state;
	fixture_lines(&lines, &accesses);
	table_sort(&accesses, 2, true);
	assert_rows(&lines, "\"lines\":[\n"
			    "{\"address\":\"0x2000\",\"records\":10,\"accesses\":["
			    "{\"offset\":24,\"op\":\"store\"},{\"offset\":8,\"op\":\"load\"}]},\n"
			    "{\"address\":\"0x1fc0\",\"records\":9,\"accesses\":[]},\n"
			    "{\"address\":\"0x1f80\",\"records\":8,\"accesses\":["
			    "{\"offset\":16,\"op\":\"store\"},{\"offset\":0,\"op\":\"load\"}]}\n"
			    "],\n");
	table_release(&lines);
	table_release(&accesses);
}

static void keyed_tables_are_objects(void **state)
{
	struct table facts, lines, accesses;

	(void)state;
	fixture_facts(&facts);
	assert_rows(&facts,
		    "\"summary\":{\n"
		    "\"program\":{\"value\":\"walk  (pid 5000, 1 thread)   Neoverse N1\"},\n"
		    "\"SPE\":{\"value\":\"11 245 records, every 2175 operations: loads, "
		    "stores, branches, other\",\"bytes\":3145728},\n"
		    "\"lost\":{\"value\":\"nothing\"}\n"
		    "},\n");
	fixture_lines(&lines, &accesses);
	lines.is_keyed = true;
	lines.nested.n = 0;
	assert_rows(&lines, "\"lines\":{\n"
			    "\"0x2000\":{\"records\":10},\n"
			    "\"0x1fc0\":{\"records\":9},\n"
			    "\"0x1f80\":{\"records\":8}\n"
			    "},\n");
	table_release(&facts);
	table_release(&lines);
	table_release(&accesses);
}

static void trees_number_their_rows(void **state)
{
	struct table t;

	(void)state;
	fixture_calls(&t);
	table_keep_top(&t, 1);
	assert_rows(&t,
		    "\"calls\":[\n"
		    "{\"place\":\"main\",\"cycles\":1000,\"share\":1,\"row\":0},\n"
		    "{\"place\":\"parse\",\"cycles\":600,\"share\":0.6,\"row\":1,"
		    "\"parent_row\":0},\n"
		    "{\"place\":\"lex\",\"cycles\":50,\"share\":0.05,\"row\":2,\"parent_row\":1}\n"
		    "],\n");
	table_release(&t);
}

/* Pieces join wherever rows begin; the joint is dropped if nothing came before. */
static void pieces_join(void **state)
{
	static const struct column columns[] = { { "v", NULL, "", CELL_COUNT, 0, "" } };
	static const size_t pieces[][3] = {
		{ 3, 0, 0 }, { 0, 3, 0 }, { 0, 0, 3 }, { 1, 1, 1 }, { 2, 0, 1 }, { 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct text all = { 0 };
		uint64_t n_rows = 0;

		for (size_t k = 0; k < COUNT(pieces[i]); k++) {
			struct text out = { 0 };
			struct table t;
			size_t skip = k > 0 && n_rows == 0 ? format_json.joint : 0;

			table_init(&t, "t", NULL, columns, 1);
			for (size_t row = 0; row < pieces[i][k]; row++)
				table_add_row(&t)[0] = cell_count(n_rows++);
			format_json.rows(&hot_document, &t, k == 0, &out);
			if (out.n > 0)
				text_add(&all, out.bytes + skip, out.n - skip);
			table_release(&t);
			text_release(&out);
		}
		text_char(&all, '\0');
		assert_string_equal(all.bytes,
				    n_rows == 0 ? "" : "\n{\"v\":0},\n{\"v\":1},\n{\"v\":2}");
		text_release(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_document),
		cmocka_unit_test(values_by_kind),
		cmocka_unit_test(nested_rows_stand_in_their_row),
		cmocka_unit_test(keyed_tables_are_objects),
		cmocka_unit_test(trees_number_their_rows),
		cmocka_unit_test(pieces_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
