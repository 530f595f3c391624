/* SPDX-License-Identifier: Apache-2.0 */
/* What the files writer*.c share and nobody else needs. */
#ifndef CYCLOPS_CAPTURE_WRITER_WRITER_INSIDE_H
#define CYCLOPS_CAPTURE_WRITER_WRITER_INSIDE_H

#include "base/text.h"
#include "capture/writer/writer.h"

/* The attr of event number `event`, or of the event that has the id (event 0 if none has). */
const struct attr *writer_attr(const struct writer *, size_t event);
const struct attr *writer_attr_of_id(const struct writer *, uint64_t id);

/* An empty buffer to compose one record or section in. Used up by the next call. */
struct text *writer_scratch(struct writer *);

/* Keeps the error and ends writing. */
void writer_fail(struct writer *, const char *what);

/* Compression of ring bytes (writer_compress.c). */
struct compressor;

/* Whole records of up to so many bytes become one COMPRESSED record. */
enum { COMPRESSOR_STEP = 48 << 10 };
int compressor_new(int level, struct compressor **out, struct err *);
void compressor_free(struct compressor *);
void compressor_write(struct compressor *, struct writer *, const uint8_t *bytes, size_t n,
		      const uint8_t *rest, size_t n_rest);

/*
 * The COMPRESSED feature: how to read what was written. And as a record, which is as good for perf
 * where the feature is not in the file because the recorder was killed.
 */
void compressor_describe(const struct compressor *, struct writer *);
void compressor_begin(const struct compressor *, struct writer *);

/* The bytes of the BUILD_ID section so far. */
struct text *writer_build_id_section(struct writer *);

#endif
