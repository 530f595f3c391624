/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE records by what they say of control flow: which instruction was executed, where a branch went, and
 * where the branch before it went, if the CPU tells. Each record stands for its sampling interval.
 */
#ifndef CYCLOPS_FEEDBACK_RECORDS_H
#define CYCLOPS_FEEDBACK_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "feedback/record_sums.h"
#include "session/analysis.h"

struct place_cache;

enum flow_record_kind {
	RECORD_OTHER,	  /* no branch */
	RECORD_TAKEN,	  /* a branch, to the target */
	RECORD_NOT_TAKEN, /* a conditional branch that was not taken */
};

/* What is usual for sums, of all workers. */
enum { FLOW_RECORDS_BYTES = 8 << 20 };

/*
 * Options: bytes of memory for the sums of all workers, a size_t. Result: this. Keys: places of the instruction, of a taken
 * branch's target (else 0) and of the target of the taken branch before (0: not recorded).
 */
struct flow_records {
	const struct session *session;
	struct place_cache *cache; /* the worker's */
	struct record_sums sums;
	uint64_t n, n_branches, n_previous; /* records; of branches; with the target before */
	uint64_t operations;		    /* that all stand for */
	uint64_t n_not_retired;		    /* left out */
};

extern const struct analysis_class flow_record_class;

/* PMU samples of an event by place: all there is where no branches were recorded. */
struct place_samples_options {
	size_t event;	     /* its number */
	size_t memory_bytes; /* for the sums of all workers */
};

/* Options: these. Result: this. */
struct place_samples {
	size_t event;
	struct record_sums sums; /* by place; a sample stands for its period */
	uint64_t n;
};

extern const struct analysis_class place_samples_class;

#endif
