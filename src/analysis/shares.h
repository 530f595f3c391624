/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a whole, and how far they can be leant on. */
#ifndef CYCLOPS_ANALYSIS_SHARES_H
#define CYCLOPS_ANALYSIS_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table.h"

/* Records: with fewer, the relative error of their number is over 60 % (95 %). */
enum { SPARSE_BELOW = 10 };

/* Part of a whole; 0 of nothing. */
static inline double ratio(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (double)part / (double)whole;
}

/* The same as a cell; absent of nothing. */
struct cell cell_ratio(uint64_t part, uint64_t whole);

/* Marks what rests on `n` records as sparse if those are few. */
struct cell cell_sparse(struct cell, uint64_t n);

/*
 * A share of latency cycles, which `n` records have. Where counters were full (`is_cut`) the whole is a
 * lower bound: then the share is none, but may be off either way, and is not exact.
 */
struct cell cell_latency_share(uint64_t cycles, uint64_t whole, uint64_t n, bool is_cut);

#endif
