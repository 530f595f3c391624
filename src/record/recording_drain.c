/* SPDX-License-Identifier: Apache-2.0 */
/* Moves records from the rings to the file, and counts what the kernel lost. */
#include "record/recording.h"

#include "base/cursor.h"
#include "capture/format/record.h"

enum { HEADER_BYTES = 8, NO_TID = -1 };

/*
 * The 64-bit word at offset `at` of both pieces. Records are 8-byte aligned, so a word is in one
 * piece.
 */
static uint64_t recording_drain_word_at(const struct ring_bytes *b, size_t at)
{
	return at < b->n ? load_u64(b->bytes + at) : load_u64(b->rest + (at - b->n));
}

static void note_time(struct recording *r, uint64_t time_ns)
{
	if (r->first_ns == 0 || time_ns < r->first_ns)
		r->first_ns = time_ns;
	if (time_ns > r->last_ns)
		r->last_ns = time_ns;
}

static void note_aux(struct recording *r, uint64_t flags)
{
	r->n_aux++;
	r->n_aux_truncated += (flags & AUX_TRUNCATED) != 0;
	r->n_aux_collided += (flags & AUX_COLLISION) != 0;
}

/* Counts samples and losses. A ring holds whole records only. */
static void recording_drain_look_at(struct recording *r, const struct ring_bytes *b)
{
	size_t end = b->n + b->n_rest;

	for (size_t at = 0; end - at >= HEADER_BYTES;) {
		uint64_t header = recording_drain_word_at(b, at);
		uint32_t type = (uint32_t)header;
		size_t size = header >> 48, body = at + HEADER_BYTES;

		if (size < HEADER_BYTES || size > end - at)
			return;
		r->n_samples += type == RECORD_SAMPLE;
		if (type == RECORD_SAMPLE && r->time_word >= 0 &&
		    size >= HEADER_BYTES * (2 + (size_t)r->time_word))
			note_time(r, recording_drain_word_at(b, body + 8 * (size_t)r->time_word));
		else if (type == RECORD_LOST && size >= HEADER_BYTES + 16)
			r->n_records_lost += recording_drain_word_at(b, body + 8);
		else if (type == RECORD_AUX && size >= HEADER_BYTES + 24)
			note_aux(r, recording_drain_word_at(b, body + 16));
		at += size;
	}
}

static uint64_t drain_ring(struct recording *r, struct stream *s, struct writer *w)
{
	struct ring_bytes b = ring_peek(&s->ring);

	if (b.n == 0)
		return 0;
	recording_drain_look_at(r, &b);
	writer_ring(w, b.bytes, b.n, b.rest, b.n_rest);
	ring_consume(&s->ring, &b);
	return b.n + b.n_rest;
}

static void write_aux(struct recording *r, const struct stream *s, struct writer *w,
		      const struct ring_bytes *b)
{
	struct record_auxtrace header = {
		.size = b->n + b->n_rest,
		.offset = b->position,
		.reference = r->kernel->clock_ns(r->kernel->context, CLOCK_MONOTONIC_RAW),
		.idx = (uint32_t)(s - r->streams.items),
		.tid = (uint32_t)NO_TID,
		.cpu = s->cpu,
	};

	writer_auxtrace_pieces(w, &header, b->bytes, b->n, b->rest);
	r->aux_bytes += header.size;
}

/*
 * Enables SPE events that the kernel stopped because the buffer was full. A running event is not
 * affected.
 */
static void start_spe_again(const struct recording *r, const struct stream *s)
{
	for (size_t i = 0; i < r->fds.n; i++) {
		const struct recording_fd *f = &r->fds.items[i];

		if (f->cpu == s->cpu && r->events->list.items[f->event].is_spe)
			r->kernel->control(r->kernel->context, f->fd, KERNEL_ENABLE, 0);
	}
}

static uint64_t drain_aux(struct recording *r, struct stream *s, struct writer *w)
{
	struct ring_bytes b;

	if (s->aux.data == NULL || s->aux.is_overwritten)
		return 0;
	b = aux_ring_peek(&s->aux);
	if (b.n == 0)
		return 0;
	write_aux(r, s, w, &b);
	aux_ring_consume(&s->aux, &b);
	if (!r->is_stopped)
		start_spe_again(r, s);
	return b.n + b.n_rest;
}

uint64_t recording_drain(struct recording *r, struct writer *w)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < r->streams.n; i++) {
		moved += drain_ring(r, &r->streams.items[i], w);
		moved += drain_aux(r, &r->streams.items[i], w);
	}
	if (moved > 0)
		writer_finished_round(w);
	return moved;
}

void recording_snapshot(struct recording *r, struct writer *w)
{
	for (size_t i = 0; i < r->streams.n; i++) {
		struct stream *s = &r->streams.items[i];
		struct ring_bytes b;

		if (s->aux.data == NULL)
			continue;
		b = aux_ring_snapshot(&s->aux);
		if (b.n > 0)
			write_aux(r, s, w, &b);
	}
}
