/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building: a sweep over the steps keeps what is on top as a row of pieces side by side. A
 * new range cuts the pieces that reach over its two ends, closes those between, and lies
 * there itself. So every range adds at most three pieces, and the pieces tile the plane of
 * addresses × steps:
 *
 *	step
 *	 ^   |  1  |    3    |  0     range 3 closed one piece of range 1, cut off by itself,
 *	 |   |  1  +----+----+  0     and all of range 2
 *	 |   |  1  | 1  | 2  |  0
 *	 +---+-----+----+----+-----> address
 *
 * Finding: a piece is filed under one of its steps, the one with the most trailing zero
 * bits (its centre). All pieces that hold a given step are filed under few centres: the step
 * with ever more of its low bits replaced by 100…0, and 0. Pieces of one centre all hold
 * that step, hence do not overlap in addresses, and binary search finds the only candidate.
 */
#include "process/cover.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/vec.h"
#include "process/marks.h"

/* The state of the sweep. A live piece is known by the number of the edge it begins at. */
struct sweep {
	uint64_t *edges; /* every address where a piece may begin, ascending; the first is 0 */
	size_t n_edges;
	struct marks starts; /* edges where live pieces begin; always edge 0 */
	uint32_t *items;     /* by edge: the live piece's item … */
	uint32_t *froms;     /* … and first step */
	VEC_OF(struct piece) closed;
};

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void find_edges(struct sweep *s, const struct range *ranges, size_t n)
{
	uint64_t *edges = mem_alloc(2 * n + 1, sizeof(*edges));
	size_t n_all = 0, n_distinct = 1;

	edges[n_all++] = 0;
	for (size_t i = 0; i < n; i++) {
		edges[n_all++] = ranges[i].start;
		if (ranges[i].last != UINT64_MAX)
			edges[n_all++] = ranges[i].last + 1;
	}
	qsort(edges, n_all, sizeof(*edges), compare_addresses);
	for (size_t i = 1; i < n_all; i++)
		if (edges[i] != edges[n_distinct - 1])
			edges[n_distinct++] = edges[i];
	s->edges = edges;
	s->n_edges = n_distinct;
}

static size_t edge_at(const struct sweep *s, uint64_t address)
{
	const uint64_t *found =
		bsearch(&address, s->edges, s->n_edges, sizeof(*s->edges), compare_addresses);

	assert(found != NULL);
	return (size_t)(found - s->edges);
}

/* Makes a live piece begin at this edge, by cutting the one that reaches over it. */
static void cut(struct sweep *s, size_t edge)
{
	size_t holder = marks_at_or_before(&s->starts, edge);

	if (holder == edge)
		return;
	s->items[edge] = s->items[holder];
	s->froms[edge] = s->froms[holder];
	marks_set(&s->starts, edge);
}

/* Ends the live piece at this edge with step `to`; returns the edge of the next one. */
static size_t close_piece(struct sweep *s, size_t edge, uint32_t to)
{
	size_t next = marks_after(&s->starts, edge);

	*vec_add(&s->closed) = (struct piece){
		.range = { s->edges[edge], next == MARKS_NONE ? UINT64_MAX : s->edges[next] - 1 },
		.item = s->items[edge],
		.from = s->froms[edge],
		.to = to,
	};
	marks_clear(&s->starts, edge);
	return next;
}

static void lay(struct sweep *s, struct range range, uint32_t step)
{
	size_t start = edge_at(s, range.start), end = MARKS_NONE;

	cut(s, start);
	if (range.last != UINT64_MAX) {
		end = edge_at(s, range.last + 1);
		cut(s, end);
	}
	for (size_t edge = start; edge != end;)
		edge = close_piece(s, edge, step);
	s->items[start] = step;
	s->froms[start] = step;
	marks_set(&s->starts, start);
}

static uint32_t centre(const struct piece *p)
{
	uint32_t last = p->to - 1, differ = p->from ^ last;

	return differ == 0 ? last : last & ~(UINT32_MAX >> 1 >> __builtin_clz(differ));
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	uint32_t p_centre = centre(p), q_centre = centre(q);

	if (p_centre != q_centre)
		return p_centre > q_centre ? 1 : -1;
	return (p->range.start > q->range.start) - (p->range.start < q->range.start);
}

static void file_by_centre(struct cover *c, size_t n_pieces)
{
	qsort(c->pieces, n_pieces, sizeof(*c->pieces), compare_pieces);
	c->first = mem_zalloc((size_t)c->n + 2, sizeof(*c->first));
	for (size_t i = 0; i < n_pieces; i++)
		c->first[centre(&c->pieces[i]) + 1]++;
	for (uint32_t i = 0; i <= c->n; i++)
		c->first[i + 1] += c->first[i];
}

void cover_build(struct cover *c, const struct range *ranges, size_t n)
{
	struct sweep s = { 0 };

	assert(n < UINT32_MAX / 4);
	*c = (struct cover){ .n = (uint32_t)n };
	if (n == 0)
		return;
	find_edges(&s, ranges, n);
	marks_init(&s.starts, s.n_edges);
	s.items = mem_zalloc(s.n_edges, sizeof(*s.items));
	s.froms = mem_zalloc(s.n_edges, sizeof(*s.froms));
	marks_set(&s.starts, 0);
	for (size_t i = 0; i < n; i++)
		lay(&s, ranges[i], (uint32_t)i + 1);
	for (size_t edge = 0; edge != MARKS_NONE;)
		edge = close_piece(&s, edge, c->n + 1);
	c->pieces = mem_resize(s.closed.items, s.closed.n, sizeof(*c->pieces));
	file_by_centre(c, s.closed.n);
	marks_release(&s.starts);
	free(s.edges);
	free(s.items);
	free(s.froms);
}

void cover_release(struct cover *c)
{
	free(c->pieces);
	free(c->first);
	*c = (struct cover){ 0 };
}

/* The piece of a centre that holds address and step, or NULL. */
static const struct piece *find_filed(const struct cover *c, uint32_t at_centre, uint32_t step,
				      uint64_t address)
{
	size_t first = c->first[at_centre], end = c->first[at_centre + 1];
	size_t behind = bisect(first, end, i, c->pieces[i].range.start <= address);
	const struct piece *p;

	if (behind == first)
		return NULL;
	p = &c->pieces[behind - 1];
	return address <= p->range.last && p->from <= step && step < p->to ? p : NULL;
}

struct piece cover_find(const struct cover *c, uint32_t step, uint64_t address)
{
	const struct piece *found;

	assert(step <= c->n);
	if (c->n == 0)
		return (struct piece){ .range = { 0, UINT64_MAX }, .to = 1 };
	found = find_filed(c, 0, step, address);
	for (unsigned bit = 0; found == NULL; bit++) {
		uint32_t at_centre = (step >> bit | 1) << bit;

		assert(bit < 32);
		if (at_centre <= c->n)
			found = find_filed(c, at_centre, step, address);
	}
	return *found;
}
