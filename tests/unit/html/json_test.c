/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as the viewer gets them: by column, with marks, whatever is in the names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include <jansson.h>

#include "base/alloc.h"
#include "html/html.h"

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, COLUMN_TREE, "a \"name\"" },
	{ "share", "time share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
	  "share" },
	{ "cycles", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY, "cycles" },
	{ "change", NULL, "cycles", CELL_SIGNED, 0, "change" },
	{ "address", NULL, "", CELL_HEX, 0, "address" },
	{ "is_hot", NULL, "", CELL_BOOL, 0, "is it hot?" },
};

static void add_row(struct table *t, const char *name, double share, uint64_t cycles,
		    int64_t change)
{
	struct cell *row = table_add_row(t);

	row[0] = cell_text(name);
	row[1] = cell_marked(cell_number(share), MARK_SATURATED);
	row[2] = cell_count(cycles);
	row[3] = cell_signed(change);
	row[4] = cell_hex(0x4000);
	row[5] = cell_bool(true);
}

/* The tables as they are read back; to be released with json_decref(). */
static json_t *read_tables(struct table *const *list, size_t n)
{
	struct tables tables = { 0 };
	struct text text = { 0 };
	json_t *root;

	for (size_t i = 0; i < n; i++)
		*vec_add(&tables.list) = list[i];
	html_put_tables(&tables, &text);
	root = json_loadb(text.bytes, text.n, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	text_release(&text);
	vec_release(&tables.list);
	return root;
}

static json_t *table_at(json_t *root, size_t i)
{
	return json_array_get(json_object_get(root, "tables"), i);
}

static json_t *html_cell(json_t *table, size_t column, size_t row)
{
	return json_array_get(json_array_get(json_object_get(table, "cells"), column), row);
}

static void values_and_marks(void **state)
{
	struct table t;
	json_t *root, *read, *share;

	(void)state;
	table_init(&t, "rows", "Rows", columns, COUNT(columns));
	add_row(&t, "main", 0.25, (UINT64_C(1) << 53) + 1, -5);
	table_add_row(&t);
	add_row(&t, "zero", NAN, UINT64_C(1) << 53, INT64_MIN);
	table_note(&t, "a %s", "note");
	root = read_tables((struct table *const[]){ &t }, 1);
	read = table_at(root, 0);
	assert_string_equal(json_string_value(json_object_get(read, "title")), "Rows");
	assert_int_equal(json_integer_value(json_object_get(read, "rows")), 3);
	assert_string_equal(json_string_value(html_cell(read, 0, 0)), "main");
	assert_true(json_real_value(html_cell(read, 1, 0)) == 0.25);
	assert_string_equal(json_string_value(html_cell(read, 2, 0)), "9007199254740993");
	assert_int_equal(json_integer_value(html_cell(read, 2, 2)), INT64_C(1) << 53);
	assert_int_equal(json_integer_value(html_cell(read, 3, 0)), -5);
	assert_string_equal(json_string_value(html_cell(read, 3, 2)), "-9223372036854775808");
	assert_string_equal(json_string_value(html_cell(read, 4, 0)), "0x4000");
	assert_true(json_is_true(html_cell(read, 5, 0)));
	for (size_t i = 0; i < COUNT(columns); i++)
		assert_true(json_is_null(html_cell(read, i, 1)));
	assert_true(json_is_null(html_cell(read, 1, 2))); /* NAN is absent */
	share = json_array_get(json_object_get(read, "marks"), 1);
	assert_string_equal(json_string_value(json_object_get(share, "0")), "saturated");
	assert_null(json_object_get(share, "1"));
	assert_null(json_object_get(read, "parents"));
	assert_int_equal(json_array_size(json_object_get(read, "notes")), 1);
	json_decref(root);
	table_release(&t);
}

static void columns_and_trees(void **state)
{
	struct table outer, inner;
	json_t *root, *read, *list, *flags;

	(void)state;
	table_init(&outer, "outer", NULL, columns, COUNT(columns));
	table_init(&inner, "inner", NULL, columns, 1);
	add_row(&outer, "parent", 1, 1, 1);
	table_add_child(&outer, 0)[0] = cell_text("child");
	table_nest(&outer, &inner);
	root = read_tables((struct table *const[]){ &outer }, 1);
	assert_int_equal(json_array_size(json_object_get(root, "tables")), 2);
	assert_string_equal(json_string_value(json_object_get(table_at(root, 1), "name")), "inner");
	read = table_at(root, 0);
	assert_null(json_object_get(read, "title"));
	assert_int_equal(json_integer_value(json_array_get(json_object_get(read, "parents"), 0)),
			 -1);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(read, "parents"), 1)),
			 0);
	list = json_object_get(read, "columns");
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "meaning")),
			    "a \"name\"");
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "title")),
			    "time share");
	flags = json_object_get(json_array_get(list, 1), "flags");
	assert_int_equal(json_array_size(flags), 3);
	assert_string_equal(json_string_value(json_array_get(flags, 0)), "bar");
	json_decref(root);
	table_release(&outer);
	table_release(&inner);
}

static void names_of_any_bytes(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "</script>", "</script>" },
		{ "a\"b\\c", "a\"b\\c" },
		{ "\xff!", "\\xff!" },
		{ "tab\there", "tab\\x09here" },
		{ "\xe2\x80\xaeturned", "\\xe2\\x80\\xaeturned" },
		{ "\xe6\x97\xa5", "\xe6\x97\xa5" },
		{ "", "" },
	};
	struct table t;
	json_t *root;

	(void)state;
	table_init(&t, "names", NULL, columns, 1);
	for (size_t i = 0; i < COUNT(cases); i++)
		table_add_row(&t)[0] = cell_text(cases[i].name);
	root = read_tables((struct table *const[]){ &t }, 1);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(json_string_value(html_cell(table_at(root, 0), 0, i)),
				    cases[i].shown);
	json_decref(root);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_marks),
		cmocka_unit_test(columns_and_trees),
		cmocka_unit_test(names_of_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
