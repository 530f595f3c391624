/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loops of a function are looked at: innermost ones that go round often enough to have an
 * iteration that waits for the one before. One that is left after a few is part of the loop around it,
 * whose iterations overlap.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "bottleneck/inside.h"
#include "isa/dominators.h"
#include "session/interval.h"

enum {
	WORD = 4,
	LEAST_RECORDS = 30,		      /* of a region */
	LEAST_TRIPS = 6,		      /* of a loop for each time it is entered */
	MOST_REPEATED = CHAIN_MOST_INSNS / 2, /* operations of a loop that are part of one around */
	LEAST_OUTSIDE = 10, /* records of the loop around it, for that to be known */
	RARELY = 4,	    /* one in so many iterations */
};

#define NO_REGION UINT32_MAX

struct loop {
	size_t head, branch;
};

/* A function being cut. */
struct cutting {
	const struct bottlenecks *all;
	struct function_insns *f;
	struct isa_step *steps;
	struct isa_dominators dominators;
	VEC_OF(struct loop) loops;
	uint64_t interval; /* operations between records */
};

static void read_steps(struct cutting *c)
{
	const struct function_insns *f = c->f;

	c->steps = mem_alloc(f->n + 1, sizeof(*c->steps));
	for (size_t i = 0; i < f->n; i++) {
		uint8_t bytes[WORD];
		uint64_t here = f->offset + WORD * i, to;
		struct flow flow;

		for (int k = 0; k < WORD; k++)
			bytes[k] = (uint8_t)(f->words[i] >> 8 * k);
		flow = isa_flow(ISA_A64, bytes, WORD, here);
		to = flow.has_target && (flow.kind == FLOW_BRANCH || flow.kind == FLOW_JUMP)
			     ? (flow.target - f->offset) / WORD
			     : f->n;
		c->steps[i] = (struct isa_step){ flow.kind, (uint32_t)(to < f->n ? to : f->n) };
	}
}

/* Shortest first; of those that end at several branches the longest. */
static int compare_loop_sizes(const void *left, const void *right)
{
	const struct loop *a = left, *b = right;
	size_t x = a->branch - a->head, y = b->branch - b->head;

	if (x != y)
		return (x > y) - (x < y);
	return (a->head > b->head) - (a->head < b->head);
}

static void cut_loops(struct cutting *c)
{
	for (size_t i = 0; i < c->f->n; i++) {
		struct loop loop = { c->steps[i].target, i };
		bool is_known = false;

		if (loop.head > i || !isa_is_loop(&c->dominators, loop.head, i))
			continue;
		for (size_t k = 0; k < c->loops.n && !is_known; k++) {
			is_known = c->loops.items[k].head == loop.head;
			if (is_known)
				c->loops.items[k] = loop; /* a branch behind the other */
		}
		if (!is_known)
			*vec_add(&c->loops) = loop;
	}
	if (c->loops.n > 1)
		qsort(c->loops.items, c->loops.n, sizeof(*c->loops.items), compare_loop_sizes);
}

/* Records of the loop that are in no region yet. */
static uint64_t count_free(const struct cutting *c, const struct loop *loop)
{
	uint64_t n = 0;

	for (size_t i = loop->head; i <= loop->branch; i++)
		n += c->f->regions[i] == NO_REGION ? c->f->counts[i] : 0;
	return n;
}

static uint64_t count_all(const struct cutting *c, const struct loop *loop)
{
	uint64_t n = 0;

	for (size_t i = loop->head; i <= loop->branch; i++)
		n += c->f->counts[i];
	return n;
}

/* Does each iteration have it: do all ways around the loop pass it, and no loop inside has it? */
static bool is_spine(const struct cutting *c, size_t number, size_t i)
{
	const struct loop *loop = &c->loops.items[number];

	if (!isa_dominates(&c->dominators, i, loop->branch))
		return false;
	for (size_t k = 0; k < number; k++) {
		const struct loop *inner = &c->loops.items[k];

		if (inner->head >= loop->head && inner->branch <= loop->branch &&
		    i >= inner->head && i <= inner->branch)
			return false;
	}
	return true;
}

/* Records of an instruction that each iteration has, on average; of how many records is that? */
static double density(const struct cutting *c, size_t number, uint64_t *out_n)
{
	const struct loop *loop = &c->loops.items[number];
	uint64_t n_insns = 0;

	*out_n = 0;
	for (size_t i = loop->head; i <= loop->branch; i++) {
		if (!is_spine(c, number, i))
			continue;
		n_insns++;
		*out_n += c->f->counts[i];
	}
	return n_insns == 0 ? 0 : (double)*out_n / (double)n_insns;
}

