/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/near.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/pool.h"
#include "base/radix.h"
#include "c2c/accesses/result.h"

enum {
	MOST_OF_LINE = 128, /* accesses that differ: of a line with many most are alike */
	MOST_OF_OTHERS = C2C_MOST_NEAR / 4, /* around lines that matter with others only */

	SLOTS_AHEAD = 16,     /* subjects */
	LINES_AHEAD = 8,      /* … */
	MOST_LOOKUPS = 65536, /* lines asked for: more take as long as a scan of their own */
	PART = 256,	      /* subjects that a worker looks around at a time */
};

/* What is found so far from some of the subjects. */
struct part {
	VEC_OF(struct c2c_spot) lines;
	uint64_t n_accesses, n_lookups;
};

/* The lines that it finds are those nearest to subjects first. */
struct search {
	struct c2c *s;
	struct c2c_neighbourhood *around;
	uint64_t distance;
	struct part *parts; /* of PART subjects each */
	uint64_t n_accesses, n_lookups;
};

static int compare_spots(const void *left, const void *right)
{
	const struct c2c_spot *a = left, *b = right;

	if (a->space != b->space)
		return (a->space > b->space) - (a->space < b->space);
	return (a->address > b->address) - (a->address < b->address);
}

static struct radix_pair key_of_subject(const void *subjects, size_t i)
{
	const struct c2c_subject *subject = (const struct c2c_subject *)subjects + i;

	return (struct radix_pair){ subject->space, subject->address };
}

static void list_subjects(struct c2c *s)
{
	uint32_t *order = radix_order(s->subjects.items, s->subjects.n, key_of_subject);

	for (size_t i = 0; i < s->subjects.n; i++) {
		const struct c2c_subject *subject = &s->subjects.items[order[i]];
		const struct c2c_spot spot = { .space = subject->space,
					       .address = subject->address };

		*vec_add(&s->near.all.subjects) = spot;
		if (subject->may_be_contended)
			*vec_add(&s->near.contended.subjects) = spot;
	}
	free(order);
}

/* From a subject to the next one; both are in order. */
static uint64_t gap_behind(const struct c2c_neighbourhood *h, size_t subject)
{
	const struct c2c_spot *a = &h->subjects.items[subject], *b = a + 1;

	return subject + 1 < h->subjects.n && a->space == b->space ? b->address - a->address
								   : UINT64_MAX;
}

static void look_up(const struct search *search, struct part *out, uint32_t space, uint64_t address)
{
	struct c2c_line line;
	uint64_t n;

	out->n_lookups++;
	if (!c2c_table_find(search->s->options.table, space, address, &line))
		return;
	n = c2c_line_sum(&line, C2C_BIT(RECORDS));
	out->n_accesses += n < MOST_OF_LINE ? n : MOST_OF_LINE;
	*vec_add(&out->lines) = (struct c2c_spot){ .space = space, .address = address };
}

/* What the lookups of subjects that come soon are for, and what those before them have to wait for. */
static void fetch_ahead(const struct search *search, size_t subject, uint64_t distance)
{
	const struct c2c_neighbourhood *h = search->around;
	const struct c2c_table *table = search->s->options.table;

	if (h->subjects.n - subject > SLOTS_AHEAD) {
		const struct c2c_spot *s = &h->subjects.items[subject + SLOTS_AHEAD];

		c2c_table_fetch(table, s->space, s->address - distance);
		c2c_table_fetch(table, s->space, s->address + distance);
	}
	if (h->subjects.n - subject > LINES_AHEAD) {
		const struct c2c_spot *s = &h->subjects.items[subject + LINES_AHEAD];

		c2c_table_fetch_line(table, s->space, s->address - distance);
		c2c_table_fetch_line(table, s->space, s->address + distance);
	}
}

