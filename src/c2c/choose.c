/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines get a second look, by what the first one counted. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/heap.h"
#include "base/pool.h"
#include "c2c/accesses/cost.h"
#include "c2c/choose.h"
#include "c2c/verdict/classes.h"

/*
 * Objects of one type may be many, and little is lost on each of them. So more lines are looked at
 * than are shown, those that cost most first: as many as have so many records together, which is
 * what time and memory grow with. Where they are a small part of what is lost all the same they
 * cannot say much of it, and a few have to do.
 */
enum { MORE_LINES = 4096, MORE_OF_SHARD = 256, MORE_RECORDS = 65536, FEW_LINES = 128 };

enum { SUBJECTS_AT_ONCE = 512 }; /* made by a worker */
/* See choose_of_shards(). */
enum { TIMES_ITS_PART = 4, LEAST_OF_SHARD = 64 };

static const double least_part = 0.25;

/*
 * As many lines are looked at also where fewer are shown, as in a report: what is found of one object
 * or type is to be the same, whoever asks.
 */
enum { LEAST_LINES = 20 };

/* A line that could be shown. */
struct candidate {
	int64_t rank;	      /* what it is ordered by; more comes first */
	uint64_t n_contended; /* its contended loads, if ranks are equal */
	uint64_t n_records;
	uint64_t address;
	uint32_t space;
};

/* What is found in a shard of the lines. */
struct choice {
	const struct c2c *s;
	size_t top;		       /* as many may be needed of a shard; 0: all */
	VEC_OF(struct candidate) list; /* the first `top`: a heap, the last of them at its root */
	struct c2c_counts shared;      /* of lines with peer or HITM loads */
	uint32_t of_sharing,
		of_mode; /* counters of peer and HITM loads; of those that the mode is about */
	uint64_t n_shared, n_candidates;
	uint64_t ranks; /* the sum of those above 0 */
};

static uint64_t contended_of(const struct c2c *s, const struct c2c_line *line)
{
	return c2c_line_sum(line, c2c_mode_masks[s->options.mode]);
}

/* Reloads that look as if others caused them; the second look knows better. */
static int64_t cost_of(const struct c2c *s, const struct c2c_line *line, const struct c2c_use *use)
{
	int64_t cost = c2c_excess(s, line->cycles, line->n_timed);

	if (line->n_reloads > 0 && line->has_threads && line->is_written && c2c_is_kept(s, use))
		cost += c2c_excess(s, line->reload_cycles, line->n_reloads);
	return cost;
}

static int64_t line_rank(const struct c2c *s, const struct c2c_line *line,
			 const struct c2c_use *use)
{
	switch (s->request.sort) {
	case C2C_SORT_COST:
		return cost_of(s, line, use);
	case C2C_SORT_COUNT:
		return (int64_t)use->n_contended;
	case C2C_SORT_RECORDS:
		return (int64_t)use->n_records;
	case C2C_SORT_STORES:
		return (int64_t)c2c_line_sum(line, C2C_BIT(STORES));
	case C2C_SORT_ADDRESS:
	case C2C_N_SORTS:
		break;
	}
	return 0;
}

static struct candidate candidate_of(const struct c2c *s, const struct c2c_line *line)
{
	const struct c2c_use use = { c2c_line_sum(line, C2C_BIT(RECORDS)), contended_of(s, line),
				     line->n_reloads };
	bool by_address = s->request.sort == C2C_SORT_ADDRESS;

	return (struct candidate){
		.rank = line_rank(s, line, &use),
		.n_contended = by_address ? 0 : use.n_contended,
		.n_records = use.n_records,
		.address = line->address,
		.space = line->space,
	};
}

/* Total: ties go by contended loads, then by where the line is. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->rank != b->rank)
		return (a->rank < b->rank) - (a->rank > b->rank);
	if (a->n_contended != b->n_contended)
		return (a->n_contended < b->n_contended) - (a->n_contended > b->n_contended);
	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->space > b->space) - (a->space < b->space);
}

static bool wants_more(const struct c2c *s)
{
	return s->request.with_objects && s->request.top > 0 && s->request.sort == C2C_SORT_COST;
}

/* 0: all */
static size_t lines_to_choose(const struct c2c *s)
{
	size_t top = s->request.top;

	return s->request.with_objects && top > 0 && top < LEAST_LINES ? LEAST_LINES : top;
}

/* What is at the root of a heap: the last of its candidates, or the first. */
enum root { LAST_AT_ROOT = 1, FIRST_AT_ROOT = -1 };

/* Lets a candidate sink to where it belongs. */
static void sift_down(struct candidate *heap, size_t n, size_t at, enum root root)
{
	heap_sink(heap, n, at, a, b, root * compare_candidates(a, b) > 0);
}

