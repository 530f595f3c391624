/* SPDX-License-Identifier: Apache-2.0 */
/* Without records of switches: in which slices of the time threads have SPE records. */
#include <stdlib.h>

#include "base/alloc.h"
#include "running/inside.h"

enum { MOST_SLICES = 200, LEAST_SLICES = 10, RECORDS_OF_SLICE = 20 };

static void *slices_new(const struct session *s, const void *options)
{
	struct running_slices *r = mem_zalloc(1, sizeof(*r));

	(void)s;
	r->options = options;
	tuples_init(&r->threads, 2);
	return r;
}

static void slices_free(void *partial)
{
	struct running_slices *r = partial;

	if (r == NULL)
		return;
	tuples_release(&r->threads);
	free(r);
}

static void slices_consume(void *partial, const struct batch *b)
{
	struct running_slices *r = partial;
	const struct slices_options *o = r->options;

	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		uint64_t key[2] = { 0, b->tid[row] };

		if (!(b->has[row] & HAS_TID) || !(b->has[row] & HAS_TIME) ||
		    b->time_ns[row] < o->first_ns || b->time_ns[row] > o->last_ns)
			continue;
		key[0] = (b->time_ns[row] - o->first_ns) / o->slice_ns;
		tuples_add(&r->threads, key);
	}
}

static void slices_merge(void *into, const void *from, const struct id_map *map)
{
	struct running_slices *to = into;
	const struct running_slices *part = from;

	(void)map;
	for (uint32_t i = 0; i < part->threads.n; i++)
		tuples_add(&to->threads, tuples_get(&part->threads, i));
}

const struct analysis_class running_slices_class = {
	.new = slices_new,
	.free = slices_free,
	.consume = slices_consume,
	.merge = slices_merge,
};

/* Slices in which a thread that runs has enough records to be seen. */
bool running_slices_choose(const struct session *s, uint64_t n_records, struct slices_options *out)
{
	uint64_t n_threads = 0, n, span = s->last_ns - s->first_ns;

	for (uint32_t i = 1; i < timeline_n_processes(s->timeline); i++)
		if (!timeline_process(s->timeline, i)->is_kernel)
			n_threads += timeline_process(s->timeline, i)->n_threads;
	n = n_threads == 0 ? 0 : n_records / (RECORDS_OF_SLICE * n_threads);
	n = n > MOST_SLICES ? MOST_SLICES : n;
	if (s->last_ns <= s->first_ns || n < LEAST_SLICES || span < n)
		return false;
	*out = (struct slices_options){ s->first_ns, s->last_ns, span / n };
	return true;
}

struct running *running_of_slices(struct session *s, const struct running_slices *seen)
{
	const struct slices_options *o = seen->options;
	struct running *out = mem_zalloc(1, sizeof(*out));
	size_t n = (o->last_ns - o->first_ns) / o->slice_ns + 1;
	uint32_t *n_threads = mem_zalloc(n, sizeof(*n_threads));

	out->session = s;
	out->first_ns = o->first_ns;
	out->last_ns = o->last_ns;
	out->slice_ns = o->slice_ns;
	tuples_init(&out->threads, 1);
	out->first_wait = mem_zalloc(1, sizeof(*out->first_wait));
	for (uint32_t i = 0; i < seen->threads.n; i++) {
		const uint64_t *key = tuples_get(&seen->threads, i);

		n_threads[key[0]] += running_is_of_program(s, (uint32_t)key[1],
							   o->first_ns + key[0] * o->slice_ns);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t from = o->first_ns + i * o->slice_ns, left = o->last_ns - from;

		running_add_time(out, n_threads[i], left < o->slice_ns ? left : o->slice_ns);
	}
	free(n_threads);
	return out;
}
