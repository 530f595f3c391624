/* SPDX-License-Identifier: Apache-2.0 */
/* What contention costs: which loads waited for other threads, and how long. */
#ifndef CYCLOPS_C2C_ACCESSES_COST_H
#define CYCLOPS_C2C_ACCESSES_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/accesses/result.h"
#include "table/table.h"

/* What a load takes without contention: of access latency where issue was recorded. */
uint64_t c2c_local_cycles(const struct c2c *);

/* By how much `n` loads that took `cycles` were slower than that; never less than 0. */
int64_t c2c_excess(const struct c2c *, uint64_t cycles, uint64_t n);

/* How a line was used, by its records. */
struct c2c_use {
	uint64_t n_records, n_contended, n_reloads;
};

/*
 * Is the line used so often that it does not leave the cores' own caches by itself? Then loads
 * that had to get it anew while others wrote to it did so because of them.
 */
bool c2c_is_kept(const struct c2c *, const struct c2c_use *);

/* Forgets those reloads of touches from … to - 1, which are a line's, that others' writes do not explain. */
void c2c_settle_reloads(struct c2c *, uint32_t from, uint32_t to);

/* Fills excess_cycles, share and error. */
void c2c_rate(const struct c2c *, struct c2c_subject *);

/* Which way full counters, of these loads or of others, make the share a bound. */
enum cell_mark c2c_share_mark(const struct c2c *, const struct c2c_subject *);

#endif
