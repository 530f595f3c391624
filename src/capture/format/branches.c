/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/branches.h"

#include "base/alloc.h"

/* An entry's flags: the lowest bit and the width of each field. */
enum {
	FLAG_MISPREDICTED = 1 << 0,
	FLAG_PREDICTED = 1 << 1,
	FLAG_IN_TRANSACTION = 1 << 2,
	FLAG_ABORT = 1 << 3,
	TYPE_SHIFT = 20,
	TYPE_MASK = 0xf,
	NEW_TYPE_SHIFT = 26,
	NEW_TYPE_MASK = 0xf,
	PRIVILEGE_SHIFT = 30,
	PRIVILEGE_MASK = 0x7,
	WORDS = sizeof(struct branch_entry) / sizeof(uint64_t),
};

/* Payload bits of the operation packet for a branch: docs/reference/spe-packets.md section 6.3. */
enum {
	OP_CONDITIONAL = 1 << 0,
	OP_INDIRECT = 1 << 1,
	OP_CALL = 1 << 3,
	OP_RETURN = 2 << 3,
};

enum { MODE_KERNEL = 1, MODE_USER = 2, MODE_HYPERVISOR = 3 }; /* PERF_RECORD_MISC_CPUMODE */
enum { CALL_STACK = 11 };				      /* bit of branch_sample_type */

bool branches_are_calls(const struct attr *a)
{
	return a->branch_sample_type >> CALL_STACK & 1;
}

enum {
	CHANGES_PRIVILEGE = 1 << 0,
	IS_KNOWN = 1 << 1, /* `op` is right */
};

/*
 * Kinds of branches: perf's names, and what they are as payload of an operation packet. Faults and
 * what Arm adds are exceptions, which is no kind of branch of that packet.
 */
static const struct {
	const char *name, *arm_name;
	uint8_t flags, op;
} types[N_BRANCH_TYPES] = {
	[BRANCH_CONDITIONAL] = { "COND", NULL, IS_KNOWN, OP_CONDITIONAL },
	[BRANCH_JUMP] = { "UNCOND", NULL, IS_KNOWN, 0 },
	[BRANCH_INDIRECT_JUMP] = { "IND", NULL, IS_KNOWN, OP_INDIRECT },
	[BRANCH_CALL] = { "CALL", NULL, IS_KNOWN, OP_CALL },
	[BRANCH_INDIRECT_CALL] = { "IND_CALL", NULL, IS_KNOWN, OP_CALL | OP_INDIRECT },
	[BRANCH_RETURN] = { "RET", NULL, IS_KNOWN, OP_RETURN | OP_INDIRECT },
	[BRANCH_SYSTEM_CALL] = { "SYSCALL", NULL, IS_KNOWN | CHANGES_PRIVILEGE, 0 },
	[BRANCH_SYSTEM_RETURN] = { "SYSRET", NULL, IS_KNOWN | CHANGES_PRIVILEGE, 0 },
	[BRANCH_CONDITIONAL_CALL] = { "COND_CALL", NULL, IS_KNOWN, OP_CALL | OP_CONDITIONAL },
	[BRANCH_CONDITIONAL_RETURN] = { "COND_RET", NULL, IS_KNOWN,
					OP_RETURN | OP_CONDITIONAL | OP_INDIRECT },
	[BRANCH_EXCEPTION_RETURN] = { "ERET", NULL, IS_KNOWN | CHANGES_PRIVILEGE, 0 },
	[BRANCH_INTERRUPT] = { "IRQ", NULL, IS_KNOWN | CHANGES_PRIVILEGE, 0 },
	[BRANCH_SYSTEM_ERROR] = { "SERROR", NULL, IS_KNOWN | CHANGES_PRIVILEGE, 0 },
	[BRANCH_NO_TRANSACTION] = { "NO_TX", NULL, 0, 0 },
	[BRANCH_NEW_TYPES + 0] = { "FAULT_ALGN", NULL, CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 1] = { "FAULT_DATA", NULL, CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 2] = { "FAULT_INST", NULL, CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 3] = { "ARCH_1", "FIQ", CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 4] = { "ARCH_2", "DEBUG_HALT", CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 5] = { "ARCH_3", "DEBUG_EXIT", CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 6] = { "ARCH_4", "DEBUG_INST", CHANGES_PRIVILEGE, 0 },
	[BRANCH_NEW_TYPES + 7] = { "ARCH_5", "DEBUG_DATA", CHANGES_PRIVILEGE, 0 },
};

struct branch_flags branch_read_flags(uint64_t flags)
{
	unsigned type = flags >> TYPE_SHIFT & TYPE_MASK;

	if (type == BRANCH_TYPE_IS_NEW)
		type = BRANCH_NEW_TYPES + (flags >> NEW_TYPE_SHIFT & NEW_TYPE_MASK);
	return (struct branch_flags){
		.is_mispredicted = flags & FLAG_MISPREDICTED,
		.is_predicted = flags & FLAG_PREDICTED,
		.is_in_transaction = flags & FLAG_IN_TRANSACTION,
		.is_abort = flags & FLAG_ABORT,
		.cycles = (uint16_t)branch_cycles(flags),
		.type = (enum branch_type)type,
		.spec = (enum branch_spec)(flags >> BRANCH_SPEC_SHIFT & BRANCH_SPEC_MASK),
		.privilege = flags >> PRIVILEGE_SHIFT & PRIVILEGE_MASK,
	};
}

