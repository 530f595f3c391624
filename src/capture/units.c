/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the SPE data of a capture into units. Consecutive chunks of one buffer are one stream of
 * bytes: a record may begin in one chunk and end in the next. A unit ends where it is certain that
 * no record crosses the boundary.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "base/radix.h"
#include "capture/state.h"
#include "spe/packet.h"

enum {
	/* Chunks larger than this are split, so that one buffer can keep several workers busy. */
	SPLIT_BYTES = 1 << 20,
	SPLIT_SEARCH_BYTES = 64 << 10,
	/* Records are aligned to this on all CPUs known, and are not longer. */
	RECORD_BYTES = 64,
	/* So many records on each side must look like one before a chunk is split there. */
	SPLIT_WITNESSES = 8,
	/* So many at the end of a chunk, if the next chunk begins with one: chunks do end with records. */
	END_WITNESSES = 2,
	/* No packet is longer. */
	PACKET_BYTES = 16,
	/* Bytes in which all parses, from whatever offset, come to the same packet boundaries. */
	TAIL_BYTES = 1024,
	SHORT_TAIL_BYTES = 128, /* … of nearly all records */
	/* The recorder pads chunks to this, with zero bytes that the next offset does not count. */
	CHUNK_ALIGNMENT = 8,
};

/* Headers of the packets that begin and end records. */
enum { TIMESTAMP_HEADER = 0x71, TIMESTAMP_BYTES = 9, PC_HEADER = 0xb0 };

/* The state of cutting a stream. */
struct cutter {
	struct capture *capture;
	const struct aux_chunk *last; /* the last chunk of the stream; NULL: none yet */
	bool has_unit;		      /* the last unit belongs to this stream */
};

/* The last bytes of a part, parsed to see whether it ends with a whole record. */
struct tail {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	    /* of the first byte */
	uint8_t passed[TAIL_BYTES]; /* by offset: 1 << (the packet before ended a record) */
};

/*
 * Parses packets from `at` to the end of the tail. Does the last one end a record (padding aside)?
 * Stops early at an offset that an earlier parse passed.
 */
static bool parse_ends_clean(struct tail *t, size_t at)
{
	bool is_clean = false;

	while (at < t->size) {
		uint8_t here = (uint8_t)(1 << is_clean);
		enum spe_kind kind;

		if (t->passed[at] & here)
			return true;
		t->passed[at] |= here;
		at += spe_packet_length(t->bytes + at, t->size - at, t->address + at, &kind);
		if (kind != SPE_PAD && kind != SPE_ALIGNMENT)
			is_clean = kind == SPE_TIMESTAMP || kind == SPE_END;
	}
	return at == t->size && is_clean;
}

/*
 * Does the piece end with a whole record, by its last bytes? A payload may look like the packet that ends a record, so
 * the packets before it are parsed, too. At the start of a unit the first packet is known.
 * Elsewhere, parsing is tried from each offset that may be the first packet: all must give the same
 * answer.
 */
static bool tail_ends_clean(const struct capture *c, const struct aux_piece *piece,
			    bool begins_unit, uint64_t tail_bytes)
{
	const struct aux_chunk *chunk = &c->chunks.items[piece->chunk];
	bool is_whole = piece->to - piece->from <= tail_bytes;
	uint64_t from = is_whole ? piece->from : piece->to - tail_bytes;
	size_t n_ways = is_whole && begins_unit ? 1 : PACKET_BYTES;
	struct tail t = {
		.bytes = chunk->bytes + from,
		.size = piece->to - from,
		.address = chunk->header.offset + from,
	};

	if (t.size < n_ways)
		return false;
	for (size_t at = 0; at < n_ways; at++)
		if (!parse_ends_clean(&t, at))
			return false;
	return true;
}

