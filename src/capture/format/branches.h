/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch stacks as rows. Each entry (x86 LBR, Arm BRBE) of a sample becomes a row of kind
 * BATCH_BRANCHES. It has the columns of an SPE branch record, so that analyses treat both alike:
 *
 *   pc, target        source and destination of the branch
 *   op_class, op      a branch; HAS_BRANCH_TYPE: its type is in op
 *   events            HAS_EVENTS: the prediction was recorded; SPE_EV_MISPREDICTED if wrong
 *   branch_cycles     HAS_BRANCH_CYCLES: cycles since the previous branch
 *   event, time, cpu, pid, tid, position: of the sample
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

/* The next entry of a batch of samples to become a row. Zeroed: the first. */
struct branch_rows {
	size_t row;
	uint32_t entry;
};

/*
 * Fills `out` with the next entries of the samples. Skips events whose number is set in
 * `is_skipped`. False if there are none left.
 */
bool branch_rows_next(struct branch_rows *, const struct batch *samples, const bool *is_skipped,
		      struct batch *out);

/* Are branch stacks of this event call stacks (--call-graph lbr)? */
bool branches_are_calls(const struct attr *);

/* Bits of SPE events that branch entries can have. */
#define BRANCH_EVENTS ((uint64_t)1 << SPE_EV_MISPREDICTED)

#endif
