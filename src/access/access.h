/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One memory access as a row says it, be it an SPE record or a PMU sample with a data source. What
 * reads columns in bulk (mem, c2c) asks the same facts of kind.h, data_src.h and samples.h.
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
	uint64_t address;			       /* 0 if it was not recorded */
	bool is_load, is_store;			       /* an atomic is both */
	bool is_translated, has_walk, has_walk_cycles; /* is it known how; was it by a walk */
	bool has_cycles, is_saturated;
	uint64_t cycles, walk_cycles; /* total latency; translation latency of a walk */
	enum source_level level;      /* of loads; SOURCE_UNKNOWN */
};

/* False if the row is no access, or its event is not the one that counts. */
bool access_read(const struct session *, const struct access_sampling *, const struct batch *,
		 size_t row, struct access *out);

#endif
