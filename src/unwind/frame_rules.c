/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame_rules.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

/* An expression that stays: libdw's own operations, not those it wrote into `memory`. */
static bool keep_expression(const Dwarf_Op *ops, size_t n, const Dwarf_Op *memory,
			    struct frame_rule *out)
{
	if (ops == memory)
		return false;
	out->kind = ops[n - 1].atom == DW_OP_stack_value ? RULE_IS_EXPRESSION : RULE_AT_EXPRESSION;
	out->ops = ops;
	out->n_ops = n;
	return true;
}

/* What libdw says of a register, as a rule. */
static bool read_rule(const Dwarf_Op *ops, size_t n, const Dwarf_Op *memory, struct frame_rule *out)
{
	bool is_value = n > 0 && ops[n - 1].atom == DW_OP_stack_value;
	size_t n_inner = n - is_value;

	out->kind = ops == NULL ? RULE_SAME : RULE_UNDEFINED;
	if (n == 0)
		return true;
	if (ops[0].atom == DW_OP_call_frame_cfa &&
	    (n_inner == 1 || (n_inner == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		out->kind = is_value ? RULE_VALUE : RULE_MEMORY;
		out->offset = n_inner == 2 ? (int64_t)ops[1].number : 0;
		return true;
	}
	if (n == 1 && (ops[0].atom == DW_OP_regx ||
		       (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
		out->kind = RULE_REGISTER;
		out->offset = ops[0].atom == DW_OP_regx ? (int64_t)ops[0].number
							: ops[0].atom - DW_OP_reg0;
		return true;
	}
	return keep_expression(ops, n, memory, out);
}

static bool read_address(Dwarf_Frame *frame, struct frame_rules *out)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		return false;
	out->address_register = -1;
	if (n == 1 && ops[0].atom == DW_OP_bregx && ops[0].number < FRAME_REGISTERS) {
		out->address_register = (int)ops[0].number;
		out->address.offset = (int64_t)ops[0].number2;
	} else if (n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		out->address_register = ops[0].atom - DW_OP_breg0;
		out->address.offset = (int64_t)ops[0].number;
	} else if (ops[0].atom == DW_OP_bregx && n == 1) {
		return false;
	} else {
		out->address.ops = ops;
		out->address.n_ops = n;
	}
	return true;
}

/* libdw's own list of preserved registers of x86-64 has rax in the place of rbx (elfutils 0.188). */
static bool frame_rules_fill(Dwarf_Frame *frame, uint64_t preserved, struct frame_rules *out)
{
	memset(out, 0, sizeof(*out)); /* equal rules have equal bytes */
	out->return_register = dwarf_frame_info(frame, NULL, NULL, &out->is_signal);
	if (out->return_register < 0 || out->return_register >= FRAME_REGISTERS ||
	    !read_address(frame, out))
		return false;
	for (int i = 0; i < FRAME_REGISTERS; i++) {
		Dwarf_Op memory[3], *ops;
		size_t n;

		if (dwarf_frame_register(frame, i, memory, &ops, &n) != 0 ||
		    !read_rule(ops, n, memory, &out->registers[i]))
			out->registers[i].kind = RULE_UNDEFINED;
		if (out->registers[i].kind == RULE_UNDEFINED && (preserved >> i & 1))
			out->registers[i].kind = RULE_SAME;
	}
	return true;
}

bool frame_rules_read(Dwarf_CFI *cfi, uint64_t address, uint64_t preserved, struct frame_rules *out)
{
	Dwarf_Frame *frame;
	bool is_read;

	if (dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	is_read = frame_rules_fill(frame, preserved, out);
	/* Expressions are the file's; the address of a frame may be an expression, too. */
	free(frame);
	return is_read;
}

bool frame_state_read(const struct frame_state *s, uint64_t address, uint64_t *out)
{
	uint64_t at = address - s->stack_start;

	if (address < s->stack_start || s->stack_size < sizeof(*out) ||
	    at > s->stack_size - sizeof(*out))
		return false;
	*out = load_u64(s->stack + at);
	return true;
}

static enum frame_outcome frame_address(const struct frame_rules *r, const struct frame_state *s,
					uint64_t *out)
{
	if (r->address_register < 0)
		return frame_expression(s, r->address.ops, r->address.n_ops, NULL, out);
	if (!(s->known >> r->address_register & 1))
		return FRAME_UNKNOWN;
	*out = s->registers[r->address_register] + (uint64_t)r->address.offset;
	return FRAME_STEPPED;
}

/* The caller's value of register `number`; RULE_UNDEFINED and what fails leave it unknown. */
static enum frame_outcome find_value(const struct frame_rule *rule, unsigned number,
				     const struct frame_state *s, uint64_t frame, uint64_t *out)
{
	enum frame_outcome outcome;
	uint64_t from = rule->kind == RULE_REGISTER ? (uint64_t)rule->offset : number;

	switch (rule->kind) {
	case RULE_UNDEFINED:
		return FRAME_UNKNOWN;
	case RULE_REGISTER:
	case RULE_SAME:
		if (from >= FRAME_REGISTERS || !(s->known >> from & 1))
			return FRAME_UNKNOWN;
		*out = s->registers[from];
		return FRAME_STEPPED;
	case RULE_MEMORY:
		return frame_state_read(s, frame + (uint64_t)rule->offset, out) ? FRAME_STEPPED
										: FRAME_NO_MEMORY;
	case RULE_VALUE:
		*out = frame + (uint64_t)rule->offset;
		return FRAME_STEPPED;
	case RULE_AT_EXPRESSION:
		outcome = frame_expression(s, rule->ops, rule->n_ops, &frame, out);
		if (outcome != FRAME_STEPPED)
			return outcome;
		return frame_state_read(s, *out, out) ? FRAME_STEPPED : FRAME_NO_MEMORY;
	case RULE_IS_EXPRESSION:
		return frame_expression(s, rule->ops, rule->n_ops, &frame, out);
	}
	return FRAME_UNKNOWN;
}

enum frame_outcome frame_rules_apply(const struct frame_rules *r, unsigned stack_register,
				     struct frame_state *state, uint64_t *out_pc)
{
	struct frame_state caller = *state;
	uint64_t frame, pc;
	enum frame_outcome outcome = frame_address(r, state, &frame);

	if (outcome != FRAME_STEPPED)
		return outcome;
	if (r->registers[r->return_register].kind == RULE_UNDEFINED)
		return FRAME_OUTERMOST;
	outcome = find_value(&r->registers[r->return_register], (unsigned)r->return_register, state,
			     frame, &pc);
	if (outcome != FRAME_STEPPED)
		return outcome;
	for (unsigned i = 0; i < FRAME_REGISTERS; i++) {
		uint64_t value;

		caller.known &= ~((uint64_t)1 << i);
		if (find_value(&r->registers[i], i, state, frame, &value) != FRAME_STEPPED)
			continue;
		caller.registers[i] = value;
		caller.known |= (uint64_t)1 << i;
	}
	/* The address of the frame is what the stack pointer was in the caller. */
	if (r->registers[stack_register].kind == RULE_SAME ||
	    r->registers[stack_register].kind == RULE_UNDEFINED) {
		caller.registers[stack_register] = frame;
		caller.known |= (uint64_t)1 << stack_register;
	}
	*state = caller;
	*out_pc = pc;
	return FRAME_STEPPED;
}
