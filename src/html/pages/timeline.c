/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, functions and data sources by slices of time. Of each there are two tables: its rows, and how much of
 * each row fell into which slice, as far as it is not nothing. So ranges of time can be added up again. Another
 * table has what each function took in each thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "hot/event.h"
#include "hot/hot.h"
#include "hot/sums/group.h"
#include "html/pages/pages.h"
#include "html/pages/slices.h"
#include "scan/scan.h"

/* Rows of threads and of functions. */
enum { MOST_ROWS = 200 };

static const struct timed {
	struct keys keys; /* none: all records */
	const char *name, *title, *slices;
	size_t scan;	  /* whose groups it is made of */
	size_t most;	  /* rows of each event; 0: all */
	bool needs_names; /* rows without are no answer, if there are no others */
} timed[] = {
	{ { .n = 0 }, "all", "All", "all_slices", 0, 0, false },
	{ { { KEY_THREAD }, 1 }, "threads", "Threads", "thread_slices", 0, MOST_ROWS, false },
	{ { { KEY_FUNCTION }, 1 },
	  "functions",
	  "Functions",
	  "function_slices",
	  1,
	  MOST_ROWS,
	  false },
	{ { { KEY_SOURCE }, 1 }, "sources", "Data sources", "source_slices", 2, 0, true },
};

/* Of `timed`. */
enum { TIMED_THREADS = 1, TIMED_FUNCTIONS = 2 };

/* The keys of each scan's groups. All but the last are by slice, too. */
static const struct keys scanned[] = {
	{ { KEY_THREAD }, 1 },
	{ { KEY_FUNCTION }, 1 },
	{ { KEY_SOURCE }, 1 },
	{ { KEY_THREAD, KEY_FUNCTION }, 2 },
};

enum {
	N_TIMED = COUNT(timed),
	N_SCANNED = COUNT(scanned),
	SCANNED_PAIRS = N_SCANNED - 1,
	MOST_COLUMNS = 2 * KEY_MAX_COLUMNS + 8
};

static const struct column event_column = { "event", NULL, "", CELL_TEXT, 0, "event" };
static const struct column sum_columns[] = {
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples or records" },
	{ "weight", NULL, "", CELL_COUNT, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
	  "latency of SPE records, period of samples" },
	{ "saturated", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "the part of the weight by saturated latency counters" },
	{ "squares", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "sum of the squares of weights that differ, for errors of shares" },
	{ "unit", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "of the weight" },
};

/* Columns of a part of a row, by a slice or a thread. */
#define PART_COLUMNS                                                                               \
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples or records" },                       \
		{ "weight",                                                                        \
		  NULL,                                                                            \
		  "",                                                                              \
		  CELL_COUNT,                                                                      \
		  COLUMN_TRUST | COLUMN_MACHINE_ONLY,                                              \
		  "latency of SPE records, period of samples" },                                   \
		{ "saturated",                                                                     \
		  NULL,                                                                            \
		  "cycles",                                                                        \
		  CELL_COUNT,                                                                      \
		  COLUMN_MACHINE_ONLY,                                                             \
		  "the part of the weight by saturated latency counters" },                        \
	{                                                                                          \
		"squares", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,                              \
			"sum of the squares of weights that differ, for errors of shares"          \
	}

