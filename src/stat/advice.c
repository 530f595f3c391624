/* SPDX-License-Identifier: Apache-2.0 */
/* Words for findings, after docs/reference/methodology.md, steps 3 and 5. */
#include "stat/advice.h"

#include <string.h>

#include "base/alloc.h"

/* What a root says, behind its share. */
static const struct claim {
	const char *metric, *words;
} claims[] = {
	{ "frontend_stalled_cycles", "stalled in the front end" },
	{ "backend_stalled_cycles", "stalled in the back end" },
	{ "frontend_bound", "empty because the front end delivered too little" },
	{ "backend_bound", "empty because the back end took no more" },
	{ "bad_speculation", "lost to work on wrong paths" },
	{ "retiring", "did work that was kept: fewer instructions is what is left" },
};

/* What to try, by the beginning of a metric's name; the first that fits. */
static const struct remedy {
	const char *metric, *words;
} remedies[] = {
	{ "branch_m", "branch-free code (csel), sort or split by case, specialise constant "
		      "sizes; profile-guided optimisation" },
	{ "bad_speculation", "branch-free code (csel), sort or split by case; profile-guided "
			     "optimisation" },
	{ "itlb", "huge pages for code; order functions by profile (PGO, BOLT)" },
	{ "l1i_tlb", "huge pages for code; order functions by profile (PGO, BOLT)" },
	{ "l1i_cache", "order functions by profile (PGO, BOLT), less inlining, -O2" },
	{ "dtlb", "huge pages (madvise, hugetlbfs); denser data" },
	{ "l1d_tlb", "huge pages (madvise, hugetlbfs); denser data" },
	{ "l1d_cache", "regular strides: prefetch ahead, block, use smaller types; pointers: pack "
		       "nodes, keep indexes, split hot from cold" },
	{ "l2_cache", "regular strides: prefetch ahead, block; pointers: pack nodes, split hot "
		      "from cold" },
	{ "l3_cache", "regular strides: prefetch ahead, block; pointers: pack nodes, split hot "
		      "from cold" },
	{ "ll_cache", "regular strides: prefetch ahead, block; pointers: pack nodes, split hot "
		      "from cold" },
	{ "spec_overhead", "look at branches and at faults: more is issued than kept" },
	{ "frontend", "order code by profile (PGO, BOLT); look at branches, L1I and instruction "
		      "TLB" },
	{ "retiring", "vectorise (NEON, SVE), a better algorithm, a library" },
};

static const char on_memory[] = ", on memory";
static const char in_core[] = ", in the core";
static const char core_remedy[] = "break chains of dependencies, unroll, replace divisions, spread "
				  "work over units";

const char *stat_claim_words(const struct stat *s, struct table *t, const struct cpu_metric *m)
{
	double value = stat_value_of(s, m)->value;

	for (size_t i = 0; i < COUNT(claims); i++)
		if (strcmp(claims[i].metric, m->name) == 0)
			return table_format(t, "%.1f %% of %s %s", value,
					    m->unit + strlen("percent of "), claims[i].words);
	return table_format(t, "%.1f %% of %s: %s", value, m->unit + strlen("percent of "),
			    m->label);
}

bool stat_claims_core(const char *claim)
{
	return strcmp(claim + stat_claim_length(claim), in_core) == 0;
}

size_t stat_claim_length(const char *claim)
{
	static const char *const ends[] = { on_memory, in_core };
	size_t len = strlen(claim);

	for (size_t i = 0; i < COUNT(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(claim + len - end, ends[i]) == 0)
			return len - end;
	}
	return len;
}

const char *stat_remedy(const struct cpu_metric *worst, const struct cpu_metric *root,
			const struct stat_cause *cause)
{
	for (size_t i = 0; worst != NULL && i < COUNT(remedies); i++)
		if (strncmp(worst->name, remedies[i].metric, strlen(remedies[i].metric)) == 0)
			return remedies[i].words;
	if (cause->remedy != NULL)
		return cause->remedy;
	for (size_t i = 0; i < COUNT(remedies); i++)
		if (strncmp(root->name, remedies[i].metric, strlen(remedies[i].metric)) == 0)
			return remedies[i].words;
	return NULL;
}

/* Two metrics that the CPU has for just this. */
static bool compare_metrics(const struct stat *s, struct stat_cause *out)
{
	double memory, core;

	if (!stat_value_named(s, "backend_mem_bound", &memory) ||
	    !stat_value_named(s, "backend_core_bound", &core))
		return false;
	*out = memory >= core ? (struct stat_cause){ on_memory, NULL, NULL }
			      : (struct stat_cause){ in_core, NULL, core_remedy };
	return true;
}

static double counted(const struct stat *s, const char *event)
{
	const struct stat_total *t = stat_counted(s, cpu_event_find(s->pmu, event));

	return t == NULL ? -1 : t->value;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
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
		own = counted(s, levels[i].own);
		all = counted(s, m->samples.items[0]->name);
		return own < 0 || all < 0 || 2 * own >= all; /* half of the misses, at least */
	}
	return true;
}

/* Cycles: no branch waits longer on average, so most stalls have another reason. */
enum { MOST_FOR_A_BRANCH = 1000 };

const char stat_front_remedy[] =
	"branch-free code (csel) where branches depend on loads; load what they "
	"compare earlier (prefetch)";

const char *stat_front_words(const struct stat *s, struct table *t, const struct cpu_metric *root)
{
	double missed = counted(s, "BR_MIS_PRED_RETIRED"), stalled = counted(s, "STALL_FRONTEND");

	if (missed < 0)
		missed = counted(s, "BR_MIS_PRED");
	if (!is_front(root) || missed <= 0 || stalled <= 0 || counted(s, "L1I_CACHE_REFILL") < 0 ||
	    stalled / missed > MOST_FOR_A_BRANCH)
		return NULL;
	return table_format(
		t,
		"no rate of the instruction side that was counted is above its threshold; "
		"%.0f stalled cycles for each mispredicted branch, if all are theirs: more "
		"than some tens mean branches that wait for loads",
		stalled / missed);
}

/* Stalls with a miss of the last cache of the core outstanding: a lower bound. */
static bool ask_stalls(const struct stat *s, struct stat_cause *out)
{
	double memory = counted(s, "STALL_BACKEND_MEM"), all = counted(s, "STALL_BACKEND");

	if (memory < 0 || all <= 0 || 2 * memory < all)
		return false;
	*out = (struct stat_cause){
		on_memory, "at least half of the back end's stalls wait for a miss of the L2", NULL
	};
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
		return (struct stat_cause){ on_memory, NULL, NULL };
	if (n_above == 0 && n_known >= LEAST_METRICS)
		return (struct stat_cause){ in_core,
					    "no cache or TLB rate of the data side is above its "
					    "threshold",
					    core_remedy };
	return (struct stat_cause){
		"", "memory or core is not told: the caches of the data side were not counted", NULL
	};
}

struct stat_cause stat_cause_of(const struct stat *s, const struct cpu_metric *root)
{
	struct stat_cause out = { .claim = "" };

	if (strncmp(root->name, "backend", 7) != 0)
		return out;
	if (compare_metrics(s, &out) || ask_stalls(s, &out))
		return out;
	return ask_rates(s);
}
