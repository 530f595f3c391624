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

static void assert_csv(struct table *t, const struct document *d, const char *expected)
{
	char *got = fixture_render("csv", d, &t, 1);

	assert_string_equal(got, expected);
	free(got);
}

static void one_table(void **state)
{
	static const char expected[] =
		"function,line,share,share_trust,latency_cycles,time_ns,loads,ipc,tid,pc,change\n"
		"chase,walk.c:8,0.719,exact,36800000000,1240000,0,0.22,12345,0xffff800000001000,\n"
		"main,walk.c:15,0.124,scaled,1240000000,93.9,,1.24,12346,0xffff800000001001,\n"
		"matmul_naive_with_a_rather_long_name,/usr/src/numeric/matmul.c:10,0.0875,sparse,"
		"11245,16900000000,2468,,12347,0xffff800000001002,\n"
		"memcpy,,0.0002,saturated,0,0,3702,3,12348,0xffff800000001003,\n";
	/* A single table has no line before its header, as other tools expect. */
	static const struct document document = { .command = "hot" };
	struct table t;

	(void)state;
	fixture_hot(&t);
	assert_csv(&t, &document, expected);
	table_release(&t);
}

/* Simulated numbers say so in a last column. */
static void one_modelled_table(void **state)
{
	static const char expected[] = "address,offset,op,modelled\n"
				       "0x1f80,0,load,true\n"
				       "0x2000,8,load,true\n"
				       "0x1f80,16,store,true\n"
				       "0x2000,24,store,true\n";
	static const struct document document = { .is_modelled = true };
	struct table lines, accesses;

	(void)state;
	fixture_lines(&lines, &accesses);
	assert_csv(&accesses, &document, expected);
	table_release(&lines);
	table_release(&accesses);
}

static void several_tables(void **state)
{
	static const char expected[] =
		"# modelled: simulated, not measured\n"
		"# table summary\n"
		"name,value,bytes\n"
		"program,\"walk  (pid 5000, 1 thread)   Neoverse N1\",\n"
		"SPE,\"11 245 records, every 2175 operations: loads, stores, "
		"branches, other\",3145728\n"
		"lost,nothing,\n"
		"# table lines\n"
		"address,records\n"
		"0x2000,10\n"
		"0x1fc0,9\n"
		"0x1f80,8\n"
		"# table accesses\n"
		"address,offset,op\n"
		"0x1f80,0,load\n"
		"0x2000,8,load\n"
		"0x1f80,16,store\n"
		"0x2000,24,store\n";
	const struct document d = { .is_plural = true, .is_modelled = true };
	struct table facts, lines, accesses;
	char *got;

	(void)state;
	fixture_facts(&facts);
	fixture_lines(&lines, &accesses);
	got = fixture_render("csv", &d, (struct table *[]){ &facts, &lines }, 2);
	assert_string_equal(got, expected);
	free(got);
	table_release(&facts);
	table_release(&lines);
	table_release(&accesses);
}

static void trees_number_their_rows(void **state)
{
	const struct document d = { 0 };
	struct table t;

	(void)state;
	fixture_calls(&t);
	assert_csv(&t, &d,
		   "place,cycles,share,row,parent_row\n"
		   "main,1000,1,0,\n"
		   "idle,25,0.025,1,\n"
		   "parse,600,0.6,2,0\n"
		   "write,300,0.3,3,0\n"
		   "lex,50,0.05,4,2\n"
		   "read,500,0.5,5,2\n"
		   "memcpy,400,0.4,6,5\n");
	table_release(&t);
}

static void texts_are_quoted_where_needed(void **state)
{
	static const struct column columns[] = { { "text", NULL, "", CELL_TEXT, 0, "" } };
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "plain text", "plain text" },
		{ "", "" },
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "\"", "\"\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "old\rmac", "\"old\rmac\"" },
		{ "tab\there", "tab\there" },
		{ "# table x", "\"# table x\"" },
		{ "a # b", "a # b" },
		{ "é 日本", "é 日本" },
		{ "é,\"x\"", "\"é,\"\"x\"\"\"" },
		{ "bad \xff\xc3", "bad \xef\xbf\xbd\xef\xbf\xbd" },
		{ "\x1b[31m", "\xef\xbf\xbd[31m" },
	};
	const struct document d = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char expected[64] = "text\n";
		struct table t;

		table_init(&t, "t", NULL, columns, 1);
		table_add_row(&t)[0] = cell_text(cases[i].text);
		strcat(strcat(expected, cases[i].expected), "\n");
		assert_csv(&t, &d, expected);
		table_release(&t);
	}
}

static void values_are_raw(void **state)
{
	static const struct column columns[] = { { "v", NULL, "ns", CELL_COUNT, 0, "" } };
	const struct {
		struct cell cell;
		const char *expected;
	} cases[] = {
		{ cell_count(UINT64_MAX), "v\n18446744073709551615\n" },
		{ cell_signed(INT64_MIN), "v\n-9223372036854775808\n" },
		{ cell_number(1.0 / 3), "v\n0.3333333333333333\n" },
		{ cell_number(1e300 * 1e300), "v\n\n" },
		{ cell_hex(0), "v\n0x0\n" },
		{ cell_hex(0xFFFF), "v\n0xffff\n" },
		{ cell_bool(true), "v\ntrue\n" },
		{ cell_bool(false), "v\nfalse\n" },
		{ { .type = CELL_NONE }, "v\n\n" },
		{ cell_text(NULL), "v\n\n" },
	};
	const struct document d = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;

		table_init(&t, "t", NULL, columns, 1);
		table_add_row(&t)[0] = cases[i].cell;
		assert_csv(&t, &d, cases[i].expected);
		table_release(&t);
	}
}

/* Rows that come in pieces read as if they had come at once. */
static void pieces_join(void **state)
{
	const struct document d = { 0 };
	struct text out = { 0 };
	struct table whole;
	char *expected;

	(void)state;
	fixture_hot(&whole);
	expected = fixture_render("csv", &d, (struct table *[]){ &whole }, 1);
	format_csv.begin(&d, &out);
	format_csv.head(&d, &whole, true, &out);
	for (size_t row = 0; row < table_n_rows(&whole); row++) {
		struct table piece;

		table_init(&piece, whole.name, NULL, whole.columns, whole.n_columns);
		memcpy(table_add_row(&piece), table_cell(&whole, row, 0),
		       whole.n_columns * sizeof(struct cell));
		format_csv.rows(&d, &piece, row == 0, &out);
		table_release(&piece);
	}
	format_csv.tail(&d, &whole, &out);
	format_csv.end(&d, &out);
	text_char(&out, '\0');
	assert_string_equal(out.bytes, expected);
	free(expected);
	text_release(&out);
	table_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_table),
		cmocka_unit_test(one_modelled_table),
		cmocka_unit_test(several_tables),
		cmocka_unit_test(trees_number_their_rows),
		cmocka_unit_test(texts_are_quoted_where_needed),
		cmocka_unit_test(values_are_raw),
		cmocka_unit_test(pieces_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
