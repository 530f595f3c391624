/* SPDX-License-Identifier: Apache-2.0 */
#include "model/branch_stack.h"

#include "base/alloc.h"
#include "model/random.h"

/* Flags of an entry: docs/reference/perf-data.md section 3.4. */
enum {
	FLAG_MISPREDICTED = 1 << 0,
	FLAG_PREDICTED = 1 << 1,
	CYCLES_SHIFT = 4,
	CYCLES_MOST = 0xffff,
	TYPE_SHIFT = 20,
	SPEC_SHIFT = 24,
	PRIVILEGE_SHIFT = 30,
};

/* PERF_BR_…, PERF_BR_SPEC_…, PERF_BR_PRIV_… */
enum { CONDITIONAL = 1, UNCONDITIONAL, INDIRECT, CALL, INDIRECT_CALL, RETURN, ERET = 11, IRQ };
enum { SPEC_WRONG_PATH = 1, SPEC_CORRECT_PATH = 3 };
enum { PRIVILEGE_USER = 1, PRIVILEGE_KERNEL };

void branch_stack_init(struct branch_stack *s, const struct branch_recording *recording,
		       const struct params *params, uint64_t seed)
{
	*s = (struct branch_stack){ .recording = recording, .params = params, .random = seed };
}

static unsigned type_of(const struct insn *in)
{
	bool is_call = in->flags & INSN_CALL;

	switch ((enum insn_branch)in->branch) {
	case BRANCH_CONDITIONAL:
		return CONDITIONAL;
	case BRANCH_RETURN:
		return RETURN;
	case BRANCH_INDIRECT:
		return is_call ? INDIRECT_CALL : INDIRECT;
	case BRANCH_DIRECT:
		break;
	}
	return is_call ? CALL : UNCONDITIONAL;
}

static bool is_recorded(const struct branch_stack *s, unsigned type)
{
	switch ((enum branch_filter)s->recording->filter) {
	case BRANCHES_RETURN:
		return type == RETURN;
	case BRANCHES_CALL:
		return type == CALL || type == INDIRECT_CALL;
	case BRANCHES_ANY:
	case N_BRANCH_FILTERS:
		break;
	}
	return true;
}

/* Does a fault of this probability in percent happen? */
static bool has_fault(struct branch_stack *s, uint32_t percent)
{
	return percent > 0 && random_next(&s->random) % 100 < percent;
}

/* Kernel entries need the privilege level to be recorded. */
static uint64_t privilege(const struct branch_stack *s, uint64_t to)
{
	if (s->params->interrupt_cycles == 0 || s->params->interrupt_signals)
		return 0;
	return (uint64_t)(to >> 63 ? PRIVILEGE_KERNEL : PRIVILEGE_USER) << PRIVILEGE_SHIFT;
}

/* `flags`: without type and privilege level. */
static void add(struct branch_stack *s, uint64_t order, struct branch_entry entry, unsigned type)
{
	entry.flags |= (uint64_t)type << TYPE_SHIFT | privilege(s, entry.to);
	s->kept[s->n++ % BRANCHES_KEPT] = (struct taken_branch){ .order = order, .entry = entry };
}

static void take(struct branch_stack *s, const struct branch_execution *b)
{
	uint64_t cycles = s->n == s->first ? 0 : b->cycle - s->cycle; /* 0: not known */
	uint64_t spec = s->params->stack_wrong_path > 0 ? SPEC_CORRECT_PATH : 0;
	const struct branch_entry entry = {
		.from = b->insn->pc,
		.to = b->to,
		.flags = (uint64_t)(b->is_mispredicted ? FLAG_MISPREDICTED : FLAG_PREDICTED) |
			 (cycles < CYCLES_MOST ? cycles : CYCLES_MOST) << CYCLES_SHIFT |
			 spec << SPEC_SHIFT,
	};

	s->cycle = b->cycle;
	add(s, branch_order(b->number), entry, type_of(b->insn));
}

/* A branch that was fetched behind a mispredicted conditional one: where that did not go. */
static void take_wrong_path(struct branch_stack *s, const struct branch_execution *b)
{
	enum { BRANCH_AT = 8, TARGET_AT = 64 };
	uint64_t start = b->is_taken ? b->insn->pc + 4 : b->to;
	const struct branch_entry entry = {
		.from = start + BRANCH_AT,
		.to = start + TARGET_AT,
		.flags = FLAG_PREDICTED | SPEC_WRONG_PATH << SPEC_SHIFT,
	};

	if (b->is_mispredicted && b->insn->branch == BRANCH_CONDITIONAL &&
	    has_fault(s, s->params->stack_wrong_path))
		add(s, branch_order_behind(b->number), entry, CONDITIONAL);
}

void branch_stack_see(struct branch_stack *s, const struct branch_execution *b)
{
	if (s->recording->depth == 0 || !is_recorded(s, type_of(b->insn)))
		return;
	if (b->is_taken)
		take(s, b);
	take_wrong_path(s, b);
}

/* The kernel's exception vector, its handler, and the way back. */
static const uint64_t vector = 0xffff800080010c80, kernel_handler = 0xffff8000800a1000;

/* Signal handlers return to a function that the kernel maps. */
static const uint64_t signal_return = 0x7ffffffff000;

void branch_stack_interrupt(struct branch_stack *s, uint64_t number, uint64_t pc, uint64_t entry_pc)
{
	const struct {
		uint64_t from, to;
		unsigned type;
		bool is_signal;
	} branches[] = {
		{ pc, vector, IRQ, false },
		{ vector + 0x14, kernel_handler, CALL, false },
		{ kernel_handler + 0x20, kernel_handler + 0x10, CONDITIONAL, false },
		{ kernel_handler + 0x3c, vector + 0x18, RETURN, false },
		{ vector + 0x60, pc, ERET, false },
		{ entry_pc + 4, entry_pc + 12, CONDITIONAL, true },
		{ entry_pc + 20, signal_return, RETURN, true },
	};

	if (s->recording->depth == 0)
		return;
	for (size_t i = 0; i < COUNT(branches); i++)
		if (branches[i].is_signal == (s->params->interrupt_signals != 0) &&
		    is_recorded(s, branches[i].type))
			add(s, branch_order_behind(number),
			    (struct branch_entry){ .from = branches[i].from,
						   .to = branches[i].to,
						   .flags = FLAG_PREDICTED },
			    branches[i].type);
}

void branch_stack_forget(struct branch_stack *s)
{
	s->first = s->n;
}

/* The source of the newest entry becomes that of another branch. */
static void spoil_newest(struct branch_stack *s, struct branch_entry *entries, size_t n)
{
	size_t i = 1;

	if (!has_fault(s, s->params->stack_wrong_newest))
		return;
	while (i < n && entries[i].from == entries[0].from)
		i++;
	if (i < n)
		entries[0].from = entries[i].from;
}

size_t branch_stack_read(struct branch_stack *s, uint64_t order,
			 struct branch_entry out[BRANCH_STACK_MOST])
{
	uint64_t first = s->n - s->first > BRANCHES_KEPT ? s->n - BRANCHES_KEPT : s->first;
	uint64_t end = s->n;
	size_t n = 0;

	while (end > first && s->kept[(end - 1) % BRANCHES_KEPT].order >= order)
		end--;
	while (end > first && n < s->recording->depth)
		out[n++] = s->kept[--end % BRANCHES_KEPT].entry;
	spoil_newest(s, out, n);
	if (n > 1 && has_fault(s, s->params->stack_shallow))
		n = 1 + random_next(&s->random) % (n - 1);
	return n;
}
