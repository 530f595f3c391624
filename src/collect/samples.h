/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table samples: records that are alike in all columns are one row, which says how many they are. A part may have
 * several rows that are alike, as memory is bounded: rows are to be added up.
 */
#ifndef CYCLOPS_COLLECT_SAMPLES_H
#define CYCLOPS_COLLECT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/places.h"

struct samples_totals {
	uint64_t n_rows;
	uint64_t n_records; /* that the rows stand for */
	uint64_t n_spe;	    /* of which are SPE records */
};

/*
 * Scans the session, which has one worker, and writes its rows. Fills `is_sampled` (by module id, zeroed by the caller)
 * with the modules that have any.
 */
int samples_write(struct session *, const struct place_keys *, const char *root,
		  const struct identity *, struct samples_totals *, bool *is_sampled, struct err *);

#endif
