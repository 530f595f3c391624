/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last time of a capture, looked for where they usually are. */
#include "base/tuples.h"
#include "base/widen.h"
#include "capture/state.h"
#include "spe/decode.h"

/* So much of the end of a buffer is decoded. Some hundred records. */
enum { END_BYTES = 32 << 10 };

/* The first and the last chunk of a buffer that are not empty. */
struct buffer_ends {
	const struct aux_chunk *first, *last;
};
struct buffers {
	VEC_OF(struct buffer_ends) list;
};

struct time_span {
	const struct spe_info *spe;
	uint64_t first_ns, last_ns;
};

static void span_add(struct time_span *span, uint64_t time_ns)
{
	widen_times(&span->first_ns, &span->last_ns, time_ns, time_ns);
}

/* Adds the times of a batch of records at `from`; returns where the next records begin. */
static uint64_t add_records(struct time_span *span, const struct aux_chunk *c, uint64_t from,
			    struct spe_decoder *decoder, struct batch *b)
{
	batch_reset(b, BATCH_SPE);
	from += spe_decode(decoder, c->bytes + from, c->size - from, c->position + from,
			   c->header.offset + from, b);
	for (size_t row = 0; row < b->n; row++)
		if (b->has[row] & HAS_TICKS)
			span_add(span, time_from_ticks(&span->spe->time, b->ticks[row]));
	return from;
}

static void add_buffer(struct time_span *span, const struct buffer_ends *ends,
		       struct spe_decoder *decoder, struct batch *b)
{
	const struct aux_chunk *last = ends->last;
	uint64_t from = 0;

	spe_decoder_reset(decoder);
	add_records(span, ends->first, 0, decoder, b);
	if (last->size > END_BYTES)
		from = aux_chunk_split(last, last->size - END_BYTES);
	if (from == last->size) /* no two records are known to be neighbours there */
		from = 0;
	spe_decoder_reset(decoder);
	while (from < last->size)
		from = add_records(span, last, from, decoder, b);
}

static void find_buffers(const struct capture *c, struct buffers *out)
{
	struct tuples numbers;

	tuples_init(&numbers, 1);
	for (size_t i = 0; i < c->chunks.n; i++) {
		const struct aux_chunk *chunk = &c->chunks.items[i];
		uint64_t idx = chunk->header.idx;
		uint32_t number;

		if (chunk->size == 0)
			continue;
		number = tuples_add(&numbers, &idx);
		if (number == out->list.n)
			vec_add(&out->list)->first = chunk;
		out->list.items[number].last = chunk;
	}
	tuples_release(&numbers);
}

bool capture_end_times(const struct capture *c, uint64_t *first_ns, uint64_t *last_ns)
{
	struct time_span span = { &c->spe, UINT64_MAX, 0 };
	struct spe_decoder *decoder = spe_decoder_new();
	struct batch *batch = batch_new();
	struct buffers buffers = { 0 };

	if (c->totals.last_sample_ns > 0) {
		span_add(&span, c->totals.first_sample_ns);
		span_add(&span, c->totals.last_sample_ns);
	}
	if (c->spe.is_present && c->spe.has_time)
		find_buffers(c, &buffers);
	for (size_t i = 0; i < buffers.list.n; i++)
		add_buffer(&span, &buffers.list.items[i], decoder, batch);
	vec_release(&buffers.list);
	batch_free(batch);
	spe_decoder_free(decoder);
	*first_ns = span.first_ns;
	*last_ns = span.last_ns;
	return span.first_ns <= span.last_ns;
}
