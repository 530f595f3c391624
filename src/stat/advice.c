/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of counts mean, after docs/reference/methodology.md, steps 3 and 5. */
#include "stat/advice.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* What to try, by the beginning of a metric's name; the first that fits. */
static const struct advice {
	const char *metric;
	enum remedy_kind remedy;
} advices[] = {
	{ "branch_m", REMEDY_BRANCH_FREE_SIZES },
	{ "bad_speculation", REMEDY_BRANCH_FREE },
	{ "itlb", REMEDY_CODE_PAGES },
	{ "l1i_tlb", REMEDY_CODE_PAGES },
	{ "l1i_cache", REMEDY_CODE_ORDER },
	{ "dtlb", REMEDY_HUGE_PAGES },
	{ "l1d_tlb", REMEDY_HUGE_PAGES },
	{ "l1d_cache", REMEDY_CACHE_L1 },
	{ "l2_cache", REMEDY_CACHE },
	{ "l3_cache", REMEDY_CACHE },
	{ "ll_cache", REMEDY_CACHE },
	{ "spec_overhead", REMEDY_SPECULATION },
	{ "frontend", REMEDY_FRONT_END },
	{ "retiring", REMEDY_VECTORISE },
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static enum remedy_kind advice_for(const struct cpu_metric *m)
{
	for (size_t i = 0; i < COUNT(advices); i++)
		if (begins(m->name, advices[i].metric))
			return advices[i].remedy;
	return REMEDY_NONE;
}

enum remedy_kind stat_remedy(const struct cpu_metric *worst, const struct cpu_metric *root,
			     enum remedy_kind of_cause)
{
	if (worst != NULL && advice_for(worst) != REMEDY_NONE)
		return advice_for(worst);
	return of_cause != REMEDY_NONE ? of_cause : advice_for(root);
}

/* Two metrics that the CPU has for just this. */
static bool compare_metrics(const struct stat *s, struct stat_cause *out)
{
	double memory, core;

	if (!stat_value_named(s, "backend_mem_bound", &memory) ||
	    !stat_value_named(s, "backend_core_bound", &core))
		return false;
	if (memory >= core)
		*out = (struct stat_cause){ .cause = CAUSE_MEMORY };
	else
		*out = (struct stat_cause){ .cause = CAUSE_CORE, .remedy = REMEDY_CORE };
	return true;
}

static double stat_advice_counted(const struct stat *s, const char *event)
{
	const struct stat_total *t = stat_counted(s, cpu_event_find(s->pmu, event));

	return t == NULL ? -1 : t->value;
}

static bool is_front(const struct cpu_metric *root)
{
	return begins(root->name, "frontend");
}

/* Levels that instructions and data share, and what the front end's own misses are. */
static const struct level {
	const char *metric, *own;
} levels[] = {
	{ "l2_cache", "L1I_CACHE_REFILL" },
	{ "l3_cache", "L1I_CACHE_REFILL" },
	{ "ll_cache", "L1I_CACHE_REFILL" },
	{ "l2_tlb", "L1I_TLB_REFILL" },
};

bool stat_fits_root(const struct stat *s, const struct cpu_metric *root, const struct cpu_metric *m)
{
	double own, all;

	if (!is_front(root) || m->samples.n == 0)
		return true;
	for (size_t i = 0; i < COUNT(levels); i++) {
		if (!begins(m->name, levels[i].metric))
			continue;
		own = stat_advice_counted(s, levels[i].own);
		all = stat_advice_counted(s, m->samples.items[0]->name);
		return own < 0 || all < 0 || 2 * own >= all; /* half of the misses, at least */
	}
	return true;
}

/* Cycles: no branch waits longer on average, so most stalls have another reason. */
enum { MOST_FOR_A_BRANCH = 1000 };

double stat_branch_stalls(const struct stat *s, const struct cpu_metric *root)
{
	double missed = stat_advice_counted(s, "BR_MIS_PRED_RETIRED"),
	       stalled = stat_advice_counted(s, "STALL_FRONTEND");

	if (missed < 0)
		missed = stat_advice_counted(s, "BR_MIS_PRED");
	if (!is_front(root) || missed <= 0 || stalled <= 0 ||
	    stat_advice_counted(s, "L1I_CACHE_REFILL") < 0 || stalled / missed > MOST_FOR_A_BRANCH)
		return NAN;
	return stalled / missed;
}

/* Stalls with a miss of the last cache of the core outstanding: a lower bound. */
static bool ask_stalls(const struct stat *s, struct stat_cause *out)
{
	double memory = stat_advice_counted(s, "STALL_BACKEND_MEM"),
	       all = stat_advice_counted(s, "STALL_BACKEND");

	if (memory < 0 || all <= 0 || 2 * memory < all)
		return false;
	*out = (struct stat_cause){ .cause = CAUSE_MEMORY,
				    .has_reason = true,
				    .reason = EVIDENCE_MEMORY_STALLS };
	return true;
}

/* Rates of the data side; which of them are counted, and is one above its threshold? */
static const char *const memory_metrics[] = {
	"l1d_cache_mpki", "l2_cache_mpki", "l3_cache_mpki", "ll_cache_read_mpki", "dtlb_mpki",
};

enum { LEAST_METRICS = 3 }; /* without so many, nothing is said about the core */

/* Loads and stores are a real part of the work, or not known to be none. */
static bool has_accesses(const struct stat *s)
{
	double loads, stores = 0, least;

	if (!stat_value_named(s, "load_percentage", &loads))
		return true;
	stat_value_named(s, "store_percentage", &stores);
	stat_threshold_of(s, THRESHOLD_LOADS, &least);
	return loads + stores >= least;
}

static struct stat_cause ask_rates(const struct stat *s)
{
	size_t n_known = 0, n_above = 0;

	for (size_t i = 0; i < COUNT(memory_metrics); i++) {
		const struct cpu_metric *m = cpu_metric_find(s->pmu, memory_metrics[i]);

		if (m == NULL || !stat_value_of(s, m)->is_known)
			continue;
		n_known++;
		n_above += stat_is_above(s, m);
	}
	if (n_above > 0 && has_accesses(s))
		return (struct stat_cause){ .cause = CAUSE_MEMORY };
	if (n_above == 0 && n_known >= LEAST_METRICS)
		return (struct stat_cause){ .cause = CAUSE_CORE,
					    .has_reason = true,
					    .reason = EVIDENCE_NO_DATA_RATE,
					    .remedy = REMEDY_CORE };
	return (struct stat_cause){ .has_reason = true, .reason = EVIDENCE_CACHES_NOT_COUNTED };
}

struct stat_cause stat_cause_of(const struct stat *s, const struct cpu_metric *root)
{
	struct stat_cause out = { 0 };

	if (!begins(root->name, "backend"))
		return out;
	if (compare_metrics(s, &out) || ask_stalls(s, &out))
		return out;
	return ask_rates(s);
}
