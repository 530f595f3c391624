/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of the top-down method: what stands out, what supports it, what to try. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metric_words.h"
#include "stat/causes/advice.h"
#include "stat/causes/causes.h"

enum { SHOWN_EVIDENCE = 4 };

struct finder {
	const struct stat *s;
	struct findings *out;
	struct stat_costs costs;
	struct stat_accesses accesses;
	double least_cost;  /* share of cycles from which on a cost is worth a word */
	bool *is_told;	    /* by metric: part of a finding already */
	bool *is_cost_told; /* by cost */
};

/* A metric above its threshold. */
struct excess {
	const struct cpu_metric *metric;
	double times; /* value by threshold */
};

static size_t index_of(const struct finder *f, const struct cpu_metric *m)
{
	return (size_t)(m - f->s->pmu->metrics);
}

/* The share, and as amounts where the whole was counted: cycles, or slots made of them. */
static struct finding_size size_of_metric(const struct finder *f, const struct cpu_metric *m)
{
	const struct stat_total *cycles = stat_counted(f->s, f->s->pmu->cycles);
	const char *whole = metric_whole(m);
	double value = stat_value_of(f->s, m)->value;
	struct finding_size out = { .share = NAN, .error = NAN, .whole = whole };
	bool is_slots = strcmp(whole, "slots") == 0 && f->s->slots > 0;

	if (whole[0] != '\0')
		out.share = value / 100;
	if (cycles == NULL || value < 0 || (!is_slots && strcmp(whole, "cycles") != 0))
		return out;
	out.all = is_slots ? cycles->value * f->s->slots : cycles->value;
	out.part = floor(out.all * value / 100);
	out.unit = whole;
	return out;
}

/* Each deeper node that the walk went through. */
static void add_path(const struct finder *f, uint32_t root, struct finding *out)
{
	for (uint32_t i = root + 1; i < f->s->steps.n; i++) {
		const struct stat_step *step = &f->s->steps.items[i];
		struct evidence *e;

		if (step->depth <= f->s->steps.items[root].depth)
			break;
		if (!step->is_pointed)
			continue;
		e = finding_add_evidence(out, EVIDENCE_NODE);
		e->metric = step->metric;
		e->value = stat_value_of(f->s, step->metric)->value;
		f->is_told[index_of(f, step->metric)] = true;
	}
}

static int compare_excess(const void *a, const void *b)
{
	const struct excess *x = a, *y = b;

	if (x->times != y->times)
		return (x->times < y->times) - (x->times > y->times);
	return (x->metric > y->metric) - (x->metric < y->metric);
}

struct excesses {
	VEC_OF(struct excess) list;
};

static void add_excess(const struct finder *f, const struct cpu_metric *root,
		       const struct cpu_metric *m, struct excesses *out)
{
	double threshold;

	for (size_t i = 0; i < out->list.n; i++)
		if (out->list.items[i].metric == m)
			return;
	if (stat_costs_have(f->s, &f->costs, root, m) || !stat_is_above(f->s, m) ||
	    !stat_threshold_of(f->s, m->name, &threshold))
		return;
	*vec_add(&out->list) = (struct excess){ m, stat_value_of(f->s, m)->value /
							   (threshold > 0 ? threshold : 1) };
}

/* What passes its threshold among the groups that explain the nodes from `root` down. */
static void collect_excesses(const struct finder *f, uint32_t root, struct excesses *out)
{
	const struct stat_step *first = &f->s->steps.items[root];

	for (uint32_t i = root; i < f->s->steps.n; i++) {
		const struct stat_step *step = &f->s->steps.items[i];
		const struct cpu_node *node = stat_node_of(f->s, step->metric);

		if (i > root && step->depth <= first->depth)
			break;
		for (size_t g = 0; step->is_pointed && node != NULL && g < node->next_groups.n;
		     g++) {
			const struct cpu_group *group = node->next_groups.items[g];

			for (size_t k = 0; k < group->metrics.n; k++)
				if (stat_fits_root(f->s, first->metric, group->metrics.items[k]))
					add_excess(f, first->metric, group->metrics.items[k], out);
		}
	}
	if (out->list.n > 1)
		qsort(out->list.items, out->list.n, sizeof(*out->list.items), compare_excess);
}

