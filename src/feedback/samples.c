/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/samples.h"

#include <stdlib.h>

#include "base/alloc.h"

static void *place_samples_new(const struct session *session, const void *options)
{
	struct place_samples *s = mem_zalloc(1, sizeof(*s));

	(void)session;
	s->event = *(const size_t *)options;
	tuples_init(&s->places, 1);
	return s;
}

static void place_samples_free(void *partial)
{
	struct place_samples *s = partial;

	if (s == NULL)
		return;
	tuples_release(&s->places);
	vec_release(&s->sums);
	free(s);
}

static void add_samples(struct place_samples *s, uint64_t place, uint64_t n, uint64_t period)
{
	uint32_t number = tuples_add(&s->places, &place);
	struct place_samples_sum *sum;

	if (number == s->sums.n)
		vec_add(&s->sums);
	sum = &s->sums.items[number];
	sum->n += n;
	/* periods come from the file: sums stay at the largest number */
	sum->period = sum->period > UINT64_MAX - period ? UINT64_MAX : sum->period + period;
	s->n += n;
}

static void place_samples_consume(void *partial, const struct batch *b)
{
	struct place_samples *s = partial;

	for (size_t row = 0; b->kind == BATCH_SAMPLES && row < b->n; row++)
		if (b->event[row] == s->event && b->has[row] & HAS_PLACE)
			add_samples(s, b->place[row], 1,
				    b->has[row] & HAS_PERIOD ? b->period[row] : 1);
}

static void place_samples_merge(void *into, const void *from, const struct id_map *map)
{
	const struct place_samples *part = from;

	(void)map; /* places have the same numbers everywhere */
	for (uint32_t i = 0; i < part->places.n; i++)
		add_samples(into, tuples_get(&part->places, i)[0], part->sums.items[i].n,
			    part->sums.items[i].period);
}

const struct analysis_class place_samples_class = {
	.new = place_samples_new,
	.free = place_samples_free,
	.consume = place_samples_consume,
	.merge = place_samples_merge,
};
