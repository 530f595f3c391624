/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions of latencies as tables. */
#include "base/alloc.h"
#include "keys/keys.h"
#include "mem/rows.h"

enum { N_STEPS = 63 };

static const char *const names[N_ALL_LATENCIES] = {
	[LATENCY_TOTAL] = "total",	[LATENCY_ISSUE] = "issue",
	[LATENCY_XLAT] = "translation", [LATENCY_EXECUTION] = "execution",
	[LATENCY_ACCESS] = "access",	[LATENCY_INSTRUCTION] = "instruction",
	[LATENCY_STAGE] = "stage",
};

enum histogram_column {
	COL_KIND,
	COL_GROUP,
	COL_LATENCY,
	COL_FROM,
	COL_TO,
	COL_SHARE,
	COL_SAMPLES,
	N_COLUMNS,
};
static const struct column columns[N_COLUMNS] = {
	[COL_KIND] = { "access", NULL, "", CELL_TEXT, 0, "load, store, or atomic" },
	[COL_GROUP] = { "group", NULL, "", CELL_TEXT, COLUMN_GROW, "the keys of --by" },
	[COL_LATENCY] = { "latency", NULL, "", CELL_TEXT, 0, "kind of latency" },
	[COL_FROM] = { "from_cycles", "from", "cycles", CELL_COUNT, COLUMN_TRUST,
		       "shortest of the step" },
	[COL_TO] = { "to_cycles", "below", "cycles", CELL_COUNT, 0, "end of the step" },
	[COL_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
			"part of the group's records" },
	[COL_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "SPE records, or samples" },
};

/* 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 … */
static uint32_t step_start(unsigned step)
{
	if (step < 3)
		return step;
	return step % 2 == 0 ? 1u << (step / 2) : 3u << (step / 2 - 1);
}

/* The row's keys in words, joined. */
static const char *group_name(const struct mem_rows *r, const uint64_t *words, struct table *t)
{
	const char *joined = "";

	for (size_t i = 0; i < r->by->n; i++) {
		const struct key_class *class = &key_classes[r->by->keys[i]];
		struct cell cells[KEY_MAX_COLUMNS] = { 0 };
		const char *word;

		class->show(r->names, words, t, cells);
		word = cells[0].type == CELL_NONE ? "" : table_human(t, cells[0], "");
		joined = i == 0 ? word : table_format(t, "%s, %s", joined, word);
		words += class->n_words;
	}
	return joined;
}

static void show_step(const struct histogram *h, struct cell *head, uint32_t from, uint32_t to,
		      uint64_t n, struct table *t)
{
	struct cell *row = table_add_row(t);

	for (int i = 0; i <= COL_LATENCY; i++)
		row[i] = head[i];
	row[COL_FROM] = cell_count(from);
	if (to > 0)
		row[COL_TO] = cell_count(to);
	else
		row[COL_FROM] = cell_marked(row[COL_FROM], MARK_SATURATED);
	row[COL_SHARE] = cell_number((double)n / (double)(h->n_usable + h->n_full));
	row[COL_SAMPLES] = cell_count(n);
}

static void show_histogram(const struct histogram *h, struct cell *head, struct table *t)
{
	for (unsigned step = 0; step < N_STEPS - 1; step++) {
		uint32_t from = step_start(step), to = step_start(step + 1);
		uint64_t n = from > h->largest ? 0 : histogram_between(h, from, to);

		if (n > 0)
			show_step(h, head, from, to, n, t);
	}
	if (h->n_full > 0)
		show_step(h, head, h->full, 0, h->n_full, t);
}

void mem_histogram_table(const struct mem_rows *r, struct table *out)
{
	table_init(out, "histogram", "Distribution of latencies", columns, N_COLUMNS);
	for (uint32_t i = 0; i < r->n_shown; i++) {
		const uint64_t *words = tuples_get(&r->keys, r->shown[i]);
		struct cell head[] = {
			[COL_KIND] = cell_text(memory_kind_name((enum memory_kind)words[0])),
			[COL_GROUP] = cell_text(group_name(r, words + 1, out)),
			[COL_LATENCY] = { 0 },
		};

		for (int l = 0; l < N_ALL_LATENCIES; l++) {
			head[COL_LATENCY] = cell_text(names[l]);
			show_histogram(
				mem_row_histogram(mem_rows_at(r, r->shown[i]), (enum latency)l),
				head, out);
		}
	}
}