static void add_rates(const struct finder *f, const struct excesses *all, struct finding *out)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct cpu_metric *m = all->list.items[i].metric;
		struct evidence *e;

		f->is_told[index_of(f, m)] = true;
		if (i >= SHOWN_EVIDENCE)
			continue;
		e = finding_add_evidence(out, EVIDENCE_RATE);
		e->metric = m;
		e->value = stat_value_of(f->s, m)->value;
		e->threshold = 0;
		stat_threshold_of(f->s, m->name, &e->threshold);
	}
}

static void finding_add_counts(const struct event_list *list, struct finding *out)
{
	for (size_t i = 0; i < list->n && out->n_events < FINDING_EVENTS; i++) {
		bool is_there = false;

		for (size_t j = 0; j < out->n_events; j++)
			is_there |= out->events[j] == list->items[i]->name;
		if (!is_there)
			out->events[out->n_events++] = list->items[i]->name;
	}
}

static double least_coverage(const struct finder *f, const struct excesses *all)
{
	double least = 1;

	for (size_t i = 0; all != NULL && i < all->list.n; i++)
		least = fmin(least, stat_value_of(f->s, all->list.items[i].metric)->coverage);
	return least;
}

/* What is told of every metric that passes its threshold; `all` explains it, or NULL. */
static struct finding *add_metric(struct finder *f, const struct cpu_metric *m,
				  const struct excesses *all)
{
	const struct stat_value *v = stat_value_of(f->s, m);
	struct finding *out = findings_add(f->out, FINDING_METRIC);

	out->metric = m;
	out->value = v->value;
	out->size = size_of_metric(f, m);
	/* a mean of runs is no exact count */
	out->size.mark = v->mark == MARK_EXACT && v->spread > 0 ? MARK_SCALED : v->mark;
	out->coverage = (struct finding_coverage){
		.is_set = true,
		.is_imported = v->is_told,
		.mark = v->mark,
		.coverage = v->coverage,
		.least_coverage = least_coverage(f, all),
		.spread = v->spread,
	};
	for (size_t i = 0; all != NULL && i < all->list.n; i++)
		finding_add_counts(&all->list.items[i].metric->samples, out);
	finding_add_counts(&m->samples, out);
	f->is_told[index_of(f, m)] = true;
	return out;
}

/* Is it of a side that a finding is about already? */
static bool is_of_pointed_root(const struct finder *f, const struct stat_cost *c)
{
	for (size_t i = 0; i < f->s->steps.n; i++)
		if (f->s->steps.items[i].depth == 1 && f->s->steps.items[i].is_pointed &&
		    stat_cost_is_of(c, f->s->steps.items[i].metric))
			return true;
	return false;
}

static void add_cost(struct finder *f, size_t i, struct finding *out)
{
	const struct stat_cost *c = &f->costs.list.items[i];
	struct evidence *e = finding_add_evidence(out, EVIDENCE_COST);

	f->is_cost_told[i] = true;
	e->penalty = c->penalty;
	e->value = c->per_1000;
	e->share = c->bound;
	/* a line is taken from a CPU whatever it does then: samples of that do not find the code */
	if (out->n_events < FINDING_EVENTS && strcmp(c->penalty->issue, "coherence") != 0)
		out->events[out->n_events++] = c->penalty->event->name;
	out->coverage.least_coverage =
		fmin(out->coverage.least_coverage, stat_total_coverage(c->total));
}

static bool is_issue(const struct finding *f, const char *issue)
{
	return f->issue != NULL && strcmp(f->issue, issue) == 0;
}

/* Of DRAM: is it latency or bandwidth? */
static void add_lines(const struct finder *f, struct finding *out)
{
	double lines = stat_dram_lines(f->s, &f->costs);
	unsigned most = f->s->pmu->outstanding_lines;
	struct evidence *e;

	if (!is_issue(out, "llc_miss") || most == 0 || isnan(lines))
		return;
	e = finding_add_evidence(out, EVIDENCE_LINES);
	e->value = lines;
	e->share = lines / most;
	if (stat_is_bandwidth(f->s, &f->costs, &f->accesses))
		finding_add_remedy(out, (struct remedy){ .kind = REMEDY_FEWER_BYTES });
}

