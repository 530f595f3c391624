/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of counts mean (Arm Neoverse N1 core: performance analysis methodology). */
#include "stat/causes/advice.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* What to try against an issue of the catalog's penalties. */
static const struct issue_advice {
	const char *issue;
	enum remedy_kind remedy;
} issue_advices[] = {
	{ "mispredict", REMEDY_BRANCH_FREE_SIZES },
	{ "l1i_miss", REMEDY_CODE_ORDER },
	{ "l1i_tlb_miss", REMEDY_CODE_PAGES },
	{ "itlb_walk", REMEDY_CODE_PAGES },
	{ "l1d_miss", REMEDY_CACHE_L1 },
	{ "l2_miss", REMEDY_CACHE },
	{ "llc_miss", REMEDY_CACHE },
	{ "coherence", REMEDY_LESS_SHARING },
	{ "l1d_tlb_miss", REMEDY_HUGE_PAGES },
	{ "dtlb_walk", REMEDY_HUGE_PAGES },
	{ "main_tlb_miss", REMEDY_HUGE_PAGES },
	{ "store_stall", REMEDY_STORE_IN_ORDER },
};

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
	{ "cache_misses", REMEDY_CACHE },
	{ "remote_access", REMEDY_NODES },
	{ "spec_overhead", REMEDY_SPECULATION },
	{ "frontend", REMEDY_FRONT_END },
	/* nodes of deep trees */
	{ "backend_mem_store_bound", REMEDY_STORE_IN_ORDER },
	{ "backend_mem_tlb_bound", REMEDY_HUGE_PAGES },
	{ "backend_cache_l1d_bound", REMEDY_CACHE_L1 },
	{ "backend_cache_l2d_bound", REMEDY_CACHE },
	{ "backend_core", REMEDY_CORE },
	{ "backend_busy", REMEDY_CORE },
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* What misses of the L2 are about, by how memory is accessed. */
static const enum remedy_kind pattern_remedies[] = {
	[PATTERN_UNKNOWN] = REMEDY_CACHE,
	[PATTERN_CHAIN] = REMEDY_CACHE_CHAIN,
	[PATTERN_SCATTERED] = REMEDY_CACHE_SCATTERED,
	[PATTERN_IN_ORDER] = REMEDY_CACHE,
};

enum remedy_kind stat_remedy_of_cost(const struct stat_cost *c, enum stat_pattern pattern)
{
	for (size_t i = 0; i < COUNT(issue_advices); i++)
		if (strcmp(issue_advices[i].issue, c->penalty->issue) == 0)
			return issue_advices[i].remedy == REMEDY_CACHE ? pattern_remedies[pattern]
								       : issue_advices[i].remedy;
	return REMEDY_NONE;
}

static double percentage(const struct stat *s, const char *const *names, size_t n)
{
	double sum = NAN, value;

	for (size_t i = 0; i < n; i++)
		if (stat_value_named(s, names[i], &value))
			sum = isnan(sum) ? value : sum + value;
	return sum;
}

struct stat_mix stat_mix_of(const struct stat *s)
{
	static const char *const vector[] = { "simd_percentage", "sve_all_percentage",
					      "sve_percentage" };
	static const char *const scalar[] = { "integer_dp_percentage", "scalar_fp_percentage" };
	static const char *const memory[] = { "load_percentage", "store_percentage" };

	return (struct stat_mix){
		.vector = percentage(s, vector, COUNT(vector)),
		.scalar = percentage(s, scalar, COUNT(scalar)),
		.memory = percentage(s, memory, COUNT(memory)),
	};
}

/* Work that is vectors already takes a better algorithm. */
static enum remedy_kind remedy_of_work(const struct stat *s)
{
	enum { ALREADY_VECTORS = 10 };

	return stat_mix_of(s).vector > ALREADY_VECTORS ? REMEDY_LESS_WORK : REMEDY_VECTORISE;
}

