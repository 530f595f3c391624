/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files writer*.c, and private to them. */
#ifndef CYCLOPS_CAPTURE_WRITER_WRITER_INSIDE_H
#define CYCLOPS_CAPTURE_WRITER_WRITER_INSIDE_H

#include "base/text.h"
#include "capture/writer/writer.h"

/* The attr of event number `event`; of the event with this id, or event 0. */
const struct attr *writer_attr(const struct writer *, size_t event);
const struct attr *writer_attr_of_id(const struct writer *, uint64_t id);

/* An empty buffer to compose a record or section in. Valid until the next call. */
struct text *writer_scratch(struct writer *);

/* Keeps an error: nothing is written after it. */
void writer_fail(struct writer *, const char *what);

/* writer_compress.c */
struct compressor;

/* Whole records of up to so many bytes become one COMPRESSED record. */
enum { COMPRESSOR_STEP = 48 << 10 };
int compressor_new(int level, struct compressor **out, struct err *);
void compressor_free(struct compressor *);
void compressor_write(struct compressor *, struct writer *, const uint8_t *bytes, size_t n,
		      const uint8_t *rest, size_t n_rest);

/*
 * Write how to decompress: as COMPRESSED feature; as a record, which perf accepts if a killed
 * recorder left no features.
 */
void compressor_describe(const struct compressor *, struct writer *);
void compressor_begin(const struct compressor *, struct writer *);

/* The BUILD_ID section so far. */
struct text *writer_build_id_section(struct writer *);

#endif
