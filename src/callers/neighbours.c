/* SPDX-License-Identifier: Apache-2.0 */
#include "callers/neighbours.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "scan/scan.h"

/* How far a record at the end of a batch looks for stacks. */
enum { REACH_NS = 100000 };

static void cell_words(uint32_t group, const struct record_cell *cell, uint64_t out[2])
{
	out[0] = group;
	out[1] = (uint64_t)cell->class * CELL_GAPS + cell->gap;
}

uint32_t neighbours_cell(const struct neighbours *n, const struct batch *b, size_t row,
			 uint32_t *out_group)
{
	struct record_cell cell;
	uint64_t words[2];

	*out_group = caller_groups_find(n->groups, b, row);
	if (*out_group == TUPLES_NONE)
		return TUPLES_NONE;
	cell = record_cell(b, row);
	cell_words(*out_group, &cell, words);
	return tuples_find(&n->cells, words);
}

static void *neighbours_new(const struct session *s, const void *options)
{
	struct neighbours *n = mem_zalloc(1, sizeof(*n));
	size_t n_stacks;

	(void)s;
	n->groups = options;
	n_stacks = n->groups->seen->list.n;
	tuples_init(&n->cells, 2);
	n->of_stacks = mem_zalloc(n_stacks, sizeof(*n->of_stacks));
	for (size_t i = 0; i < n_stacks; i++)
		n->of_stacks[i].distance_ns = UINT64_MAX;
	return n;
}

static void partial_free(void *partial)
{
	neighbours_free(partial);
}

void neighbours_free(struct neighbours *n)
{
	if (n == NULL)
		return;
	tuples_release(&n->cells);
	vec_release(&n->sums);
	free(n->of_stacks);
	free(n);
}

static void add_cell(struct neighbours *n, const uint64_t words[2], const struct cell_sums *sums)
{
	uint32_t cell = tuples_add(&n->cells, words);

	if (cell == n->sums.n)
		*vec_add(&n->sums) = (struct cell_sums){ 0 };
	n->sums.items[cell].n += sums->n;
	n->sums.items[cell].cycles += sums->cycles;
}

/* Nearest first; of two as near, the one that was written first. */
static void offer(struct neighbour *to, const struct neighbour *candidate)
{
	if (candidate->distance_ns < to->distance_ns ||
	    (candidate->distance_ns == to->distance_ns && candidate->position < to->position))
		*to = *candidate;
}

/* Offers the row to the stacks of its thread and function from one time to another. */
static void offer_row(struct neighbours *n, const struct batch *b, size_t row, uint64_t from_ns,
		      uint64_t to_ns)
{
	const struct stacks_seen *seen = n->groups->seen;
	uint32_t function = function_of_place(&seen->functions, b->place[row]);
	uint64_t time_ns = b->time_ns[row];
	struct neighbour candidate = { .position = b->position[row] };
	size_t i = stacks_seen_from(seen, b->tid[row], from_ns);

	if (i < seen->list.n && seen->list.items[i].tid == b->tid[row] &&
	    seen->list.items[i].time_ns <= to_ns)
		candidate.cell = record_cell(b, row);
	for (; i < seen->list.n; i++) {
		const struct stack_seen *s = &seen->list.items[i];

		if (s->tid != b->tid[row] || s->time_ns > to_ns)
			break;
		candidate.distance_ns =
			s->time_ns > time_ns ? s->time_ns - time_ns : time_ns - s->time_ns;
		if (s->function == function)
			offer(&n->of_stacks[i], &candidate);
	}
}

/* From the record of the same thread before it, on its CPU, to that behind it. */
static void look_around(struct neighbours *n, const struct batch *b, size_t row)
{
	const uint32_t needs = HAS_TIME | HAS_TID | HAS_PC;
	uint64_t time_ns = b->time_ns[row];
	uint64_t from_ns = time_ns > REACH_NS ? time_ns - REACH_NS : 0, to_ns = time_ns + REACH_NS;

	if ((b->has[row] & needs) != needs)
		return;
	if (row > 0 && record_is_neighbour(b, row, row - 1))
		from_ns = b->time_ns[row - 1];
	if (record_is_neighbour(b, row, row + 1))
		to_ns = b->time_ns[row + 1];
	offer_row(n, b, row, from_ns, to_ns);
}

static void neighbours_consume(void *partial, const struct batch *b)
{
	struct neighbours *n = partial;

	if (b->kind != BATCH_SPE)
		return;
	n->n_records += b->n;
	for (size_t row = 0; row < b->n; row++) {
		uint32_t group = caller_groups_find(n->groups, b, row);
		struct cell_sums sums = { 1, b->has[row] & HAS_TOTAL ? b->total[row] : 0 };
		struct record_cell cell;
		uint64_t words[2];

		if (group == TUPLES_NONE)
			continue;
		cell = record_cell(b, row);
		cell_words(group, &cell, words);
		add_cell(n, words, &sums);
		look_around(n, b, row);
	}
}

static void neighbours_merge(void *into, const void *from, const struct id_map *map)
{
	struct neighbours *n = into;
	const struct neighbours *other = from;

	(void)map;
	n->n_records += other->n_records;
	for (uint32_t i = 0; i < other->cells.n; i++)
		add_cell(n, tuples_get(&other->cells, i), &other->sums.items[i]);
	for (size_t i = 0; i < n->groups->seen->list.n; i++)
		offer(&n->of_stacks[i], &other->of_stacks[i]);
}

static bool neighbours_let_go(void *partial, const struct tuples *frames, bool must)
{
	(void)partial;
	(void)frames;
	(void)must;
	return true;
}

static const struct analysis_class neighbours_class = {
	.new = neighbours_new,
	.free = partial_free,
	.consume = neighbours_consume,
	.let_go = neighbours_let_go,
	.merge = neighbours_merge,
};

struct neighbours *neighbours_find(const struct caller_groups *groups, struct session *s)
{
	struct analysis a = { .class = &neighbours_class, .options = groups };

	scan_part(s, NULL, &(struct scan_wish){ .keeps_places = true }, &a, 1);
	return a.result;
}
