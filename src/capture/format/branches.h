/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch stacks as rows. Each entry (x86 LBR, Arm BRBE) of a sample becomes a row of kind
 * BATCH_BRANCHES. It has the columns of an SPE branch record, so that analyses treat both alike:
 *
 *   pc, target        source and destination of the branch
 *   op_class, op      a branch; HAS_BRANCH_TYPE: its type is in op
 *   events            HAS_EVENTS: the prediction was recorded; SPE_EV_MISPREDICTED if wrong
 *   branch_cycles     HAS_BRANCH_CYCLES: cycles since the previous branch
 *   branch_flags      all flags as recorded: branch_read_flags()
 *   branch_position   in its stack; 0 is the newest
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

/* Kinds of branches: PERF_BR_…, then those that newer kernels write into a field of their own. */
enum branch_type {
	BRANCH_UNKNOWN,
	BRANCH_CONDITIONAL,
	BRANCH_JUMP,
	BRANCH_INDIRECT_JUMP,
	BRANCH_CALL,
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN,
	BRANCH_SYSTEM_CALL,
	BRANCH_SYSTEM_RETURN,
	BRANCH_CONDITIONAL_CALL,
	BRANCH_CONDITIONAL_RETURN,
	BRANCH_EXCEPTION_RETURN,
	BRANCH_INTERRUPT,
	BRANCH_SYSTEM_ERROR,
	BRANCH_NO_TRANSACTION,
	BRANCH_TYPE_IS_NEW, /* never in struct branch_flags: the kind is in the other field */
	BRANCH_NEW_TYPES,   /* + the other field; the first three are faults */
	N_BRANCH_TYPES = BRANCH_NEW_TYPES + 16,
};

enum branch_spec {
	BRANCH_SPEC_UNKNOWN,
	BRANCH_WRONG_PATH, /* executed speculatively, and never retired */
	BRANCH_NOT_SPECULATIVE,
	BRANCH_RIGHT_PATH,
};

/* What is said of entries of BRANCH_WRONG_PATH. */
#define BRANCHES_OF_WRONG_PATH                                                                     \
	"branch stack entries left out: executed on a wrong path, never retired"

/* Of the code at the target, where the hardware is Arm's. */
enum branch_privilege {
	BRANCH_PRIVILEGE_UNKNOWN,
	BRANCH_USER,
	BRANCH_KERNEL,
	BRANCH_HYPERVISOR,
};

/* The flags of an entry, apart. Neither mispredicted nor predicted: not recorded. */
struct branch_flags {
	bool is_mispredicted, is_predicted;
	bool is_in_transaction, is_abort;
	uint16_t cycles; /* since the branch before; 0: not recorded */
	enum branch_type type;
	enum branch_spec spec;
	uint8_t privilege; /* enum branch_privilege, or a value that it does not have */
};

struct branch_flags branch_read_flags(uint64_t flags);

/* Bits of the flags: the cycles, and what the two functions below need. */
#define BRANCH_CYCLES ((uint64_t)0xffff << BRANCH_CYCLES_SHIFT)
enum { BRANCH_CYCLES_SHIFT = 4, BRANCH_SPEC_SHIFT = 24, BRANCH_SPEC_MASK = 3 };

/* Single fields, for loops over all entries. */
static inline uint32_t branch_cycles(uint64_t flags)
{
	return (uint32_t)((flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT);
}

static inline bool branch_is_of_wrong_path(uint64_t flags)
{
	return (flags >> BRANCH_SPEC_SHIFT & BRANCH_SPEC_MASK) == BRANCH_WRONG_PATH;
}

/* As perf calls it; NULL: not recorded, or not known. `is_arm`: Arm has own names for some. */
const char *branch_type_name(enum branch_type, bool is_arm);
const char *branch_spec_name(enum branch_spec);
const char *branch_privilege_name(uint8_t privilege);

/* Did the branch go between privilege levels, by its kind? */
bool branch_changes_privilege(enum branch_type);

/*
 * The mode of the code at the source, and at the target: as in PERF_RECORD_MISC_CPUMODE. By the
 * recorded privilege level where it is known, else by the address: kernels have bit 63.
 */
uint8_t branch_source_mode(uint64_t from, const struct branch_flags *);
uint8_t branch_target_mode(uint64_t to, const struct branch_flags *);

/* The next entry of a batch of samples to become a row. Zeroed: the first. */
struct branch_rows {
	size_t row;
	uint32_t entry;
	bool with_wrong_path; /* entries of BRANCH_WRONG_PATH become rows, too */

	/* Counted: entries that were left out as BRANCH_WRONG_PATH, and the first of their samples. */
	uint64_t n_wrong_path, first_wrong_path;
};

/* Starts again at the first entry, and keeps what was counted. */
void branch_rows_restart(struct branch_rows *);

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
