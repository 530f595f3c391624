/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/segment.h"

enum {
	/* Record types are small; text and other data look like large ones. */
	MAX_PLAUSIBLE_TYPE = 0xffff,
	/* After damage so many sound headers in a row are taken for records. */
	FRAME_WITNESSES = 4,
	/* Sizes of records are multiples of this. */
	RECORD_ALIGNMENT = 8,
};

void segment_release(struct segment *s)
{
	mapped_release(&s->file);
	mapped_release(&s->plain);
	vec_release(&s->chunks);
}

/*
 * The size of the data behind the record, which is not in its size field. Old simpleperf keeps tracing
 * data inside of the record. Other uses of AUXTRACE's number (record.h) have other sizes.
 */
static uint64_t trace_payload_size(const struct frame *f, const uint8_t *at)
{
	const uint64_t fixed = RECORD_HEADER_BYTES + sizeof(uint32_t);
	uint64_t size;

	if (f->type == RECORD_AUXTRACE && f->size == AUXTRACE_RECORD_SIZE)
		return load_u64(at + RECORD_HEADER_BYTES);
	if (f->type != RECORD_TRACING_DATA || f->size < fixed)
		return 0;
	size = load_u32(at + RECORD_HEADER_BYTES);
	return f->size - fixed >= size ? 0 : (size + 7) & ~(uint64_t)7;
}

/* The largest COMPRESSED2 records have 64 KiB: this overflows the size field to 0. */
static uint64_t wrapped_size(uint32_t type, const uint8_t *at, uint64_t left)
{
	const uint64_t full = (uint64_t)UINT16_MAX + 1,
		       fixed = RECORD_HEADER_BYTES + sizeof(uint64_t);
	uint64_t data;

	if (type != RECORD_COMPRESSED2 || left < fixed)
		return 0;
	data = load_u64(at + RECORD_HEADER_BYTES);
	return data <= full - fixed && data + 8 > full - fixed ? full : 0;
}

enum frame_status frame_read_any_(const uint8_t *at, uint64_t left, struct frame *out)
{
	struct frame f = { 0 };

	if (left < RECORD_HEADER_BYTES)
		return FRAME_CUT;
	f.type = load_u32(at);
	f.misc = load_u16(at + 4);
	f.size = load_u16(at + 6);
	if (f.size == 0)
		f.size = wrapped_size(f.type, at, left);
	if (f.type > MAX_PLAUSIBLE_TYPE)
		return FRAME_BAD_TYPE;
	if (f.size < RECORD_HEADER_BYTES)
		return FRAME_BAD_SIZE;
	if (f.size > left)
		return FRAME_CUT;
	f.payload = trace_payload_size(&f, at);
	if (f.payload > left - f.size) {
		f.missing = f.payload - (left - f.size);
		f.payload = left - f.size;
	}
	*out = f;
	return FRAME_OK;
}

static bool is_known_frame(const uint8_t *at, uint64_t left, struct frame *out)
{
	return frame_read(at, left, out) == FRAME_OK && record_type_name(out->type) != NULL &&
	       out->size % RECORD_ALIGNMENT == 0 && out->missing == 0;
}

bool frame_is_believed(const uint8_t *at, uint64_t left)
{
	struct frame f;

	for (int i = 0; i < FRAME_WITNESSES; i++) {
		if (!is_known_frame(at, left, &f))
			return false;
		at += f.size + f.payload;
		left -= f.size + f.payload;
		if (left == 0)
			return true;
	}
	return true;
}

uint64_t frame_find(const uint8_t *at, uint64_t left)
{
	for (uint64_t i = 0; i + RECORD_HEADER_BYTES <= left; i++)
		if (load_u32(at + i) < N_RECORD_TYPES && frame_is_believed(at + i, left - i))
			return i;
	return left;
}

void walk_start(struct walk *w, const struct segment *s)
{
	*w = (struct walk){ .segment = s, .at = s->start };
}

size_t segment_chunk_of(const struct segment *s, uint64_t plain_at, size_t hint)
{
	while (hint + 1 < s->chunks.n && s->chunks.items[hint].plain_end <= plain_at)
		hint++;
	return hint;
}

bool walk_chunk_is_readable(const struct walk *w)
{
	return w->n_chunks <= w->segment->chunks.n && w->plain_stop == FRAME_OK;
}

/* Returns the next decompressed record. One that is split over two chunks waits for the second. */
static bool next_plain(struct walk *w, struct record *out)
{
	const struct segment *s = w->segment;
	const uint8_t *at;
	struct frame f;
	enum frame_status status;

	if (w->plain_at == w->plain_end || w->plain_stop != FRAME_OK)
		return false;
	at = s->plain.bytes + w->plain_at;
	status = frame_read(at, w->plain_end - w->plain_at, &f);
	if (status != FRAME_OK) {
		if (status != FRAME_CUT)
			w->plain_stop = status;
		return false;
	}
	frame_fill(&f, at, out);
	out->was_compressed = true;
	w->chunk = segment_chunk_of(s, w->plain_at, w->chunk);
	out->position = s->chunks.items[w->chunk].position;
	w->is_plain = true;
	w->plain_start = w->plain_at;
	w->plain_at += f.size;
	w->payload = w->missing = w->skipped = 0;
	return true;
}

/* Finds the record at the walk's position, or the next one after it. */
static bool segment_find_frame(struct walk *w, struct frame *out)
{
	const struct segment *s = w->segment;
	uint64_t left = s->end - w->at;

	w->skipped = 0;
	w->stop = frame_read(segment_at(s, w->at), left, out);
	if (w->stop == FRAME_OK)
		return true;
	w->skipped = 1 + frame_find(segment_at(s, w->at) + 1, left - 1);
	if (w->skipped == left)
		return false;
	w->skipped_for = w->stop;
	w->at += w->skipped;
	w->stop = frame_read(segment_at(s, w->at), s->end - w->at, out);
	return true;
}

bool walk_next_any_(struct walk *w, struct record *out)
{
	const struct segment *s = w->segment;
	struct frame f;

	if (w->n_chunks > 0 && w->n_chunks <= s->chunks.n)
		w->plain_end = s->chunks.items[w->n_chunks - 1].plain_end;
	if (next_plain(w, out))
		return true;
	if (w->at == s->end)
		return false;
	if (!segment_find_frame(w, &f))
		return false;
	frame_fill(&f, segment_at(s, w->at), out);
	out->position = w->at;
	w->is_plain = false;
	w->payload = f.payload;
	w->missing = f.missing;
	w->at += f.size + f.payload;
	if (is_compressed(f.type))
		w->n_chunks++;
	return true;
}
