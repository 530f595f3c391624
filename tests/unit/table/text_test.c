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
#include "table/utf8.h"

static void assert_text(struct table *t, unsigned width, bool has_unicode, const char *expected)
{
	char *got = fixture_text(t, width, has_unicode);

	assert_string_equal(got, expected);
	free(got);
}

/* clang-format off */
static const char hot_100[] =
"Where the time goes                                     latency                loads\n"
"                                             share     (cycles)      time  (entries)   IPC    tid\n"
"  chase               walk.c:8             71.9 %       36.8  G   1.24 ms          0  0.22  12345  !\n"
"  main                walk.c:15            12.4 %~       1.24 G  93.9  ns          -  1.24  12346\n"
"  matmul_na…ong_name  …eric/matmul.c:10     8.8 %?  11 245       16.9  s       2 468  -     12347\n"
"  memcpy                                 ≥ <0.1 %        0        0    ns      3 702  3.00  12348\n"
"  12 more functions, 3.8 %\n"
"  ~ scaled up from a part   ? too few samples   ≥ saturated: at least this\n";

static const char hot_60[] =
"Where the time goes                                  latency\n"
"                                          share     (cycles)\n"
"  chase             walk.c:8            71.9 %       36.8  G\n"
"  main              walk.c:15           12.4 %~       1.24 G\n"
"  matmul_n…ng_name  …ric/matmul.c:10     8.8 %?  11 245\n"
"  memcpy                              ≥ <0.1 %        0\n"
"  hidden columns: time, loads (entries), IPC, tid (--wide)\n"
"  12 more functions, 3.8 %\n"
"  ~ scaled up from a part   ? too few samples   ≥ saturated:\n"
"  at least this\n";

static const char hot_40_ascii[] =
"Where the time goes                share\n"
"  chase         walk.c:8         71.9 %\n"
"  main          walk.c:15        12.4 %~\n"
"  matmu...name  ...tmul.c:10      8.8 %?\n"
"  memcpy                      >= <0.1 %\n"
"  hidden columns: latency (cycles),\n"
"  time, loads (entries), IPC, tid\n"
"  (--wide)\n"
"  12 more functions, 3.8 %\n"
"  ~ scaled up from a part   ? too few\n"
"  samples   >= saturated: at least this\n";

static const char calls_60[] =
"place         cycles                                   share\n"
"main           1 000  █████████████████████████████  100.0 %\n"
"├ parse          600  █████████████████▍              60.0 %\n"
"│ ├ lex           50  █▌                               5.0 %\n"
"│ └ read         500  ██████████████▌                 50.0 %\n"
"│   └ memcpy   ≥ 400  ███████████▋                    40.0 %\n"
"└ write          300  ████████▊                       30.0 %\n"
"idle              25  ▊                                2.5 %\n"
"≥ saturated: at least this\n";

static const char calls_60_ascii[] =
"place            cycles                                share\n"
"main              1 000  ##########################  100.0 %\n"
"|- parse            600  ################             60.0 %\n"
"|  |- lex            50  #                             5.0 %\n"
"|  `- read          500  #############                50.0 %\n"
"|     `- memcpy  >= 400  ##########                   40.0 %\n"
"`- write            300  ########                     30.0 %\n"
"idle                 25  #                             2.5 %\n"
">= saturated: at least this\n";

static const char facts_100[] =
"program  walk  (pid 5000, 1 thread)   Neoverse N1\n"
"SPE      11 245 records, every 2175 operations: loads, stores, branches, other  3 MiB\n"
"lost     nothing\n";

static const char facts_40[] =
"program  walk  (pid 5000, 1 thread)\n"
"         Neoverse N1\n"
"SPE      11 245 records, every 2175\n"
"         operations: loads, stores,\n"
"         branches, other  3 MiB\n"
"lost     nothing\n";

static const char findings_100[] =
"Findings\n"
"1. 83.9 % of cycles stalled in the back end                                  36.8 G of 43.8 G cycles\n"
"   memory: 99.9 % of last-level reads miss (195 per 1000 instructions)\n"
"   where:  main+0x30  stride.c:38   ldrb w2, [x20, w19, sxtw]\n"
"   try:    the stride is regular (448 B): prefetch ahead, or shorten the stride\n"
"   sure:   6 counters, no multiplexing; 41 213 samples\n"
"   next:   cyclops mem --by instruction --symfs ../root/of/others --select 'op=load && tot>100' \\\n"
"           --interval 2000 stride.data\n"
"2. one load in four walks the page tables                                            11 % ± 1 of all\n"
"   try:    huge pages\n"
"   next:   sample what walks the page tables, with at least ten thousand samples, to find the code\n"
"           and the data\n";