/* How memory is accessed, as far as counts show it. */
static void add_pattern(const struct finder *f, struct finding *out)
{
	static const enum evidence_kind kinds[] = {
		[PATTERN_CHAIN] = EVIDENCE_ONE_MISS,
		[PATTERN_SCATTERED] = EVIDENCE_SCATTERED,
		[PATTERN_IN_ORDER] = EVIDENCE_IN_ORDER,
	};
	struct evidence *e;

	if (f->accesses.pattern == PATTERN_UNKNOWN ||
	    (!is_issue(out, "l2_miss") && !is_issue(out, "llc_miss")))
		return;
	e = finding_add_evidence(out, kinds[f->accesses.pattern]);
	e->value = f->accesses.misses;
	e->share = f->accesses.per_page;
	if (f->accesses.pattern == PATTERN_SCATTERED)
		out->recorded = "addr --by instruction";
}

/* What costs of the root's side are worth a word, the largest first, and what helps against them. */
static void add_costs(struct finder *f, const struct cpu_metric *root, struct finding *out)
{
	size_t n = 0;

	/* where only a capture can tell, no cost is the issue */
	if (out->cause != CAUSE_CORE && out->cause != CAUSE_FETCH &&
	    out->cause != CAUSE_COLD_CODE && out->issue == NULL && out->recorded == NULL)
		out->issue = stat_costs_issue(&f->costs, root);
	for (size_t i = 0; i < f->costs.list.n; i++) {
		const struct stat_cost *c = &f->costs.list.items[i];

		if (!stat_cost_is_of(c, root) || c->is_hidden)
			continue;
		if (c->bound >= f->least_cost && n++ < SHOWN_EVIDENCE)
			add_cost(f, i, out);
	}
}

/* Lines that another CPU took are missed in the L1D and the L2: that is no case for those caches. */
static bool is_taken_line(const struct finding *f, const struct stat_cost *c)
{
	return is_issue(f, "coherence") && (strcmp(c->penalty->issue, "l1d_miss") == 0 ||
					    strcmp(c->penalty->issue, "l2_miss") == 0);
}

/* How memory is accessed matters where memory is the cause. */
static void add_remedies_of_costs(const struct finder *f, struct finding *out)
{
	enum stat_pattern pattern =
		out->cause == CAUSE_CORE ? PATTERN_UNKNOWN : f->accesses.pattern;

	for (size_t i = 0; i < f->costs.list.n; i++) {
		const struct stat_cost *c = &f->costs.list.items[i];
		bool is_evidence = false;

		if (is_taken_line(out, c))
			continue;

		for (size_t k = 0; k < out->evidence.n; k++)
			is_evidence |= out->evidence.items[k].penalty == c->penalty;
		if (is_evidence)
			finding_add_remedy(
				out, (struct remedy){ .kind = stat_remedy_of_cost(c, pattern) });
	}
}

static void add_slow_branches(const struct finder *f, const struct cpu_metric *root,
			      struct finding *out)
{
	double stalls = stat_branch_stalls(f->s, &f->costs, root);

	if (isnan(stalls))
		return;
	finding_add_evidence(out, EVIDENCE_BRANCH_STALLS)->value = stalls;
	if (!is_issue(out, "coherence"))
		finding_add_remedy(out, (struct remedy){ .kind = REMEDY_BRANCH_FREE });
}

/* The deepest node that the walk went to, for what no cost tells. */
static const struct cpu_metric *deepest_node(const struct finding *out)
{
	for (size_t i = out->evidence.n; i-- > 0;)
		if (out->evidence.items[i].kind == EVIDENCE_NODE)
			return out->evidence.items[i].metric;
	return NULL;
}

/* What to try: what is known best first. */
static void add_root_remedies(struct finder *f, const struct cpu_metric *root,
			      const struct stat_cause *cause, const struct excesses *all,
			      struct finding *out)
{
	const struct cpu_metric *node = deepest_node(out);

