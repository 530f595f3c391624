/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the SPE data of a capture into units. Consecutive chunks of one buffer are one stream of
 * bytes: a record may begin in one chunk and end in the next. A unit ends where it is certain that
 * no record crosses the boundary. Then small units that follow each other are joined: there the decoder begins anew.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "capture/state.h"
#include "spe/boundary.h"

enum {
	/* Chunks larger than this are split, so that one buffer can keep several workers busy. */
	SPLIT_BYTES = 1 << 20,
	SPLIT_SEARCH_BYTES = 64 << 10,
	/* So many records on each side must look like one before a chunk is split there. */
	SPLIT_WITNESSES = 8,
	/* Units are joined up to this, so that batches are full though chunks are small. */
	JOINED_BYTES = 256 << 10,
	/* The recorder pads chunks to this, with zero bytes that the next offset does not count. */
	CHUNK_ALIGNMENT = 8,
};

/* The state of cutting a stream. */
struct cutter {
	struct capture *capture;
	const struct aux_chunk *last; /* the last chunk of the stream; NULL: none yet */
	bool has_unit;		      /* the last unit belongs to this stream */
};

/* Does the last unit, which is of this stream, end with a whole record? */
static bool last_unit_is_clean(const struct cutter *t)
{
	const struct capture *c = t->capture;
	const struct aux_piece *piece = &c->pieces.items[c->pieces.n - 1];
	const struct aux_chunk *chunk = &c->chunks.items[piece->chunk];

	return spe_ends_with_record(&(struct spe_bytes){
		.bytes = chunk->bytes + piece->from,
		.size = piece->to - piece->from,
		.address = chunk->header.offset + piece->from,
		.begins_with_packet = c->units.items[c->units.n - 1].n_pieces == 1,
	});
}

static bool is_split_point(const struct aux_chunk *c, uint64_t at)
{
	const uint8_t *first = c->bytes + at - SPLIT_WITNESSES * SPE_RECORD_ALIGNMENT;

	for (size_t i = 0; i < 2 * SPLIT_WITNESSES; i++)
		if (!spe_is_padded_record(first + i * SPE_RECORD_ALIGNMENT))
			return false;
	return true;
}

uint64_t aux_chunk_split(const struct aux_chunk *c, uint64_t at)
{
	const uint64_t margin = SPLIT_WITNESSES * SPE_RECORD_ALIGNMENT;
	uint64_t limit = at + SPLIT_SEARCH_BYTES;

	at += -(c->header.offset + at) % SPE_RECORD_ALIGNMENT;
	for (; at < limit && at + margin <= c->size; at += SPE_RECORD_ALIGNMENT)
		if (at >= margin && is_split_point(c, at))
			return at;
	return c->size;
}

static void add_piece(struct cutter *t, const struct aux_chunk *chunk, uint64_t from, uint64_t to)
{
	struct capture *c = t->capture;
	bool begins = !t->has_unit || (spe_begins_with_record(chunk->bytes + from, to - from) &&
				       last_unit_is_clean(t));

	if (begins) {
		struct unit *u = vec_add(&c->units);

		u->kind = BATCH_SPE;
		u->position = chunk->position + from;
		u->first_piece = c->pieces.n;
		t->has_unit = true;
	}
	*vec_add(&c->pieces) = (struct aux_piece){
		.chunk = (size_t)(chunk - c->chunks.items),
		.from = from,
		.to = to,
		.begins_stream = begins,
	};
	c->units.items[c->units.n - 1].n_pieces++;
}

/* Adds the bytes of a chunk from `from` on, cut into parts. */
static void add_pieces(struct cutter *t, const struct aux_chunk *chunk, uint64_t from)
{
	uint64_t at = from;

	while (chunk->size - at > SPLIT_BYTES) {
		uint64_t split = aux_chunk_split(chunk, at + SPLIT_BYTES);

		at += SPLIT_BYTES;
		if (split == chunk->size)
			continue;
		add_piece(t, chunk, from, split);
		from = at = split;
	}
	add_piece(t, chunk, from, chunk->size);
}

/* Are the overlapping bytes of two chunks equal? */
static bool overlap_is_same(const struct aux_chunk *a, const struct aux_chunk *b)
{
	uint64_t from = a->header.offset > b->header.offset ? a->header.offset : b->header.offset;
	uint64_t left_a = a->header.offset + a->size - from;
	uint64_t left_b = b->header.offset + b->size - from;
	uint64_t n = left_a < left_b ? left_a : left_b;

	return memcmp(a->bytes + (from - a->header.offset), b->bytes + (from - b->header.offset),
		      n) == 0;
}

