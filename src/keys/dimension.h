/* SPDX-License-Identifier: Apache-2.0 */
/* What records are told apart by, as words: each analysis that groups records reads them here. */
#ifndef CYCLOPS_KEYS_DIMENSION_H
#define CYCLOPS_KEYS_DIMENSION_H

#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/session.h"

/* What a record of a group brings along. A dimension holds one word of the raw key. */
enum dimension {
	DIM_EVENT, /* index of the sample's event; number of events for SPE; of branch entries
		      that number, 1, and the index of their sample's event */
	DIM_PROCESS,
	DIM_TID,
	DIM_CPU,
	DIM_PLACE,
	DIM_FRAME,
	DIM_OPERATION, /* class << 8 | payload, or DIM_ABSENT */
	DIM_EVENTS,    /* event bits of an SPE record; of samples data_src_facts() */
	DIM_SOURCE,    /* address of the struct cpu_source, the raw value if that CPU is not
			  known, or DIM_ABSENT */
	DIM_VECTOR,    /* vector_length_said() */
	DIM_SLICE,     /* slice of the session's time, or DIM_ABSENT */
	N_DIMENSIONS,
};

#define DIM_ABSENT UINT64_MAX

/* What a record brings along in a dimension. */
uint64_t record_dimension(const struct session *, const struct batch *, size_t row, enum dimension);

/* The same of `n` records, faster; the words go to out[0], out[stride], … */
void records_dimension(const struct session *, const struct batch *, const uint16_t *rows, size_t n,
		       enum dimension, uint64_t *out, size_t stride);

/* The places of `n` records; 0: none. */
void records_places(const struct batch *, const uint16_t *rows, size_t n, uint32_t *out);

#endif
