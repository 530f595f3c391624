/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE's sampling and filters. A counter is decremented with each operation; at zero the operation
 * is sampled, and tracked until it finishes. If the sample before is still tracked, the new one is
 * lost: a collision.
 */
#ifndef CYCLOPS_MODEL_SAMPLER_H
#define CYCLOPS_MODEL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counts.h"
#include "spe/encode.h"

/* The settings, as of the kernel's SPE driver. */
struct sampling {
	uint32_t interval;	      /* operations; a multiple of 256 */
	bool has_jitter;	      /* each interval is longer by 0 … 255, at random */
	bool loads, stores, branches; /* filters; none set: all operations */
	uint16_t min_latency;	      /* filter: least total latency, in cycles */
	uint64_t events;	      /* filter: events that a record must all have */
};

struct sampler {
	const struct sampling *sampling; /* borrowed */
	uint64_t random;		 /* state of the random generator */
	uint32_t left;			 /* operations until the next sample */
	uint64_t busy_until;		 /* the cycle at which the last sample finishes */
	bool has_collided;		 /* since the last sampler_collided() */
	struct counts *counts;		 /* borrowed */
};

void sampler_init(struct sampler *, const struct sampling *, uint64_t seed, struct counts *);

/* No operation becomes a record. */
extern const struct sampling no_sampling;

/* Counts an operation. True: it is to be sampled; call sampler_begin(). */
static inline bool sampler_tick(struct sampler *s)
{
	return --s->left == 0;
}

/* Starts the next interval. False if the operation dispatched at cycle `now` collides. */
bool sampler_begin(struct sampler *, uint64_t now);

/* The sample finishes at `finish`. True if the record passes the filters. */
bool sampler_end(struct sampler *, const struct spe_record *, uint64_t finish);

/* Were there collisions since the last call? */
bool sampler_collided(struct sampler *);

#endif
