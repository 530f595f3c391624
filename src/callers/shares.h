/* SPDX-License-Identifier: Apache-2.0 */
/* By cell of records: the share of each chain; and how certain the shares of a group are. */
#ifndef CYCLOPS_CALLERS_SHARES_H
#define CYCLOPS_CALLERS_SHARES_H

#include "callers/callers.h"
#include "callers/neighbours.h"

struct chain_shares {
	const struct neighbours *neighbours; /* borrowed */
	size_t *first;			     /* by cell: its first share in `sums` */
	VEC_OF(float)
	sums; /* of a cell: shares of the chains of its group, each with those before it */
	struct callers_known *known; /* by group */
	struct callers_known all;
};

void chain_shares_init(struct chain_shares *, const struct neighbours *);
void chain_shares_release(struct chain_shares *);

#endif
