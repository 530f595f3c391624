/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of a function that is made up here: which rows there are, and what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "../table/expect.h"
#include "annotate/view.h"
#include "base/alloc.h"
#include "spe/packet.h"
#include "symbol/symbols_state.h"

enum {
	START = 0x1000,
	SIZE = 4,
	N_INSTRUCTIONS = 100, /* too many for all of them to be shown */
	/* Those that have records, or go somewhere. */
	LOAD = 10,
	BRANCH = 11,
	FULL = 12,
	WARM = 14, /* and those behind it */
	N_WARM = 20,
	WARM_CYCLES = 100,
	CALL = 50,
	LUKEWARM = 60, /* more than half a per cent, but less than twenty others */
	LUKEWARM_CYCLES = 60,
	COLD = 70,
	/* The data sources of the load. */
	N1_L1D = 0,
	N1_DRAM = 0xe,
	UNKNOWN_SOURCE = 7,
	FULL_COUNTER = 4095,
	/* All latencies, see add_values(). */
	CYCLES = 30 * 20 + 10 * 2 + 2 * FULL_COUNTER + 40 + N_WARM * WARM_CYCLES + LUKEWARM_CYCLES +
		 1,
};

struct world {
	char *folder;
	struct session session;
	struct annotate_region region;
	struct annotation a;
};

static void add_value(struct world *w, uint64_t value, uint64_t n)
{
	*vec_add(&w->a.values) = (struct annotate_value){ value, n };
}

static uint64_t source_word(const struct world *w, uint16_t source)
{
	return (uint64_t)(uintptr_t)session_source(&w->session, 0, source);
}

/* What was counted of an instruction. */
static void add_values(struct world *w, size_t number, enum annotate_what what)
{
	if (number == LOAD && what == COUNT_RECORDS)
		add_value(w, 0, 30);
	if (number == LOAD && what == COUNT_TOTAL) {
		add_value(w, 10, 15);
		add_value(w, 30, 15);
	}
	if (number == LOAD && what == COUNT_SOURCE) {
		add_value(w, source_word(w, N1_L1D), 9);
		add_value(w, source_word(w, N1_DRAM), 18);
		add_value(w, UNKNOWN_SOURCE, 3);
	}
	if (number == BRANCH && what == COUNT_TOTAL)
		add_value(w, 2, 10);
	if (number == BRANCH && what == COUNT_BRANCH) {
		add_value(w, 0, 2);
		add_value(w, 1, 8);
	}
	if (number == BRANCH && what == COUNT_EVENT)
		add_value(w, SPE_EV_MISPREDICTED, 3);
	if (number == FULL && what == COUNT_TOTAL) {
		add_value(w, 40, 1);
		add_value(w, FULL_COUNTER, 2);
	}
	if (number >= WARM && number < WARM + N_WARM && what == COUNT_TOTAL)
		add_value(w, WARM_CYCLES, 1);
	if (number == LUKEWARM && what == COUNT_TOTAL)
		add_value(w, LUKEWARM_CYCLES, 1);
	if (number == CALL && what == COUNT_SAMPLES)
		add_value(w, EVENT_CYCLES, 4);
	if (number == CALL && what == COUNT_PERIOD)
		add_value(w, EVENT_CYCLES, 999);
	if (number == COLD && what == COUNT_TOTAL)
		add_value(w, 1, 1);
	if (number == COLD && what == COUNT_PERIOD)
		add_value(w, EVENT_CYCLES, 1);
}

static void add_instruction(struct world *w, size_t number)
{
	struct annotated *out = vec_add(&w->a.list);

	*out = (struct annotated){ .offset = START + number * SIZE };
	out->text = (struct instruction){ .address = out->offset, .size = SIZE, .mnemonic = "nop" };
	if (number == LOAD)
		out->text = (struct instruction){ .address = out->offset,
						  .size = SIZE,
						  .mnemonic = "ldr",
						  .operands = "x0, [x1]" };
	if (number == BRANCH)
		out->text = (struct instruction){
			.address = out->offset,
			.size = SIZE,
			.mnemonic = "b.ne",
			.operands = "0x1028",
			.flow = { FLOW_BRANCH, true, START + LOAD * SIZE },
		};
	if (number == CALL) {
		out->text = (struct instruction){
			.address = out->offset,
			.size = SIZE,
			.mnemonic = "bl",
			.operands = "0x9000",
			.flow = { FLOW_CALL, true, 0x9000 },
		};
		out->target_name = "memcpy";
	}
	for (int what = 0; what < N_COUNTS; what++) {
		out->first[what] = (uint32_t)w->a.values.n;
		add_values(w, number, what);
	}
	out->first[N_COUNTS] = (uint32_t)w->a.values.n;
}