	if (cause->has_reason && cause->reason == EVIDENCE_REST_COPY)
		return;			       /* there may be nothing to do better */
	if (cause->cause == CAUSE_COLD_CODE) { /* nothing that the code could do better */
		finding_add_remedy(out, (struct remedy){ .kind = cause->remedy });
		return;
	}
	/* Counts show accesses by the stalls of the back end. */
	if (cause->cause == CAUSE_MEMORY && !cpu_metric_is_of_side(root, SIDE_FRONTEND)) {
		add_lines(f, out);
		add_pattern(f, out);
	}
	finding_add_remedy(out, (struct remedy){ .kind = cause->remedy });
	if (cause->has_reason && cause->reason == EVIDENCE_BRANCH_STALLS) {
		const struct stat_cost *c = stat_cost_of_issue(&f->costs, out->issue);

		finding_add_remedy(
			out, (struct remedy){ .kind = stat_remedy_of_cost(c, PATTERN_UNKNOWN) });
		finding_add_remedy(out, (struct remedy){ .kind = REMEDY_BRANCH_FREE });
	}
	if (is_issue(out, "coherence") && cpu_metric_is_of_side(root, SIDE_FRONTEND))
		add_slow_branches(f, root, out);
	if (node != NULL)
		finding_add_remedy(out,
				   (struct remedy){ .kind = stat_remedy_of_metric(f->s, node) });
	if (cause->cause == CAUSE_CORE)
		finding_add_remedy(out, (struct remedy){ .kind = REMEDY_CORE });
	if (cause->cause == CAUSE_FETCH) {
		if (all->list.n == 0)
			add_slow_branches(f, root, out);
		finding_add_remedy(out, (struct remedy){ .kind = REMEDY_FRONT_END });
	}
	add_remedies_of_costs(f, out);
	for (size_t i = 0; i < all->list.n && out->remedies.n == 0; i++)
		finding_add_remedy(out,
				   (struct remedy){ .kind = stat_remedy_of_metric(
							    f->s, all->list.items[i].metric) });
	if (out->remedies.n == 0)
		finding_add_remedy(out,
				   (struct remedy){ .kind = stat_remedy_of_metric(f->s, root) });
}

static void add_reason(const struct finder *f, const struct stat_cause *cause, struct finding *out)
{
	const struct cpu_event *taken = cpu_event_find(f->s->pmu, "L1D_CACHE_INVAL");
	struct evidence *e = finding_add_evidence(out, cause->reason);

	e->share = cause->share;
	e->value = cause->value;
	if (cause->reason == EVIDENCE_SHARING_NOT_COUNTED) {
		e->value = stat_busy_cpus(f->s);
		e->unit = taken != NULL ? taken->name : NULL;
	}
	if (cause->reason == EVIDENCE_CACHES_NOT_COUNTED)
		out->counting = stat_find_counting(f->s, f->out);
	if (cause->reason == EVIDENCE_SHARING_NOT_COUNTED || is_issue(out, "coherence"))
		out->recorded = "c2c";
	if (cause->reason == EVIDENCE_REST_COPY)
		out->recorded = "report";
}

/* A root that the walk points at, with all that the walk found below it. */
static void add_root(struct finder *f, uint32_t step)
{
	const struct cpu_metric *m = f->s->steps.items[step].metric;
	struct stat_cause cause = stat_cause_of(f->s, &f->costs, m);
	struct excesses all = { 0 };
	struct finding *out;

	collect_excesses(f, step, &all);
	out = add_metric(f, m, &all);
	out->cause = cause.cause;
	out->issue = cause.issue;
	add_path(f, step, out);
	if (cause.has_reason)
		add_reason(f, &cause, out);
	out->n_events = 0; /* the most specific first */
	add_costs(f, m, out);
	for (size_t i = 0; i < all.list.n; i++)
		finding_add_counts(&all.list.items[i].metric->samples, out);
	finding_add_counts(&m->samples, out);
	add_rates(f, &all, out);
	add_root_remedies(f, m, &cause, &all, out);
	vec_release(&all.list);
}

/* The metric that says how often an event is; else any share that it makes. */
static const struct cpu_metric *metric_of_event(const struct stat *s, const struct cpu_event *event)
{
	const struct cpu_metric *found = NULL;

	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &s->pmu->metrics[i];

		if (m->formula.n_names != 2 || strcmp(m->formula.names[0], event->name) != 0 ||
		    !stat_value_is_firm(stat_value_of(s, m)))
			continue;
		if (found == NULL || (m->scale == 1000 && found->scale != 1000))
			found = m;
	}
	return found;
}

/*
 * Is it worth a word, though no finding is about its side: the root is low, or is not known? Nothing
 * says then that its misses waited: what is likely has to be enough, not only what is possible.
 */
