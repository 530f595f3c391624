/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with records in it, and the walk over them. Most captures are one segment; a
 * directory has one for each of its files. Positions count through all files of a capture,
 * as if they stood one behind the other.
 *
 * Compressed records of a segment are one stream. It is decompressed as a whole, once, into a
 * temporary file, so that the walk and the units can go to any place in it:
 *
 *	file    | record | COMPRESSED 0 | record | COMPRESSED 1 |
 *	plain            | r  r  r  r ..|        |.. r  r  r  r |	a record may straddle chunks
 */
#ifndef CYCLOPS_CAPTURE_SEGMENT_H
#define CYCLOPS_CAPTURE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mapped.h"
#include "base/vec.h"
#include "capture/format/record.h"

enum {
	RECORD_HEADER_BYTES = 8, /* type, misc, size */
	INFLATE_ERROR_BYTES = 96,
};

/* A COMPRESSED record, and where its contents end in `plain`. */
struct plain_chunk {
	uint64_t position;  /* of the record in the capture */
	uint64_t plain_end; /* in `plain` */
};

struct segment {
	const uint8_t *bytes; /* of the whole file */
	struct mapped file;   /* owns the bytes; empty if they are the caller's */
	uint64_t base;	      /* position of the file's first byte */
	uint64_t size;	      /* of the file */
	uint64_t start, end;  /* positions: the records lie in [start, end) */
	uint64_t missing;     /* bytes of records behind `end` that the file should have */

	bool is_inflated; /* segment_inflate() was called */
	struct mapped plain;
	VEC_OF(struct plain_chunk) chunks; /* those that could be decompressed, all before others */
	char inflate_error
		[INFLATE_ERROR_BYTES]; /* why the next one could not be; "" if none failed */
};

void segment_release(struct segment *);

/* The bytes at a position of this segment's file. */
static inline const uint8_t *segment_at(const struct segment *s, uint64_t position)
{
	return s->bytes + (position - s->base);
}

/*
 * Decompresses all COMPRESSED records from `position` on, where the first of them stands.
 * What cannot be decompressed is kept in inflate_error. Fails only if the system refuses the
 * temporary file.
 */
int segment_inflate(struct segment *, uint64_t position, struct err *);

/* The chunk that the byte at `plain_at` came out of. `hint`: a chunk not behind it. */
size_t segment_chunk_of(const struct segment *, uint64_t plain_at, size_t hint);

/* How the bytes at some place read as a record. */
enum frame_status {
	FRAME_OK,
	FRAME_CUT,	/* the bytes end inside it */
	FRAME_BAD_SIZE, /* smaller than its own header */
	FRAME_BAD_TYPE, /* no recorder writes such a number: this is something else */
};

/* A record and the data behind it that its size does not count. */
struct frame {
	uint32_t type;
	uint16_t misc;
	uint64_t size;	  /* with header */
	uint64_t payload; /* behind it: trace or tracing data */
	uint64_t missing; /* bytes of the payload that are not there any more */
};

static inline bool is_compressed(uint32_t type)
{
	return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* The bytes behind the header, of a frame that is at `at`. */
static inline struct cursor frame_body(const struct frame *f, const uint8_t *at)
{
	return cur_of(at + RECORD_HEADER_BYTES, (size_t)f->size - RECORD_HEADER_BYTES);
}

enum frame_status frame_read(const uint8_t *at, uint64_t left, struct frame *out);

/*
 * Behind bytes that are no record: how many there are until one begins, or `left` if none does.
 * A record is believed if several of known types follow each other from there.
 */
uint64_t frame_find(const uint8_t *at, uint64_t left);

/* The walk over the records of a segment, in file order. */
struct walk {
	const struct segment *segment;
	uint64_t at;		       /* position of the next record in the file */
	uint64_t payload;	       /* bytes behind the last record that are not records */
	uint64_t missing;	       /* bytes of that payload that the file should have */
	uint64_t skipped;	       /* bytes before the last record that are none … */
	enum frame_status skipped_for; /* … for this reason */
	bool is_plain;		       /* the last record came out of a COMPRESSED one */
	uint64_t plain_start;	       /* place of the last record in `plain`, if so */

	size_t n_chunks;    /* COMPRESSED records met */
	size_t chunk;	    /* the one that the next plain record begins in */
	uint64_t plain_at;  /* next record in `plain` */
	uint64_t plain_end; /* what the chunks met so far have yielded */

	enum frame_status stop;	      /* why the file ended, FRAME_OK: at its end */
	enum frame_status plain_stop; /* the same for the decompressed records */
};

void walk_start(struct walk *, const struct segment *);

/*
 * The next record; false when the segment ends or holds none any more. A COMPRESSED record is
 * handed out itself, before its contents; contents are there if segment_inflate() was called
 * before the next call.
 */
bool walk_next(struct walk *, struct record *out);

/* Can the contents of the COMPRESSED record handed out last be read? */
bool walk_chunk_is_readable(const struct walk *);

#endif
