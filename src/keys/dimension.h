/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions of records: what analyses group by, as 64-bit words. */
#ifndef CYCLOPS_KEYS_DIMENSION_H
#define CYCLOPS_KEYS_DIMENSION_H

#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/session.h"

/* A dimension is one word of the raw key of a group. */
enum dimension {
	DIM_EVENT, /* with n events: index of a sample's event; SPE records: n; branch entries:
		      n + 1 + index of their sample's event */
	DIM_PROCESS,
	DIM_TID,
	DIM_CPU,
	DIM_PLACE,
	DIM_FRAME,
	DIM_CALLER,    /* place of the call of the record's function; 0: not known */
	DIM_OPERATION, /* class << 8 | payload, or DIM_ABSENT */
	DIM_EVENTS,    /* event bits of an SPE record; of samples data_src_facts() */
	DIM_SOURCE,    /* address of the struct cpu_source; the raw value if the CPU's sources are
			  not known; or DIM_ABSENT */
	DIM_VECTOR,    /* vector_length_recorded() */
	DIM_SLICE,     /* slice of the session's time, or DIM_ABSENT */
	DIM_LATENCY, /* cycles: total latency of an SPE record, weight of a sample; or DIM_ABSENT */
	N_DIMENSIONS,
};

#define DIM_ABSENT UINT64_MAX

/* The word of a record in a dimension. */
uint64_t record_dimension(const struct session *, const struct batch *, size_t row, enum dimension);

/* The same of `n` records, faster; the words go to out[0], out[stride], … */
void records_dimension(const struct session *, const struct batch *, const uint16_t *rows, size_t n,
		       enum dimension, uint64_t *out, size_t stride);

/* The place numbers of `n` records; 0: not known. */
void records_places(const struct batch *, const uint16_t *rows, size_t n, uint32_t *out);

#endif
