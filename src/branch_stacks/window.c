/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test of homogeneity: rows are the commonest branches, columns are positions of the stack. The
 * entries of one stack depend on each other, so the sum over positions may be as large as that of one
 * position times their number by chance alone: it is divided by it.
 */
#include "branch_stacks/window.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/stacks.h"

enum {
	COMMONEST = 20,
	LEAST_EXPECTED = 5, /* in a cell, for the test to hold */
};

/* By degrees of freedom: chi squared that is exceeded with a probability of 1e-4. */
static const double critical[COMMONEST + 1] = {
	0,	15.137, 18.421, 21.108, 23.513, 25.745, 27.856, 29.878, 31.828, 33.720, 35.564,
	37.367, 39.134, 40.871, 42.579, 44.263, 45.925, 47.566, 49.189, 50.795, 52.386,
};

/* A branch, with how often it was at each position. */
struct common {
	struct place place;
	uint64_t n, by_position[STACK_POSITIONS];
};

/* The branches at the ends of good segments; branches of one place are together. */
struct stack_window {
	struct tuples keys; /* module, offset */
	VEC_OF(struct common) list;
	uint64_t all[STACK_POSITIONS];
};

static int common_compare(const void *left, const void *right)
{
	const struct common *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	if (a->place.module.v != b->place.module.v)
		return a->place.module.v < b->place.module.v ? -1 : 1;
	return (a->place.offset > b->place.offset) - (a->place.offset < b->place.offset);
}

struct stack_window *stack_window_new(void)
{
	struct stack_window *w = mem_zalloc(1, sizeof(*w));

	tuples_init(&w->keys, 2);
	return w;
}

void stack_window_free(struct stack_window *w)
{
	if (w == NULL)
		return;
	vec_release(&w->list);
	tuples_release(&w->keys);
	free(w);
}

void stack_window_add(struct stack_window *w, struct place branch,
		      const uint64_t positions[STACK_POSITIONS])
{
	const uint64_t key[] = { branch.module.v, branch.offset };
	uint32_t number = tuples_add(&w->keys, key);

	if (number == w->list.n)
		vec_add(&w->list)->place = branch;
	for (size_t at = 0; at < STACK_POSITIONS; at++) {
		w->list.items[number].n += positions[at];
		w->list.items[number].by_position[at] += positions[at];
		w->all[at] += positions[at];
	}
}

static void add_listed(struct stack_window *w, const struct branch_stacks *b)
{
	for (size_t i = 0; i < b->segments.list.n; i++) {
		const struct segment *s = &b->segments.list.items[i];
		uint64_t positions[STACK_POSITIONS];

		if (s->fault != SEGMENT_GOOD)
			continue;
		for (size_t at = 0; at < STACK_POSITIONS; at++)
			positions[at] = segment_n_at(b->counts, s->number, at);
		stack_window_add(w, (struct place){ s->module, s->end }, positions);
	}
}

static double share_at(const struct stack_window *w, const struct common *c, size_t position)
{
	return (double)c->by_position[position] / (double)w->all[position];
}

/* How much a row differs from what is expected of it; NAN if too little is expected anywhere. */
static double row_statistic(const struct stack_window *w, const struct common *c, double n_all,
			    size_t n_positions)
{
	double sum = 0;

	for (size_t i = 0; i < n_positions; i++) {
		double expected = (double)c->n * (double)w->all[i] / n_all;
		double difference = (double)c->by_position[i] - expected;

		if (w->all[i] == 0)
			continue;
		if (expected < LEAST_EXPECTED)
			return NAN;
		sum += difference * difference / expected;
	}
	return sum;
}

static void take_ratio(struct stack_bias *bias, const struct stack_window *w,
		       const struct common *c, size_t n_positions)
{
	double least = 1, most = 0;

	for (size_t i = 0; i < n_positions; i++) {
		if (w->all[i] == 0)
			continue;
		least = share_at(w, c, i) < least ? share_at(w, c, i) : least;
		most = share_at(w, c, i) > most ? share_at(w, c, i) : most;
	}
	/* a branch that is missing somewhere: as if it were there once */
	least = least > 0 ? least : most / (double)(c->n + 1);
	if (most / least <= bias->worst_ratio)
		return;
	bias->worst_ratio = most / least;
	bias->worst = c->place;
}

void stack_window_test(struct branch_stacks *b)
{
	struct stack_window *w = b->segments.window;
	double n_all = 0, sum = 0;
	size_t n_used = 0, n_rows = 0;

	if (w == NULL) {
		w = stack_window_new();
		add_listed(w, b);
	}
	if (w->list.n > 1)
		qsort(w->list.items, w->list.n, sizeof(*w->list.items), common_compare);
	for (size_t i = 0; i < b->n_positions; i++) {
		n_all += (double)w->all[i];
		n_used += w->all[i] > 0;
	}
	for (size_t i = 0; i < w->list.n && i < COMMONEST && n_used > 1; i++) {
		double row = row_statistic(w, &w->list.items[i], n_all, b->n_positions);

		if (isnan(row))
			continue;
		n_rows++;
		sum += row;
		take_ratio(&b->bias, w, &w->list.items[i], b->n_positions);
	}
	b->bias.is_tested = n_rows > 0;
	b->bias.statistic = n_used > 0 ? sum / (double)n_used : 0;
	b->bias.is_biased = n_rows > 0 && b->bias.statistic > critical[n_rows];
	stack_window_free(w);
	b->segments.window = NULL;
}
