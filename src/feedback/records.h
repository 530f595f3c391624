/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE records by what they say of control flow: which instruction was executed, where a branch went, and
 * where the branch before it went, if the CPU tells. Each record stands for its sampling interval.
 */
#ifndef CYCLOPS_FEEDBACK_RECORDS_H
#define CYCLOPS_FEEDBACK_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "session/analysis.h"

struct place_cache;

enum flow_record_kind {
	RECORD_OTHER,	  /* no branch */
	RECORD_TAKEN,	  /* a branch, to the target */
	RECORD_NOT_TAKEN, /* a conditional branch that was not taken */
};

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
	uint64_t
		operations; /* that they stand for; the number of records if intervals are unknown */
};

/*
 * Options: none. Result: this. Keys: places of the instruction, of a taken branch's target (else 0) and
 * of the target of the taken branch before (0: not recorded).
 */
struct flow_records {
	const struct session *session;
	struct place_cache *cache; /* the worker's */
	struct tuples keys;
	VEC_OF(struct flow_record_sum) sums;
	uint64_t n, n_branches, n_previous; /* records; of branches; with the target before */
	uint64_t operations;		    /* that all stand for */
	uint64_t n_not_retired;		    /* left out */
};

extern const struct analysis_class flow_record_class;

#endif
