/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of a perf.data file or stream. Format: docs/reference/perf-data.md sections 1 and 2.
 */
#ifndef CYCLOPS_CAPTURE_HEADER_H
#define CYCLOPS_CAPTURE_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/err.h"

/* A range of the file as recorded; it may be invalid. */
struct extent {
	uint64_t offset, size;
};

enum {
	FEATURE_WORDS = 4,
	MAX_FEATURES = FEATURE_WORDS * 64,
	FILE_HEADER_BYTES = 104,
	OLD_HEADER_BYTES = 72, /* of the first version 1, which had no features */
	PIPE_HEADER_BYTES = 16,
};

struct header {
	bool is_pipe;	     /* records follow the header; all members below are 0 */
	uint64_t entry_size; /* size of an entry of `attrs`: attr and section of ids */
	struct extent attrs, data;
	uint64_t features[FEATURE_WORDS]; /* bit n of word n / 64 */
};

static inline bool header_has_feature(const struct header *h, unsigned feature)
{
	return h->features[feature / 64] >> feature % 64 & 1;
}

/*
 * Reads a header, also that of version 1 ("PERFFILE", before Linux 3.2), which differs in nothing but the
 * magic. Fails if it is no perf.data file that is supported; the error begins with `name`.
 */
int header_read(struct cursor bytes, const char *name, struct header *out, struct err *);

/* Is it perf.data, of any version and byte order? */
bool header_is_perf_data(struct cursor bytes);

/* The part of a section that is inside of a file of `file_size` bytes; empty if none is. */
struct extent extent_clamp(struct extent, uint64_t file_size);

#endif
