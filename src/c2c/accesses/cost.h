/* SPDX-License-Identifier: Apache-2.0 */
/* What contention costs: which loads waited for other threads, and how long. */
#ifndef CYCLOPS_C2C_ACCESSES_COST_H
#define CYCLOPS_C2C_ACCESSES_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/accesses/result.h"
#include "table/table.h"

/* What a load takes without contention: of access latency where issue was recorded. */
uint64_t sharing_local_cycles(const struct sharing *);

/* By how much `n` loads that took `cycles` were slower than that; never less than 0. */
int64_t sharing_excess(const struct sharing *, uint64_t cycles, uint64_t n);

/* How a line was used, by its records. */
struct sharing_use {
	uint64_t n_records, n_contended, n_reloads;
};

/*
 * Is the line used so often that it does not leave the cores' own caches by itself? Then loads
 * that had to get it anew while others wrote to it did so because of them.
 */
bool sharing_is_kept(const struct sharing *, const struct sharing_use *);

/* Forgets those reloads of touches order[from … to - 1], which are a line's, that others' writes do not explain. */
void sharing_settle_reloads(struct sharing *, uint32_t from, uint32_t to);

/* Fills excess_cycles, share and error. */
void sharing_rate(const struct sharing *, struct sharing_subject *);

/* Which way full counters, of these loads or of others, make the share a bound. */
enum cell_mark sharing_share_mark(const struct sharing *, const struct sharing_subject *);

#endif
