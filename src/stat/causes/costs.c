/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/causes/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The root of the tree, or of stalled cycles, that is about the side. */
static bool find_root(const struct stat *s, enum cpu_side side, double *out)
{
	for (size_t i = 0; i < s->roots->n; i++) {
		const struct stat_value *v = stat_value_of(s, s->roots->items[i]);

		if (!cpu_metric_is_of_side(s->roots->items[i], side) || !stat_value_is_firm(v))
			continue;
		*out = fmax(0, v->value / 100);
		return true;
	}
	return false;
}

/* Cycles in which instructions could retire are not lost: the rest may be. */
static double not_retired(const struct stat *s)
{
	double ipc;

	if (!stat_value_named(s, "ipc", &ipc))
		return 1;
	return fmax(0, 1 - ipc / cpu_most_ipc(s->pmu));
}

/* A wrong path costs the front end, too; without a root of its own, only that. */
double stat_side_share(const struct stat *s, enum cpu_side side)
{
	double share, front = 0;
	bool has_front = find_root(s, SIDE_FRONTEND, &front);

	if (side == SIDE_BAD_SPECULATION && find_root(s, side, &share))
		return fmin(1, share + front);
	if (side != SIDE_BACKEND)
		return has_front ? front : not_retired(s);
	return find_root(s, side, &share) ? share : not_retired(s);
}

bool stat_cost_is_of(const struct stat_cost *c, const struct cpu_metric *root)
{
	if (cpu_metric_is_of_side(root, c->penalty->side))
		return true;
	return c->penalty->side == SIDE_BAD_SPECULATION &&
	       cpu_metric_is_of_side(root, SIDE_FRONTEND);
}

/* Levels, the first one first: what misses one has missed those before. */
static const char *const levels[] = { "l1d_miss", "l2_miss", "llc_miss" };

const struct stat_cost *stat_cost_of_issue(const struct stat_costs *costs, const char *issue)
{
	for (size_t i = 0; i < costs->list.n; i++)
		if (strcmp(costs->list.items[i].penalty->issue, issue) == 0)
			return &costs->list.items[i];
	return NULL;
}

static int level_of(const struct cpu_penalty *p)
{
	for (size_t i = 0; i < COUNT(levels); i++)
		if (strcmp(levels[i], p->issue) == 0)
			return (int)i;
	return -1;
}

/* Refills of a level count prefetches: only what missed the level before can wait for it. */
static double waiting_count(const struct stat_costs *costs, const struct cpu_penalty *p,
			    double count)
{
	for (int i = 0; i < level_of(p); i++) {
		const struct stat_cost *before = stat_cost_of_issue(costs, levels[i]);
		const struct stat_cost *code = stat_cost_of_issue(costs, "l1i_miss");

		if (before != NULL)
			count = fmin(count, before->total->value +
						    (code != NULL ? code->total->value : 0));
	}
	return count;
}

double stat_whole_latency(const struct stat *s, const struct cpu_penalty *p)
{
	enum { L1_CYCLES = 4 };
	double cycles = L1_CYCLES + p->cycles;

	for (int i = 0; i < level_of(p); i++)
		for (size_t k = 0; k < s->pmu->n_penalties; k++)
			if (strcmp(s->pmu->penalties[k].issue, levels[i]) == 0) {
				cycles += s->pmu->penalties[k].cycles;
				break;
			}
	return cycles;
}

bool stat_little_retires(const struct stat *s)
{
	double ipc;

	return stat_value_named(s, "ipc", &ipc) && 4 * ipc <= cpu_most_ipc(s->pmu);
}

/*
 * A core that runs out of order covers latencies shorter than it takes to fill its reorder buffer,
 * unless nothing else is there to do: loads overlap if they take longer together than the run, and
 * a chain of loads lets little else retire.
 */
static bool is_hidden(const struct stat *s, const struct cpu_penalty *p, double count,
		      double cycles)
{
	double latency = stat_whole_latency(s, p);

	if (p->side != SIDE_BACKEND || p->cycles <= 1 ||
	    latency > s->pmu->reorder_entries / cpu_most_ipc(s->pmu))
		return false;
	return count * latency > cycles || !stat_little_retires(s);
}

/*
 * A walk of the page table. Walks that would take longer one by one than the run were early, or several at a
 * time: each takes less than the penalty.
 */
static bool is_walk(const struct cpu_penalty *p)
{
	return strcmp(p->issue, "dtlb_walk") == 0 || strcmp(p->issue, "itlb_walk") == 0;
}

static bool is_uncertain(const struct stat *s, const struct cpu_penalty *p)
{
	return (p->is_estimate || p->is_upper_bound) && !stat_little_retires(s);
}

static bool is_usable(const struct stat *s, const struct stat_total *t)
{
	enum cell_mark mark = t == NULL ? MARK_IMPLAUSIBLE : stat_total_mark(t, s->least_coverage);

	return mark != MARK_IMPLAUSIBLE && mark != MARK_SPARSE;
}

/*
 * What the side loses. Of what misses the L2, also at most the stalls with a demand miss of the last
 * cache of the core outstanding, where they were counted (Arm ARM, STALL_BACKEND_MEM).
 */
static double most_cost(const struct stat *s, const struct cpu_penalty *p,
			const struct stat_total *cycles)
{
	const struct stat_total *memory =
		stat_counted(s, cpu_event_find(s->pmu, "STALL_BACKEND_MEM"));
	double share = stat_side_share(s, p->side);

	if (level_of(p) <= 0 || !is_usable(s, memory) ||
	    memory->is_user_only != cycles->is_user_only)
		return share;
	return fmin(share, memory->value / cycles->value);
}