static const char findings_60_ascii[] =
"Findings\n"
"1. 83.9 % of cycles stalled in the back end\n"
"   36.8 G of 43.8 G cycles\n"
"   memory: 99.9 % of last-level reads miss (195 per 1000\n"
"   instructions)\n"
"   where:  main+0x30  stride.c:38   ldrb w2, [x20, w19,\n"
"           sxtw]\n"
"   try:    the stride is regular (448 B): prefetch ahead, or\n"
"           shorten the stride\n"
"   sure:   6 counters, no multiplexing; 41 213 samples\n"
"   next:   cyclops mem --by instruction --symfs \\\n"
"           ../root/of/others --select 'op=load && tot>100' \\\n"
"           --interval 2000 stride.data\n"
"2. one load in four walks the page tables   11 % +- 1 of all\n"
"   try:    huge pages\n"
"   next:   sample what walks the page tables, with at least\n"
"           ten thousand samples, to find the code and the\n"
"           data\n";
/* clang-format on */

static void known_tables_at_known_widths(void **state)
{
	static const struct {
		void (*fill)(struct table *);
		unsigned width;
		bool has_unicode;
		const char *expected;
	} cases[] = {
		{ fixture_hot, 100, true, hot_100 },
		{ fixture_hot, 0, true, hot_100 },
		{ fixture_hot, 60, true, hot_60 },
		{ fixture_hot, 40, false, hot_40_ascii },
		{ fixture_calls, 60, true, calls_60 },
		{ fixture_calls, 60, false, calls_60_ascii },
		{ fixture_facts, 100, true, facts_100 },
		{ fixture_facts, 40, true, facts_40 },
		{ fixture_findings, 100, true, findings_100 },
		{ fixture_findings, 60, false, findings_60_ascii },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;

		cases[i].fill(&t);
		assert_text(&t, cases[i].width, cases[i].has_unicode, cases[i].expected);
		table_release(&t);
	}
}

/* A sign that a note of the table explains is not in the legend, which is for the other columns. */
static void a_note_may_explain_signs(void **state)
{
	static const struct column columns[] = {
		{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_NOTED, "" },
		{ "other", NULL, "", CELL_NUMBER, COLUMN_SHARE, "" },
	};
	struct table t;
	struct cell *row;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	row = table_add_row(&t);
	row[0] = cell_marked(cell_number(0.5), MARK_SPARSE);
	row[1] = cell_marked(cell_number(0.25), MARK_SCALED);
	table_note(&t, "?: limits are far apart");
	assert_text(&t, 100, true,
		    "  share    other\n"
		    "50.0 %?  25.0 %~\n"
		    "?: limits are far apart\n"
		    "~ scaled up from a part\n");
	row[1].mark = MARK_SPARSE;
	assert_text(&t, 100, true,
		    "  share    other\n"
		    "50.0 %?  25.0 %?\n"
		    "?: limits are far apart\n"
		    "? too few samples\n");
	table_release(&t);
}

static void empty_tables_say_so(void **state)
{
	struct table t;

	(void)state;
	fixture_hot(&t);
	table_reset(&t);
	assert_text(&t, 100, true, "Where the time goes\n  none\n");
	table_note(&t, "no bottleneck found");
	assert_text(&t, 100, true, "Where the time goes\n  no bottleneck found\n");
	t.title = NULL;
	assert_text(&t, 100, true, "no bottleneck found\n");
	table_release(&t);
}

