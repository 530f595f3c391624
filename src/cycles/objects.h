/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of an answer, such as functions or processes: what keys say of each, and what the samples of
 * each event come to in it. Of one capture, or of several that are added up. Names are copied, so captures
 * may be closed.
 */
#ifndef CYCLOPS_CYCLES_OBJECTS_H
#define CYCLOPS_CYCLES_OBJECTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "cycles/tree/template.h"
#include "keys/keys.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/table.h"

/* What each object is called, whatever the keys are; absent: they do not say. */
enum object_name {
	OBJECT_PROGRAM,
	OBJECT_MODULE,
	OBJECT_FUNCTION,
	OBJECT_FILE,
	OBJECT_LINE,
	OBJECT_BLOCK,
	OBJECT_ADDRESS,
	N_OBJECT_NAMES,
};
extern const struct column object_columns[N_OBJECT_NAMES];

enum { MOST_KEY_COLUMNS = N_KEYS * KEY_MAX_COLUMNS };

/* An event. Those of one node are one; those of no node are one if they have one name. */
struct cycle_event {
	const char *name; /* in the first capture that has it */
	int node;	  /* NO_NODE: in no tree */
	uint64_t n;	  /* samples */
	double factor;	  /* of multiplexing on all CPUs; of several captures the largest */
	uint64_t turns;	  /* in which it was counted, at the least, but the first */
	bool is_known;	  /* in all captures: how much of the time it was counted */
	bool reads_0;	  /* on a machine of the captures, for loops that make it count */
	bool is_follower; /* it does not sample, but the leader of its group reads it */
};

/* What the samples of an event come to in an object. */
struct event_sum {
	double weight;	 /* events without multiplexing */
	double events;	 /* weight x multiplex factor of each CPU */
	double variance; /* of `events` */
	uint64_t n;
};

struct cycle_objects {
	const struct cycle_template *tree; /* borrowed */
	struct keys keys;
	bool is_by_block; /* KEY_INSTRUCTION stands for the first one of a block */
	struct column columns[MOST_KEY_COLUMNS];
	size_t n_columns;

	struct strings texts;
	VEC_OF(struct cycle_event) events;
	struct tuples identities;      /* two words for each column, one for the binary … */
	VEC_OF(struct cell) cells;     /* … → object x column: what the keys say */
	VEC_OF(struct cell) names;     /* object x enum object_name */
	VEC_OF(struct event_sum) sums; /* object x event, `stride` for each object */
	size_t stride;
	size_t n_captures;
};

void cycle_objects_init(struct cycle_objects *, const struct cycle_template *, const struct keys *,
			bool is_by_block);
void cycle_objects_release(struct cycle_objects *);

/*
 * Adds the samples of a capture that `select` (NULL: all) lets through. Fails with ERR_NO_DATA if none of
 * the tree's events was sampled.
 */
int cycle_objects_add(struct cycle_objects *, struct session *, const struct select *,
		      struct err *);

static inline uint32_t cycle_objects_n(const struct cycle_objects *o)
{
	return o->identities.n;
}

static inline const struct cell *cycle_object_cells(const struct cycle_objects *o, uint32_t object)
{
	return &o->cells.items[object * o->n_columns];
}

static inline const struct cell *cycle_object_names(const struct cycle_objects *o, uint32_t object)
{
	return &o->names.items[object * N_OBJECT_NAMES];
}

static inline struct event_sum *cycle_object_sums(const struct cycle_objects *o, uint32_t object)
{
	return &o->sums.items[object * o->stride];
}

/* Orders two objects by what the keys say of them. */
int cycle_objects_compare(const struct cycle_objects *, uint32_t a, uint32_t b);

#endif
