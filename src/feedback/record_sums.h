/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of records by what they say of control flow, in bounded memory: sums of a worker that have become too many go to
 * a temporary file, and begin anew. So one key may come several times, and its sums have to be added up.
 */
#ifndef CYCLOPS_FEEDBACK_RECORD_SUMS_H
#define CYCLOPS_FEEDBACK_RECORD_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spool.h"
#include "base/tuples.h"
#include "base/vec.h"

/* Words of the keys. */
enum {
	FLOW_RECORD_PLACE,
	FLOW_RECORD_KIND,
	FLOW_RECORD_TARGET,
	FLOW_RECORD_PREVIOUS,
	FLOW_RECORD_WORDS
};

struct flow_record_sum {
	uint64_t n, n_mispredicted;
	uint64_t operations; /* that they stand for; of periods: at most the largest number */
};

struct record_sums {
	size_t most; /* keys in memory */
	struct tuples keys;
	VEC_OF(struct flow_record_sum) sums;
	struct spool spool;
};

/* `limit_bytes`: of memory of all workers, of which there are so many. */
void record_sums_init(struct record_sums *, size_t limit_bytes, unsigned n_workers);
void record_sums_release(struct record_sums *);

void record_sums_add(struct record_sums *, const uint64_t key[FLOW_RECORD_WORDS],
		     const struct flow_record_sum *);

/* At the end of a worker: what has a file is in it as a whole. */
void record_sums_finish(struct record_sums *);

/* Adds those of another worker. Both are finished; nothing can be added to them any more. */
void record_sums_merge(struct record_sums *into, const struct record_sums *from);

/* Where record_sums_next() is: zeroed, at the start. */
struct record_sums_position {
	struct spool_position spool;
	uint32_t number;
};

/* The next key with a part of its sums, in any order; false behind the last. `sums.spool.rc` says whether all are there. */
bool record_sums_next(const struct record_sums *, struct record_sums_position *,
		      uint64_t key[FLOW_RECORD_WORDS], struct flow_record_sum *);

#endif
