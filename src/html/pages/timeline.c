/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, functions and data sources by slices of time. Of each there are two tables: its rows, and how much of
 * each row fell into which slice, as far as it is not nothing. So ranges of time can be added up again.
 */
#include <stdlib.h>

#include "base/alloc.h"
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

/* The keys of each scan's groups. */
static const enum key scanned[] = { KEY_THREAD, KEY_FUNCTION, KEY_SOURCE };

enum { N_TIMED = COUNT(timed), N_SCANNED = COUNT(scanned), MOST_COLUMNS = KEY_MAX_COLUMNS + 8 };

static const struct column event_column = { "event", NULL, "", CELL_TEXT, 0, "event" };
static const struct column sum_columns[] = {
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples or records" },
	{ "weight", NULL, "", CELL_COUNT, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
	  "latency of SPE records, period of samples" },
	{ "saturated", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "the part of the weight by saturated latency counters" },
	{ "unit", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "of the weight" },
};

static const struct column slice_columns[] = {
	{ "row", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the table, from 0" },
	{ "slice", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of the time, from 0" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples or records" },
	{ "weight", NULL, "", CELL_COUNT, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
	  "latency of SPE records, period of samples" },
	{ "saturated", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "the part of the weight by saturated latency counters" },
};

/* What fell into a slice. */
struct timed_sum {
	uint64_t samples, weight;
	uint64_t full; /* the part of the weight by saturated latency counters */
};

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

/* By group and slice. To be freed. */
static struct timed_sum *sums_by_slice(const struct hot_grouping *g)
{
	uint32_t n = g->hot->session->slices.n;
	struct timed_sum *sums = mem_zalloc(g->groups.n * n + 1, sizeof(*sums));

	for (uint32_t i = hot_next(g->hot, 0); i < hot_end(g->hot); i = hot_next(g->hot, i + 1)) {
		const struct hot_cost *cost = hot_cost(g->hot, i);
		uint64_t raw[N_DIMENSIONS], words[HOT_GROUP_WORDS];
		struct timed_sum *sum;

		hot_key(g->hot, i, raw);
		if (raw[DIM_SLICE] >= n)
			continue;
		hot_words(g, raw, words);
		sum = &sums[(size_t)tuples_find(&g->keys, words) * n + raw[DIM_SLICE]];
		sum->samples += cost->n;
		sum->weight += hot_weight(g, raw[DIM_EVENT], cost);
		sum->full += hot_full_weight(g, raw[DIM_EVENT], cost);
	}
	return sums;
}

static void add_slices(const struct timed_sum *sums, uint32_t n, uint64_t number, struct table *out)
{
	for (uint32_t i = 0; i < n; i++) {
		struct cell *row;

		if (sums[i].samples == 0)
			continue;
		row = table_add_row(out);
		row[0] = cell_count(number);
		row[1] = cell_count(i);
		row[2] = cell_count(sums[i].samples);
		row[3] = weight_cell(sums[i].weight, sums[i].full);
		row[4] = cell_count(sums[i].full);
	}
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

static void make_timed(const struct hot *hot, const struct names *names, const struct timed *what,
		       struct table *rows, struct table *slices)
{
	const struct hot_view view = { .keys = what->keys };
	uint32_t n = hot->session->slices.n;
	struct hot_grouping g;
	struct timed_sum *sums;
	uint32_t *order;
	size_t n_shown = 0, n_left = 0;
	uint64_t event = UINT64_MAX;

	hot_grouping_init(&g, hot, names, &view);
	sums = sums_by_slice(&g);
	order = hot_grouping_order(&g);
	start_rows(what, rows, slices);
	for (size_t i = 0; i < g.groups.n; i++) {
		const uint64_t *words = tuples_get(&g.keys, order[i]);
		const struct hot_group *group = &g.groups.items[order[i]];
		struct cell *row;
		uint64_t full;

		if (words[0] != event)
			n_shown = 0;
		event = words[0];
		if (what->most > 0 && n_shown++ >= what->most) {
			n_left++;
			continue;
		}
		add_slices(&sums[(size_t)order[i] * n], n, table_n_rows(rows), slices);
		row = table_add_row(rows);
		hot_table_set(rows, row, "event", cell_text(hot_event_text(hot, event, rows)));
		hot_show_keys(&g, words + 1, rows, row);
		hot_table_set(rows, row, "samples", cell_count(group->cost.n));
		full = hot_full_weight(&g, event, &group->cost);
		hot_table_set(rows, row, "weight",
			      weight_cell(hot_weight(&g, event, &group->cost), full));
		hot_table_set(rows, row, "saturated", cell_count(full));
		hot_table_set(rows, row, "unit", cell_text(unit_of(hot, event)));
	}
	if (n_left > 0)
		table_note(rows, "%zu more have less", n_left);
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

static void add_timeline(struct html *h, struct session *s, struct analysis *scans)
{
	struct table rows[N_TIMED] = { 0 }, slices[N_TIMED] = { 0 }, length = { 0 };
	struct tables tables = { 0 };

	html_slices_table(&s->slices, &length);
	*vec_add(&tables.list) = &length;
	for (size_t i = 0; i < N_TIMED; i++) {
		const struct hot *hot = scans[timed[i].scan].result;
		struct names names = { 0 };

		hot_names(s, hot, &timed[i].keys, &names);
		if (keys_have(&timed[i].keys, KEY_FUNCTION) && names.depth == SYMBOLS_FUNCTIONS)
			hot_names_inlined(hot, &names);
		make_timed(hot, &names, &timed[i], &rows[i], &slices[i]);
		names_release(&names);
		if (says_nothing(&timed[i], &rows[i]))
			continue;
		*vec_add(&tables.list) = &rows[i];
		*vec_add(&tables.list) = &slices[i];
	}
	if (table_n_rows(&rows[0]) > 0)
		html_add(h, "timeline", NULL, &tables);
	for (size_t i = 0; i < N_TIMED; i++) {
		table_release(&rows[i]);
		table_release(&slices[i]);
	}
	table_release(&length);
	vec_release(&tables.list);
}

int html_add_timeline(struct html *h, struct session *s, const struct select *select,
		      struct err *err)
{
	struct analysis scans[N_SCANNED];
	struct hot_options options[N_SCANNED];
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
		const struct keys keys = { { scanned[i] }, 1 };

		options[i] = hot_event_options(&event, keys_dimensions(&keys) | 1u << DIM_SLICE);
		if (mux_scales(mux))
			options[i].mux = mux;
		scans[i] = (struct analysis){ .class = &hot_class, .options = &options[i] };
	}
	scan_part(s, select, &(struct scan_wish){ .with_branches = event.with_branches }, scans,
		  N_SCANNED);
	add_timeline(h, s, scans);
	for (size_t i = 0; i < N_SCANNED; i++)
		hot_class.free(scans[i].result);
	hot_event_release(&event);
	mux_free(mux);
	html_slices_end(&slices, s);
	return 0;
}
