/* SPDX-License-Identifier: Apache-2.0 */
/* The SPE records of each group by cell, and the record next to each stack in time. */
#ifndef CYCLOPS_CALLERS_NEIGHBOURS_H
#define CYCLOPS_CALLERS_NEIGHBOURS_H

#include "callers/groups.h"

/* The record of the stack's thread and function that is nearest in time, of those beside it. */
struct neighbour {
	uint64_t distance_ns; /* UINT64_MAX: there is none */
	uint64_t position;
	struct record_cell cell;
};

struct cell_sums {
	uint64_t n, cycles;
};

struct neighbours {
	const struct caller_groups *groups; /* borrowed */
	struct tuples cells;		    /* (group, class, gap) */
	VEC_OF(struct cell_sums) sums;	    /* by cell */
	struct neighbour *of_stacks;	    /* by stack of struct stacks_seen */
	uint64_t n_records;		    /* of SPE */
};

/* Scans once, with the places of the scan before. To be freed. */
struct neighbours *neighbours_find(const struct caller_groups *, struct session *);
void neighbours_free(struct neighbours *);

/* The number of a row's cell in `cells`; TUPLES_NONE if no group speaks for it. */
uint32_t neighbours_cell(const struct neighbours *, const struct batch *, size_t row,
			 uint32_t *out_group);

#endif
