/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of records with their call chains, in a temporary file: what a worker had no memory for. One chain may come
 * several times, and its sums have to be added up.
 */
#ifndef CYCLOPS_HOT_SUMS_CHAINS_H
#define CYCLOPS_HOT_SUMS_CHAINS_H

#include <stdbool.h>

#include "base/spool.h"
#include "base/vec.h"
#include "hot/sums/cost.h"
#include "keys/keys.h"

struct tuples;

/* What one group of records comes to. Zeroed is empty; to be released. */
struct chained_group {
	uint64_t key[N_DIMENSIONS]; /* DIM_FRAME: nothing */
	struct hot_cost cost;
	VEC_OF(uint32_t) chain; /* places, innermost first; what hot/sums has as DIM_FRAME */
};

/* Zeroed is empty. */
struct hot_chains {
	struct spool spool;
	VEC_OF(bool) places; /* by number: those that hot_chains_note() was told of */
};

/* Of a frame, with its place in the table that finds it. */
enum { HOT_FRAME_BYTES = 24 };

void hot_chains_release(struct hot_chains *);

/* Reads a group: its key, the chain of the frame in it, and its sums. */
void chained_group_read(struct chained_group *, const uint64_t key[N_DIMENSIONS],
			const struct hot_cost *, const struct tuples *frames);
void chained_group_release(struct chained_group *);

/* Appends sums as a value of a sorter (base/sorter.h); reads them and moves *bytes behind them. */
void hot_cost_write(struct text *, const struct hot_cost *);
void hot_cost_read(const uint8_t **bytes, struct hot_cost *out);

/* Adds a group at the end. Errors are kept in spool.rc. */
void hot_chains_add(struct hot_chains *, const struct chained_group *);

/* Notes the places of a group, and of its chain. */
void hot_chains_note(struct hot_chains *, const struct chained_group *);

/* Makes all that was added readable. Then nothing can be added. */
void hot_chains_finish(struct hot_chains *);

/* Adds what is in the files of another one, which is finished and stays as it is. */
void hot_chains_merge(struct hot_chains *into, const struct hot_chains *from);

/* The next group, in any order; false behind the last. The group is zeroed before the first call. */
bool hot_chains_next(const struct hot_chains *, struct spool_position *, struct chained_group *);

#endif
