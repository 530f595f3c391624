/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/summary.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "session/tip.h"
#include "table/answer.h"

/* Page table walks are named from this part of the loads on. */
static const double least_walks = 0.05;

/* The loads with most latency; NULL: there are none. */
static const uint64_t *first_loads(const struct mem_rows *rows, const struct mem_row **row)
{
	for (uint32_t i = 0; i < rows->n_shown; i++) {
		const uint64_t *words = tuples_get(&rows->keys, rows->shown[i]);

		*row = mem_rows_at(rows, rows->shown[i]);
		if (words[0] == MEMORY_LOAD)
			return words + 1;
	}
	return NULL;
}

/* What the only key of the rows is called; NULL: not known. */
static const char *name_of(const struct mem_rows *rows, const uint64_t *words, struct table *t)
{
	struct cell cells[KEY_MAX_COLUMNS] = { 0 };

	key_classes[rows->by->keys[0]].show(rows->names, words, t, cells);
	return cells[0].type == CELL_TEXT ? cells[0].text : NULL;
}

/* "at least 54.2 % of load latency"; NULL: no latency was recorded. */
static const char *latency_of(const struct mem_rows *rows, const struct mem_cost *cost,
			      struct table *t)
{
	const struct mem_cost *all = &rows->kinds[MEMORY_LOAD];
	struct latency_amount part = { mem_weight(cost), cost->full_cycles };
	struct latency_amount whole = { mem_weight(all), all->full_cycles };

	if (whole.cycles == 0)
		return NULL;
	return table_format(t, "%s%.1f %% of load latency",
			    latency_share_words(latency_share_mark(part, whole)),
			    100 * ratio(part.cycles, whole.cycles));
}

/* "DRAM"; what is no level, or a cache of another core, with the CPU's own name: "the LLC (SYS_CACHE)". */
static const char *source_words(const struct mem_rows *rows, const uint64_t *words, struct table *t)
{
	static const char *const levels[N_SOURCE_LEVELS] = {
		[SOURCE_PEER_CORE] = "another core's cache",
		[SOURCE_PEER_CLUSTER] = "another core's cache",
		[SOURCE_SYSTEM_CACHE] = "the LLC",
		[SOURCE_REMOTE] = "another socket",
	};
	const struct cpu_source *source = key_source(words[0]);
	const char *name = name_of(rows, words, t);

	if (name == NULL || source == NULL || levels[source->level] == NULL)
		return name;
	return table_format(t, "%s (%s)", levels[source->level], name);
}

/* ", p50 277 cycles" */
static const char *median_words(const struct mem_row *row, struct table *t)
{
	bool is_full;
	double p50 = histogram_quantile(mem_row_histogram(row, LATENCY_TOTAL), 0.5, &is_full);

	if (isnan(p50))
		return "";
	return table_format(t, ", p50 %s%s", is_full ? "≥ " : "",
			    table_human(t, cell_count((uint64_t)llround(p50)), "cycles"));
}

void mem_summary_sources(const struct mem_rows *rows, struct table *answer)
{
	const struct mem_row *row;
	const uint64_t *words = first_loads(rows, &row);
	uint64_t n = rows->kinds[MEMORY_LOAD].n;
	const char *source, *latency;

	if (words == NULL)
		return;
	if (n < SPARSE_BELOW) {
		answer_say(answer, "Too few samples: %" PRIu64 " load%s.", n, plural(n));
		return;
	}
	source = source_words(rows, words, answer);
	latency = latency_of(rows, &row->cost, answer);
	answer_say(answer, "%.1f %% of loads %s%s%s%s%s%s.", 100 * ratio(row->cost.n, n),
		   source != NULL ? "come from " : "have no data source",
		   source != NULL ? source : "", median_words(row, answer),
		   latency != NULL ? ": " : "", latency != NULL ? latency : "",
		   row->cost.n < SPARSE_BELOW ? " (too few samples)" : "");
}

void mem_summary_keys(const struct mem_rows *rows, struct table *answer)
{
	const struct mem_row *row;
	const uint64_t *words = first_loads(rows, &row);
	const char *name, *latency;

	if (words == NULL)
		return;
	name = keys_row_words(rows->by, rows->names, words, answer);
	latency = latency_of(rows, &row->cost, answer);
	if (name != NULL && latency != NULL)
		answer_say(answer, "%s has %s%s.", name, latency,
			   row->cost.n < SPARSE_BELOW ? " (too few samples)" : "");
}

void mem_summary_functions(const struct mem_rows *rows, struct table *answer)
{
	const struct mem_row *row;
	const struct mem_cost *all = &rows->kinds[MEMORY_LOAD];
	const struct latency_sum *total = &all->sums[LATENCY_TOTAL];
	const uint64_t *words = first_loads(rows, &row);
	uint64_t n_translated = rows->mem->is_sampled ? all->n_translated : all->n;
	const char *function = NULL, *latency, *text = "", *joint = "";

	if (words == NULL || all->n < SPARSE_BELOW)
		return;
	if (rows->by->keys[0] == KEY_FUNCTION && words[0] != 0) /* 0: unknown */
		function = name_of(rows, words, answer);
	latency = latency_of(rows, &row->cost, answer);
	if (function != NULL && latency != NULL) {
		text = table_format(answer, "%s has %s.", function, latency);
		joint = " ";
	}
	if (ratio(all->n_walks, n_translated) >= least_walks) {
		text = table_format(answer, "%s%s%.1f %% of loads need a page table walk.", text,
				    joint, 100 * ratio(all->n_walks, n_translated));
		joint = " ";
	}
	if (total->n_full > 0)
		text = table_format(answer, "%s%s%.1f %% of total latencies are saturated.", text,
				    joint,
				    100 * ratio(total->n_full, (uint64_t)total->n + total->n_full));
	if (text[0] != '\0')
		answer_say(answer, "%s", text);
	answer_next(answer, tip(answer, rows->mem->session, "mem --by instruction"));
}
