/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass 1 on several threads. Where a record begins is known when all before it were read, so stretches further on are walked
 * from where a record seems to begin:
 *
 *   the walk | stretch 0    | ? stretch 1    | ? stretch 2    |
 *
 * What a stretch has is taken only if the walk comes to its first byte: so a wrong guess costs time, and changes nothing.
 * Records that are no samples are left to the walk.
 */
#include "capture/format/record.h"
#include "capture/state.h"

enum {
	STRETCH_BYTES = 1 << 20,
	/* Stretches are walked where the walk has met so many records in that many bytes … */
	DENSE_RECORDS = 256,
	/* … so that one most likely begins in these. */
	GUESS_BYTES = 16 << 10,
	/* Sizes of records are multiples of this, so stretches begin as far from the walk. */
	RECORD_ALIGNMENT = 8,
	/* Others than samples; the walk reads on behind so many. */
	OTHERS_MAX = 64 << 10,
};

void ahead_start(struct ahead *a, const struct capture *c, size_t segment)
{
	a->capture = c;
	a->segment = segment;
	a->n = a->n_passed = 0;
	a->n_records = c->totals.n_records;
	a->due = c->pool == NULL ? UINT64_MAX : c->segments.items[segment].start + STRETCH_BYTES;
}

void ahead_release(struct ahead *a)
{
	for (size_t i = 0; i < AHEAD_STRETCHES; i++) {
		vec_release(&a->items[i].units);
		vec_release(&a->items[i].others);
	}
}

/* Walks to the first record at or behind `limit`, or to one that is no sample. Returns where it is. */
static uint64_t walk_samples(const struct ahead *a, struct stretch *st, uint64_t at, uint64_t limit)
{
	const struct capture *c = a->capture;
	const struct segment *s = &c->segments.items[a->segment];
	uint64_t n = 0, n_guest = 0, first_ns = st->first_ns, last_ns = st->last_ns, from = at;

	while (at < limit && frame_is_of_kernel(segment_at(s, at), s->end - at)) {
		const uint8_t *bytes = segment_at(s, at);
		const struct frame f = frame_of_kernel(bytes);

		if (f.type != RECORD_SAMPLE)
			break;
		frame_fetch_ahead(bytes, f.size);
		see_time(events_sample_time(&c->events, bytes + RECORD_HEADER_BYTES,
					    f.size - RECORD_HEADER_BYTES),
			 &first_ns, &last_ns);
		n_guest += misc_is_of_guest(f.misc);
		n++;
		at += f.size;
	}
	st->n_samples += n;
	st->n_guest_samples += n_guest;
	st->sample_bytes += at - from;
	st->first_ns = first_ns;
	st->last_ns = last_ns;
	return at;
}

static void add_run(const struct ahead *a, struct stretch *st, uint64_t from, uint64_t to)
{
	if (!st->has_run)
		*vec_add(&st->units) = (struct unit){
			.kind = BATCH_SAMPLES,
			.segment = a->segment,
			.position = from,
			.from = from,
		};
	st->has_run = true;
	st->units.items[st->units.n - 1].to = to;
}

/* Others may change what events there are, or are followed by more than their bytes. */
static bool is_walked_ahead(const struct frame *f)
{
	return f->missing == 0 && (f->type < RECORD_HEADER_ATTR ||
				   f->type == RECORD_FINISHED_ROUND || f->type == RECORD_AUXTRACE);
}

/* Walks from `at` to the first record at or behind `limit`, or to one that is not walked ahead. */
static void walk_stretch(const struct ahead *a, struct stretch *st, uint64_t at, uint64_t limit)
{
	const struct segment *s = &a->capture->segments.items[a->segment];
	struct frame f;

	st->from = at;
	while (st->others.n < OTHERS_MAX) {
		uint64_t from = at;

		at = walk_samples(a, st, at, limit);
		if (at > from)
			add_run(a, st, from, at);
		if (at >= limit || frame_read(segment_at(s, at), s->end - at, &f) != FRAME_OK ||
		    !is_walked_ahead(&f))
			break;
		*vec_add(&st->others) = at;
		st->has_run &= f.type != RECORD_AUXTRACE;
		at += f.size + f.payload;
	}
	st->to = at;
}

/* The first position at or behind `at` where a record seems to begin; UINT64_MAX: none is near. */
static uint64_t guess_record(const struct segment *s, uint64_t at)
{
	uint64_t to = at + GUESS_BYTES < s->end ? at + GUESS_BYTES : s->end;

	for (; at + RECORD_HEADER_BYTES <= to; at += RECORD_ALIGNMENT) {
		uint32_t type = load_u32(segment_at(s, at));

		if (type != 0 && type < N_RECORD_TYPES &&
		    frame_is_believed(segment_at(s, at), s->end - at))
			return at;
	}
	return UINT64_MAX;
}

static void run_stretch(void *context, size_t turn, unsigned worker)
{
	struct ahead *a = context;
	size_t i = pool_apart(turn, a->n);
	struct stretch *own = &a->items[i], st = *own; /* threads do not write beside each other */
	const struct segment *s = &a->capture->segments.items[a->segment];
	uint64_t at = a->start + i * STRETCH_BYTES, limit = at + STRETCH_BYTES;
	uint64_t from = i == 0 ? at : guess_record(s, at);

	(void)worker;
	mapped_populate(&s->file, at - s->base, limit - s->base);
	st.units.n = st.others.n = 0;
	st = (struct stretch){ .units = st.units, .others = st.others };
	if (from != UINT64_MAX)
		walk_stretch(a, &st, from, limit);
	*own = st;
}

/* Walks as many stretches as there are from `at` on. */
static void look_ahead(struct ahead *a, uint64_t at)
{
	uint64_t n = (a->capture->segments.items[a->segment].end - at) / STRETCH_BYTES;

	a->start = at;
	a->n = n < AHEAD_STRETCHES ? (size_t)n : AHEAD_STRETCHES;
	a->n_passed = 0;
	a->n_events = a->capture->events.list.n;
	pool_run(a->capture->pool, a->n, run_stretch, a);
}

const struct stretch *ahead_take(struct ahead *a, uint64_t at, uint64_t payload, uint64_t n_records)
{
	if (a->n_passed == a->n && n_records - a->n_records >= DENSE_RECORDS &&
	    payload <= GUESS_BYTES)
		look_ahead(a, at);
	a->n_records = n_records;
	if (a->n_events != a->capture->events.list.n)
		a->n_passed = a->n;
	while (a->n_passed < a->n && a->items[a->n_passed].from < at)
		a->n_passed++;
	if (a->n_passed < a->n && a->items[a->n_passed].from == at) {
		a->due = a->items[a->n_passed].to;
		return &a->items[a->n_passed++];
	}
	a->due = a->n_passed < a->n ? a->items[a->n_passed].from : at + STRETCH_BYTES;
	return NULL;
}
