/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sharing_fight.h"

#include <math.h>

#include "base/tuples.h"

static double hypotenuse(double a, double b)
{
	return sqrt(a * a + b * b);
}

static void add_judgement(struct sharing_judgement *to, const struct sharing_judgement *from)
{
	double victims = (double)to->n_victims + from->n_victims;

	if (victims > 0)
		to->false_part =
			(to->false_part * to->n_victims + from->false_part * from->n_victims) /
			victims;
	to->is_both |= from->is_both;
	to->has_lock |= from->has_lock;
	to->is_guarded |= from->is_guarded;
	to->n_writes += from->n_writes;
	to->n_waited += from->n_waited;
	to->n_victims += from->n_victims;
}

static void add_line(struct sharing_subject *to, const struct sharing_subject *from)
{
	sharing_counts_add(&to->counts, &from->counts);
	sharing_latency_merge(&to->contended, &from->contended);
	sharing_latency_merge(&to->reloads, &from->reloads);
	to->excess_cycles += from->excess_cycles;
	to->share += from->share;
	to->error = hypotenuse(to->error, from->error);
	to->reload_share += from->reload_share;
	to->reload_error = hypotenuse(to->reload_error, from->reload_error);
	to->n_pages = from->n_pages > to->n_pages ? from->n_pages : to->n_pages;
	add_judgement(&to->judgement, &from->judgement);
}

/* A thread that is on several lines is one. */
static void count_threads(const struct sharing *s, struct sharing_fight *f)
{
	struct tuples threads, writers;

	tuples_init(&threads, 1);
	tuples_init(&writers, 1);
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct sharing_subject *line = &s->subjects.items[f->lines.items[i]];

		for (uint32_t k = 0; k < line->n_touches; k++) {
			struct sharing_touch_key key = sharing_touch_key(
				s->accesses_seen, s->order[line->first_touch + k]);
			struct sharing_extent extent = sharing_extent(s, &key);

			tuples_add(&threads, &(uint64_t){ key.tid });
			if (sharing_kind_writes(extent.kind))
				tuples_add(&writers, &(uint64_t){ key.tid });
		}
	}
	f->sum.judgement.n_threads = threads.n;
	f->sum.judgement.n_writers = writers.n;
	tuples_release(&threads);
	tuples_release(&writers);
}

void sharing_fight_init(struct sharing_fight *f, const struct sharing *s, const uint32_t *leaders,
			uint32_t first)
{
	*f = (struct sharing_fight){ .sum = s->subjects.items[first] };
	*vec_add(&f->lines) = first;
	for (uint32_t i = first + 1; i < s->subjects.n; i++) {
		if (leaders[i] != first)
			continue;
		*vec_add(&f->lines) = i;
		add_line(&f->sum, &s->subjects.items[i]);
	}
	if (f->lines.n > 1)
		count_threads(s, f);
}

void sharing_fight_release(struct sharing_fight *f)
{
	vec_release(&f->lines);
}
