/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One memory access of an SPE record or of a PMU sample with a data source. Code that reads whole
 * columns (mem, c2c) takes the same facts from kind.h, data_src.h and samples.h.
 */
#ifndef CYCLOPS_ACCESS_ACCESS_H
#define CYCLOPS_ACCESS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "access/samples.h"
#include "batch/batch.h"
#include "cpu/cpu.h"
#include "session/session.h"

struct access {
	uint64_t address; /* 0 if it was not recorded */
	enum memory_kind kind;
	bool is_translated, has_walk, has_walk_cycles; /* translation is recorded; it took a walk */
	bool has_cycles, is_saturated;
	uint64_t cycles, walk_cycles; /* total latency; translation latency of a walk */
	enum source_level level;      /* of what reads; SOURCE_UNKNOWN if none was recorded */
};

/*
 * Reads the access of a row. False if the row is no access, or a sample of an event that
 * access_sampling_of() leaves out.
 */
bool access_read(const struct session *, const struct access_sampling *, const struct batch *,
		 size_t row, struct access *out);

#endif
