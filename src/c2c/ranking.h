/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the accesses of a cause matter most. */
#ifndef CYCLOPS_C2C_RANKING_H
#define CYCLOPS_C2C_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/verdict/cause.h"

/* An access, or what one instruction does to many objects of a type; and what it is chosen by. */
struct c2c_ranked {
	uint64_t rank, records;
	uint32_t number; /* of the access, or of the first of them */
	uint32_t n_threads;
	struct c2c_latency waits;
	bool has_reloads;
};

struct c2c_ranking {
	struct c2c_ranked *items;
	size_t n, cap;
};

/*
 * The writers or the readers, those that matter most first. Readers that never waited matter only
 * if none did; atomics are readers if they waited. The caller releases it, as a vector.
 */
struct c2c_ranking c2c_rank_accesses(const struct c2c *, const struct c2c_cause *, bool writers);

/* The place that matters most, or UINT32_MAX. */
uint32_t c2c_ranking_place(const struct c2c *, const struct c2c_ranking *);
uint32_t c2c_first_place(const struct c2c *, const struct c2c_cause *, bool writers);

#endif