/* What an answer says is not said again by the table that it is of; alone the table says it. */
static void an_answer_says_that_there_is_nothing(void **state)
{
	static const struct {
		const char *format, *with_answer, *alone;
	} cases[] = {
		{ "text", "Nothing is left.\n", "none\n" },
		{ "markdown", "**Nothing is left.**\n\n", "none\n\n" },
		{ "csv", "day\n", "day\n" },
	};
	static const struct column columns[] = { { "day", NULL, "", CELL_TEXT, 0, "" } };
	const struct document d = { .command = "fleet" };
	struct table answer, t;

	(void)state;
	answer_init(&answer);
	answer_say(&answer, "Nothing is left.");
	table_init(&t, "t", NULL, columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *both =
			fixture_render(cases[i].format, &d, (struct table *[]){ &answer, &t }, 2);
		char *alone = fixture_render(cases[i].format, &d, (struct table *[]){ &t }, 1);

		assert_string_equal(both, cases[i].with_answer);
		assert_string_equal(alone, cases[i].alone);
		free(both);
		free(alone);
	}
	table_release(&answer);
	table_release(&t);
}

static void tables_stand_apart(void **state)
{
	struct document d = { .is_plural = true, .is_modelled = true };
	struct table lines, accesses;
	char *got;

	(void)state;
	fixture_lines(&lines, &accesses);
	got = fixture_render("text", &d, (struct table *[]){ &lines }, 1);
	assert_string_equal(got, "modelled: these numbers are simulated, not measured\n"
				 "\n"
				 "Lines\n"
				 "  address  records\n"
				 "   0x2000       10\n"
				 "   0x1fc0        9\n"
				 "   0x1f80        8\n"
				 "\n"
				 "Accesses\n"
				 "  address  offset  op\n"
				 "   0x1f80     0 B  load\n"
				 "   0x2000     8 B  load\n"
				 "   0x1f80    16 B  store\n"
				 "   0x2000    24 B  store\n");
	free(got);
	table_release(&lines);
	table_release(&accesses);
}

/* A title beside headings of texts could be taken for one of them. */
static void the_title_shares_a_line_with_numbers_alone(void **state)
{
	static const struct column columns[] = {
		{ "n", "number of records", "", CELL_COUNT, 0, "" },
		{ "name", "", "", CELL_TEXT, 0, "" },
		{ "where", NULL, "", CELL_TEXT, 0, "" },
	};
	struct table t;

	(void)state;
	table_init(&t, "t", "Title", columns, 2);
	table_add_row(&t)[0] = cell_count(5);
	table_add_row(&t)[1] = cell_text("a");
	assert_text(&t, 100, true,
		    "Title\n"
		    "  number of records\n"
		    "                  5\n"
		    "                  -  a\n");
	t.title = "";
	assert_text(&t, 100, true,
		    "number of records\n"
		    "                5\n"
		    "                -  a\n");
	table_release(&t);

	table_init(&t, "t", "T", columns, 3);
	table_add_row(&t)[0] = cell_count(1234567890123456789);
	assert_text(&t, 100, true,
		    "T   number of records\n"
		    "  1234567890123456789\n");
	table_add_row(&t)[2] = cell_text("here");
	assert_text(&t, 100, true,
		    "T\n"
		    "    number of records  where\n"
		    "  1234567890123456789\n"
		    "                    -  here\n");
	table_release(&t);
}

static void colour_is_for_what_is_apart(void **state)
{
	static const struct column columns[] = {
		{ "name", NULL, "", CELL_TEXT, 0, "" },
		{ "n", NULL, "", CELL_COUNT, 0, "" },
	};
	struct document d = { .has_colour = true };
	struct table t;
	char *got;

	(void)state;
	table_init(&t, "t", "Title", columns, COUNT(columns));
	table_add_row(&t)[0] = cell_text("\033[31mred");
	table_add_row(&t)[1] = cell_marked(cell_count(7), MARK_SCALED);
	got = fixture_render("text", &d, (struct table *[]){ &t }, 1);
	assert_string_equal(got, "\033[1mTitle\033[0m\n"
				 "  \033[2mname\033[0m          \033[2mn\033[0m\n"
				 "  \\x1b[31mred  \033[2m-\033[0m\n"
				 "               7\033[33m~\033[0m\n"
				 "  \033[2m~ scaled up from a part\033[0m\n");
	free(got);
	table_release(&t);
}

