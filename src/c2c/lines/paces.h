/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast threads ran, and how long their loads waited for other cores meanwhile, by thread and
 * slice of time. Slices are as long as they have to be for all of them to be kept, and the same ones
 * in whatever order rows come.
 */
#ifndef CYCLOPS_C2C_LINES_PACES_H
#define CYCLOPS_C2C_LINES_PACES_H

#include <assert.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "batch/batch.h"
#include "c2c/lines/counts.h"

/* A thread in a slice. */
struct c2c_pace {
	uint64_t first_ns, last_ns; /* of its records */
	uint64_t n;		    /* of those, of operations of any kind */
	uint64_t waited;	    /* access latency of its contended loads, … */
	uint64_t n_waited;
};

enum { C2C_PACES_KNOWN = 64 };

struct c2c_paces {
	unsigned shift;		      /* slices are 1 << shift ns long */
	struct tuples keys;	      /* (process << 32 | tid, number of the slice) */
	VEC_OF(struct c2c_pace) list; /* by number of the key */
	/* Where keys were found last, by some of their bits; number + 1, or 0. */
	struct {
		uint64_t key[2];
		uint32_t number;
	} known[C2C_PACES_KNOWN];
};

/* Adds another slice of the same thread. */
void c2c_pace_join(struct c2c_pace *, const struct c2c_pace *from);

void c2c_paces_init(struct c2c_paces *);
void c2c_paces_release(struct c2c_paces *);

/* What a contended load waited, in cycles: of a batch they can be added up. Other rows wait for 0. */
static inline uint64_t c2c_wait(uint64_t cycles)
{
	static_assert((uint64_t)C2C_LATENCY_MAX * BATCH_ROWS <= UINT32_MAX, "sums do not spill");
	return UINT64_C(1) << 32 | cycles;
}

/* `waits` of the rows: c2c_wait() or 0. Rows without a time or a thread are left out. */
void c2c_paces_add(struct c2c_paces *, const struct batch *, const uint64_t *waits);
void c2c_paces_merge(struct c2c_paces *, const struct c2c_paces *from);

/* Numbers them by thread, and those of a thread by slice. */
void c2c_paces_order(struct c2c_paces *);

#endif
