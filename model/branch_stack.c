/* SPDX-License-Identifier: Apache-2.0 */
#include "model/branch_stack.h"

/* Flags of an entry: docs/reference/perf-data.md section 3.4. */
enum {
	FLAG_MISPREDICTED = 1 << 0,
	FLAG_PREDICTED = 1 << 1,
	CYCLES_SHIFT = 4,
	CYCLES_MOST = 0xffff,
	TYPE_SHIFT = 20,
};

/* PERF_BR_… */
enum { CONDITIONAL = 1, UNCONDITIONAL, INDIRECT, CALL, INDIRECT_CALL, RETURN };

void branch_stack_init(struct branch_stack *s, const struct branch_recording *recording)
{
	*s = (struct branch_stack){ .recording = recording };
}

static uint64_t type_of(const struct insn *in)
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

static bool is_recorded(const struct branch_stack *s, const struct insn *in)
{
	switch ((enum branch_filter)s->recording->filter) {
	case BRANCHES_RETURN:
		return in->branch == BRANCH_RETURN;
	case BRANCHES_CALL:
		return in->flags & INSN_CALL;
	case BRANCHES_ANY:
	case N_BRANCH_FILTERS:
		break;
	}
	return true;
}

void branch_stack_take(struct branch_stack *s, const struct branch_execution *b)
{
	uint64_t cycles = b->cycle - s->cycle;

	if (s->recording->depth == 0 || !is_recorded(s, b->insn))
		return;
	if (s->n == s->first)
		cycles = 0; /* not known */
	s->kept[s->n++ % BRANCHES_KEPT] = (struct taken_branch){
		.number = b->number,
		.entry = {
			.from = b->insn->pc,
			.to = b->to,
			.flags = (uint64_t)(b->is_mispredicted ? FLAG_MISPREDICTED
							       : FLAG_PREDICTED) |
				 (cycles < CYCLES_MOST ? cycles : CYCLES_MOST) << CYCLES_SHIFT |
				 type_of(b->insn) << TYPE_SHIFT,
		},
	};
	s->cycle = b->cycle;
}

void branch_stack_forget(struct branch_stack *s)
{
	s->first = s->n;
}

size_t branch_stack_read(const struct branch_stack *s, uint64_t number,
			 struct branch_entry out[BRANCH_STACK_MOST])
{
	uint64_t first = s->n - s->first > BRANCHES_KEPT ? s->n - BRANCHES_KEPT : s->first;
	uint64_t end = s->n;
	size_t n = 0;

	while (end > first && s->kept[(end - 1) % BRANCHES_KEPT].number >= number)
		end--;
	while (end > first && n < s->recording->depth)
		out[n++] = s->kept[--end % BRANCHES_KEPT].entry;
	return n;
}