static void sift_up(struct candidate *heap, size_t at)
{
	struct candidate moved = heap[at];

	for (; at > 0 && compare_candidates(&moved, &heap[(at - 1) / 2]) > 0; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moved;
}

/* Keeps it if it is one of the first ones so far. */
static void keep_candidate(struct choice *c, const struct candidate *candidate)
{
	if (c->top == 0 || c->list.n < c->top) {
		*vec_add(&c->list) = *candidate;
		if (c->top > 0)
			sift_up(c->list.items, c->list.n - 1);
	} else if (compare_candidates(candidate, &c->list.items[0]) < 0) {
		c->list.items[0] = *candidate;
		sift_down(c->list.items, c->list.n, 0, LAST_AT_ROOT);
	}
}

/* Loads from other cores, or several threads of which one writes. */
static bool is_candidate(const struct choice *c, const struct c2c_line *line)
{
	return (line->has_threads && line->is_written) || (line->any & c->of_mode) != 0;
}

static uint64_t rank_above_0(const struct candidate *c)
{
	return c->rank > 0 ? (uint64_t)c->rank : 0;
}

static void weigh_line(void *context, const struct c2c_line *line)
{
	struct choice *c = context;
	struct candidate candidate;

	if (line->any & c->of_sharing) {
		c2c_line_add(line, &c->shared);
		c->n_shared++;
	}
	if (!is_candidate(c, line))
		return;
	c->n_candidates++;
	candidate = candidate_of(c->s, line);
	c->ranks += rank_above_0(&candidate);
	keep_candidate(c, &candidate);
}

static void weigh_shard(void *context, size_t shard, unsigned worker)
{
	struct choice *choices = context, *c = &choices[shard];

	(void)worker;
	c2c_table_visit(c->s->options.table, shard, weigh_line, c);
	for (size_t i = c->list.n / 2; i-- > 0;)
		sift_down(c->list.items, c->list.n, i, FIRST_AT_ROOT);
}

static void join_choice(struct c2c *s, struct choice *all, const struct choice *part)
{
	c2c_counts_add(&s->shared, &part->shared);
	s->n_shared_lines += part->n_shared;
	s->n_candidates += part->n_candidates;
	all->ranks += part->ranks;
}

/* What is left of a shard's candidates: a heap with the first of them at its root; not empty. */
struct rest_of_shard {
	struct candidate *heap;
	size_t n;
	bool is_all; /* as many as may be needed, or all that it has */
};

/* Of shards a heap, too: the root has the first of all candidates. Lets one sink to where it belongs. */
static void sink_rest(struct rest_of_shard *heap, size_t n, size_t at)
{
	heap_sink(heap, n, at, a, b, compare_candidates(a->heap, b->heap) < 0);
}

/* The first ones of all shards, in order. False: a shard that has perhaps left others out has no more. */
static bool merge_candidates(struct choice *all, const struct choice parts[C2C_SHARDS])
{
	size_t top = lines_to_choose(all->s), more = wants_more(all->s) ? MORE_LINES : 0;
	size_t most = top == 0 ? SIZE_MAX : top + more;
	struct rest_of_shard heap[C2C_SHARDS];
	size_t n = 0;

	for (size_t i = 0; i < C2C_SHARDS; i++)
		if (parts[i].list.n > 0)
			heap[n++] = (struct rest_of_shard){
				.heap = parts[i].list.items,
				.n = parts[i].list.n,
				.is_all = parts[i].list.n < parts[i].top || parts[i].top >= top,
			};
	for (size_t i = n; i-- > 0;)
		sink_rest(heap, n, i);
	while (n > 0 && all->list.n < most) {
		struct rest_of_shard *first = &heap[0];

		*vec_add(&all->list) = first->heap[0];
		first->heap[0] = first->heap[--first->n];
		if (first->n > 0)
			sift_down(first->heap, first->n, 0, FIRST_AT_ROOT);
		else if (!first->is_all && all->list.n < most)
			return false;
		else
			*first = heap[--n];
		if (n > 0)
			sink_rest(heap, n, 0);
	}
	return true;
}

/* Cuts off what need not be looked at. */
static void keep_chosen(struct choice *all)
{
	size_t n, top = lines_to_choose(all->s);
	uint64_t n_records = 0;
	uint64_t ranks = 0;

	if (top == 0 || all->list.n <= top)
		return;
	for (n = 0; n < top; n++)
		ranks += rank_above_0(&all->list.items[n]);
	for (; wants_more(all->s) && n < all->list.n && n < top + MORE_LINES; n++) {
		n_records += all->list.items[n].n_records;
		ranks += rank_above_0(&all->list.items[n]);
		if (all->list.items[n].rank <= 0 || n_records > MORE_RECORDS)
			break;
	}
	if ((double)ranks < least_part * (double)all->ranks && n > top + FEW_LINES)
		n = top + FEW_LINES;
	all->list.n = n;
}

/*
 * May there be findings? Not if all of them together wait for less than that, and are written to
 * less than what only stores meet on has to be (c2c/verdict/classes.h).
 */
static bool may_have_findings(const struct choice *all)
{
	const struct c2c *s = all->s;
	double cycles = (double)s->lines->loads.cycles, stores = s->total.n[C2C_STORES];
	uint64_t ranks = 0, n_records = 0;

	if (s->request.sort != C2C_SORT_COST || cycles == 0)
		return all->list.n > 0;
	for (size_t i = 0; i < all->list.n; i++) {
		ranks += rank_above_0(&all->list.items[i]);
		n_records += all->list.items[i].n_records;
	}
	return (double)ranks >= C2C_LEAST_SHARE * cycles ||
	       (double)n_records >= C2C_LEAST_STORES * stores;
}

/* May a line be a finding on its own? What the second look finds it to cost is no more than this. */
static bool may_be_contended(const struct c2c *s, const struct candidate *c)
{
	double cycles = (double)s->lines->loads.cycles, stores = s->total.n[C2C_STORES];

	if (s->request.sort != C2C_SORT_COST || cycles == 0)
		return true;
	return (double)c->rank >= C2C_LEAST_SHARE * cycles ||
	       (double)c->n_records >= C2C_LEAST_STORES * stores;
}

static struct choice no_choice(const struct c2c *s)
{
	return (struct choice){
		.s = s,
		.top = lines_to_choose(s) + (wants_more(s) ? MORE_OF_SHARD : 0),
		.of_sharing = c2c_mode_masks[C2C_BY_PEER] | c2c_mode_masks[C2C_BY_HITM],
		.of_mode = c2c_mode_masks[s->options.mode],
	};
}

/* What is chosen, and the lines that are made of it, which are large: all workers touch their pages. */
struct chosen {
	struct c2c *s;
	const struct choice *all;
};

static void make_some_subjects(void *context, size_t part, unsigned worker)
{
	const struct chosen *chosen = context;
	size_t first = part * SUBJECTS_AT_ONCE, n = chosen->all->list.n;

	(void)worker;
	for (size_t i = first; i < n && i < first + SUBJECTS_AT_ONCE; i++) {
		const struct candidate *c = &chosen->all->list.items[i];

		chosen->s->subjects.items[i] = (struct c2c_subject){
			.space = c->space,
			.address = c->address,
			.line = (uint32_t)i,
			.may_be_contended = may_be_contended(chosen->s, c),
		};
	}
}

static void make_subjects(struct c2c *s, const struct choice *all)
{
	s->may_have_findings = may_have_findings(all);
	vec_extend(&s->subjects, all->list.n);
	pool_run(s->session->pool, (all->list.n + SUBJECTS_AT_ONCE - 1) / SUBJECTS_AT_ONCE,
		 make_some_subjects, &(struct chosen){ s, all });
}

/*
 * Of each shard `top` candidates are kept, which are hardly ever too few although they are no more than some times its part: lines are put
 * into shards by a hash. False: they are too few.
 */
static bool choose_of_shards(struct c2c *s, size_t top, struct choice *all)
{
	struct choice choices[C2C_SHARDS];
	bool is_done;

	for (size_t i = 0; i < C2C_SHARDS; i++) {
		choices[i] = no_choice(s);
		choices[i].top = top;
	}
	pool_run(s->session->pool, C2C_SHARDS, weigh_shard, choices);
	is_done = merge_candidates(all, choices);
	for (size_t i = 0; i < C2C_SHARDS; i++) {
		if (is_done)
			join_choice(s, all, &choices[i]);
		vec_release(&choices[i].list);
	}
	return is_done;
}

void c2c_choose_lines(struct c2c *s)
{
	struct choice all = { .s = s };
	size_t top = no_choice(s).top, few = top / C2C_SHARDS * TIMES_ITS_PART + LEAST_OF_SHARD;

	s->total = s->lines->total;
	s->n_lines = c2c_table_n_lines(s->options.table);
	if (few >= top || wants_more(s) || !choose_of_shards(s, few, &all)) {
		all.list.n = 0;
		choose_of_shards(s, top, &all);
	}
	keep_chosen(&all);
	make_subjects(s, &all);
	vec_release(&all.list);
}

void c2c_choose_of(struct c2c *s, const struct c2c_line *lines, size_t n)
{
	struct choice all = no_choice(s);

	for (size_t i = 0; i < n; i++)
		weigh_line(&all, &lines[i]);
	if (all.list.n > 1)
		qsort(all.list.items, all.list.n, sizeof(*all.list.items), compare_candidates);
	keep_chosen(&all);
	s->subjects.n = 0;
	make_subjects(s, &all);
	vec_release(&all.list);
}