/* Line 3 of walk.c, then line 1; the branch is of line 2, inlined from a function there. */
static void add_lines(struct world *w)
{
	struct symbols *s = w->session.symbols;
	struct str_id file = strings_addz(&s->strings, "/src/walk.c");
	const struct symbol_frame walk = { strings_addz(&s->strings, "walk"), file, 3, 0, false };
	const struct symbol_frame inner = { strings_addz(&s->strings, "is_end"), file, 2, 0, true };
	const struct symbol_frame head = { walk.function, file, 1, 0, false };
	uint32_t first = (uint32_t)s->frames.n;

	*vec_add(&s->frames) = inner;
	*vec_add(&s->frames) = walk;
	*vec_add(&s->frames) = head;
	for (size_t i = LOAD; i <= FULL + 1; i++) {
		w->a.list.items[i].symbol.first_frame = i == BRANCH ? first
							: i <= FULL ? first + 1
								    : first + 2;
		w->a.list.items[i].symbol.n_frames = i == BRANCH ? 2 : 1;
	}
}

static void world_init(struct world *w)
{
	static const char source[] = "int walk()\n\tif (x)  \n\tx = x->next;";
	const struct spe_record record = spe_of(FIRST, ALPHA, SPE_OP_LDST, 0, 1, START_NS);

	*w = (struct world){ .folder = folder_make() };
	file_write(in_folder(w->folder, "src/walk.c"), source, sizeof(source) - 1);
	open_fixture(&(struct contents){ .records = &record, .n_records = 1 }, 1, &w->session);
	w->region = (struct annotate_region){
		.from = START,
		.to = START + N_INSTRUCTIONS * SIZE,
		.address = START,
		.name = "walk",
		.has_name = true,
	};
	w->a.session = &w->session;
	w->a.region = &w->region;
	for (size_t i = 0; i < N_INSTRUCTIONS; i++)
		add_instruction(w, i);
	add_lines(w);
}

static void world_release(struct world *w)
{
	annotation_release(&w->a);
	close_fixture(&w->session);
	folder_remove(w->folder);
}

static void listing_of(const struct world *w, struct annotate_view *view, struct table *out)
{
	struct err err;

	view->symfs = w->folder;
	assert_int_equal(annotate_view_add(view, &w->session, "cycles", &err), 0);
	assert_int_equal(annotate_view_add(view, &w->session, "mispredicted", &err), 0);
	annotate_listing(&w->a, view, out);
}

/* So many rows with this text. */
struct rows {
	const char *text;
	size_t n;
};

static void expect_rows(const struct table *t, const struct rows *expected, size_t n)
{
	int column = table_column(t, "instruction");
	size_t row = 0;

	assert_true(column >= 0);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < expected[i].n; k++, row++) {
			assert_true(row < table_n_rows(t));
			assert_string_equal(table_cell(t, row, (size_t)column)->text,
					    expected[i].text);
		}
	assert_int_equal(table_n_rows(t), row);
}

static void cold_stretches_are_folded(void **state)
{
	static const struct rows with_context[] = {
		{ "   ... 9 cold", 1 },
		{ "   nop", 1 },
		{ "   walk.c:3  x = x->next;", 1 },
		{ ".->ldr     x0, [x1]", 1 },
		{ "|  walk.c:2  (is_end inlined)  if (x)", 1 },
		{ "'--b.ne    0x1028", 1 },
		{ "   walk.c:3  x = x->next;", 1 },
		{ "   nop", 1 },
		{ "   walk.c:1  int walk()", 1 },
		{ "   nop", 1 + N_WARM + 1 },
		{ "   ... 14 cold", 1 },
		{ "   nop", 1 },
		{ "   bl      0x9000 <memcpy>", 1 },
		{ "   nop", 1 },
		{ "   ... 7 cold", 1 },
		{ "   nop", 3 },
		{ "   ... 38 cold", 1 },
	};
	static const struct rows without_source[] = {
		{ "   … 10 cold", 1 },
		{ "   walk.c:3", 1 },
		{ "╭─►ldr     x0, [x1]", 1 },
		{ "│  walk.c:2  (is_end inlined)", 1 },
		{ "╰──b.ne    0x1028", 1 },
		{ "   walk.c:3", 1 },
		{ "   nop", 1 },
		{ "   … 1 cold", 1 },
		{ "   nop", N_WARM },
		{ "   … 16 cold", 1 },
		{ "   bl      0x9000 <memcpy>", 1 },
		{ "   … 9 cold", 1 },
		{ "   nop", 1 },
		{ "   … 39 cold", 1 },
	};
	struct annotate_view view = { .context = 1 };
	struct table table;
	struct world w;

	(void)state;
	world_init(&w);
	listing_of(&w, &view, &table);
	expect_rows(&table, with_context, COUNT(with_context));
	table_release(&table);

	view = (struct annotate_view){ .has_unicode = true, .without_source = true };
	listing_of(&w, &view, &table);
	expect_rows(&table, without_source, COUNT(without_source));
	table_release(&table);

	view = (struct annotate_view){ .shows_all = true };
	listing_of(&w, &view, &table);
	assert_int_equal(table_n_rows(&table), N_INSTRUCTIONS + 4);
	table_release(&table);
	world_release(&w);
}

