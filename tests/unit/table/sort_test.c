/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table/sort.h"

/* A table whose rows are known by the text in their first column. */
static const struct column columns[] = {
	{ "label", NULL, "", CELL_TEXT, 0, "" },
	{ "cycles", NULL, "cycles", CELL_COUNT, 0, "" },
	{ "line", NULL, "", CELL_COUNT, 0, "" },
	{ "address", NULL, "", CELL_HEX, 0, "" },
	{ "change", NULL, "ns", CELL_SIGNED, 0, "" },
	{ "share", NULL, "", CELL_NUMBER, 0, "" },
};

static void add(struct table *t, uint32_t parent, const char *label, uint64_t cycles)
{
	struct cell *c = parent == ROW_NO_PARENT ? table_add_row(t) : table_add_child(t, parent);

	c[0] = cell_text(label);
	c[1] = cell_count(cycles);
}

/* The labels in the order of rows, and for children the label of the parent: "a b<a c". */
static void assert_rows(const struct table *t, const char *expected)
{
	char got[256] = "";

	for (size_t i = 0; i < table_n_rows(t); i++) {
		uint32_t parent = t->parents.items[i];

		strcat(got, i > 0 ? " " : "");
		strcat(got, table_cell(t, i, 0)->text);
		if (parent == ROW_NO_PARENT)
			continue;
		assert_true(parent < i);
		strcat(got, "<");
		strcat(got, table_cell(t, parent, 0)->text);
	}
	assert_string_equal(got, expected);
}

static void fill_flat(struct table *t)
{
	static const struct {
		const char *label;
		uint64_t cycles, line;
		int64_t change;
		double share;
	} rows[] = {
		{ "c", 5, 30, -7, 0.5 },
		{ "a", UINT64_MAX, 9, 3, (double)NAN },
		{ "b", 5, 100, INT64_MIN, -0.5 },
		{ "d", 0, 2, INT64_MAX, 1e300 },
	};

	table_init(t, "flat", NULL, columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cell *c = table_add_row(t);

		c[0] = cell_text(rows[i].label);
		c[1] = cell_count(rows[i].cycles);
		c[2] = cell_count(rows[i].line);
		c[3] = cell_hex(rows[i].cycles);
		c[4] = cell_signed(rows[i].change);
		c[5] = cell_number(rows[i].share);
	}
	table_add_row(t)[0] = cell_text("z");
}