enum remedy_kind stat_remedy_of_metric(const struct stat *s, const struct cpu_metric *m)
{
	if (strcmp(m->name, "retiring") == 0)
		return remedy_of_work(s);
	for (size_t i = 0; i < COUNT(advices); i++)
		if (begins(m->name, advices[i].metric))
			return advices[i].remedy;
	return REMEDY_NONE;
}

static double counted_value(const struct stat *s, const char *event)
{
	const struct stat_total *t = stat_counted(s, cpu_event_find(s->pmu, event));

	return t == NULL ? -1 : t->value;
}

static bool is_front(const struct cpu_metric *root)
{
	return cpu_metric_is_of_side(root, SIDE_FRONTEND);
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
		own = counted_value(s, levels[i].own);
		all = counted_value(s, m->samples.items[0]->name);
		return own < 0 || all < 0 || 2 * own >= all; /* half of the misses, at least */
	}
	return true;
}

/* Two metrics that the CPU has for just this. */
static bool compare_metrics(const struct stat *s, struct stat_cause *out)
{
	double memory, core;

	if (!stat_value_named(s, "backend_mem_bound", &memory) ||
	    !stat_value_named(s, "backend_core_bound", &core))
		return false;
	out->cause = memory >= core ? CAUSE_MEMORY : CAUSE_CORE;
	out->is_measured = true;
	return true;
}

/* Stalls with a miss of the last cache of the core outstanding: a lower bound. */
static bool ask_stalls(const struct stat *s, struct stat_cause *out)
{
	double memory = counted_value(s, "STALL_BACKEND_MEM"),
	       all = counted_value(s, "STALL_BACKEND");

	if (memory < 0 || all <= 0 || 2 * memory < all)
		return false;
	out->cause = CAUSE_MEMORY;
	out->is_measured = true;
	out->has_reason = true;
	out->reason = EVIDENCE_MEMORY_STALLS;
	return true;
}

/* What costs of a side come to together, and how many there are. */
struct explained {
	double share; /* of cycles, as far as it is likely */
	double all;   /* the same as if nothing overlapped */
	size_t n;
};

static struct explained explain_root(const struct stat *s, const struct stat_costs *costs,
				     const struct cpu_metric *root, double side)
{
	struct explained out = { 0 };
	bool is_chain = stat_little_retires(s);

	for (size_t i = 0; i < costs->list.n; i++) {
		const struct stat_cost *c = &costs->list.items[i];

		if (!stat_cost_is_of(c, root))
			continue;
		out.n++;
		/* in a chain of loads the whole latency counts, not only what a miss adds */
		out.share += fmin(side, is_chain ? fmax(c->weight, c->here) : c->weight);
		out.all += c->weight;
	}
	out.share = fmin(out.share, side);
	return out;
}

/* Without so many, nothing is said about the rest. */
enum { LEAST_FRONT_COSTS = 2, LEAST_BACK_COSTS = 3 };

/* More CPUs than these seldom ask for a line at the same time. */
enum { MOST_WAITING = 4 };

/* Of the stalls, that a cause has to explain. */
static const double enough_of_back_end = 2 / 3., enough_of_front_end = 1 / 2.;

/*
 * If most misses of the L1D are of lines that other CPUs took, requests for them wait for each other:
 * each costs as often as CPUs ask for the line, which is bounded by those that were at work.
 */
static bool weigh_taken_lines(const struct stat *s, const struct stat_costs *costs, double side,
			      struct stat_cause *out)
{
	const struct stat_cost *c = stat_cost_of_issue(costs, "coherence");
	double share = stat_taken_share(s), cpus = stat_busy_cpus(s);
	double waiting = cpus > 0 ? fmin(cpus, MOST_WAITING) : MOST_WAITING;

	if (c == NULL || !(share >= 1 / 2.) || c->raw * waiting < enough_of_back_end * side)
		return false;
	out->cause = CAUSE_MEMORY;
	out->issue = "coherence";
	out->remedy = stat_taken_by_writes(s) ? REMEDY_LOCK_LESS : REMEDY_LESS_SHARING;
	out->has_reason = true;
	out->reason = EVIDENCE_TAKEN_LINES;
	out->share = share;
	return true;
}

