/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of call frame information (DWARF 5, section 2.5), without jumps. */
#include <dwarf.h>

#include "unwind/frame_rules.h"

enum { MAX_DEPTH = 32, MAX_OPS = 256 };

struct machine {
	const struct frame_state *state;
	const uint64_t *frame; /* NULL: not known yet */
	uint64_t stack[MAX_DEPTH];
	unsigned n;
	enum frame_outcome outcome;
};

static void expression_push(struct machine *m, uint64_t value)
{
	if (m->n == MAX_DEPTH)
		m->outcome = FRAME_UNKNOWN;
	else
		m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n > 0)
		return m->stack[--m->n];
	m->outcome = FRAME_UNKNOWN;
	return 0;
}

static void push_register(struct machine *m, uint64_t number, int64_t offset)
{
	if (number >= FRAME_REGISTERS || !(m->state->known >> number & 1)) {
		m->outcome = FRAME_UNKNOWN;
		return;
	}
	expression_push(m, m->state->registers[number] + (uint64_t)offset);
}

static void push_nth(struct machine *m, uint64_t n)
{
	if (n >= m->n)
		m->outcome = FRAME_UNKNOWN;
	else
		expression_push(m, m->stack[m->n - 1 - n]);
}

static void frame_expression_load(struct machine *m, uint64_t size)
{
	uint64_t address = pop(m), word = 0;

	if (size == 0 || size > 8)
		m->outcome = FRAME_UNKNOWN;
	else if (!frame_state_read(m->state, address, &word))
		m->outcome = FRAME_NO_MEMORY;
	else
		expression_push(m, size == 8 ? word : word & (((uint64_t)1 << size * 8) - 1));
}

static void expression_swap(struct machine *m)
{
	uint64_t first = pop(m);
	uint64_t second = pop(m);

	expression_push(m, first);
	expression_push(m, second);
}

/* Operations on the two topmost values: `a` is below `b`. False if it is none of them. */
static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (atom) {
	case DW_OP_plus:
		*out = a + b;
		return true;
	case DW_OP_minus:
		*out = a - b;
		return true;
	case DW_OP_mul:
		*out = a * b;
		return true;
	case DW_OP_and:
		*out = a & b;
		return true;
	case DW_OP_or:
		*out = a | b;
		return true;
	case DW_OP_xor:
		*out = a ^ b;
		return true;
	case DW_OP_shl:
		*out = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*out = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*out = (uint64_t)(sa >> (b < 64 ? b : 63));
		return true;
	case DW_OP_eq:
		*out = a == b;
		return true;
	case DW_OP_ne:
		*out = a != b;
		return true;
	case DW_OP_lt:
		*out = sa < sb;
		return true;
	case DW_OP_le:
		*out = sa <= sb;
		return true;
	case DW_OP_gt:
		*out = sa > sb;
		return true;
	case DW_OP_ge:
		*out = sa >= sb;
		return true;
	default:
		return false;
	}
}

static void step_binary(struct machine *m, uint8_t atom)
{
	uint64_t b = pop(m);
	uint64_t a = pop(m);
	uint64_t result;

	if (binary(atom, a, b, &result))
		expression_push(m, result);
	else
		m->outcome = FRAME_UNKNOWN;
}

static void expression_step(struct machine *m, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return expression_push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, (int64_t)op->number);
	switch (atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return expression_push(m, op->number);
	case DW_OP_bregx:
		return push_register(m, op->number, (int64_t)op->number2);
	case DW_OP_call_frame_cfa:
		if (m->frame == NULL)
			m->outcome = FRAME_UNKNOWN;
		else
			expression_push(m, *m->frame);
		return;
	case DW_OP_plus_uconst:
		return expression_push(m, pop(m) + op->number);
	case DW_OP_dup:
		return push_nth(m, 0);
	case DW_OP_over:
		return push_nth(m, 1);
	case DW_OP_pick:
		return push_nth(m, op->number);
	case DW_OP_drop:
		(void)pop(m);
		return;
	case DW_OP_swap:
		return expression_swap(m);
	case DW_OP_neg:
		return expression_push(m, -pop(m));
	case DW_OP_not:
		return expression_push(m, ~pop(m));
	case DW_OP_deref:
		return frame_expression_load(m, 8);
	case DW_OP_deref_size:
		return frame_expression_load(m, op->number);
	case DW_OP_nop:
	case DW_OP_stack_value:
		return;
	default:
		return step_binary(m, atom);
	}
}

enum frame_outcome frame_expression(const struct frame_state *state, const Dwarf_Op *ops, size_t n,
				    const uint64_t *frame, uint64_t *out)
{
	struct machine m = { .state = state, .frame = frame, .outcome = FRAME_STEPPED };

	if (n > MAX_OPS)
		return FRAME_UNKNOWN;
	for (size_t i = 0; i < n && m.outcome == FRAME_STEPPED; i++)
		expression_step(&m, &ops[i]);
	if (m.outcome == FRAME_STEPPED)
		*out = pop(&m);
	return m.outcome;
}
