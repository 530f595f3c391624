/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with records, and the walk over them. Most captures are one segment; a directory has one
 * for each file. Positions count through all files of a capture, as if they were concatenated.
 *
 * The COMPRESSED records of a segment are one stream. It is decompressed once, as a whole, to a
 * temporary file, so that the walk and the units can begin anywhere:
 *
 *   file     | record | COMPRESSED 0 | record | COMPRESSED 1 |
 *   plain             | r  r  r  r ..|        |.. r  r  r  r |  a record may be split
 */
#ifndef CYCLOPS_CAPTURE_SEGMENT_H
#define CYCLOPS_CAPTURE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mapped.h"
#include "base/prefetch.h"
#include "base/vec.h"
#include "capture/format/record.h"

enum {
	RECORD_HEADER_BYTES = 8, /* type, misc, size */
	INFLATE_ERROR_BYTES = 96,
};

/* A COMPRESSED record, and the end of its contents in `plain`. */
struct plain_chunk {
	uint64_t position;  /* of the record in the capture */
	uint64_t plain_end; /* in `plain` */
};

struct segment {
	const uint8_t *bytes; /* the whole file */
	struct mapped file;   /* owns the bytes; empty if the caller does */
	uint64_t base;	      /* position of the file's first byte */
	uint64_t size;	      /* of the file */
	uint64_t start, end;  /* positions: records are in [start, end) */
	uint64_t missing;     /* bytes of records behind `end` that the file should have */

	bool is_inflated; /* segment_inflate() was called */
	struct mapped plain;
	VEC_OF(struct plain_chunk) chunks; /* chunks that could be decompressed: the first ones */
	char inflate_error[INFLATE_ERROR_BYTES]; /* why the next chunk failed; "" if none did */
};

void segment_release(struct segment *);

/* The bytes at a position of this segment. */
static inline const uint8_t *segment_at(const struct segment *s, uint64_t position)
{
	return s->bytes + (position - s->base);
}

/*
 * Decompresses all COMPRESSED records from `position` on, which is that of the first. inflate_error
 * says what failed. Returns -1 only if no temporary file can be written.
 */
int segment_inflate(struct segment *, uint64_t position, struct err *);

/* The chunk that the byte at `plain_at` comes from. `hint`: this chunk or one before it. */
size_t segment_chunk_of(const struct segment *, uint64_t plain_at, size_t hint);

/* Whether bytes can be read as a record. */
enum frame_status {
	FRAME_OK,
	FRAME_CUT,	/* it is longer than the bytes */
	FRAME_BAD_SIZE, /* smaller than its header */
	FRAME_BAD_TYPE, /* no recorder writes such a type */
};

/* A record, and the data behind it that its size does not include. */
struct frame {
	uint32_t type;
	uint16_t misc;
	uint64_t size;	  /* with header */
	uint64_t payload; /* bytes behind it: trace or tracing data */
	uint64_t missing; /* bytes of the payload that a truncated file lacks */
};

static inline bool is_compressed(uint32_t type)
{
	return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* The body of a frame at `at`. */
static inline struct cursor frame_body(const struct frame *f, const uint8_t *at)
{
	return cur_of(at + RECORD_HEADER_BYTES, (size_t)f->size - RECORD_HEADER_BYTES);
}

/*
 * Fills in a record that is at `at`; its position is the caller's to tell. Field by field: two words that are stored and
 * then copied as one make a processor wait for each record.
 */
static inline void frame_fill(const struct frame *f, const uint8_t *at, struct record *out)
{
	out->type = f->type;
	out->misc = f->misc;
	out->size = f->size;
	out->position = 0;
	out->body.pos = at + RECORD_HEADER_BYTES;
	out->body.end = at + f->size;
	out->body.bad = false;
	out->was_compressed = false;
}

/* Is it the header of a record of the kernel? Nearly all are, and have no data behind them. */
static inline bool frame_is_of_kernel(const uint8_t *at, uint64_t left)
{
	return left >= RECORD_HEADER_BYTES && load_u32(at) < RECORD_HEADER_ATTR &&
	       load_u16(at + 6) >= RECORD_HEADER_BYTES && load_u16(at + 6) <= left;
}

static inline struct frame frame_of_kernel(const uint8_t *at)
{
	return (struct frame){
		.type = load_u32(at),
		.misc = load_u16(at + 4),
		.size = load_u16(at + 6),
	};
}

/* frame_read() of any record. */
enum frame_status frame_read_any_(const uint8_t *at, uint64_t left, struct frame *out);

static inline enum frame_status frame_read(const uint8_t *at, uint64_t left, struct frame *out)
{
	if (!frame_is_of_kernel(at, left))
		return frame_read_any_(at, left, out);
	*out = frame_of_kernel(at);
	return FRAME_OK;
}

/*
 * Fetches a record some way behind the one at `at`, in case all between have its size, as those of one event often do:
 * else each long one waits for memory, since where it begins is not known before the one in front of it was read.
 */
static inline void frame_fetch_ahead(const uint8_t *at, uint64_t size)
{
	enum { AHEAD = 32, LINE = 64 };
	uintptr_t ahead = (uintptr_t)at + AHEAD * size; /* it may be behind the segment */

	prefetch((const void *)ahead);
	prefetch((const void *)(ahead + LINE - 1)); /* samples may reach over a line */
}

/*
 * Is it a record? Several sound headers of known types must follow each other, or fewer up to the end of
 * the file.
 */
bool frame_is_believed(const uint8_t *at, uint64_t left);

/* The number of bytes before the next record that is believed; `left` if there is none. */
uint64_t frame_find(const uint8_t *at, uint64_t left);

/* A walk over the records of a segment, in file order. */
struct walk {
	const struct segment *segment;
	uint64_t at;		       /* position of the next record in the file */
	uint64_t payload;	       /* bytes behind the last record: its payload */
	uint64_t missing;	       /* bytes of that payload that the file lacks */
	uint64_t skipped;	       /* bytes before the last record that are no record … */
	enum frame_status skipped_for; /* … for this reason */
	bool is_plain;		       /* the last record was decompressed */
	uint64_t plain_start;	       /* its offset in `plain`, if so */

	size_t n_chunks;    /* COMPRESSED records so far */
	size_t chunk;	    /* the chunk in which the next decompressed record begins */
	uint64_t plain_at;  /* offset of the next record in `plain` */
	uint64_t plain_end; /* end in `plain` of the chunks so far */

	enum frame_status stop;	      /* why the file ended; FRAME_OK: at its end */
	enum frame_status plain_stop; /* the same for decompressed records */
};

void walk_start(struct walk *, const struct segment *);

/* walk_next() of any record. */
bool walk_next_any_(struct walk *, struct record *out);

/*
 * Returns the next record; false at the end of the segment or if there is none any more. A
 * COMPRESSED record is returned before its contents. For the contents, segment_inflate() must have
 * been called before the next call.
 */
static inline bool walk_next(struct walk *w, struct record *out)
{
	const uint8_t *at = segment_at(w->segment, w->at);
	uint64_t left = w->segment->end - w->at;
	struct frame f;

	if (w->n_chunks > 0 || !frame_is_of_kernel(at, left))
		return walk_next_any_(w, out);
	f = frame_of_kernel(at);
	frame_fetch_ahead(at, f.size);
	frame_fill(&f, at, out);
	out->position = w->at;
	w->payload = w->missing = w->skipped = 0;
	w->at += f.size;
	return true;
}

/* Could the contents of the last COMPRESSED record be decompressed? */
bool walk_chunk_is_readable(const struct walk *);

#endif