/* A PC at the start, a timestamp at the end, with padding behind it. */
static bool is_record(const uint8_t *bytes)
{
	if (bytes[0] != PC_HEADER)
		return false;
	for (size_t end = RECORD_BYTES; end > TIMESTAMP_BYTES; end--) {
		if (bytes[end - TIMESTAMP_BYTES] == TIMESTAMP_HEADER)
			return true;
		if (bytes[end - 1] != 0)
			return false;
	}
	return false;
}

/* Are the last bytes aligned records? Those of nearly all pieces are, and it is soon seen. */
static bool ends_with_records(const struct capture *c, const struct aux_piece *piece)
{
	const struct aux_chunk *chunk = &c->chunks.items[piece->chunk];
	const uint64_t margin = END_WITNESSES * RECORD_BYTES;

	if (piece->to - piece->from < margin ||
	    (chunk->header.offset + piece->to) % RECORD_BYTES != 0)
		return false;
	for (uint64_t at = piece->to - margin; at < piece->to; at += RECORD_BYTES)
		if (!is_record(chunk->bytes + at))
			return false;
	return true;
}

/* Each parse comes through the short tail: if all end clean that begin in it, there is no other answer. */
static bool ends_clean(const struct capture *c, const struct aux_piece *piece, bool begins_unit)
{
	return ends_with_records(c, piece) ||
	       tail_ends_clean(c, piece, begins_unit, SHORT_TAIL_BYTES) ||
	       tail_ends_clean(c, piece, begins_unit, TAIL_BYTES);
}

/* Does the last unit, which is of this stream, end with a whole record? */
static bool last_unit_is_clean(const struct cutter *t)
{
	const struct capture *c = t->capture;
	const struct unit *u = &c->units.items[c->units.n - 1];

	return ends_clean(c, &c->pieces.items[c->pieces.n - 1], u->n_pieces == 1);
}

/* Do the bytes begin with a record, or with padding before one, as on all known CPUs? */
static bool begins_clean(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t pad = 0; pad < RECORD_BYTES && pad < size; pad++)
		if (bytes[pad] != 0)
			return bytes[pad] == PC_HEADER;
	return false;
}

static bool is_split_point(const struct aux_chunk *c, uint64_t at)
{
	const uint8_t *first = c->bytes + at - SPLIT_WITNESSES * RECORD_BYTES;

	for (size_t i = 0; i < 2 * SPLIT_WITNESSES; i++)
		if (!is_record(first + i * RECORD_BYTES))
			return false;
	return true;
}

uint64_t aux_chunk_split(const struct aux_chunk *c, uint64_t at)
{
	const uint64_t margin = SPLIT_WITNESSES * RECORD_BYTES;
	uint64_t limit = at + SPLIT_SEARCH_BYTES;

	at += -(c->header.offset + at) % RECORD_BYTES;
	for (; at < limit && at + margin <= c->size; at += RECORD_BYTES)
		if (at >= margin && is_split_point(c, at))
			return at;
	return c->size;
}

static void add_piece(struct cutter *t, const struct aux_chunk *chunk, uint64_t from, uint64_t to)
{
	struct capture *c = t->capture;

	if (!t->has_unit ||
	    (begins_clean(chunk->bytes + from, to - from) && last_unit_is_clean(t))) {
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

/* Fetches what is looked at of a chunk: chunks are all over the file. */
static void fetch_ends(const struct aux_chunk *chunk)
{
	const uint64_t margin = END_WITNESSES * RECORD_BYTES;

	if (chunk->size < margin)
		return;
	prefetch(chunk->bytes);
	for (uint64_t at = chunk->size - margin; at < chunk->size; at += RECORD_BYTES)
		prefetch(chunk->bytes + at);
}

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

static void sort_units(struct capture *c)
{
	uint32_t *order = radix_order(c->units.items, c->units.n, unit_key);
	struct unit *sorted = mem_alloc(c->units.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < c->units.n; i++)
		sorted[i] = c->units.items[order[i]];
	memcpy(c->units.items, sorted, c->units.n * sizeof(*sorted));
	free(sorted);
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
			fetch_ends(&chunks[order[i + AHEAD]]);
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
		sort_units(c);
}