/* What tells names apart stays: offsets, and what stands around the arguments of templates. */
static void cut_names_keep_their_ends(void **state)
{
	static const struct column columns[] = {
		{ "name", NULL, "", CELL_TEXT, COLUMN_GROW, "" },
		{ "beside", NULL, "", CELL_TEXT, COLUMN_WHOLE, "" },
	};
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "a_function_with_a_long_name+0x1d8", "a_funct…+0x1d8" },
		{ "std::vector<std::pair<int, long>>::insert", "std::ve…insert" },
		{ "a_function_with_a_long_name", "a_funct…g_name" },
	};
	const struct document d = { .width = 40, .has_unicode = true };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t;
		struct cell *row;
		char *got;

		table_init(&t, "t", NULL, columns, COUNT(columns));
		row = table_add_row(&t);
		row[0] = cell_text(cases[i].name);
		row[1] = cell_text("twenty-four columns wide");
		got = fixture_render("text", &d, (struct table *[]){ &t }, 1);
		if (strstr(got, cases[i].shown) == NULL)
			fail_msg("%s: %s", cases[i].name, got);
		free(got);
		table_release(&t);
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static const char *const hostile_texts[] = {
	"",
	" ",
	"x",
	"std::vector<std::pair<int, std::basic_string<char>>>::_M_realloc_insert",
	"/usr/lib/debug/.build-id/ab/cdef0123456789abcdef0123456789abcdef.debug",
	"日本語の関数名はとても長いことがあります",
	"e\xcc\x81\xcc\x81\xcc\x81 combining",
	"\x1b[2J\x1b]0;owned\x07",
	"\xff\xfe\xc3(",
	"\xe2\x80\xaegnp.exe",
	"many   blanks      in          it",
	"11 245 of 83.9 % 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25",
};

static struct cell random_cell(uint64_t *seed)
{
	uint64_t bits = next_random(seed) << (next_random(seed) % 34);
	enum cell_mark mark = (enum cell_mark)(next_random(seed) % 4);
	struct cell cells[] = {
		{ 0 },
		cell_count(bits),
		cell_signed(-(int64_t)bits),
		cell_number((double)bits / 977),
		cell_number((double)(bits % 1000) / 1000),
		cell_hex(bits),
		cell_bool(bits & 1),
		cell_text(hostile_texts[bits % COUNT(hostile_texts)]),
	};

	return cell_marked(cells[next_random(seed) % COUNT(cells)], mark);
}

static const struct column *random_columns(struct arena *memory, size_t n, uint64_t *seed)
{
	static const char *const titles[] = { NULL, "", "p50", "total latency of all loads", "±" };
	static const char *const units[] = { "", "cycles", "ns", "bytes", "%", "records" };
	static const enum cell_type types[] = { CELL_TEXT, CELL_COUNT, CELL_NUMBER, CELL_HEX };
	struct column *columns = arena_alloc(memory, n * sizeof(*columns));

	for (size_t i = 0; i < n; i++) {
		columns[i].name = "a_stable_name";
		columns[i].title = titles[next_random(seed) % COUNT(titles)];
		columns[i].unit = units[next_random(seed) % COUNT(units)];
		columns[i].type = types[next_random(seed) % COUNT(types)];
		columns[i].flags = (unsigned)next_random(seed) % 256;
		columns[i].meaning = "";
	}
	return columns;
}

static void fill_randomly(struct table *t, uint64_t *seed)
{
	size_t n_rows = next_random(seed) % 12;

	t->style = (enum table_style)(next_random(seed) % 3);
	for (uint32_t row = 0; row < n_rows; row++) {
		bool is_child = row > 0 && next_random(seed) % 2 == 0;
		uint32_t parent = (uint32_t)next_random(seed) % (row + 1);
		struct cell *c =
			is_child && parent < row ? table_add_child(t, parent) : table_add_row(t);

		for (size_t i = 0; i < t->n_columns; i++)
			c[i] = random_cell(seed);
	}
	table_note(t, "%s", hostile_texts[next_random(seed) % COUNT(hostile_texts)]);
}

/* Each line fits, ends in a visible character, and has printable characters only. */
static void assert_page(const char *page, size_t width, bool has_unicode)
{
	for (const char *line = page; *line != '\0';) {
		size_t size = strcspn(line, "\n"), columns = 0;

		assert_int_equal(line[size], '\n');
		assert_true(size == 0 || line[size - 1] != ' ');
		for (size_t i = 0; i < size;) {
			uint32_t code = 0;
			size_t step = utf8_decode(line + i, &code);

			assert_true(step > 0);
			assert_true(has_unicode || code < 0x80);
			assert_false(utf8_is_unsafe(code));
			columns += utf8_width(code);
			i += step;
		}
		assert_true(columns <= width);
		line += size + 1;
	}
}

