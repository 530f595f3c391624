/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations SPE samples, and which samples become records. A counter runs down with
 * each operation; at zero the operation is followed until it finishes. If the one before is
 * still being followed, the new one is lost: a collision.
 */
#ifndef CYCLOPS_MODEL_SAMPLER_H
#define CYCLOPS_MODEL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counts.h"
#include "spe/encode.h"

/* How the user wants it: as the options of the kernel's SPE driver. */
struct sampling {
	uint32_t interval;	      /* operations; a multiple of 256 */
	bool has_jitter;	      /* 0 … 255 are added to each interval */
	bool loads, stores, branches; /* if any: only these */
	uint16_t min_latency;	      /* total latency, in cycles */
	uint64_t events;	      /* records must have all of them */
};

struct sampler {
	const struct sampling *sampling; /* borrowed */
	uint64_t random;		 /* state of the generator */
	uint32_t left;			 /* operations until the next sample */
	uint64_t busy_until;		 /* the cycle at which the last sample finishes */
	bool has_collided;		 /* since sampler_collided() */
	struct counts *counts;		 /* borrowed */
};

void sampler_init(struct sampler *, const struct sampling *, uint64_t seed, struct counts *);

/* No operation becomes a record. */
extern const struct sampling no_sampling;

/* Counts an operation down; true: it is the one. Then call sampler_begin(). */
static inline bool sampler_tick(struct sampler *s)
{
	return --s->left == 0;
}

/* Starts the next interval. Can the operation that is dispatched now be followed? */
bool sampler_begin(struct sampler *, uint64_t now);

/* The sample finishes at `finish`. Does it become a record? */
bool sampler_end(struct sampler *, const struct spe_record *, uint64_t finish);

/* Were there collisions since this was last asked? */
bool sampler_collided(struct sampler *);

#endif