const char *branch_type_name(enum branch_type type, bool is_arm)
{
	return is_arm && types[type].arm_name != NULL ? types[type].arm_name : types[type].name;
}

const char *branch_spec_name(enum branch_spec spec)
{
	static const char *const names[] = {
		[BRANCH_WRONG_PATH] = "SPEC_WRONG_PATH",
		[BRANCH_NOT_SPECULATIVE] = "NON_SPEC_CORRECT_PATH",
		[BRANCH_RIGHT_PATH] = "SPEC_CORRECT_PATH",
	};

	return names[spec];
}

const char *branch_privilege_name(uint8_t privilege)
{
	static const char *const names[] = {
		[BRANCH_USER] = "user",
		[BRANCH_KERNEL] = "kernel",
		[BRANCH_HYPERVISOR] = "hypervisor",
	};

	return privilege < COUNT(names) ? names[privilege] : NULL;
}

bool branch_changes_privilege(enum branch_type type)
{
	return types[type].flags & CHANGES_PRIVILEGE;
}

static uint8_t mode_of(uint64_t address, uint8_t privilege)
{
	static const uint8_t modes[] = {
		[BRANCH_USER] = MODE_USER,
		[BRANCH_KERNEL] = MODE_KERNEL,
		[BRANCH_HYPERVISOR] = MODE_HYPERVISOR,
	};

	if (privilege != BRANCH_PRIVILEGE_UNKNOWN && privilege < COUNT(modes))
		return modes[privilege];
	return address >> 63 ? MODE_KERNEL : MODE_USER;
}

/*
 * The privilege is recorded of the target, so it is that of the source only for kinds that stay. The
 * mode of the sample is that of another address.
 */
uint8_t branch_source_mode(uint64_t from, const struct branch_flags *flags)
{
	bool stays = types[flags->type].flags & IS_KNOWN && !branch_changes_privilege(flags->type);

	return mode_of(from, stays ? flags->privilege : BRANCH_PRIVILEGE_UNKNOWN);
}

uint8_t branch_target_mode(uint64_t to, const struct branch_flags *flags)
{
	return mode_of(to, flags->privilege);
}

static void branches_add_entry(struct batch *out, const struct batch *samples, size_t sample,
			       const uint64_t *entry, uint32_t position)
{
	const uint32_t kept = HAS_TIME | HAS_CPU | HAS_PID | HAS_TID;
	struct branch_flags flags = branch_read_flags(entry[2]);
	bool has_prediction = flags.is_mispredicted || flags.is_predicted;
	bool has_type = types[flags.type].flags & IS_KNOWN;
	size_t row = out->n++;

	out->has[row] = (samples->has[sample] & kept) | HAS_PC | HAS_TARGET | HAS_OP |
			(has_prediction ? HAS_EVENTS : 0) | (has_type ? HAS_BRANCH_TYPE : 0) |
			(flags.cycles != 0 ? HAS_BRANCH_CYCLES : 0);
	out->position[row] = samples->position[sample];
	out->pc[row] = entry[0];
	out->target[row] = entry[1];
	out->time_ns[row] = samples->time_ns[sample];
	out->cpu[row] = samples->cpu[sample];
	out->pid[row] = samples->pid[sample];
	out->tid[row] = samples->tid[sample];
	out->event[row] = samples->event[sample];
	out->mode[row] = branch_source_mode(entry[0], &flags);
	out->events[row] = flags.is_mispredicted ? BRANCH_EVENTS : 0;
	out->op_class[row] = SPE_OP_BRANCH;
	out->op[row] = types[flags.type].op;
	out->branch_cycles[row] = flags.cycles;
	out->branch_flags[row] = entry[2];
	out->branch_position[row] = position;
}

/* Older kernels also write slots that the hardware has not filled. */
static bool is_filled_slot(const uint64_t *entry)
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

/* Is the entry to become a row? Counts what is left out. */
static bool branch_rows_take(struct branch_rows *at, const struct batch *samples,
			     const uint64_t *entry)
{
	if (!is_filled_slot(entry))
		return false;
	if (at->with_wrong_path || !branch_is_of_wrong_path(entry[2]))
		return true;
	if (at->n_wrong_path++ == 0)
		at->first_wrong_path = samples->position[at->row];
	return false;
}

void branch_rows_restart(struct branch_rows *at)
{
	at->row = 0;
	at->entry = 0;
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
			const uint64_t *entry = words + (size_t)at->entry * WORDS;

			if (batch_is_full(out))
				return true;
			if (branch_rows_take(at, samples, entry))
				branches_add_entry(out, samples, at->row, entry, at->entry);
		}
	}
	return out->n > 0;
}