double stat_branch_stalls(const struct stat *s, const struct stat_costs *costs,
			  const struct cpu_metric *root)
{
	enum { TIMES = 3, MOST_FOR_A_BRANCH = 1000 };
	const struct stat_cost *c = stat_cost_of_issue(costs, "mispredict");
	double stalls;

	if (c == NULL || c->raw <= 0)
		return NAN;
	stalls = stat_value_of(s, root)->value / 100 / c->raw * c->penalty->cycles;
	return stalls >= TIMES * c->penalty->cycles && stalls <= MOST_FOR_A_BRANCH ? stalls : NAN;
}

/*
 * A mispredicted branch stalls the front end until it is executed. Where it stalls for many times what
 * the pipeline takes, it waits for what it compares; if data misses take as long together, for those.
 * Misses that may be of instructions, by half or more, say nothing of data.
 */
static bool weigh_awaited_data(const struct stat *s, const struct stat_costs *costs,
			       const struct cpu_metric *root, double side, struct stat_cause *out)
{
	static const char *const issues[] = { "l1d_miss", "l2_miss", "llc_miss" };
	const struct stat_cost *most = NULL;
	double stalls = stat_branch_stalls(s, costs, root), all = 0;
	double code = counted_value(s, "L1I_CACHE_REFILL");

	for (size_t i = 0; i < COUNT(issues); i++) {
		const struct stat_cost *c = stat_cost_of_issue(costs, issues[i]);

		if (c == NULL || c->is_hidden ||
		    (i > 0 && (code < 0 || 2 * code >= c->total->value)))
			continue;
		all += c->raw;
		if (most == NULL || c->raw > most->raw)
			most = c;
	}
	if (isnan(stalls) || most == NULL || all < enough_of_back_end * side)
		return false;
	out->cause = CAUSE_MEMORY;
	out->issue = most->penalty->issue;
	out->has_reason = true;
	out->reason = EVIDENCE_BRANCH_STALLS;
	out->value = stalls;
	out->share = fmin(all, side);
	return true;
}

/*
 * Code whose lines come for the first time: the L1I has fewer refills than it holds lines, and all
 * levels behind it were missed. What they take at most, as a share of cycles; 0: it is not so.
 */
static double cold_code_cost(const struct stat *s, double *out_lines)
{
	double refills = counted_value(s, "L1I_CACHE_REFILL"),
	       misses = counted_value(s, "LL_CACHE_MISS_RD"),
	       cycles = counted_value(s, "CPU_CYCLES");

	*out_lines = fmin(refills, misses);
	if (refills < 0 || misses < 0 || cycles <= 0 || refills > s->pmu->l1i_lines)
		return 0;
	for (size_t k = 0; k < s->pmu->n_penalties; k++)
		if (strcmp(s->pmu->penalties[k].issue, "llc_miss") == 0)
			return *out_lines * stat_whole_latency(s, &s->pmu->penalties[k]) / cycles;
	return 0;
}

/* Is it of the front end's stalls more than what else was counted, and enough with it? */
static bool weigh_cold_code(const struct stat *s, const struct explained *e, double side,
			    struct stat_cause *out)
{
	double lines, cost = cold_code_cost(s, &lines);

	if (cost <= e->share || cost + e->share < enough_of_front_end * side)
		return false;
	out->cause = CAUSE_COLD_CODE;
	out->remedy = REMEDY_LONGER_RUN;
	out->has_reason = true;
	out->reason = EVIDENCE_COLD_CODE;
	out->share = fmin(cost, side);
	out->value = lines;
	return true;
}

/* Threads on several CPUs may wait for each other's lines, and nobody has counted that. */
static bool lacks_taken_lines(const struct stat *s)
{
	const double several = 1.5;

	return stat_busy_cpus(s) >= several && isnan(stat_taken_share(s));
}

