/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals from samples: how many operations (or events) so many records stand for, and how far
 * off that may be. Records fall on an operation by lot, so their number has the spread of a
 * Poisson count, at most.
 */
#ifndef CYCLOPS_ESTIMATE_ESTIMATE_H
#define CYCLOPS_ESTIMATE_ESTIMATE_H

#include <stdint.h>

#include "session/interval.h"
#include "table/table.h"

/* A total with the limits between which the truth lies, 19 times out of 20. */
struct estimate {
	double total, low, high;
};

/*
 * `n` records that stand for `operations` all together. Exact limits for few records (Garwood), so
 * that none at all still gives an upper one. Where the interval itself is uncertain the limits are
 * wider. Where samples were lost to collisions the upper one is infinite.
 */
struct estimate estimate_of(uint64_t n, uint64_t operations, const struct spe_interval_range *);

/* Half the distance of the limits as a part of the total; NAN if the total is 0 or there is no upper limit. */
double estimate_error(const struct estimate *);

/* The upper limit; empty if there is none. */
struct cell estimate_high_cell(const struct estimate *);

/* Limits of a share, of which `n` of `n_all` records are the sample (Wilson). */
struct estimate estimate_share(uint64_t n, uint64_t n_all);

#endif
