/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch stacks as rows. Each entry (x86 LBR, Arm BRBE) of a sample becomes a row of kind
 * BATCH_BRANCHES, with the columns of an SPE record of a branch, so that analyses treat both alike:
 *
 *	pc, target	where the branch was, and where it went
 *	op_class, op	a branch; with HAS_BRANCH_TYPE of which kind
 *	events		HAS_EVENTS: whether it was predicted is known; SPE_EV_MISPREDICTED if not so
 *	branch_cycles	HAS_BRANCH_CYCLES: cycles since the branch before
 *	event, time, cpu, pid, tid, position: of the sample
 *
 * Format of the entries: docs/reference/perf-data.md section 3.4.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_BRANCHES_H
#define CYCLOPS_CAPTURE_FORMAT_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "capture/format/attr.h"
#include "spe/packet.h"

/* The next entry of a batch of samples to be turned into a row. Zeroed: the first. */
struct branch_rows {
	size_t row;
	uint32_t entry;
};

/*
 * Fills `out` with the next entries of these samples, those of events with `is_skipped` (by
 * number of the event) left out; false once there are none left.
 */
bool branch_rows_next(struct branch_rows *, const struct batch *samples, const bool *is_skipped,
		      struct batch *out);

/* Are the branch stacks of this event call chains (--call-graph lbr), not branches? */
bool branches_are_calls(const struct attr *);

/* What branch entries can tell: bits of SPE events. */
#define BRANCH_EVENTS ((uint64_t)1 << SPE_EV_MISPREDICTED)

#endif
