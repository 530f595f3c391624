/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/near.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/accesses/result.h"

/*
 * What lines near by may come to together: so many accesses that differ, each of which takes some
 * hundred bytes. Of a line with many most are alike.
 */
enum { MOST_ACCESSES = 32768, MOST_OF_LINE = 128 };

/* A search of the table of all lines, or of a shard of it. */
struct search {
	const struct c2c *s;
	const struct address_filter *blocks; /* may any subject be within reach? */
	uint64_t *n_accesses; /* by distance from the nearest subject, in lines; NULL: are known */
	uint64_t reach_bytes;
	VEC_OF(struct c2c_spot) found; /* lines that near */
};

static int compare_spots(const void *left, const void *right)
{
	const struct c2c_spot *a = left, *b = right;

	if (a->space != b->space)
		return (a->space > b->space) - (a->space < b->space);
	return (a->address > b->address) - (a->address < b->address);
}

/* How far a line is from the nearest subject in its space: 0 if it is one. */
static uint64_t distance_of(const struct c2c_near *near, const struct c2c_spot *line)
{
	size_t low = 0, high = near->n_subjects;
	uint64_t distance = UINT64_MAX;

	while (low < high) { /* the first one that is not before it */
		size_t middle = low + (high - low) / 2;

		if (compare_spots(&near->subjects[middle], line) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < near->n_subjects && near->subjects[low].space == line->space)
		distance = near->subjects[low].address - line->address;
	if (low > 0 && near->subjects[low - 1].space == line->space &&
	    line->address - near->subjects[low - 1].address < distance)
		distance = line->address - near->subjects[low - 1].address;
	return distance;
}

static void visit(void *context, const struct c2c_line *line)
{
	struct search *search = context;
	const struct c2c_spot spot = { .space = line->space, .address = line->address };
	uint64_t distance, n;

	if (!address_filter_may_have(search->blocks, line->address))
		return;
	distance = distance_of(&search->s->near, &spot);
	if (distance == 0 || distance > search->reach_bytes)
		return;
	if (search->n_accesses == NULL) {
		*vec_add(&search->found) = spot;
		return;
	}
	n = c2c_line_sum(line, C2C_BIT(RECORDS));
	search->n_accesses[distance / search->s->options.line_bytes] +=
		n < MOST_OF_LINE ? n : MOST_OF_LINE;
}

static void search_shard(void *context, size_t shard, unsigned worker)
{
	struct search *searches = context;

	(void)worker;
	c2c_table_visit(searches[shard].s->options.table, shard, visit, &searches[shard]);
}

/* How far to look so that it is not too much. */
static uint64_t find_reach(const struct c2c *s, struct search *searches, size_t n_distances)
{
	uint64_t *all = mem_zalloc(C2C_SHARDS * n_distances, sizeof(*all)), n = 0;
	size_t distance;

	for (size_t i = 0; i < C2C_SHARDS; i++)
		searches[i].n_accesses = all + i * n_distances;
	pool_run(s->session->pool, C2C_SHARDS, search_shard, searches);
	for (distance = 1; distance < n_distances; distance++) {
		for (size_t i = 0; i < C2C_SHARDS; i++)
			n += searches[i].n_accesses[distance];
		if (n > MOST_ACCESSES)
			break;
	}
	free(all);
	return (distance - 1) * s->options.line_bytes;
}

static void choose(struct c2c *s, struct search *searches)
{
	VEC_OF(struct c2c_spot) all = { 0 };

	for (size_t i = 0; i < C2C_SHARDS; i++) {
		searches[i].n_accesses = NULL;
		searches[i].reach_bytes = s->near.reach_bytes;
	}
	if (s->near.reach_bytes > 0)
		pool_run(s->session->pool, C2C_SHARDS, search_shard, searches);
	for (size_t i = 0; i < C2C_SHARDS; i++) {
		for (size_t k = 0; k < searches[i].found.n; k++)
			*vec_add(&all) = searches[i].found.items[k];
		vec_release(&searches[i].found);
	}
	if (all.n > 1)
		qsort(all.items, all.n, sizeof(*all.items), compare_spots);
	c2c_choice_init(&s->near.choice, &s->options, all.n, s->first_ns, s->last_ns);
	s->near.choice.only_touches = true;
	for (size_t i = 0; i < all.n; i++)
		c2c_choice_add(&s->near.choice, all.items[i].space, all.items[i].address);
	vec_release(&all);
}

static void list_subjects(struct c2c *s, struct address_filter *blocks)
{
	struct c2c_near *near = &s->near;

	near->n_subjects = s->subjects.n;
	near->subjects = mem_alloc(near->n_subjects + 1, sizeof(*near->subjects));
	address_filter_init(blocks, C2C_REACH_BYTES, 3 * near->n_subjects);
	for (size_t i = 0; i < near->n_subjects; i++) {
		const struct c2c_subject *subject = &s->subjects.items[i];

		near->subjects[i] =
			(struct c2c_spot){ .space = subject->space, .address = subject->address };
		address_filter_add(blocks, subject->address - C2C_REACH_BYTES);
		address_filter_add(blocks, subject->address);
		address_filter_add(blocks, subject->address + C2C_REACH_BYTES);
	}
	if (near->n_subjects > 1)
		qsort(near->subjects, near->n_subjects, sizeof(*near->subjects), compare_spots);
}

void c2c_near_choose(struct c2c *s)
{
	struct search searches[C2C_SHARDS];
	struct address_filter blocks;

	list_subjects(s, &blocks);
	for (size_t i = 0; i < C2C_SHARDS; i++)
		searches[i] = (struct search){ .s = s,
					       .blocks = &blocks,
					       .reach_bytes = C2C_REACH_BYTES };
	s->near.reach_bytes = find_reach(s, searches, C2C_REACH_BYTES / s->options.line_bytes + 1);
	choose(s, searches);
	address_filter_release(&blocks);
}

void c2c_near_release(struct c2c_near *near)
{
	c2c_accesses_class.free(near->seen);
	c2c_choice_release(&near->choice);
	free(near->subjects);
	*near = (struct c2c_near){ 0 };
}

bool c2c_near_is_beyond(const struct c2c_near *near, const uint64_t *line)
{
	const struct c2c_spot spot = { .space = (uint32_t)line[0], .address = line[1] };

	return near->reach_bytes < C2C_REACH_BYTES && distance_of(near, &spot) > near->reach_bytes;
}
