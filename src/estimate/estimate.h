/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals from samples: how many operations (or events) so many records stand for, and how far
 * off that may be. Records fall on an operation by lot, so their number has the spread of a
 * Poisson count, at most.
 */
#ifndef CYCLOPS_ESTIMATE_ESTIMATE_H
#define CYCLOPS_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
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
 * wider. Where samples were lost and counted, the total is scaled up by their share of all, while the
 * limits hold if none or all of them are of these operations: slow code loses more than its share.
 * Where they were not counted the total is not scaled, and there is no upper limit.
 */
struct estimate estimate_of(uint64_t n, uint64_t operations, const struct spe_interval_range *);

/* Half the distance of the limits as a part of the total; NAN if the total is 0 or there is no upper limit. */
double estimate_error(const struct estimate *);

/* The upper limit; empty if there is none. */
struct cell estimate_high_cell(const struct estimate *);

/* The total, as a count; a lower bound if there is no upper limit. */
struct cell estimate_cell(const struct estimate *);

/*
 * What `n` records come to, a count or a number that has no limits of its own: scaled up by the
 * samples that were lost if these are few beside `n`; else not scaled, and a lower bound.
 */
struct cell estimate_amount_cell(struct cell amount, uint64_t n, const struct lost_samples *);

/* May lost samples change what `n` records stand for by more than a twentieth? */
bool estimate_is_open(uint64_t n, const struct lost_samples *);

/*
 * Limits of a share, of which `n` of `n_all` records are the sample (Wilson). Any of the lost
 * samples may be of either side; 0 … 1 if it is not known how many there are.
 */
struct estimate estimate_share(uint64_t n, uint64_t n_all, const struct lost_samples *);

/*
 * What counted lost samples add to the error of a share, if they weigh as much as the others: all of them
 * may be of the part, or none. 0 if there are none, or nobody counted them.
 */
double estimate_lost_error(double share, const struct lost_samples *);

#endif
