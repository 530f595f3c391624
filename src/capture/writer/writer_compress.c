/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring bytes as COMPRESSED records: docs/reference/perf-data.md section 4. All records of a file
 * are one zstd stream. Each record ends with a flush, so that a truncated file can be read up to
 * its end.
 */
#include "capture/writer/writer_inside.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "capture/writer/emit.h"
#include "capture/writer/output.h"

enum { RECORD_ROOM = RECORD_SIZE_MAX - RECORD_HEADER_SIZE };

/* A step always fits into a record: zstd adds a few hundred bytes at most. */
_Static_assert(ZSTD_COMPRESSBOUND(COMPRESSOR_STEP) + 64 < RECORD_ROOM, "step fits in a record");

struct compressor {
	ZSTD_CCtx *zstd;
	int level;
	uint64_t n_in, n_out; /* bytes */
	uint8_t out[RECORD_ROOM];
};

int compressor_new(int level, struct compressor **out, struct err *err)
{
	struct compressor *c;

	if (level < 1 || level > ZSTD_maxCLevel())
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "compression level %d: there are 1 to %d", level, ZSTD_maxCLevel());
	c = mem_zalloc(1, sizeof(*c));
	c->zstd = ZSTD_createCCtx();
	c->level = level;
	if (c->zstd == NULL ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, level))) {
		compressor_free(c);
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "zstd: no memory for level %d", level);
	}
	*out = c;
	return 0;
}

void compressor_free(struct compressor *c)
{
	if (c == NULL)
		return;
	ZSTD_freeCCtx(c->zstd);
	free(c);
}

/* Unwritten ring bytes: first the one part, then the rest. */
struct source {
	const uint8_t *bytes, *rest;
	size_t n, n_rest;
	size_t at;
};

/* The part with the next byte, at most `size` bytes of it. */
static ZSTD_inBuffer next_piece(const struct source *s, size_t size)
{
	bool is_first = s->at < s->n;
	const uint8_t *from = is_first ? s->bytes + s->at : s->rest + (s->at - s->n);
	size_t left = is_first ? s->n - s->at : s->n + s->n_rest - s->at;

	return (ZSTD_inBuffer){ from, left < size ? left : size, 0 };
}

/*
 * The size of a step: whole records, so that the position of a record in the file is known; or a
 * part of a larger record.
 */
static size_t step_size(const struct source *s)
{
	struct source next = *s;
	size_t end = s->n + s->n_rest;

	while (end - next.at >= RECORD_HEADER_SIZE) {
		ZSTD_inBuffer piece = next_piece(&next, RECORD_HEADER_SIZE);
		size_t size;

		/* records are 8-byte aligned, so headers are not split */
		if (piece.size < RECORD_HEADER_SIZE)
			break;
		size = load_u16((const uint8_t *)piece.src + 6);
		if (size < RECORD_HEADER_SIZE || size > end - next.at ||
		    next.at + size - s->at > COMPRESSOR_STEP)
			break;
		next.at += size;
	}
	if (next.at > s->at)
		return next.at - s->at;
	return end - s->at < COMPRESSOR_STEP ? end - s->at : COMPRESSOR_STEP;
}

/* Compresses the next `size` bytes to one record. */
static void write_step(struct compressor *c, struct writer *w, struct source *s, size_t size)
{
	ZSTD_outBuffer out = { c->out, sizeof(c->out), 0 };
	size_t end = s->at + size, left = 0;

	while (s->at < end && !ZSTD_isError(left)) {
		ZSTD_inBuffer in = next_piece(s, end - s->at);
		bool is_last = s->at + in.size == end;

		left = ZSTD_compressStream2(c->zstd, &out, &in,
					    is_last ? ZSTD_e_flush : ZSTD_e_continue);
		s->at += in.size;
	}
	if (left != 0) {
		writer_fail(w, ZSTD_isError(left) ? ZSTD_getErrorName(left)
						  : "zstd: a step does not fit in a record");
		return;
	}
	c->n_in += size;
	c->n_out += out.pos;
	writer_record(w, RECORD_COMPRESSED, 0, c->out, out.pos);
}

void compressor_write(struct compressor *c, struct writer *w, const uint8_t *bytes, size_t n,
		      const uint8_t *rest, size_t n_rest)
{
	struct source s = { .bytes = bytes, .n = n, .rest = rest, .n_rest = n_rest };

	while (s.at < n + n_rest)
		write_step(c, w, &s, step_size(&s));
}

static void emit_section(const struct compressor *c, struct text *out)
{
	const uint32_t version = 0, zstd = 1;
	uint32_t ratio = c->n_out > 0 ? (uint32_t)(c->n_in / c->n_out) : 0;

	emit_u32(out, version);
	emit_u32(out, zstd);
	emit_u32(out, (uint32_t)c->level);
	emit_u32(out, ratio);
	emit_u32(out, COMPRESSOR_STEP);
}

void compressor_describe(const struct compressor *c, struct writer *w)
{
	struct text *out = writer_scratch(w);

	emit_section(c, out);
	writer_feature(w, FEATURE_COMPRESSED, out->bytes, out->n);
}

void compressor_begin(const struct compressor *c, struct writer *w)
{
	struct text *out = writer_scratch(w);

	emit_u64(out, FEATURE_COMPRESSED);
	emit_section(c, out);
	emit_padding(out, 8);
	writer_record(w, RECORD_HEADER_FEATURE, 0, out->bytes, out->n);
}