static void add_cost(const struct stat *s, const struct cpu_penalty *p, struct stat_costs *out)
{
	const struct stat_total *t = stat_counted(s, p->event);
	const struct stat_total *cycles = stat_counted(s, s->pmu->cycles);
	const struct stat_total *instructions = stat_counted(s, s->pmu->instructions);
	struct stat_cost c = { .penalty = p, .total = t, .per_1000 = NAN };
	double count;

	if (!is_usable(s, t) || stat_cost_of_issue(out, p->issue) != NULL ||
	    t->is_user_only != cycles->is_user_only)
		return;
	count = waiting_count(out, p, t->value);
	if (is_usable(s, instructions) && instructions->value > 0)
		c.per_1000 = 1000 * t->value / instructions->value;
	c.raw = count * p->cycles / cycles->value;
	c.bound = fmin(c.raw, most_cost(s, p, cycles));
	c.is_hidden = is_hidden(s, p, count, cycles->value);
	if (!c.is_hidden)
		c.weight = (is_walk(p) ? fmin(c.raw, 1) : c.raw) / (is_uncertain(s, p) ? 2 : 1);
	*vec_add(&out->list) = c;
}

static int compare_costs(const void *a, const void *b)
{
	const struct stat_cost *x = a, *y = b;

	if (x->weight != y->weight)
		return (x->weight < y->weight) - (x->weight > y->weight);
	if (x->bound != y->bound)
		return (x->bound < y->bound) - (x->bound > y->bound);
	return (x->penalty > y->penalty) - (x->penalty < y->penalty);
}

/* What missed a level and did not miss the next one ended there. */
static void set_here(const struct stat *s, double cycles, struct stat_costs *costs)
{
	for (size_t i = 0; i < costs->list.n; i++) {
		struct stat_cost *c = &costs->list.items[i];
		int level = level_of(c->penalty);
		const struct stat_cost *next =
			level < 0 || (size_t)level + 1 == COUNT(levels)
				? NULL
				: stat_cost_of_issue(costs, levels[level + 1]);
		double count = c->raw * cycles / c->penalty->cycles;

		if (level < 0)
			continue;
		if (next != NULL)
			count -= next->raw * cycles / next->penalty->cycles;
		c->here = fmax(0, count) * stat_whole_latency(s, c->penalty) / cycles;
	}
}

/* Levels need those before them, which the catalog has first. */
void stat_costs_find(const struct stat *s, struct stat_costs *out)
{
	const struct stat_total *cycles = stat_counted(s, s->pmu->cycles);

	if (!is_usable(s, cycles) || cycles->value <= 0)
		return;
	for (size_t i = 0; i < s->pmu->n_penalties; i++)
		if (level_of(&s->pmu->penalties[i]) < 0)
			add_cost(s, &s->pmu->penalties[i], out);
	for (size_t level = 0; level < COUNT(levels); level++)
		for (size_t i = 0; i < s->pmu->n_penalties; i++)
			if (level_of(&s->pmu->penalties[i]) == (int)level)
				add_cost(s, &s->pmu->penalties[i], out);
	set_here(s, cycles->value, out);
	if (out->list.n > 1)
		qsort(out->list.items, out->list.n, sizeof(*out->list.items), compare_costs);
}

void stat_costs_release(struct stat_costs *c)
{
	vec_release(&c->list);
}

const char *stat_costs_issue(const struct stat_costs *costs, const struct cpu_metric *root)
{
	const struct stat_cost *first = NULL, *level = NULL;
	double of_levels = 0;

	for (size_t i = 0; i < costs->list.n; i++) {
		const struct stat_cost *c = &costs->list.items[i];

		if (!stat_cost_is_of(c, root) || c->is_hidden || c->weight <= 0)
			continue;
		if (level_of(c->penalty) < 0) {
			first = first == NULL ? c : first;
			continue;
		}
		of_levels += c->weight;
		level = level == NULL || c->here > level->here ? c : level;
	}
	if (level != NULL && (first == NULL || of_levels >= first->weight))
		return level->penalty->issue;
	return first == NULL ? NULL : first->penalty->issue;
}

bool stat_costs_have(const struct stat *s, const struct stat_costs *costs,
		     const struct cpu_metric *root, const struct cpu_metric *m)
{
	for (size_t i = 0; i < s->pmu->n_penalties; i++) {
		const struct cpu_penalty *p = &s->pmu->penalties[i];
		const struct stat_cost *cost = stat_cost_of_issue(costs, p->issue);

		if (cost == NULL || (root != NULL && !stat_cost_is_of(cost, root)))
			continue;
		/* what it is divided by is not what it is about */
		if (m->formula.n_names > 0 && strcmp(m->formula.names[0], p->event->name) == 0)
			return true;
	}
	return false;
}

double stat_stores_cost(const struct stat *s)
{
	static const struct {
		const char *event, *issue;
	} refills[] = { { "L1D_CACHE_REFILL_WR", "l1d_miss" },
			{ "L2D_CACHE_REFILL_WR", "l2_miss" } };
	const struct stat_total *cycles = stat_counted(s, s->pmu->cycles);
	double sum = 0;

	for (size_t i = 0; i < COUNT(refills); i++) {
		const struct stat_total *t =
			stat_counted(s, cpu_event_find(s->pmu, refills[i].event));

		for (size_t k = 0; k < s->pmu->n_penalties; k++) {
			const struct cpu_penalty *p = &s->pmu->penalties[k];

			if (t == NULL || strcmp(p->issue, refills[i].issue) != 0)
				continue;
			sum += t->value * p->cycles;
			break;
		}
	}
	return cycles == NULL || cycles->value <= 0 ? 0 : sum / cycles->value;
}
