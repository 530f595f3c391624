/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/levels.h"

#include <math.h>
#include <stdlib.h>

#include "access/access.h"
#include "base/alloc.h"
#include "estimate/shares.h"
#include "mem/rows.h"
#include "scan/spe_filters.h"

enum levels_column {
	LEVELS_LEVEL,
	LEVELS_CONDITION,
	LEVELS_SAMPLES,
	LEVELS_CYCLES,
	LEVELS_NS,
	LEVELS_BASIS,
	LEVELS_DIRECT_CYCLES,
	LEVELS_DIRECT_NS,
	LEVELS_DERIVED_CYCLES,
	LEVELS_DERIVED_NS,
	LEVELS_TRANSLATION,
	LEVELS_SATURATED,
	N_LEVELS_COLUMNS,
};
static const struct column levels_columns[N_LEVELS_COLUMNS] = {
	[LEVELS_LEVEL] = { "level", NULL, "", CELL_TEXT, 0, "data source of the loads" },
	[LEVELS_CONDITION] = { "condition", NULL, "", CELL_TEXT, 0,
			       "how addresses were translated" },
	[LEVELS_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "SPE records" },
	[LEVELS_CYCLES] = { "cycles", NULL, "cycles", CELL_NUMBER, COLUMN_TRUST,
			    "for a load: direct, or derived where direct is saturated" },
	[LEVELS_NS] = { "ns", "time", "ns", CELL_NUMBER, COLUMN_TRUST, "the same in ns" },
	[LEVELS_BASIS] = { "basis", NULL, "", CELL_TEXT, 0, "direct or derived" },
	[LEVELS_DIRECT_CYCLES] = { "direct_latency_cycles", "direct", "cycles", CELL_NUMBER,
				   COLUMN_TRUST, "mean execution and translation latency" },
	[LEVELS_DIRECT_NS] = { "direct_latency_ns", "direct", "ns", CELL_NUMBER,
			       COLUMN_TRUST | COLUMN_MACHINE_ONLY, "the same in ns" },
	[LEVELS_DERIVED_CYCLES] = { "derived_latency_cycles", "derived", "cycles", CELL_NUMBER,
				    COLUMN_TRUST | COLUMN_MACHINE_ONLY,
				    "derived latency in cycles" },
	[LEVELS_DERIVED_NS] = { "derived_latency_ns", "derived", "ns", CELL_NUMBER, COLUMN_TRUST,
				"time between sampled loads of this level by the loads executed "
				"then" },
	[LEVELS_TRANSLATION] = { "translation_mean_cycles", "translation", "cycles", CELL_NUMBER,
				 COLUMN_TRUST, "mean translation latency" },
	[LEVELS_SATURATED] = { "saturated_share", "saturated", "", CELL_NUMBER, COLUMN_SHARE,
			       "part of the records with a saturated total latency" },
};

static const char *const conditions[N_LEVELS_CONDITIONS] = {
	[LEVELS_TLB_HIT] = "TLB hit",
	[LEVELS_WALK] = "page table walk",
};

static void *levels_new(const struct session *session, const void *options)
{
	struct load_levels *l = mem_zalloc(1, sizeof(*l));

	(void)options;
	l->session = session;
	return l;
}

static void levels_add_load(struct level_loads *to, const struct latencies *of)
{
	to->n++;
	for (int i = 0; i < N_LATENCIES; i++) {
		struct latency_sum *sum = &to->sums[i];

		if (of->state[i] == LATENCY_USABLE) {
			sum->n++;
			sum->cycles += of->cycles[i];
		} else if (of->state[i] == LATENCY_FULL) {
			sum->n_full++;
		}
	}
}

/* Gaps within a batch only: what batches hold does not depend on who decodes them. */
static void levels_consume(void *partial, const struct batch *b)
{
	const struct access_sampling none = { .event = -1 };
	struct load_levels *l = partial;
	const struct level_loads *last =
		NULL; /* those of the load before, if the thread has run since */
	uint64_t last_ns = 0;

	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		uint64_t each =
			b->has[row] & HAS_CPU ? spe_interval(l->session, b->cpu[row])->mean : 0;
		struct level_loads *to;
		struct latencies latencies;
		struct access access;

		if (row > 0 && !spe_record_follows(l->session, b, row))
			last = NULL;
		if (!access_read(l->session, &none, b, row, &access) || access.kind != MEMORY_LOAD)
			continue;
		to = &l->of[access.level][access.has_walk ? LEVELS_WALK : LEVELS_TLB_HIT];
		latencies = latencies_of(b, row);
		levels_add_load(to, &latencies);
		if (last == to && each > 0 && b->has[row] & HAS_TIME && b->time_ns[row] > last_ns) {
			to->gap_ns += b->time_ns[row] - last_ns;
			to->n_gap_loads += each;
		}
		last = b->has[row] & HAS_TIME ? to : NULL;
		last_ns = last != NULL ? b->time_ns[row] : 0;
	}
}

