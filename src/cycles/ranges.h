/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle accounting of ranges of code that lie one behind the other: of the blocks of a function. */
#ifndef CYCLOPS_CYCLES_RANGES_H
#define CYCLOPS_CYCLES_RANGES_H

#include "base/err.h"
#include "cycles/options.h"
#include "cycles/tree/account.h"
#include "scan/select.h"
#include "session/session.h"

/* Zeroed is empty. */
struct cycle_ranges {
	struct cycle_template *tree;
	double assumed_ghz; /* of penalties in ns; 0: it was said, or none is in ns */
	size_t n;
	/*
	 * Range x node. At this grain there are no differences of samples (CYCLE_TOO_FINE) and no caps. Behind the
	 * last range: all of them together, as a function.
	 */
	struct cycle_value *values;
};

/*
 * `starts` has n + 1 offsets in the module, ascending: range i is [starts[i], starts[i + 1]). Scans the
 * capture once. Fails with ERR_NO_DATA if the CPU has no tree, or if less than two of its events were sampled:
 * the error says what records them. Empty after a failure.
 */
int cycle_ranges_init(struct cycle_ranges *, struct session *, const struct select *,
		      const struct cycle_options *, struct module_id, const uint64_t *starts,
		      size_t n, struct err *);
void cycle_ranges_release(struct cycle_ranges *);

static inline const struct cycle_value *cycle_range_values(const struct cycle_ranges *r,
							   size_t range)
{
	return &r->values[range * r->tree->n_nodes];
}

#endif
