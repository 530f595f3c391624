/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a whole, and how reliable they are. */
#ifndef CYCLOPS_ESTIMATE_SHARES_H
#define CYCLOPS_ESTIMATE_SHARES_H

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
 * Half the width of the 95 % interval of a share: what `n` of `n_all` samples gave, against what the others
 * gave. How many there are is chance, and what each weighs: `spread` is the mean square of the weights of
 * the n by the square of their mean (share_spread()), `rest_spread` that of the others.
 */
double share_error(double share, uint64_t n, uint64_t n_all, double spread, double rest_spread);

/* From the sums of weights and of their squares; 1 without squares: all weigh the same. */
double share_spread(double squares, double n, double weight);

/* Latency cycles, and how many of them full counters show: those stand for that or more. */
struct latency_amount {
	uint64_t cycles, full;
};

/*
 * Which way a share of latency cycles may be off. If full counters are its own it is a lower
 * bound, if they are others' an upper one, if both have some it is neither; of full counters that
 * hold less than a hundredth of the whole nothing is said.
 */
enum cell_mark latency_share_mark(struct latency_amount part, struct latency_amount whole);

/* That mark in front of a share in a sentence: "at least ", "at most ", "about ", or "". */
const char *latency_share_words(enum cell_mark);

/*
 * An assumption: operations with a saturated latency counter take on average at most this many
 * times what the counter shows. A load in a pointer chase waits for all loads before it in the
 * instruction window: up to about a hundred, of some hundred cycles each.
 */
#define LATENCY_SATURATED_TIMES 10

/* The bounds that saturated counters leave to a share, by that assumption. */
void latency_share_bounds(struct latency_amount part, struct latency_amount whole,
			  double *out_least, double *out_most);

/* The share as a cell; `n` records have it. */
struct cell cell_latency_share(struct latency_amount part, struct latency_amount whole, uint64_t n);

#endif
