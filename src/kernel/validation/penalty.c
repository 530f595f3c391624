/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/penalty.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Data is in huge pages where it is larger than the pages of the first TLB, so that only the cache differs.
 * Where a machine has none, what the TLB costs is known from the rules before, and subtracted.
 */
#define CHASE(at)                                                                                  \
	{                                                                                          \
		"chase", at,                                                                       \
		{                                                                                  \
			{                                                                          \
				HUGE_PAGES, 1                                                      \
			}                                                                          \
		}                                                                                  \
	}

enum { FEW_PAGES = 200, MANY_PAGES = 2600, PAGE_AND_LINE = 4096 + MICROBENCHMARK_LINE };

static const struct penalty_rule rules[] = {
	{
		.events = { "L1D_TLB_REFILL_RD", "L1D_TLB_REFILL" },
		.with = { "chase", "tlb2", { { 0 } } },
		.without = { "chase", "l1", { { 0 } } },
		.iterations = 200000,
	},
	{
		.events = { "L1D_CACHE_REFILL_RD", "L1D_CACHE_LMISS_RD" },
		.with = CHASE("l2"),
		.without = CHASE("l1"),
		.iterations = 200000,
		.known = { "L1D_TLB_REFILL_RD" },
	},
	{
		.events = { "L2D_CACHE_REFILL_RD", "L2D_CACHE_LMISS_RD" },
		.with = CHASE("llc"),
		.without = CHASE("l2"),
		.iterations = 200000,
		.known = { "L1D_TLB_REFILL_RD" },
	},
	{
		.events = { "LL_CACHE_MISS_RD" },
		.with = CHASE("dram"),
		.without = CHASE("llc"),
		.iterations = 200000,
		.known = { "L1D_TLB_REFILL_RD" },
	},
	{
		.events = { "DTLB_WALK" },
		.with = { "chase", "walk", { { 0 } } },
		.without = CHASE("l2"),
		.iterations = 200000,
		.known = { "L1D_TLB_REFILL_RD", "L1D_CACHE_REFILL_RD" },
	},
	{
		.events = { "BR_MIS_PRED_RETIRED" },
		.with = { "random-branch", NULL, { { RANDOM, 1 } } },
		.without = { "random-branch", NULL, { { RANDOM, 0 } } },
		.iterations = 200000,
		.is_per_event = true,
	},
	{
		.events = { "L1I_TLB_REFILL" },
		.with = { "jumps", NULL, { { BRANCHES, FEW_PAGES }, { SPACING, PAGE_AND_LINE } } },
		.without = { "jumps", NULL, { { BRANCHES, FEW_PAGES } } },
		.iterations = 1000,
		.is_per_event = true,
	},
	{
		.events = { "L1I_CACHE_REFILL", "L1I_CACHE_LMISS" },
		.with = { "code", "l2", { { 0 } } },
		.without = { "code", "l1", { { 0 } } },
		.iterations = 100,
		.is_per_event = true,
		.known = { "L1I_TLB_REFILL" },
	},
	{
		.events = { "ITLB_WALK" },
		.with = { "jumps", NULL, { { BRANCHES, MANY_PAGES }, { SPACING, PAGE_AND_LINE } } },
		.without = { "jumps", NULL, { { BRANCHES, MANY_PAGES } } },
		.iterations = 100,
		.is_per_event = true,
		.known = { "L1I_TLB_REFILL" },
	},
};

const struct penalty_rule *penalty_rule_at(size_t i)
{
	return i < COUNT(rules) ? &rules[i] : NULL;
}

int penalty_kernel_set(const struct penalty_kernel *k, uint64_t iterations,
		       const struct cache_sizes *sizes, struct kernel_setting *out, struct err *err)
{
	out->what = microbenchmark_find(k->name);
	microbenchmark_set_usual(out->what, out->values);
	for (size_t i = 0; i < PENALTY_VALUES; i++)
		if (k->values[i].parameter != ITERATIONS)
			out->values[k->values[i].parameter] = k->values[i].value;
	out->values[ITERATIONS] = iterations;
	return k->level == NULL
		       ? 0
		       : microbenchmark_set_level(out->what, k->level, sizes, out->values, err);
}

void penalty_kernel_text(const struct penalty_kernel *k, struct text *out)
{
	text_str(out, k->name);
	if (k->level != NULL)
		text_format(out, " %s", k->level);
	for (size_t i = 0; i < PENALTY_VALUES && k->level == NULL; i++)
		if (k->values[i].parameter != ITERATIONS)
			text_format(out, " %s=%" PRIu64,
				    microbenchmark_parameters[k->values[i].parameter].name,
				    k->values[i].value);
}

double penalty_steps(const struct kernel_setting *s)
{
	double steps = (double)s->values[ITERATIONS];

	if (strcmp(s->what->name, "code") == 0)
		steps *= (double)s->values[LINES];
	else if (strcmp(s->what->name, "jumps") == 0)
		steps *= (double)s->values[BRANCHES];
	return steps;
}

double penalty_of_runs(const struct penalty_rule *rule, const struct penalty_run *with,
		       const struct penalty_run *without, const double costs[PENALTY_KNOWN])
{
	double cycles = with->cycles - without->cycles;
	double events = rule->is_per_event ? with->events - without->events : 1;

	for (size_t i = 0; i < PENALTY_KNOWN; i++) {
		double more = with->known[i] - without->known[i];

		if (rule->known[i] != NULL && isfinite(more) && isfinite(costs[i]))
			cycles -= more * costs[i];
	}
	return events > 0 ? cycles / events : NAN;
}

static int compare_values(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct repeated repeated_of(const double *values, size_t n)
{
	struct repeated out = { NAN, NAN, NAN, NAN };
	double *sorted = mem_alloc(n, sizeof(*sorted));
	bool are_known = true;

	memcpy(sorted, values, n * sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		are_known &= isfinite(values[i]) != 0;
	if (are_known) {
		qsort(sorted, n, sizeof(*sorted), compare_values);
		out.median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
		out.least = sorted[0];
		out.most = sorted[n - 1];
		out.spread = out.median > 0 ? (out.most - out.least) / out.median : INFINITY;
	}
	free(sorted);
	return out;
}