/* The hottest are shown even where all is lukewarm, and those that are just as hot. */
static void some_instructions_are_always_hot(void **state)
{
	struct annotate_view view = { 0 };
	struct table table;
	struct world w;

	(void)state;
	world_init(&w);
	for (size_t i = WARM; i < WARM + N_WARM; i++)
		w.a.values.items[w.a.list.items[i].first[COUNT_TOTAL]].value = 1;
	listing_of(&w, &view, &table);
	for (size_t i = 0; i < N_WARM; i++)
		assert_int_equal(table_cell(&table, 8 + i, 0)->count, START + (WARM + i) * SIZE);
	assert_int_equal(table_cell(&table, table_n_rows(&table) - 2, 0)->count,
			 START + COLD * SIZE);
	table_release(&table);
	world_release(&w);
}

/* Rows of the listing with one instruction of context, as above. */
enum { ROW_LOAD = 3, ROW_SOURCE = 4, ROW_BRANCH = 5, ROW_FULL = 7, ROW_CALL = 33 };

static const struct expected_cell cells[] = {
	{ "listing", ROW_LOAD, "address", START + LOAD *SIZE, MARK_EXACT },
	{ "listing", ROW_LOAD, "share", 600. / CYCLES, MARK_EXACT },
	{ "listing", ROW_LOAD, "cycles", NOT_THERE },
	{ "listing", ROW_LOAD, "p50", 10, MARK_EXACT },
	{ "listing", ROW_LOAD, "mean", 20, MARK_EXACT },
	{ "listing", ROW_LOAD, "taken", NOT_THERE },
	{ "listing", ROW_LOAD, "from", 0, MARK_EXACT, "DRAM 60 %" },
	{ "listing", ROW_SOURCE, "share", NOT_THERE },
	{ "listing", ROW_SOURCE, "address", NOT_THERE },
	{ "listing", ROW_BRANCH, "share", 20. / CYCLES, MARK_EXACT },
	{ "listing", ROW_BRANCH, "taken", 0.8, MARK_EXACT },
	{ "listing", ROW_BRANCH, "missed", 0.3, MARK_EXACT },
	{ "listing", ROW_BRANCH, "mispred", 1, MARK_EXACT },
	{ "listing", ROW_BRANCH, "from", NOT_THERE },
	/* Full counters: the median is one of them, the mean is of the others and too low. */
	{ "listing", ROW_FULL, "p50", FULL_COUNTER, MARK_SATURATED },
	{ "listing", ROW_FULL, "mean", 40, MARK_SATURATED },
	{ "listing", ROW_FULL, "share", (2. * FULL_COUNTER + 40) / CYCLES, MARK_EXACT },
	{ "listing", ROW_CALL, "cycles", 0.999, MARK_EXACT },
	{ "listing", ROW_CALL, "share", NOT_THERE },
	{ "listing", ROW_CALL, "p50", NOT_THERE },
	{ "listing", ROW_CALL, "mispred", NOT_THERE },
};

static void rows_have_their_numbers(void **state)
{
	struct annotate_view view = { .context = 1 };
	struct table table;
	struct tables shown = { 0 };
	struct world w;

	(void)state;
	world_init(&w);
	listing_of(&w, &view, &table);
	*vec_add(&shown.list) = &table;
	expect_cells(&shown, cells, COUNT(cells));
	vec_release(&shown.list);
	assert_non_null(strstr(table.title, "walk "));
	assert_non_null(strstr(table.title, "30 SPE records"));
	assert_non_null(strstr(table.title, "4 samples"));
	table_release(&table);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cold_stretches_are_folded),
		cmocka_unit_test(some_instructions_are_always_hot),
		cmocka_unit_test(rows_have_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
