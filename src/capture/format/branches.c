/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/branches.h"

/* Bits of an entry's flags. */
enum {
	FLAG_MISPREDICTED = 1 << 0,
	FLAG_PREDICTED = 1 << 1,
	CYCLES_SHIFT = 4,
	CYCLES_MASK = 0xffff,
	TYPE_SHIFT = 20,
	TYPE_MASK = 0xf,
	WORDS = sizeof(struct branch_entry) / sizeof(uint64_t),
};

/* Payload bits of the operation packet for a branch: docs/reference/spe-packets.md section 6.3. */
enum {
	OP_CONDITIONAL = 1 << 0,
	OP_INDIRECT = 1 << 1,
	OP_CALL = 1 << 3,
	OP_RETURN = 2 << 3,
};

enum { MODE_KERNEL = 1, MODE_USER = 2 }; /* PERF_RECORD_MISC_CPUMODE */
enum { CALL_STACK = 11 };		 /* bit of branch_sample_type */

bool branches_are_calls(const struct attr *a)
{
	return a->branch_sample_type >> CALL_STACK & 1;
}

/* Branch types (PERF_BR_…) as payload of an operation packet. Others are unknown. */
static const struct {
	bool is_known;
	uint8_t op;
} kinds[TYPE_MASK + 1] = {
	[1] = { true, OP_CONDITIONAL },
	[2] = { true, 0 },
	[3] = { true, OP_INDIRECT },
	[4] = { true, OP_CALL },
	[5] = { true, OP_CALL | OP_INDIRECT },
	[6] = { true, OP_RETURN | OP_INDIRECT },
	[7] = { true, 0 }, /* system call, and return */
	[8] = { true, 0 },
	[9] = { true, OP_CALL | OP_CONDITIONAL },
	[10] = { true, OP_RETURN | OP_CONDITIONAL | OP_INDIRECT },
	[11] = { true, 0 }, /* exception, and return */
	[12] = { true, 0 },
	[13] = { true, 0 },
};

static void branches_add_entry(struct batch *out, const struct batch *samples, size_t sample,
			       const uint64_t *entry)
{
	const uint32_t kept = HAS_TIME | HAS_CPU | HAS_PID | HAS_TID;
	uint64_t from = entry[0], flags = entry[2];
	unsigned type = flags >> TYPE_SHIFT & TYPE_MASK;
	uint16_t cycles = flags >> CYCLES_SHIFT & CYCLES_MASK;
	bool has_prediction = flags & (FLAG_MISPREDICTED | FLAG_PREDICTED);
	size_t row = out->n++;

	out->has[row] = (samples->has[sample] & kept) | HAS_PC | HAS_TARGET | HAS_OP |
			(has_prediction ? HAS_EVENTS : 0) |
			(kinds[type].is_known ? HAS_BRANCH_TYPE : 0) |
			(cycles != 0 ? HAS_BRANCH_CYCLES : 0);
	out->position[row] = samples->position[sample];
	out->pc[row] = from;
	out->target[row] = entry[1];
	out->time_ns[row] = samples->time_ns[sample];
	out->cpu[row] = samples->cpu[sample];
	out->pid[row] = samples->pid[sample];
	out->tid[row] = samples->tid[sample];
	out->event[row] = samples->event[sample];
	/* bit 63: a kernel address; the mode of the sample is that of another address */
	out->mode[row] = from >> 63 ? MODE_KERNEL : MODE_USER;
	out->events[row] = flags & FLAG_MISPREDICTED ? BRANCH_EVENTS : 0;
	out->op_class[row] = SPE_OP_BRANCH;
	out->op[row] = kinds[type].op;
	out->branch_cycles[row] = cycles;
}

/* Older kernels also write slots that the hardware has not filled. */
static bool is_entry(const uint64_t *entry)
{
	return entry[0] != 0 || entry[1] != 0;
}

/* How many entries of the sample are wanted. */
static uint32_t entries_of(const struct batch *samples, size_t row, const bool *is_skipped)
{
	if (!(samples->has[row] & HAS_BRANCHES) || is_skipped[samples->event[row]])
		return 0;
	return samples->branches[row].n / WORDS;
}

bool branch_rows_next(struct branch_rows *at, const struct batch *samples, const bool *is_skipped,
		      struct batch *out)
{
	batch_reset(out, BATCH_BRANCHES);
	if (samples->kind != BATCH_SAMPLES)
		return false;
	for (; at->row < samples->n; at->row++, at->entry = 0) {
		uint32_t n = entries_of(samples, at->row, is_skipped);
		const uint64_t *words = samples->words.items + samples->branches[at->row].first;

		for (; at->entry < n; at->entry++) {
			if (batch_is_full(out))
				return true;
			if (!is_entry(words + (size_t)at->entry * WORDS))
				continue;
			branches_add_entry(out, samples, at->row,
					   words + (size_t)at->entry * WORDS);
		}
	}
	return out->n > 0;
}