/* Quantities from the largest, names from the smallest; absent ones always last. */
static void each_column_has_its_direction(void **state)
{
	static const struct {
		const char *column;
		bool reverse;
		const char *expected;
	} cases[] = {
		{ "label", false, "a b c d z" },   { "label", true, "z d c b a" },
		{ "cycles", false, "a b c d z" },  { "cycles", true, "d b c a z" },
		{ "line", false, "d a c b z" },	   { "line", true, "b c a d z" },
		{ "address", false, "d b c a z" }, { "address", true, "a b c d z" },
		{ "change", false, "d a c b z" },  { "change", true, "b c a d z" },
		{ "share", false, "d c b a z" },   { "share", true, "b c d a z" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;

		fill_flat(&t);
		table_sort(&t, (size_t)table_column(&t, cases[i].column), cases[i].reverse);
		assert_rows(&t, cases[i].expected);
		table_release(&t);
	}
}

/* Rows equal in all cells stay as they were; otherwise the start order does not matter. */
static void the_order_is_total(void **state)
{
	static const char *const labels[] = { "c", "a", "b", "a" };
	struct table t, turned;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	table_init(&turned, "t", NULL, columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(labels); i++) {
		add(&t, ROW_NO_PARENT, labels[i], 1);
		add(&turned, ROW_NO_PARENT, labels[COUNT(labels) - 1 - i], 1);
	}
	table_sort(&t, 1, false);
	table_sort(&turned, 1, false);
	assert_rows(&t, "a a b c");
	assert_rows(&turned, "a a b c");
	assert_ptr_equal(table_cell(&t, 0, 0)->text, labels[1]);
	assert_ptr_equal(table_cell(&turned, 0, 0)->text, labels[3]);
	table_release(&t);
	table_release(&turned);
}

/* Integers that differ below the precision of a double, next to doubles. */
static void mixed_numbers_compare_exactly(void **state)
{
	static const uint64_t big = (uint64_t)1 << 60;
	const struct cell ascending[] = {
		cell_signed(-1),     cell_number(0.5),	       cell_count(1),
		cell_count(big - 1), cell_number((double)big), cell_count(big + 1),
		cell_text("a"),	     cell_text("b"),	       cell_number((double)NAN),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ascending); i++) {
		for (size_t k = 0; k < COUNT(ascending); k++) {
			int order = cell_compare(&ascending[i], &ascending[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
	}
}

static void fill_tree(struct table *t)
{
	table_init(t, "tree", NULL, columns, COUNT(columns));
	add(t, ROW_NO_PARENT, "x", 10);
	add(t, ROW_NO_PARENT, "y", 90);
	add(t, 0, "p", 4);
	add(t, 1, "q", 1);
	add(t, 0, "r", 6);
	add(t, 2, "s", 2);
	add(t, 1, "u", 8);
	add(t, 2, "v", 3);
}

static void children_follow_their_parents(void **state)
{
	struct table t;
	uint32_t *order;

	(void)state;
	fill_tree(&t);
	order = table_tree_order(&t);
	assert_memory_equal(order, ((uint32_t[]){ 0, 2, 5, 7, 4, 1, 3, 6 }), 8 * sizeof(*order));
	free(order);
	table_sort(&t, 1, false);
	assert_rows(&t, "y u<y q<y x r<x p<x v<p s<p");
	table_sort(&t, 0, false);
	assert_rows(&t, "x p<x s<p v<p r<x y q<y u<y");
	table_release(&t);
}

static void a_deep_tree_is_no_problem(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	add(&t, ROW_NO_PARENT, "a", 0);
	for (uint32_t i = 0; i < 100000; i++)
		add(&t, i, "a", i);
	table_sort(&t, 1, true);
	for (uint32_t i = 1; i <= 100000; i++)
		assert_int_equal(t.parents.items[i], i - 1);
	table_release(&t);
}

static void the_top_is_kept_on_each_level(void **state)
{
	static const struct {
		size_t n, n_cut;
		const char *expected;
	} cases[] = {
		{ 0, 2, "" },
		{ 1, 1, "y u<y" },
		{ 2, 0, "y u<y q<y x r<x p<x v<p s<p" },
		{ SIZE_MAX, 0, "y u<y q<y x r<x p<x v<p s<p" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;

		fill_tree(&t);
		table_sort(&t, 1, false);
		assert_int_equal(table_keep_top(&t, cases[i].n), cases[i].n_cut);
		assert_rows(&t, cases[i].expected);
		table_release(&t);
	}
}

static bool is_many(const struct table *t, size_t row, const void *least)
{
	return table_cell(t, row, 1)->count >= *(const uint64_t *)least;
}

static void rows_are_kept_by_what_they_hold(void **state)
{
	static const struct {
		uint64_t least;
		const char *expected;
	} cases[] = { { 0, "a b c d" }, { 2, "b d" }, { 5, "d" }, { 6, "" } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;
		size_t n_kept;

		table_init(&t, "t", NULL, columns, COUNT(columns));
		add(&t, ROW_NO_PARENT, "a", 1);
		add(&t, ROW_NO_PARENT, "b", 2);
		add(&t, ROW_NO_PARENT, "c", 0);
		add(&t, ROW_NO_PARENT, "d", 5);
		n_kept = table_keep(&t, is_many, &cases[i].least);
		assert_int_equal(n_kept, table_n_rows(&t));
		assert_rows(&t, cases[i].expected);
		table_release(&t);
	}
}

static void an_empty_table_is_sorted(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	table_sort(&t, 0, false);
	assert_int_equal(table_keep_top(&t, 5), 0);
	assert_int_equal(table_n_rows(&t), 0);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_has_its_direction),
		cmocka_unit_test(the_order_is_total),
		cmocka_unit_test(mixed_numbers_compare_exactly),
		cmocka_unit_test(children_follow_their_parents),
		cmocka_unit_test(a_deep_tree_is_no_problem),
		cmocka_unit_test(the_top_is_kept_on_each_level),
		cmocka_unit_test(rows_are_kept_by_what_they_hold),
		cmocka_unit_test(an_empty_table_is_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
