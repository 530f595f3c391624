/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fixture.h"

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "name" },
	{ "cycles", NULL, "cycles", CELL_COUNT, 0, "cycles" },
};

static void new_cells_are_absent(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, 2);
	for (uint64_t i = 0; i < 100; i++) {
		struct cell *row = i % 3 == 2 ? table_add_child(&t, 0) : table_add_row(&t);

		assert_int_equal(row[0].type, CELL_NONE);
		assert_int_equal(row[1].type, CELL_NONE);
		row[1] = cell_count(i);
	}
	assert_int_equal(table_n_rows(&t), 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(table_cell(&t, i, 1)->count, i);
		assert_int_equal(t.parents.items[i], i % 3 == 2 ? 0 : ROW_NO_PARENT);
	}
	table_release(&t);
}

static void cells_hold_what_they_say(void **state)
{
	(void)state;
	assert_true(cell_count(UINT64_MAX).count == UINT64_MAX);
	assert_true(cell_signed(INT64_MIN).number_signed == INT64_MIN);
	assert_true(cell_number(0.25).number == 0.25);
	assert_int_equal(cell_hex(16).type, CELL_HEX);
	assert_int_equal(cell_bool(true).count, 1);
	assert_int_equal(cell_marked(cell_count(1), MARK_SPARSE).mark, MARK_SPARSE);
}

static void columns_are_found_by_name(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, 2);
	assert_int_equal(table_column(&t, "cycles"), 1);
	assert_int_equal(table_column(&t, "cycle"), -1);
	table_release(&t);
}

static void texts_are_copied(void **state)
{
	char text[] = "before";
	const char *copy, *formatted;
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, 2);
	copy = table_text(&t, text);
	formatted = table_format(&t, "%s+0x%x", text, 0x30);
	table_note(&t, "%s: %d", text, 7);
	memcpy(text, "after!", 6);
	assert_string_equal(copy, "before");
	assert_string_equal(formatted, "before+0x30");
	assert_int_equal(t.notes.n, 1);
	assert_string_equal(t.notes.items[0], "before: 7");
	assert_string_equal(table_human(&t, cell_count(36800000000), "cycles"), "36.8 G cycles");
	table_release(&t);
}

/* A table that is filled again and again takes memory once. */
static void reset_keeps_memory(void **state)
{
	const struct cell *cells = NULL;
	const char *text = NULL;
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, 2);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++)
			table_add_row(&t)[1] = cell_count(1);
		if (round > 0)
			assert_ptr_equal(t.cells.items, cells);
		cells = t.cells.items;
		if (round > 0)
			assert_ptr_equal(table_text(&t, "text"), text);
		else
			text = table_text(&t, "text");
		table_note(&t, "note");
		table_reset(&t);
		assert_int_equal(table_n_rows(&t), 0);
		assert_int_equal(t.notes.n, 0);
	}
	table_release(&t);
}

static void tables_are_found_by_name(void **state)
{
	struct table lines, accesses, hot;
	struct tables tables = { 0 };

	(void)state;
	fixture_lines(&lines, &accesses);
	fixture_hot(&hot);
	*vec_add(&tables.list) = &hot;
	*vec_add(&tables.list) = &lines;
	assert_ptr_equal(tables_find(&tables, "hot"), &hot);
	assert_ptr_equal(tables_find(&tables, "lines"), &lines);
	assert_ptr_equal(tables_find(&tables, "accesses"), &accesses);
	assert_null(tables_find(&tables, "line"));
	vec_release(&tables.list);
	table_release(&lines);
	table_release(&accesses);
	table_release(&hot);
}

static void formats_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(format_find("text"), &format_text);
	assert_ptr_equal(format_find("csv"), &format_csv);
	assert_ptr_equal(format_find("json"), &format_json);
	assert_null(format_find("CSV"));
	assert_null(format_find(""));
	assert_string_equal(format_names(), "text, csv, json, parquet, markdown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_cells_are_absent),
		cmocka_unit_test(cells_hold_what_they_say),
		cmocka_unit_test(columns_are_found_by_name),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(reset_keeps_memory),
		cmocka_unit_test(tables_are_found_by_name),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
