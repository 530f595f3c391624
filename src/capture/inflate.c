/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompresses the COMPRESSED records of a segment, which are one zstd stream. Format:
 * docs/reference/perf-data.md section 4.
 */
#include "capture/segment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "capture/unpack.h"

struct inflate {
	ZSTD_DStream *stream;
	FILE *out;
	uint8_t *buffer;
	size_t buffer_size;
	uint64_t n_in, n_out;
};

/* The compressed bytes of a record; false if it is too short for its size field. */
static bool compressed_bytes(const struct frame *f, const uint8_t *at, ZSTD_inBuffer *out)
{
	struct cursor c = frame_body(f, at);
	uint64_t size = f->type == RECORD_COMPRESSED2 ? cur_u64(&c) : cur_left(&c);
	const uint8_t *bytes = cur_take(&c, size);

	if (!cur_ok(&c))
		return false;
	*out = (ZSTD_inBuffer){ .src = bytes, .size = (size_t)size };
	return true;
}

/* Returns -1 and an error if the disk is full, else 0; `why` is "" on success. */
static int inflate_chunk(struct inflate *z, ZSTD_inBuffer in, char why[INFLATE_ERROR_BYTES],
			 struct err *err)
{
	ZSTD_outBuffer out = { 0 };

	z->n_in += in.size;
	do {
		out = (ZSTD_outBuffer){ .dst = z->buffer, .size = z->buffer_size };
		size_t in_before = in.pos;
		size_t rc = ZSTD_decompressStream(z->stream, &out, &in);

		if (ZSTD_isError(rc)) {
			snprintf(why, INFLATE_ERROR_BYTES, "zstd says %s", ZSTD_getErrorName(rc));
			return 0;
		}
		if (in.pos == in_before && out.pos == 0)
			break;
		z->n_out += out.pos;
		if (is_bomb(z->n_out, z->n_in)) {
			snprintf(why, INFLATE_ERROR_BYTES, "more than %d times its size comes out",
				 UNPACK_MAX_RATIO);
			return 0;
		}
		if (fwrite(z->buffer, 1, out.pos, z->out) != out.pos)
			return err_set(err, ERR_IO, ERR_NOWHERE,
				       "cannot write decompressed records to a temporary file: %s",
				       strerror(errno));
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

static int inflate_record(struct inflate *z, const struct frame *f, const uint8_t *at,
			  char why[INFLATE_ERROR_BYTES], struct err *err)
{
	ZSTD_inBuffer in;

	if (!compressed_bytes(f, at, &in)) {
		snprintf(why, INFLATE_ERROR_BYTES, "its data is longer than the record");
		return 0;
	}
	return inflate_chunk(z, in, why, err);
}

static int inflate_all(struct inflate *z, struct segment *s, uint64_t position, struct err *err)
{
	struct frame f;

	while (position < s->end) {
		const uint8_t *at = segment_at(s, position);

		if (frame_read(at, s->end - position, &f) != FRAME_OK) {
			position += 1 + frame_find(at + 1, s->end - position - 1);
			continue;
		}
		if (is_compressed(f.type)) {
			if (inflate_record(z, &f, at, s->inflate_error, err) < 0)
				return -1;
			if (s->inflate_error[0] != '\0')
				break;
			*vec_add(&s->chunks) = (struct plain_chunk){ position, z->n_out };
		}
		position += f.size + f.payload;
	}
	return mapped_from_stream(&s->plain, z->out, err);
}

static int inflate_begin(struct inflate *z, struct err *err)
{
	*z = (struct inflate){ .buffer_size = ZSTD_DStreamOutSize() };
	z->out = temporary_file(err);
	if (z->out == NULL)
		return err_within(err, "decompressed records");
	z->stream = ZSTD_createDStream();
	z->buffer = mem_alloc(z->buffer_size, 1);
	return z->stream != NULL ? 0 : err_set(err, ERR_LIMIT, ERR_NOWHERE, "no memory for zstd");
}

static void inflate_end(struct inflate *z)
{
	ZSTD_freeDStream(z->stream);
	free(z->buffer);
	if (z->out != NULL)
		fclose(z->out);
}

int segment_inflate(struct segment *s, uint64_t position, struct err *err)
{
	struct inflate z;
	int rc = inflate_begin(&z, err);

	s->is_inflated = true;
	if (rc == 0)
		rc = inflate_all(&z, s, position, err);
	inflate_end(&z);
	return rc;
}