static const struct column slice_columns[] = {
	{ "row", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the table, from 0" },
	{ "slice", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the time, from 0" },
	PART_COLUMNS,
};

static const struct column pair_columns[] = {
	{ "thread_row", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the table of threads" },
	{ "function_row", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the table of functions" },
	PART_COLUMNS,
};

/* What fell into a slice, or a thread. */
struct timed_sum {
	uint64_t samples, weight;
	uint64_t full;	  /* the part of the weight by saturated latency counters */
	uint64_t squares; /* 0: all weigh the same */
};

static void timed_sum_add(struct timed_sum *sum, const struct hot_grouping *g, uint64_t event,
			  const struct hot_cost *cost)
{
	sum->samples += cost->n;
	sum->weight += hot_weight(g, event, cost);
	sum->full += hot_full_weight(g, event, cost);
	sum->squares += hot_is_spe(g->hot, event) ? cost->squares : 0;
}

static const char *unit_of(const struct hot *hot, uint64_t event)
{
	size_t sampled;

	if (hot_is_spe(hot, event))
		return "cycles";
	if (hot_is_branches(hot, event, &sampled))
		return "entries";
	return hot_event_is_time(hot, event) ? "ns" : "events";
}

static struct cell weight_cell(uint64_t weight, uint64_t full)
{
	return full > 0 ? cell_marked(cell_count(weight), MARK_SATURATED) : cell_count(weight);
}

/* The row of each group; TUPLES_NONE: what has less is left out. To be freed. */
static uint32_t *choose_rows(const struct hot_grouping *g, const struct timed *what,
			     const uint32_t *order, size_t *out_n)
{
	uint32_t *rows = mem_alloc(g->groups.n, sizeof(*rows));
	uint64_t event = UINT64_MAX;
	size_t n_shown = 0, n = 0;

	for (size_t i = 0; i < g->groups.n; i++) {
		const uint64_t *words = tuples_get(&g->keys, order[i]);

		if (words[0] != event)
			n_shown = 0;
		event = words[0];
		rows[order[i]] =
			what->most > 0 && n_shown++ >= what->most ? TUPLES_NONE : (uint32_t)n++;
	}
	*out_n = n;
	return rows;
}

/* By row and slice. To be freed. */
static struct timed_sum *sums_by_slice(const struct hot_grouping *g, const uint32_t *rows,
				       size_t n_rows)
{
	uint32_t n = g->hot->session->slices.n;
	struct timed_sum *sums = mem_zalloc(n_rows * n + 1, sizeof(*sums));

	for (uint32_t i = hot_next(g->hot, 0); i < hot_end(g->hot); i = hot_next(g->hot, i + 1)) {
		uint64_t raw[N_DIMENSIONS], words[HOT_GROUP_WORDS];
		uint32_t row;

		hot_key(g->hot, i, raw);
		if (raw[DIM_SLICE] >= n)
			continue;
		hot_words(g, raw, words);
		row = rows[tuples_find(&g->keys, words)];
		if (row != TUPLES_NONE) {
			const struct hot_cost cost = hot_cost(g->hot, i);

			timed_sum_add(&sums[(size_t)row * n + raw[DIM_SLICE]], g, raw[DIM_EVENT],
				      &cost);
		}
	}
	return sums;
}

/* A row of a part: two numbers that say which, and the sums. */
static void add_part(uint64_t first, uint64_t second, const struct timed_sum *sum,
		     struct table *out)
{
	struct cell *row = table_add_row(out);

	row[0] = cell_count(first);
	row[1] = cell_count(second);
	row[2] = cell_count(sum->samples);
	row[3] = weight_cell(sum->weight, sum->full);
	row[4] = cell_count(sum->full);
	if (sum->squares > 0)
		row[5] = cell_count(sum->squares);
}

static void add_slices(const struct timed_sum *sums, uint32_t n, uint64_t number, struct table *out)
{
	for (uint32_t i = 0; i < n; i++)
		if (sums[i].samples > 0)
			add_part(number, i, &sums[i], out);
}

static void start_rows(const struct timed *what, struct table *rows, struct table *slices)
{
	struct column list[MOST_COLUMNS];
	size_t n = 0;

	n = columns_add(list, n, &event_column);
	n = keys_add_columns(&what->keys, list, n);
	if (keys_have(&what->keys, KEY_FUNCTION))
		n = columns_add(list, n, &hot_inlined_column);
	for (size_t i = 0; i < COUNT(sum_columns); i++)
		n = columns_add(list, n, &sum_columns[i]);
	table_init(rows, what->name, what->title, list, n);
	table_own_columns(rows, 0);
	table_init(slices, what->slices, NULL, slice_columns, COUNT(slice_columns));
	slices->readers = TABLE_FOR_PROGRAMS;
}

/* `shown`: gets the words of each row, numbered as the rows are; of as many words as the groups have. */
static void make_timed(const struct hot *hot, const struct names *names, const struct timed *what,
		       struct table *rows, struct table *slices, struct tuples *shown)
{
	const struct hot_view view = { .keys = what->keys };
	uint32_t n = hot->session->slices.n;
	struct hot_grouping g;
	struct timed_sum *sums;
	uint32_t *order, *row_of;
	size_t n_rows;

	hot_grouping_init(&g, hot, names, &view);
	order = hot_grouping_order(&g);
	row_of = choose_rows(&g, what, order, &n_rows);
	sums = sums_by_slice(&g, row_of, n_rows);
	tuples_init(shown, g.n_words);
	start_rows(what, rows, slices);
	for (size_t i = 0; i < g.groups.n; i++) {
		const uint64_t *words = tuples_get(&g.keys, order[i]);
		const struct hot_group *group = &g.groups.items[order[i]];
		uint64_t event = words[0], full = hot_full_weight(&g, event, &group->cost);
		struct cell *row;

		if (row_of[order[i]] == TUPLES_NONE)
			continue;
		add_slices(&sums[(size_t)table_n_rows(rows) * n], n, table_n_rows(rows), slices);
		tuples_add(shown, words);
		row = table_add_row(rows);
		hot_table_set(rows, row, "event", cell_text(hot_event_text(hot, event, rows)));
		hot_show_keys(&g, words + 1, rows, row);
		hot_table_set(rows, row, "samples", cell_count(group->cost.n));
		hot_table_set(rows, row, "weight",
			      weight_cell(hot_weight(&g, event, &group->cost), full));
		hot_table_set(rows, row, "saturated", cell_count(full));
		if (hot_is_spe(hot, event))
			hot_table_set(rows, row, "squares", cell_count(group->cost.squares));
		hot_table_set(rows, row, "unit", cell_text(unit_of(hot, event)));
	}
	if (n_rows < g.groups.n)
		table_note(rows, "%zu more have less", g.groups.n - n_rows);
	free(row_of);
	free(order);
	free(sums);
	hot_grouping_release(&g);
}

/* No rows, or of no row it is known what it is of: captures without data sources. */
static bool says_nothing(const struct timed *what, const struct table *rows)
{
	size_t n_known = 0;

	for (size_t i = 0; i < table_n_rows(rows); i++)
		n_known += !what->needs_names || table_cell(rows, i, 1)->type != CELL_NONE;
	return n_known == 0;
}

/* The row of a group by its words: its event, and those of one of its keys. */
static uint32_t row_of(const struct tuples *shown, uint64_t event, const uint64_t *words)
{
	uint64_t own[HOT_GROUP_WORDS] = { event };

	memcpy(own + 1, words, (shown->width - 1) * sizeof(*own));
	return tuples_find(shown, own);
}

/* What each function took in each thread, of the rows that are shown. */
static void make_pairs(const struct hot *hot, const struct names *names,
		       const struct tuples *threads, const struct tuples *functions,
		       struct table *out)
{
	const struct hot_view view = { .keys = scanned[SCANNED_PAIRS] };
	struct hot_grouping g;
	uint32_t *order;

	table_init(out, "thread_functions", NULL, pair_columns, COUNT(pair_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	hot_grouping_init(&g, hot, names, &view);
	order = hot_grouping_order(&g);
	for (size_t i = 0; i < g.groups.n; i++) {
		const uint64_t *words = tuples_get(&g.keys, order[i]);
		uint32_t thread = row_of(threads, words[0], words + 1);
		uint32_t function = row_of(functions, words[0], words + threads->width);
		struct timed_sum sum = { 0 };

		if (thread == TUPLES_NONE || function == TUPLES_NONE)
			continue;
		timed_sum_add(&sum, &g, words[0], &g.groups.items[order[i]].cost);
		add_part(thread, function, &sum, out);
	}
	free(order);
	hot_grouping_release(&g);
}

/* What pages of the time are made of. */
struct timeline_parts {
	struct table rows[N_TIMED], slices[N_TIMED], length, pairs;
	struct tuples shown[N_TIMED];
	struct tables tables;
};

static void make_parts(struct session *s, const struct hot *hot, size_t scan,
		       struct timeline_parts *p)
{
	struct names names = { 0 };

	hot_names(s, hot, &scanned[scan], &names);
	if (keys_have(&scanned[scan], KEY_FUNCTION) && names.depth == SYMBOLS_FUNCTIONS)
		hot_names_inlined(hot, &names);
	if (scan == SCANNED_PAIRS)
		make_pairs(hot, &names, &p->shown[TIMED_THREADS], &p->shown[TIMED_FUNCTIONS],
			   &p->pairs);
	for (size_t i = 0; i < N_TIMED; i++)
		if (timed[i].scan == scan)
			make_timed(hot, &names, &timed[i], &p->rows[i], &p->slices[i],
				   &p->shown[i]);
	names_release(&names);
}

static void timeline_parts_release(struct timeline_parts *p)
{
	for (size_t i = 0; i < N_TIMED; i++) {
		tuples_release(&p->shown[i]);
		table_release(&p->rows[i]);
		table_release(&p->slices[i]);
	}
	table_release(&p->length);
	table_release(&p->pairs);
	vec_release(&p->tables.list);
}

static void add_timeline(struct html *h, const char *run, const struct session *s,
			 struct timeline_parts *p)
{
	html_slices_table(&s->slices, &p->length);
	*vec_add(&p->tables.list) = &p->length;
	for (size_t i = 0; i < N_TIMED; i++) {
		if (says_nothing(&timed[i], &p->rows[i]))
			continue;
		*vec_add(&p->tables.list) = &p->rows[i];
		*vec_add(&p->tables.list) = &p->slices[i];
	}
	*vec_add(&p->tables.list) = &p->pairs;
	if (table_n_rows(&p->rows[0]) > 0)
		html_add(h, "timeline", run, &p->tables);
}

int html_add_timeline(struct html *h, struct session *s, const struct select *select,
		      struct err *err)
{
	return html_add_timeline_of(h, s, select, NULL, err);
}

/* One scan after the other: each may have a group for each place and slice. */
int html_add_timeline_of(struct html *h, struct session *s, const struct select *select,
			 const char *run, struct err *err)
{
	struct timeline_parts parts = { 0 };
	struct hot_event event = { 0 };
	struct html_slices slices;
	struct mux *mux = NULL;

	if (!html_slices_begin(&slices, s))
		return 0;
	if (hot_event_choose(s, NULL, 0, NULL, &event, err) < 0) {
		html_slices_end(&slices, s);
		return -1;
	}
	mux = mux_new(s);
	for (size_t i = 0; i < N_SCANNED; i++) {
		uint32_t slice = i == SCANNED_PAIRS ? 0 : 1u << DIM_SLICE;
		struct hot_options options =
			hot_event_options(&event, keys_dimensions(&scanned[i]) | slice);
		struct analysis hot = { .class = &hot_class, .options = &options };

		if (mux_scales(mux))
			options.mux = mux;
		scan_part(s, select, &(struct scan_wish){ .with_branches = event.with_branches },
			  &hot, 1);
		make_parts(s, hot.result, i, &parts);
		hot_class.free(hot.result);
	}
	add_timeline(h, run, s, &parts);
	timeline_parts_release(&parts);
	hot_event_release(&event);
	mux_free(mux);
	html_slices_end(&slices, s);
	return 0;
}