/* Looks up the lines so far from their nearest subject, of a part of these, each once. */
static void look_up_part(void *context, size_t number, unsigned worker)
{
	const struct search *search = context;
	const struct c2c_neighbourhood *h = search->around;
	uint64_t distance = search->distance;
	size_t first = number * PART,
	       end = first + PART < h->subjects.n ? first + PART : h->subjects.n;
	uint64_t before = first == 0 ? UINT64_MAX : gap_behind(h, first - 1);
	struct part part = { 0 };

	(void)worker;
	for (size_t i = first; i < end; i++) {
		const struct c2c_spot *subject = &h->subjects.items[i];
		uint64_t behind = gap_behind(h, i);

		fetch_ahead(search, i, distance);
		if (2 * distance < before)
			look_up(search, &part, subject->space, subject->address - distance);
		if (2 * distance <= behind)
			look_up(search, &part, subject->space, subject->address + distance);
		before = behind;
	}
	search->parts[number] = part;
}

static void take_part(struct search *search, struct part *part)
{
	for (size_t i = 0; i < part->lines.n; i++)
		*vec_add(&search->s->near.lines) = part->lines.items[i];
	search->n_accesses += part->n_accesses;
	search->n_lookups += part->n_lookups;
	vec_release(&part->lines);
}

static void look_up_all(struct search *search)
{
	size_t n = (search->around->subjects.n + PART - 1) / PART;

	if (n == 1)
		look_up_part(search, 0, 0);
	else
		pool_run(search->s->session->pool, n, look_up_part, search);
	for (size_t i = 0; i < n; i++)
		take_part(search, &search->parts[i]);
}

/*
 * Looks farther and farther around these subjects, as long as it is not too much. That costs time, as
 * memory is bounded where accesses are kept (most_near).
 */
static void find_lines_around(struct c2c *s, struct c2c_neighbourhood *h, uint64_t least_bytes,
			      uint64_t most_accesses)
{
	struct c2c_near *near = &s->near;
	struct search search = {
		.s = s,
		.around = h,
		.parts = mem_alloc(h->subjects.n / PART + 1, sizeof(*search.parts)),
	};

	while (h->reach_bytes < C2C_REACH_BYTES && search.n_lookups < MOST_LOOKUPS) {
		size_t n_found = near->lines.n;

		search.distance = h->reach_bytes + s->options.line_bytes;
		look_up_all(&search);
		if (search.n_accesses > most_accesses && search.distance > least_bytes) {
			near->lines.n = n_found;
			break;
		}
		h->reach_bytes = search.distance;
	}
	free(search.parts);
}

void c2c_near_choose(struct c2c *s)
{
	struct c2c_near *near = &s->near;

	list_subjects(s);
	find_lines_around(s, &near->contended, C2C_NEAR_LINES * s->options.line_bytes,
			  C2C_MOST_NEAR - MOST_OF_OTHERS);
	if (near->all.subjects.n > near->contended.subjects.n)
		find_lines_around(s, &near->all, 0, MOST_OF_OTHERS);
}

void c2c_near_release(struct c2c_near *near)
{
	vec_release(&near->lines);
	vec_release(&near->contended.subjects);
	vec_release(&near->all.subjects);
	*near = (struct c2c_near){ 0 };
}

/* From the nearest subject in the line's space. */
static uint64_t distance_of(const struct c2c_neighbourhood *h, const struct c2c_spot *line)
{
	const struct c2c_spot *subjects = h->subjects.items;
	size_t next = bisect(0, h->subjects.n, i, compare_spots(&subjects[i], line) < 0);
	uint64_t distance = UINT64_MAX;

	if (next < h->subjects.n && subjects[next].space == line->space)
		distance = subjects[next].address - line->address;
	if (next > 0 && subjects[next - 1].space == line->space &&
	    line->address - subjects[next - 1].address < distance)
		distance = line->address - subjects[next - 1].address;
	return distance;
}

bool c2c_near_is_beyond(const struct c2c_near *near, const uint64_t *line)
{
	const struct c2c_spot spot = { .space = (uint32_t)line[0], .address = line[1] };

	return distance_of(&near->contended, &spot) > near->contended.reach_bytes &&
	       distance_of(&near->all, &spot) > near->all.reach_bytes;
}