/* Any table, with any bytes, at any width. */
static void any_table_fits_any_width(void **state)
{
	static const char *const titles[] = {
		NULL, "", "Title", "\x1b]0;a rather long title that does not fit everywhere"
	};
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		struct arena memory = { 0 };
		size_t n_columns = 1 + next_random(&seed) % 9;
		unsigned width = 40 + (unsigned)next_random(&seed) % 100;
		bool has_unicode = next_random(&seed) % 2 == 0;
		struct table t;
		char *page;

		table_init(&t, "t", titles[next_random(&seed) % COUNT(titles)],
			   random_columns(&memory, n_columns, &seed), n_columns);
		fill_randomly(&t, &seed);
		page = fixture_text(&t, width, has_unicode);
		assert_page(page, width, has_unicode);
		free(page);
		table_release(&t);
		arena_release(&memory);
	}
}

/* A tree deeper than the line is wide shows the innermost branches and still its labels. */
static void deep_trees_keep_their_labels(void **state)
{
	static const struct column columns[] = {
		{ "place", NULL, "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW, "" },
		{ "n", NULL, "", CELL_COUNT, 0, "" },
	};
	struct table t;
	char *page;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	table_add_row(&t)[0] = cell_text("top");
	for (uint32_t i = 0; i < 300; i++) {
		struct cell *c = table_add_child(&t, i);

		c[0] = cell_text(i == 299 ? "innermost" : "frame");
		c[1] = cell_count(i);
	}
	page = fixture_text(&t, 60, true);
	assert_page(page, 60, true);
	assert_non_null(strstr(page, "…                 └ innermost  299\n"));
	free(page);
	table_release(&t);
}

/* A table may mean something else by a mark than that latencies are saturated. */
static void a_table_has_meanings_of_its_own(void **state)
{
	static const struct column columns[] = {
		{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE, "" },
		{ "other", NULL, "", CELL_NUMBER, COLUMN_SHARE, "" },
	};
	static const char *const meanings[N_MARKS] = { [MARK_AT_MOST] = "≤ costs overlap" };
	struct table t;
	struct cell *row;

	(void)state;
	table_init(&t, "t", NULL, columns, COUNT(columns));
	row = table_add_row(&t);
	row[0] = cell_marked(cell_number(0.5), MARK_AT_MOST);
	row[1] = cell_marked(cell_number(0.25), MARK_SATURATED);
	assert_text(&t, 100, true,
		    "   share     other\n"
		    "≤ 50.0 %  ≥ 25.0 %\n"
		    "≥ ≤ bounds: some latencies are saturated\n");
	t.meanings = meanings;
	assert_text(&t, 100, true,
		    "   share     other\n"
		    "≤ 50.0 %  ≥ 25.0 %\n"
		    "≥ saturated: at least this   ≤ costs overlap\n");
	table_release(&t);
}

/* So that it can be pasted: no word of a command is broken, however long it is, nor what is in quotes. */
static void commands_are_broken_between_words(void **state)
{
	struct table t;

	(void)state;
	answer_init(&t);
	answer_next(&t, "cyclops hot --time-estimate 'two words that are quoted and long' "
			"a/path/of-one/word-that-no/line-of-forty/columns-can-hold");
	assert_text(&t, 40, true,
		    "Next: cyclops hot --time-estimate \\\n"
		    "      'two words that are quoted and long' \\\n"
		    "      a/path/of-one/word-that-no/line-of-forty/columns-can-hold\n");
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_tables_at_known_widths),
		cmocka_unit_test(a_note_may_explain_signs),
		cmocka_unit_test(a_table_has_meanings_of_its_own),
		cmocka_unit_test(commands_are_broken_between_words),
		cmocka_unit_test(empty_tables_say_so),
		cmocka_unit_test(an_answer_says_that_there_is_nothing),
		cmocka_unit_test(tables_stand_apart),
		cmocka_unit_test(the_title_shares_a_line_with_numbers_alone),
		cmocka_unit_test(colour_is_for_what_is_apart),
		cmocka_unit_test(cut_names_keep_their_ends),
		cmocka_unit_test(any_table_fits_any_width),
		cmocka_unit_test(deep_trees_keep_their_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