static bool is_other_cost(const struct finder *f, size_t i)
{
	const struct stat_cost *c = &f->costs.list.items[i];

	return !f->is_cost_told[i] && !is_of_pointed_root(f, c) &&
	       fmin(c->weight, c->bound) >= f->least_cost;
}

/* One finding for each side, about what costs most there. */
static void add_other_costs(struct finder *f)
{
	for (size_t i = 0; i < f->costs.list.n; i++) {
		const struct stat_cost *c = &f->costs.list.items[i];
		const struct cpu_metric *m = metric_of_event(f->s, c->penalty->event);
		struct finding *out;

		if (!is_other_cost(f, i) || m == NULL)
			continue;
		out = add_metric(f, m, NULL);
		out->issue = c->penalty->issue;
		out->n_events = 0;
		for (size_t k = i; k < f->costs.list.n; k++)
			if (is_other_cost(f, k) &&
			    f->costs.list.items[k].penalty->side == c->penalty->side)
				add_cost(f, k, out);
		add_remedies_of_costs(f, out);
	}
}

/* Little is lost, and nothing hinders vectors that counts could see: loops over arrays. */
static void add_scalar_work(struct finder *f)
{
	enum { USEFUL = 80, VECTORS = 1, SCALAR = 40, MEMORY = 15 };
	const double of_most_ipc = 0.6, most_mispredicted = 0.3;
	struct stat_mix mix = stat_mix_of(f->s);
	double ipc, mpki, lost;
	struct finding *out;
	struct evidence *e;

	lost = stat_side_share(f->s, SIDE_FRONTEND) + stat_side_share(f->s, SIDE_BACKEND);
	if (f->out->list.n > 0 || 100 * (1 - lost) < USEFUL || !(mix.vector <= VECTORS) ||
	    !(mix.scalar >= SCALAR) || !(mix.memory >= MEMORY) ||
	    !stat_value_named(f->s, "ipc", &ipc) || ipc < of_most_ipc * cpu_most_ipc(f->s->pmu) ||
	    !stat_value_named(f->s, "branch_mpki", &mpki) || mpki > most_mispredicted)
		return;
	out = findings_add(f->out, FINDING_SCALAR);
	out->value = 100 * (1 - lost);
	out->size.share = 1 - lost;
	out->is_probable = true;
	e = finding_add_evidence(out, EVIDENCE_MIX);
	e->value = mix.vector;
	e->share = mix.scalar;
	finding_add_remedy(out, (struct remedy){ .kind = REMEDY_VECTORISE });
}

/* A task that lost its CPU is given one again soon: longer waits than this are for other things. */
enum { LONG_WITHOUT_CPU_NS = 100 * 1000 * 1000 };

/*
 * Why threads did not run: they waited for something, or another task had the CPU. How often
 * each of it was is known, how long is not.
 */
static void explain_waiting(const struct finder *f, double idle_ns, struct finding *out)
{
	const struct counts *c = f->s->counts;
	uint32_t n_runs = c->n_runs > 0 ? c->n_runs : 1;
	bool is_known = c->n_gave_up + c->n_put_off > 0;
	bool was_put_off = c->n_put_off > c->n_gave_up;
	struct evidence *e = finding_add_evidence(out, EVIDENCE_LEFT_CPU);
	struct remedy remedy = { .kind = REMEDY_WAITS };

	e->is_known = is_known;
	e->part =
		(c->n_gave_up + n_runs / 2) / n_runs; /* of one run, as all that stands beside it */
	e->all = (c->n_put_off + n_runs / 2) / n_runs;
	e->n_runs = n_runs;
	out->is_probable =
		was_put_off && idle_ns * n_runs < (double)c->n_put_off * LONG_WITHOUT_CPU_NS;
	if (out->is_probable)
		remedy.kind = REMEDY_IDLE_MACHINE;
	else if (!is_known || was_put_off)
		remedy.kind = REMEDY_IDLE_OR_WAITS;
	finding_add_remedy(out, remedy);
}

