/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/causes/pattern.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* Of both levels outside of the core; those in the L2 are mostly hidden. */
static const char *const far_misses[] = { "l2_miss", "llc_miss" };

/*
 * By Little's law: how often in a cycle, times how long each takes. In the cycles that the back end
 * stalls, as hardly any miss costs others.
 */
static double misses_at_a_time(const struct stat *s, const struct stat_costs *costs)
{
	double sum = 0, stalls = stat_side_share(s, SIDE_BACKEND);

	for (size_t i = 0; i < COUNT(far_misses); i++) {
		const struct stat_cost *c = stat_cost_of_issue(costs, far_misses[i]);

		sum += c == NULL ? 0 : c->here;
	}
	return stalls <= 0 ? 0 : sum / stalls;
}

static const struct stat_total *pattern_total(const struct stat *s, const char *event)
{
	return stat_counted(s, cpu_event_find(s->pmu, event));
}

/* Without refills of the L1D TLB, walks are fewer still: true where few lines are of one page. */
static double lines_per_page(const struct stat *s, bool *out_is_least)
{
	const struct stat_total *lines = pattern_total(s, "L1D_CACHE_REFILL");
	const struct stat_total *pages = pattern_total(s, "L1D_TLB_REFILL");

	if (lines == NULL)
		lines = pattern_total(s, "L1D_CACHE_REFILL_RD");
	*out_is_least = pages == NULL;
	if (pages == NULL)
		pages = pattern_total(s, "DTLB_WALK");
	return lines == NULL || pages == NULL || pages->value <= 0 ? NAN
								   : lines->value / pages->value;
}

struct stat_accesses stat_accesses_of(const struct stat *s, const struct stat_costs *costs)
{
	enum { HALF = 32, MOST = 80 };	    /* a page of 4 KiB has 64; larger ones tell nothing */
	const double none = 0.5, one = 1.7; /* with what else the program does */
	struct stat_accesses out = { .misses = misses_at_a_time(s, costs) };
	bool is_least;

	out.per_page = lines_per_page(s, &is_least);
	if (out.misses < none) /* they are not what it waits for */
		return out;
	if (out.misses < one)
		out.pattern = PATTERN_CHAIN;
	else if (out.per_page < HALF)
		out.pattern = PATTERN_SCATTERED;
	else if (out.per_page < MOST && !is_least)
		out.pattern = PATTERN_IN_ORDER;
	return out;
}

double stat_dram_lines(const struct stat *s, const struct stat_costs *costs)
{
	const struct stat_cost *dram = stat_cost_of_issue(costs, "llc_miss");
	const struct stat_total *cycles = stat_counted(s, s->pmu->cycles);

	if (dram == NULL || cycles == NULL || cycles->value <= 0)
		return NAN;
	return dram->total->value * stat_whole_latency(s, dram->penalty) / cycles->value;
}

/*
 * From three quarters on more misses at a time do not help. Of lines in order half is enough: they
 * are prefetched as far ahead as the core does it.
 */
bool stat_is_bandwidth(const struct stat *s, const struct stat_costs *costs,
		       const struct stat_accesses *accesses)
{
	const double saturated = 0.75, saturated_in_order = 0.5;
	double most = s->pmu->outstanding_lines, lines = stat_dram_lines(s, costs);

	if (most == 0 || isnan(lines))
		return false;
	return lines >=
	       most * (accesses->pattern == PATTERN_IN_ORDER ? saturated_in_order : saturated);
}

double stat_taken_share(const struct stat *s)
{
	const struct stat_total *taken = pattern_total(s, "L1D_CACHE_INVAL");
	const struct stat_total *misses = pattern_total(s, "L1D_CACHE_REFILL");

	return taken == NULL || misses == NULL || misses->value <= 0 ? NAN
								     : taken->value / misses->value;
}

bool stat_taken_by_writes(const struct stat *s)
{
	const struct stat_total *misses = pattern_total(s, "L1D_CACHE_REFILL");
	const struct stat_total *writes = pattern_total(s, "L1D_CACHE_REFILL_WR");

	return misses != NULL && writes != NULL && 2 * writes->value > misses->value;
}

/* The cycles of a CPU, in its first count of them; 0 for any other count. */
static double cycles_of_cpu(const struct stat *s, size_t i)
{
	const struct count *items = s->counts->items.items, *c = &items[i];

	if (c->cpu == COUNT_ANY || s->pmu->cycles == NULL ||
	    strcmp(c->event, s->pmu->cycles->name) != 0)
		return 0;
	for (size_t k = 0; k < i; k++)
		if (items[k].cpu == c->cpu && strcmp(items[k].event, c->event) == 0)
			return 0;
	return c->value;
}

double stat_busy_cpus(const struct stat *s)
{
	const double least = 0.01; /* of the cycles of the busiest */
	const struct stat_total *task = stat_totals_find(&s->totals, "task-clock");
	double elapsed = stat_elapsed_ns(s), most = 0, n = 0;

	for (size_t i = 0; i < s->counts->items.n; i++)
		most = fmax(most, cycles_of_cpu(s, i));
	for (size_t i = 0; i < s->counts->items.n && most > 0; i++)
		n += cycles_of_cpu(s, i) >= least * most;
	if (n > 0 || task == NULL || task->state != COUNT_COUNTED || elapsed <= 0 ||
	    task->unit == NULL || strcmp(task->unit, "ns") != 0)
		return n;
	return task->value / elapsed;
}
