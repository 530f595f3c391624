/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/near.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/accesses/result.h"

enum {
	/*
	 * What may be kept of lines near by: so many accesses that differ, each of which takes some
	 * hundred bytes. Of a line with many most are alike.
	 */
	MOST_ACCESSES = 32768,
	MOST_OF_LINE = 128,

	MOST_LOOKUPS = 65536, /* lines asked for: more take as long as a scan of their own */
};

/* Lines found so far, those nearest to subjects first. */
struct search {
	struct c2c *s;
	VEC_OF(struct c2c_spot) found;
	uint64_t n_accesses, n_lookups;
};

static int compare_spots(const void *left, const void *right)
{
	const struct c2c_spot *a = left, *b = right;

	if (a->space != b->space)
		return (a->space > b->space) - (a->space < b->space);
	return (a->address > b->address) - (a->address < b->address);
}

static void list_subjects(struct c2c *s)
{
	struct c2c_near *near = &s->near;

	near->n_subjects = s->subjects.n;
	near->subjects = mem_alloc(near->n_subjects + 1, sizeof(*near->subjects));
	for (size_t i = 0; i < near->n_subjects; i++)
		near->subjects[i] = (struct c2c_spot){ .space = s->subjects.items[i].space,
						       .address = s->subjects.items[i].address };
	if (near->n_subjects > 1)
		qsort(near->subjects, near->n_subjects, sizeof(*near->subjects), compare_spots);
}

/* From a subject to the next one; both are in order. */
static uint64_t gap_behind(const struct c2c_near *near, size_t subject)
{
	const struct c2c_spot *a = &near->subjects[subject], *b = a + 1;

	return subject + 1 < near->n_subjects && a->space == b->space ? b->address - a->address
								      : UINT64_MAX;
}

static void look_up(struct search *search, uint32_t space, uint64_t address)
{
	struct c2c_line line;
	uint64_t n;

	search->n_lookups++;
	if (!c2c_table_find(search->s->options.table, space, address, &line))
		return;
	n = c2c_line_sum(&line, C2C_BIT(RECORDS));
	search->n_accesses += n < MOST_OF_LINE ? n : MOST_OF_LINE;
	*vec_add(&search->found) = (struct c2c_spot){ .space = space, .address = address };
}

/* Looks up all lines so far from their nearest subject, each once. */
static void look_up_all(struct search *search, uint64_t distance)
{
	const struct c2c_near *near = &search->s->near;
	uint64_t before = UINT64_MAX;

	for (size_t i = 0; i < near->n_subjects; i++) {
		const struct c2c_spot *subject = &near->subjects[i];
		uint64_t behind = gap_behind(near, i);

		if (2 * distance < before)
			look_up(search, subject->space, subject->address - distance);
		if (2 * distance <= behind)
			look_up(search, subject->space, subject->address + distance);
		before = behind;
	}
}

/* Looks farther and farther, as long as it is not too much. */
static void near_find_lines(struct search *search)
{
	struct c2c_near *near = &search->s->near;
	uint64_t line_bytes = search->s->options.line_bytes;

	while (near->reach_bytes < C2C_REACH_BYTES && search->n_lookups < MOST_LOOKUPS) {
		size_t n_found = search->found.n;

		look_up_all(search, near->reach_bytes + line_bytes);
		if (search->n_accesses > MOST_ACCESSES) {
			search->found.n = n_found;
			return;
		}
		near->reach_bytes += line_bytes;
	}
}

void c2c_near_choose(struct c2c *s)
{
	struct search search = { .s = s };

	list_subjects(s);
	near_find_lines(&search);
	c2c_choice_init(&s->near.choice, &s->options, search.found.n, s->first_ns, s->last_ns);
	s->near.choice.only_touches = true;
	s->near.choice.most_touches = MOST_ACCESSES;
	for (size_t i = 0; i < search.found.n; i++)
		c2c_choice_add(&s->near.choice, search.found.items[i].space,
			       search.found.items[i].address);
	vec_release(&search.found);
}

void c2c_near_release(struct c2c_near *near)
{
	c2c_accesses_class.free(near->seen);
	c2c_choice_release(&near->choice);
	free(near->subjects);
	*near = (struct c2c_near){ 0 };
}

/* From the nearest subject in the line's space. */
static uint64_t distance_of(const struct c2c_near *near, const struct c2c_spot *line)
{
	const struct c2c_spot *subjects = near->subjects;
	size_t low = 0, high = near->n_subjects;
	uint64_t distance = UINT64_MAX;

	while (low < high) { /* the first one that is not before it */
		size_t middle = low + (high - low) / 2;

		if (compare_spots(&subjects[middle], line) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < near->n_subjects && subjects[low].space == line->space)
		distance = subjects[low].address - line->address;
	if (low > 0 && subjects[low - 1].space == line->space &&
	    line->address - subjects[low - 1].address < distance)
		distance = line->address - subjects[low - 1].address;
	return distance;
}

uint32_t c2c_near_find(const struct c2c_near *near, const uint64_t *line)
{
	return near->choice.keys.n == 0 ? TUPLES_NONE : tuples_find(&near->choice.keys, line);
}

void c2c_near_take(struct c2c_near *near, struct c2c_accesses *seen)
{
	near->seen = seen;
	if (seen == NULL || !seen->is_full)
		return;
	c2c_accesses_class.free(seen);
	near->seen = NULL;
	c2c_choice_release(&near->choice);
	near->reach_bytes = 0;
}

bool c2c_near_is_beyond(const struct c2c_near *near, const uint64_t *line)
{
	const struct c2c_spot spot = { .space = (uint32_t)line[0], .address = line[1] };

	return near->reach_bytes < C2C_REACH_BYTES && distance_of(near, &spot) > near->reach_bytes;
}