/* A CPU that mostly waits has no pipeline to explain. */
static void add_waiting(struct finder *f)
{
	const struct stat_total *busy = stat_totals_find(&f->s->totals, "task-clock");
	double elapsed = stat_elapsed_ns(f->s), threshold, utilization;
	struct finding *out;

	if (busy == NULL || busy->state != COUNT_COUNTED || elapsed <= 0 || busy->unit == NULL ||
	    strcmp(busy->unit, "ns") != 0)
		return;
	utilization = 100 * busy->value / elapsed;
	stat_threshold_of(f->s, THRESHOLD_BUSY, &threshold);
	if (utilization >= threshold)
		return;
	out = findings_add(f->out, FINDING_WAITING);
	out->value = utilization;
	out->size = (struct finding_size){
		.share = 1 - utilization / 100,
		.error = NAN,
		.part = floor(busy->value),
		.all = elapsed,
		.unit = "ns",
	};
	explain_waiting(f, elapsed - busy->value, out);
}

static int compare_steps(const void *a, const void *b, void *context)
{
	const struct stat *s = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double vx = stat_value_of(s, s->steps.items[x].metric)->value;
	double vy = stat_value_of(s, s->steps.items[y].metric)->value;

	return vx != vy ? (vx < vy) - (vx > vy) : (x > y) - (x < y);
}

/* Roots that the walk points at, the worst first; what is good to have comes last. */
static void add_roots(struct finder *f)
{
	VEC_OF(uint32_t) pointed = { 0 };

	for (uint32_t i = 0; i < f->s->steps.n; i++)
		if (f->s->steps.items[i].depth == 1 && f->s->steps.items[i].is_pointed)
			*vec_add(&pointed) = i;
	if (pointed.n > 1)
		qsort_r(pointed.items, pointed.n, sizeof(*pointed.items), compare_steps,
			(void *)(uintptr_t)f->s);
	for (size_t i = 0; i < pointed.n; i++)
		add_root(f, pointed.items[i]);
	vec_release(&pointed);
}

static bool is_tree_root(const struct finder *f, const struct cpu_metric *m)
{
	for (size_t i = 0; i < f->s->roots->n; i++)
		if (f->s->roots->items[i] == m)
			return true;
	return false;
}

/* Work that was not kept has a root of its own in slots. */
static bool is_wrong_path_of_root(const struct finder *f, const struct cpu_metric *m)
{
	for (size_t i = 0; i < f->s->steps.n; i++)
		if (strcmp(m->name, "spec_overhead") == 0 && f->s->steps.items[i].is_pointed &&
		    strcmp(f->s->steps.items[i].metric->name, "bad_speculation") == 0)
			return true;
	return false;
}

/* Rates above their thresholds that no root led to. */
static void add_rest(struct finder *f)
{
	for (size_t i = 0; i < f->s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &f->s->pmu->metrics[i];
		/* stalled cycles say again what a tree of slots says better */
		bool is_said_better =
			stat_has_picture(f->s) && strcmp(metric_whole(m), "cycles") == 0;
		struct finding *out;
		struct evidence *e;

		if (f->is_told[i] || stat_costs_have(f->s, &f->costs, NULL, m) ||
		    is_tree_root(f, m) || cpu_node_of(f->s->pmu, m) != NULL ||
		    m->better != BETTER_LOWER || is_said_better || is_wrong_path_of_root(f, m) ||
		    !stat_is_above(f->s, m))
			continue;
		out = add_metric(f, m, NULL);
		e = finding_add_evidence(out, EVIDENCE_THRESHOLD);
		e->threshold = 0;
		stat_threshold_of(f->s, m->name, &e->threshold);
		finding_add_remedy(out, (struct remedy){ .kind = stat_remedy_of_metric(f->s, m) });
	}
}

void stat_find(const struct stat *s, struct findings *out)
{
	struct finder f = { .s = s, .out = out };

	stat_costs_find(s, &f.costs);
	f.accesses = stat_accesses_of(s, &f.costs);
	stat_threshold_of(s, THRESHOLD_COST, &f.least_cost);
	f.least_cost /= 100;
	f.is_told = mem_zalloc(s->pmu->n_metrics + 1, sizeof(*f.is_told));
	f.is_cost_told = mem_zalloc(f.costs.list.n + 1, sizeof(*f.is_cost_told));
	add_waiting(&f);
	add_roots(&f);
	add_other_costs(&f);
	add_rest(&f);
	add_scalar_work(&f);
	stat_find_silences(s, out);
	stat_costs_release(&f.costs);
	free(f.is_told);
	free(f.is_cost_told);
}