static void levels_merge(void *into, const void *from, const struct id_map *map)
{
	struct load_levels *to = into;
	const struct load_levels *part = from;

	(void)map;
	for (int level = 0; level < N_SOURCE_LEVELS; level++)
		for (int c = 0; c < N_LEVELS_CONDITIONS; c++) {
			struct level_loads *sum = &to->of[level][c];
			const struct level_loads *more = &part->of[level][c];

			sum->n += more->n;
			sum->gap_ns += more->gap_ns;
			sum->n_gap_loads += more->n_gap_loads;
			for (int i = 0; i < N_LATENCIES; i++) {
				sum->sums[i].n += more->sums[i].n;
				sum->sums[i].n_full += more->sums[i].n_full;
				sum->sums[i].cycles += more->sums[i].cycles;
			}
		}
}

const struct analysis_class load_levels_class = {
	.new = levels_new,
	.free = free,
	.consume = levels_consume,
	.merge = levels_merge,
};

/* A mean of usable ones tells nothing where most were full. */
static bool is_saturated(const struct latency_sum *sum)
{
	return sum->n_full >= sum->n;
}

static void show_level(const struct level_loads *loads, double hz, bool has_derived,
		       struct cell *row)
{
	const struct latency_sum *direct = &loads->sums[LATENCY_ACCESS],
				 *total = &loads->sums[LATENCY_TOTAL];
	bool is_direct = direct->n > 0 && !is_saturated(direct);

	row[LEVELS_SAMPLES] = cell_count(loads->n);
	row[LEVELS_TRANSLATION] = mem_mean_cell(&loads->sums[LATENCY_XLAT], 1);
	if (total->n + total->n_full > 0)
		row[LEVELS_SATURATED] =
			cell_number((double)total->n_full / ((double)total->n + total->n_full));
	if (is_direct) {
		row[LEVELS_DIRECT_CYCLES] = mem_mean_cell(direct, 1);
		if (hz > 0)
			row[LEVELS_DIRECT_NS] = mem_mean_cell(direct, 1e9 / hz);
	}
	if (has_derived && loads->n_gap_loads > 0) {
		double ns = (double)loads->gap_ns / (double)loads->n_gap_loads;

		row[LEVELS_DERIVED_NS] = cell_marked(cell_number(ns), MARK_SCALED);
		if (hz > 0)
			row[LEVELS_DERIVED_CYCLES] =
				cell_marked(cell_number(ns * hz / 1e9), MARK_SCALED);
	}
	row[LEVELS_CYCLES] = cell_sparse(
		row[is_direct ? LEVELS_DIRECT_CYCLES : LEVELS_DERIVED_CYCLES], loads->n);
	row[LEVELS_NS] =
		cell_sparse(row[is_direct ? LEVELS_DIRECT_NS : LEVELS_DERIVED_NS], loads->n);
	if (is_direct)
		row[LEVELS_BASIS] = cell_text("direct");
	else if (row[LEVELS_DERIVED_NS].type != CELL_NONE)
		row[LEVELS_BASIS] = cell_text("derived");
}

void load_levels_table(const struct load_levels *l, const struct core_clock *clock,
		       const struct select *select, struct table *out)
{
	bool has_derived = !spe_filters_thin(l->session) && !select_thins(select);
	struct text text = { 0 };

	table_init(out, "levels", NULL, levels_columns, N_LEVELS_COLUMNS);
	for (int level = 0; level < N_SOURCE_LEVELS; level++)
		for (int c = 0; c < N_LEVELS_CONDITIONS; c++) {
			struct cell *row;

			if (l->of[level][c].n == 0)
				continue;
			row = table_add_row(out);
			if (level != SOURCE_UNKNOWN)
				row[LEVELS_LEVEL] =
					cell_text(source_level_name((enum source_level)level));
			row[LEVELS_CONDITION] = cell_text(conditions[c]);
			show_level(&l->of[level][c], clock->hz, has_derived, row);
		}
	if (table_n_rows(out) == 0)
		return;
	text_str(&text, "sampling interval: ");
	spe_intervals_text(l->session, &text);
	text_str(&text, "; ");
	core_clock_text(clock, &text);
	table_note(out, "%.*s", (int)text.n, text.bytes);
	text_release(&text);
	table_note(out, "direct: mean execution + translation latency; derived: time between "
			"sampled loads of a level / "
			"loads executed then, less where loads overlap");
	if (!has_derived)
		table_note(out, "no derived latency: operations were left out by latency, event or "
				"data source, but not "
				"their time");
}