static bool bytes_are_zero(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/* Drops padding at the end of the last chunk, if this chunk begins where the padding does. */
static bool drop_padding(struct cutter *t, uint64_t overlap)
{
	struct aux_piece *piece = &t->capture->pieces.items[t->capture->pieces.n - 1];
	const uint8_t *end = t->last->bytes + piece->to;

	if (overlap >= CHUNK_ALIGNMENT || overlap > piece->to - piece->from ||
	    !bytes_are_zero(end - overlap, overlap))
		return false;
	piece->to -= overlap;
	return true;
}

/*
 * The number of bytes at the start of the chunk that are in the stream already: snapshots repeat
 * what was still in the ring buffer. If the chunk does not continue the stream, begins a new one.
 */
static uint64_t bytes_seen(struct cutter *t, const struct aux_chunk *chunk)
{
	uint64_t stream_end, overlap;

	if (t->last == NULL)
		return 0;
	stream_end = t->last->header.offset + t->last->size;
	if (chunk->header.offset == stream_end)
		return 0;
	overlap = stream_end - chunk->header.offset;
	if (chunk->header.offset < stream_end && drop_padding(t, overlap))
		return 0;
	if (chunk->header.offset > stream_end ||
	    chunk->header.offset + chunk->size <= t->last->header.offset ||
	    !overlap_is_same(t->last, chunk)) {
		t->has_unit = false;
		return 0;
	}
	return overlap < chunk->size ? overlap : chunk->size;
}

/* Gives back the pages of a chunk: only its ends were read. */
static void forget_chunk(const struct capture *c, const struct aux_chunk *chunk)
{
	capture_forget(c, chunk->position, chunk->position + chunk->size);
}

static void add_chunk(struct cutter *t, const struct aux_chunk *chunk)
{
	uint64_t seen;

	if (chunk->size == 0 || chunk->size > UINT64_MAX - chunk->header.offset)
		return;
	seen = bytes_seen(t, chunk);
	if (seen > 0)
		capture_unread_bytes(t->capture, DIAG_NOTE, chunk->position, seen,
				     "trace data that an earlier snapshot already has");
	if (seen == chunk->size)
		return;
	add_pieces(t, chunk, seen);
	if (t->last != NULL)
		forget_chunk(t->capture, t->last);
	forget_chunk(t->capture, chunk);
	t->last = chunk;
}

enum { AHEAD = 8 }; /* chunks */

/* By buffer, then in file order. A buffer is of one CPU, whatever its number says. To be freed. */
static uint32_t *order_of_chunks(const struct capture *c)
{
	uint32_t *order = mem_alloc(c->chunks.n + 1, sizeof(*order));
	uint64_t *keys = mem_alloc(c->chunks.n + 1, sizeof(*keys));

	for (size_t i = 0; i < c->chunks.n; i++) {
		order[i] = (uint32_t)i;
		keys[i] = c->chunks.items[i].position;
	}
	radix_sort(order, c->chunks.n, keys);
	for (size_t i = 0; i < c->chunks.n; i++)
		keys[i] = c->chunks.items[i].header.cpu;
	radix_sort(order, c->chunks.n, keys);
	for (size_t i = 0; i < c->chunks.n; i++)
		keys[i] = c->chunks.items[i].header.idx;
	radix_sort(order, c->chunks.n, keys);
	free(keys);
	return order;
}

static struct radix_pair unit_key(const void *units, size_t i)
{
	const struct unit *u = (const struct unit *)units + i;

	return (struct radix_pair){ u->position, u->from };
}

/* Units in order, small ones of SPE data that follow each other joined; and their pieces, in the same order. */
struct joiner {
	const struct capture *capture;
	struct unit *units;
	struct aux_piece *pieces;
	size_t n_units, n_pieces;
	uint64_t end; /* in the file, of the last unit if that is of SPE data */
};

/* May a unit of SPE data that ends there in the file become a part of the last one? */
static bool continues_last(const struct joiner *j, const struct unit *u, uint64_t end)
{
	const struct unit *last = j->n_units > 0 ? &j->units[j->n_units - 1] : NULL;

	return last != NULL && last->kind == BATCH_SPE && u->position >= j->end &&
	       end - last->position <= JOINED_BYTES;
}

static void join_pieces(struct joiner *j, const struct unit *u)
{
	const struct capture *c = j->capture;
	const struct aux_piece *pieces = &c->pieces.items[u->first_piece];
	const struct aux_piece *last = &pieces[u->n_pieces - 1];
	uint64_t end = c->chunks.items[last->chunk].position + last->to;

	if (!continues_last(j, u, end)) {
		j->units[j->n_units] = *u;
		j->units[j->n_units].first_piece = j->n_pieces;
		j->units[j->n_units++].n_pieces = 0;
	}
	memcpy(j->pieces + j->n_pieces, pieces, u->n_pieces * sizeof(*pieces));
	j->n_pieces += u->n_pieces;
	j->units[j->n_units - 1].n_pieces += u->n_pieces;
	j->end = end;
}

static void order_units(struct capture *c)
{
	uint32_t *order = radix_order(c->units.items, c->units.n, unit_key);
	struct joiner j = {
		.capture = c,
		.units = mem_alloc(c->units.n + 1, sizeof(*j.units)),
		.pieces = mem_alloc(c->pieces.n + 1, sizeof(*j.pieces)),
	};

	for (size_t i = 0; i < c->units.n; i++) {
		const struct unit *u = &c->units.items[order[i]];

		if (u->kind == BATCH_SPE)
			join_pieces(&j, u);
		else
			j.units[j.n_units++] = *u;
	}
	c->units.n = j.n_units;
	memcpy(c->units.items, j.units, j.n_units * sizeof(*j.units));
	for (size_t i = 0; i < j.n_pieces; i++)
		c->pieces.items[i] = j.pieces[i];
	free(j.pieces);
	free(j.units);
	free(order);
}

static void cut_spe(struct capture *c)
{
	const struct aux_chunk *chunks = c->chunks.items;
	uint32_t *order = order_of_chunks(c);
	struct cutter t = { .capture = c };

	for (size_t i = 0; i < c->chunks.n; i++) {
		const struct aux_chunk *chunk = &chunks[order[i]];

		if (i + AHEAD < c->chunks.n)
			spe_fetch_boundaries(chunks[order[i + AHEAD]].bytes,
					     chunks[order[i + AHEAD]].size);
		if (t.last != NULL && (t.last->header.idx != chunk->header.idx ||
				       t.last->header.cpu != chunk->header.cpu))
			t = (struct cutter){ .capture = c };
		add_chunk(&t, chunk);
	}
	free(order);
}

void units_finish(struct capture *c)
{
	cut_spe(c);
	traces_account(c);
	if (c->units.n > 1)
		order_units(c);
}
