/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds captures in memory, number by number, so that a test can build wrong ones, too.
 * (capture/writer/writer.h makes only right ones.)
 */
#ifndef CYCLOPS_TESTS_CAPTURE_IMAGE_H
#define CYCLOPS_TESTS_CAPTURE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "capture/capture.h"
#include "capture/format/attr.h"

#define BIT(n) ((uint64_t)1 << (n))

void put_u8(struct text *, uint8_t);
void put_u16(struct text *, uint16_t);
void put_u32(struct text *, uint32_t);
void put_u64s(struct text *, const uint64_t *, size_t n);
void put_word(struct text *, uint64_t);
void put_zeros(struct text *, size_t n);

/* NUL-terminated and padded to a multiple of 8 bytes. */
void put_padded(struct text *, const char *);

/* Overwrites a number that is already there. */
void patch_u16(struct text *, size_t at, uint16_t);
void patch_u64(struct text *, size_t at, uint64_t);

/* A record: what is put between the two is its body. Returns where it begins. */
size_t record_begin(struct text *, uint32_t type, uint16_t misc);
void record_end(struct text *, size_t begin);

/* A record with a body of words. */
void put_record(struct text *, uint32_t type, uint16_t misc, const uint64_t *words, size_t n);

/* A record and the trace data behind it. */
void put_auxtrace(struct text *, const struct record_auxtrace *, const void *data, size_t size);

/* The start of a stream. */
void put_stream_header(struct text *);

/* A HEADER_ATTR record. */
void put_attr(struct text *, const struct attr *, const uint64_t *ids, size_t n_ids);

/*
 * The start of a file with one event; its records come next. Without feature bits the file
 * ends behind them.
 */
void put_file_header(struct text *, const struct attr *, const uint64_t *ids, size_t n_ids);

/* Sets the size of the data section to what was put since. */
void end_data(struct text *);

enum { IMAGE_DATA_SIZE_AT = 48, IMAGE_FEATURES_AT = 72 };

/* Opens and scans; both must work. */
struct capture *open_image(const struct text *);

/* Parts of the SPE data that no record reaches into: the decoder starts anew with each. */
size_t count_streams(const struct capture *);

/* The entry of capture_diags() whose text contains `words`, or NULL. */
const struct diag *find_diag(const struct diags *, const char *words);

/* Each byte of the capture is read or counted as a finding. */
void assert_all_accounted_for(const struct capture *);

#endif