/* The smallest loop around it; the number of loops if there is none. */
static size_t loop_around(const struct cutting *c, size_t number)
{
	const struct loop *loop = &c->loops.items[number];

	for (size_t k = number + 1; k < c->loops.n; k++)
		if (c->loops.items[k].head <= loop->head &&
		    c->loops.items[k].branch >= loop->branch)
			return k;
	return c->loops.n;
}

/* How often it goes round each time that it is entered; 0: not known. */
static double trips_of(const struct cutting *c, size_t number, size_t around)
{
	uint64_t n, n_outside;
	double inside = density(c, number, &n), outside;

	if (around == c->loops.n)
		return 0;
	outside = density(c, around, &n_outside);
	return n_outside < LEAST_OUTSIDE ? 0 : inside / outside;
}

/*
 * Is it left after a few iterations, or so soon that the time between two records is that of the loop
 * around it?
 */
static bool is_left_early(const struct cutting *c, size_t number)
{
	size_t around = loop_around(c, number);
	double trips = trips_of(c, number, around), operations;
	uint64_t n;

	if (trips == 0)
		return false;
	operations = (double)count_all(c, &c->loops.items[number]) / density(c, around, &n);
	return trips < LEAST_TRIPS ||
	       (operations < MOST_REPEATED && operations < (double)c->interval);
}

/* Loops that are part of a region. */
static void add_inner(const struct cutting *c, size_t number, struct region *region)
{
	const struct loop *outer = &c->loops.items[number];

	for (size_t k = number; k-- > 0;) {
		const struct loop *inner = &c->loops.items[k];

		if (inner->head >= outer->head && inner->branch <= outer->branch &&
		    c->f->regions[inner->branch] == NO_REGION)
			*vec_add(&region->inner) =
				(struct inner_loop){ inner->head, inner->branch,
						     trips_of(c, k, loop_around(c, k)) };
	}
}

/* Runs of instructions that not each iteration has, and few have. */
static void mark_rare(const struct cutting *c, const struct loop *loop, uint32_t region,
		      double each)
{
	struct function_insns *f = c->f;

	for (size_t from = loop->head, to; from <= loop->branch; from = to) {
		uint64_t n = 0;

		for (to = from; to <= loop->branch && !f->is_spine[to] &&
				(to == from || c->steps[to - 1].kind == FLOW_NEXT);
		     to++)
			n += f->counts[to];
		if (to == from) {
			to++;
			continue;
		}
		for (size_t i = from; i < to; i++)
			f->is_rare[i] = f->regions[i] != region ||
					(double)n * RARELY < each * (double)(to - from);
	}
}

static void add_region(struct cutting *c, struct bottlenecks *all, size_t number)
{
	const struct loop *loop = &c->loops.items[number];
	struct function_insns *f = c->f;
	uint32_t region = (uint32_t)all->regions.n;
	size_t around = loop_around(c, number);
	bool has_outer = around < c->loops.n;
	uint64_t n;

	*vec_add(&all->regions) = (struct region){
		.function = (uint32_t)(f - all->functions.items),
		.is_loop = true,
		.head = loop->head,
		.branch = loop->branch,
		.has_outer = has_outer,
		.outer_head = has_outer ? c->loops.items[around].head : 0,
		.outer_branch = has_outer ? c->loops.items[around].branch : 0,
	};
	add_inner(c, number, &all->regions.items[region]);
	for (size_t i = loop->head; i <= loop->branch; i++) {
		if (f->regions[i] != NO_REGION)
			continue;
		f->regions[i] = region;
		f->is_spine[i] = is_spine(c, number, i);
	}
	mark_rare(c, loop, region, density(c, number, &n));
}

void regions_cut(struct bottlenecks *all, uint32_t function)
{
	struct function_insns *f = &all->functions.items[function];
	struct cutting c = {
		.all = all,
		.f = f,
		.interval = spe_interval_range(all->session).longest,
	};
	uint32_t rest = (uint32_t)all->regions.n;

	*vec_add(&all->regions) =
		(struct region){ .function = function, .branch = f->n == 0 ? 0 : f->n - 1 };
	for (size_t i = 0; i < f->n; i++)
		f->regions[i] = NO_REGION;
	if (f->words != NULL && f->n > 0) {
		read_steps(&c);
		isa_dominators_init(&c.dominators, c.steps, f->n);
		cut_loops(&c);
	}
	for (size_t i = 0; i < c.loops.n; i++) {
		const struct loop *loop = &c.loops.items[i];
		uint64_t n_free = count_free(&c, loop);

		if (n_free >= LEAST_RECORDS && 10 * n_free >= 3 * count_all(&c, loop) &&
		    !is_left_early(&c, i))
			add_region(&c, all, i);
	}
	for (size_t i = 0; i < f->n; i++)
		f->regions[i] = f->regions[i] == NO_REGION ? rest : f->regions[i];
	isa_dominators_release(&c.dominators);
	vec_release(&c.loops);
	free(c.steps);
}
