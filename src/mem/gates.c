/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "estimate/estimate.h"

enum { SOURCE_SHARE, DRAM_SHARE, WALK_SHARE, SATURATED_SHARE, LOADS, P50, P90, P99 };

const struct quantity mem_quantities[MEM_N_QUANTITIES] = {
	[SOURCE_SHARE] = { "share", "SOURCE", "", true,
			   "part of the loads whose data came from there" },
	[DRAM_SHARE] = { "dram_share", NULL, "", true, "the same from memory, of any node" },
	[WALK_SHARE] = { "walk_share", NULL, "", true,
			 "part of the loads that needed a page table walk" },
	[SATURATED_SHARE] = { "saturated_share", NULL, "", true,
			      "part of the loads whose latency counter was saturated" },
	[LOADS] = { "loads", NULL, "", false, "sampled loads" },
	[P50] = { "p50_latency", NULL, "cycles", false, "median of the total latency of loads" },
	[P90] = { "p90_latency", NULL, "cycles", false, "of nine loads in ten at most this" },
	[P99] = { "p99_latency", NULL, "cycles", false, "of 99 loads in a hundred at most this" },
};

void mem_loads_take(struct mem_loads *l, const struct session *s, const struct mem_rows *rows)
{
	const struct mem_cost *all = &rows->kinds[MEMORY_LOAD];

	l->session = s;
	l->n = all->n;
	l->n_walks = all->n_walks;
	l->n_translated = rows->mem->is_sampled ? all->n_translated : all->n;
	for (uint32_t i = 0; i < rows->n_shown; i++) {
		const uint64_t *words = tuples_get(&rows->keys, rows->shown[i]);
		const struct mem_row *row = mem_rows_at(rows, rows->shown[i]);

		if (words[0] != MEMORY_LOAD)
			continue;
		histogram_merge(&l->totals, mem_row_histogram(row, LATENCY_TOTAL));
		*vec_add(&l->sources) = (struct mem_loads_source){
			key_source(words[1]),
			row->cost.n,
		};
	}
	l->n_usable = l->totals.n_usable;
	l->n_full = l->totals.n_full;
}

void mem_loads_release(struct mem_loads *l)
{
	histogram_release(&l->totals);
	vec_release(&l->sources);
}

static int measure_share(const struct mem_loads *l, uint64_t n, uint64_t n_all,
			 const char *what_lacks, struct measured *out, struct err *err)
{
	struct estimate e = estimate_share(n, n_all, &l->session->lost);

	if (n_all == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s", what_lacks);
	*out = measured_between(e.total, e.low, e.high);
	return 0;
}

/* Is it a name of the source, or of its level? */
static bool is_from(const struct cpu_source *source, const char *name)
{
	return source != NULL && (strcasecmp(source->name, name) == 0 ||
				  strcasecmp(source_level_name(source->level), name) == 0);
}

static const char *source_name_at(const void *context, size_t i)
{
	const struct mem_loads *l = context;
	const struct cpu_source *source;

	if (i >= l->sources.n)
		return NULL;
	source = l->sources.items[i].source;
	return source != NULL ? source->name : "[unknown]";
}

/* Does the CPU have such a source, though no load was sampled with it? */
static bool cpu_has_source(const struct session *s, const char *name)
{
	for (uint32_t value = 0; value <= UINT16_MAX && s->cpu != NULL; value++)
		if (is_from(cpu_source(s->cpu, (uint16_t)value), name))
			return true;
	return source_level_find(name) > SOURCE_UNKNOWN;
}

static int measure_source(const struct mem_loads *l, const char *name, struct measured *out,
			  struct err *err)
{
	uint64_t n = 0, n_known = 0;
	char names[256];

	for (size_t i = 0; i < l->sources.n; i++) {
		n_known += l->sources.items[i].source != NULL ? l->sources.items[i].n : 0;
		n += is_from(l->sources.items[i].source, name) ? l->sources.items[i].n : 0;
	}
	if (n_known == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "no load has a known data source");
	if (n == 0 && !cpu_has_source(l->session, name))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "there is no data source '%s'; there are %s", name,
			       list_words(source_name_at, l, names, sizeof(names)));
	return measure_share(l, n, l->n, "no load was sampled", out, err);
}

/* Memory of this node and of others. */
static int measure_dram(const struct mem_loads *l, struct measured *out, struct err *err)
{
	uint64_t n = 0, n_known = 0;

	for (size_t i = 0; i < l->sources.n; i++) {
		const struct cpu_source *source = l->sources.items[i].source;
		bool is_memory = source != NULL && (source->level == SOURCE_DRAM ||
						    source->level == SOURCE_REMOTE_DRAM);

		n_known += source != NULL ? l->sources.items[i].n : 0;
		n += is_memory ? l->sources.items[i].n : 0;
	}
	return measure_share(l, n, n_known > 0 ? l->n : 0, "no load has a known data source", out,
			     err);
}

/*
 * A percentile, with the limits of its error: so far its rank may be off by chance. Where that is among
 * saturated counters it is a lower bound.
 */
static int measure_percentile(const struct mem_loads *l, double q, struct measured *out,
			      struct err *err)
{
	double n = (double)l->n_usable + (double)l->n_full, off = 1.96 * sqrt(q * (1 - q) / n);
	bool is_full, is_high_full, is_low_full;
	double low, high;

	if (n == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "no latency was recorded");
	low = histogram_quantile(&l->totals, fmax(0, q - off), &is_low_full);
	high = histogram_quantile(&l->totals, fmin(1, q + off), &is_high_full);
	*out = measured_between(histogram_quantile(&l->totals, q, &is_full), low, high);
	if (is_full)
		out->most = INFINITY;
	if (is_high_full || q + off >= 1)
		out->high = INFINITY;
	return 0;
}

static int measure_named(const struct mem_loads *l, const struct gate *g, struct measured *out,
			 struct err *err)
{
	char *name = mem_strndup(g->argument, g->argument_size);
	int rc = measure_source(l, name, out, err);

	free(name);
	return rc;
}

int mem_loads_measure(const struct mem_loads *l, const struct gate *g, struct measured *out,
		      struct err *err)
{
	switch (g->quantity) {
	case SOURCE_SHARE:
		return measure_named(l, g, out, err);
	case DRAM_SHARE:
		return measure_dram(l, out, err);
	case WALK_SHARE:
		return measure_share(l, l->n_walks, l->n_translated,
				     "no load tells how its address was translated", out, err);
	case SATURATED_SHARE:
		return measure_share(l, l->n_full, l->n_usable + l->n_full,
				     "no latency was recorded", out, err);
	case P50:
		return measure_percentile(l, 0.5, out, err);
	case P90:
		return measure_percentile(l, 0.9, out, err);
	case P99:
		return measure_percentile(l, 0.99, out, err);
	default:
		*out = measured_exactly((double)l->n);
		return 0;
	}
}