/*
 * A copy: about as many stores as loads, hardly any calculation. A load of a pair of vectors keeps one of
 * two units busy for two cycles, a store for four: with so many of both in a cycle the units may have no
 * rest, and nothing counts the bytes of an operation. How many there are in a cycle; 0: it is no copy, or
 * there are too few.
 */
static double copies_in_a_cycle(const struct stat *s)
{
	const double most_apart = 0.1, most_calculations = 0.05, enough = 0.6;
	double loads = counted_value(s, "LD_SPEC"), stores = counted_value(s, "ST_SPEC");
	double integer = counted_value(s, "DP_SPEC"), vector = counted_value(s, "ASE_SPEC"),
	       scalar_float = counted_value(s, "VFP_SPEC"), cycles = counted_value(s, "CPU_CYCLES");
	double both = loads + stores;

	if (loads < 0 || stores < 0 || integer < 0 || vector < 0 || scalar_float < 0 || cycles <= 0)
		return 0;
	return fabs(loads - stores) <= most_apart * both && integer <= both &&
			       vector + scalar_float <= most_calculations * both &&
			       both >= enough * cycles
		       ? both / cycles
		       : 0;
}

/*
 * Memory is the cause if its misses are likely to explain two thirds of the stalls: a miss costs
 * less than its latency. A misprediction costs more than the pipeline is long, so that half of the
 * stalls is enough there. The rest is none of what was counted; stores may wait that miss.
 */
static void weigh_costs(const struct stat *s, const struct stat_costs *costs,
			const struct cpu_metric *root, struct stat_cause *out)
{
	double side = stat_value_of(s, root)->value / 100;
	struct explained e = explain_root(s, costs, root, side);
	double enough = (is_front(root) ? enough_of_front_end : enough_of_back_end) * side;
	double stores = is_front(root) ? 0 : stat_stores_cost(s) / 2;

	/* The front end waits where a branch does, which may wait for such a line. */
	if ((!is_front(root) || !isnan(stat_branch_stalls(s, costs, root))) &&
	    weigh_taken_lines(s, costs, side, out))
		return;
	if (is_front(root) &&
	    (weigh_cold_code(s, &e, side, out) || weigh_awaited_data(s, costs, root, side, out)))
		return;
	if (stores >= enough && stores > e.all) {
		out->cause = CAUSE_MEMORY;
		out->issue = "stores";
		out->remedy = REMEDY_STORE_IN_ORDER;
		out->has_reason = true;
		out->reason = EVIDENCE_STORES;
		out->share = fmin(2 * stores, side);
	} else if (e.n > 0 && e.share >= enough) {
		out->cause = is_front(root) ? CAUSE_COUNTED : CAUSE_MEMORY;
	} else if (!is_front(root) && e.n >= LEAST_BACK_COSTS && lacks_taken_lines(s)) {
		out->has_reason = true;
		out->reason = EVIDENCE_SHARING_NOT_COUNTED;
	} else if (e.n >= (is_front(root) ? LEAST_FRONT_COSTS : LEAST_BACK_COSTS)) {
		out->cause = is_front(root) ? CAUSE_FETCH : CAUSE_CORE;
		out->has_reason = true;
		out->reason = is_front(root) ? EVIDENCE_REST_FETCH : EVIDENCE_REST_CORE;
		out->share = side - e.share;
		if (!is_front(root) && (out->value = copies_in_a_cycle(s)) > 0)
			out->reason = EVIDENCE_REST_COPY;
	} else if (!is_front(root)) {
		out->has_reason = true;
		out->reason = EVIDENCE_CACHES_NOT_COUNTED;
	}
}

struct stat_cause stat_cause_of(const struct stat *s, const struct stat_costs *costs,
				const struct cpu_metric *root)
{
	struct stat_cause out = { .share = NAN };

	if (cpu_metric_is_of_side(root, SIDE_BACKEND) &&
	    (compare_metrics(s, &out) || ask_stalls(s, &out)))
		return out;
	if (cpu_metric_is_of_side(root, SIDE_BACKEND) || is_front(root))
		weigh_costs(s, costs, root, &out);
	return out;
}
