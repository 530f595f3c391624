/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward data-flow analysis to a fixpoint. Each instruction has a state: the values of the
 * registers before it. Where paths meet, values with different roots become a new value, as at a
 * phi node; values with one root become a value that covers both. Code without a known predecessor,
 * such as exception handlers, begins with unknown registers.
 */
#include "isa/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "isa/follow_inside.h"
#include "isa/x86.h"

#define A64_NOP UINT32_C(0xd503201f)
#define MERGED_SLOT (UINT64_C(1) << 63)

enum {
	WORD = 4,
	MOST_INSTRUCTIONS = 4096,
	/* sound code needs a few steps for each instruction */
	STEPS_FOR_INSTRUCTION = 200,
};

struct isa_followed {
	struct isa_function function;
	uint32_t n; /* number of instructions */
	uint32_t n_registers;
	struct isa_x86_step *steps; /* decoded instructions, x86 only */
	uint32_t *starts;	    /* offsets of instructions in the code, n + 1 of them */
	struct isa_state *states;   /* by instruction: before it */
	bool *is_reached, *is_open;
	bool *is_met;	       /* instructions where paths may meet: targets of jumps, and starts */
	VEC_OF(uint32_t) open; /* work list: instructions whose state changed */
	bool is_lost;	       /* an indirect jump, or too many steps: the result is not valid */
};

static uint32_t follow_word_at(const struct isa_followed *f, uint32_t number)
{
	struct cursor c = cur_of(f->function.code + f->starts[number], WORD);

	return cur_u32(&c);
}

static struct isa_here here_of(const struct isa_followed *f, uint32_t number)
{
	return (struct isa_here){ f->function.address + f->starts[number],
				  (uint64_t)number << ISA_SLOT_SHIFT };
}

static bool is_followed(const struct isa_followed *f, uint32_t reg)
{
	return f->function.isa == ISA_A64 || reg != X86_STACK_POINTER;
}

static bool read_a64(struct isa_followed *f)
{
	f->n = (uint32_t)(f->function.size / WORD);
	f->n_registers = ISA_N_REGISTERS;
	f->starts = mem_alloc(f->n + 1, sizeof(*f->starts));
	for (uint32_t i = 0; i <= f->n; i++)
		f->starts[i] = i * WORD;
	return f->function.size / WORD <= MOST_INSTRUCTIONS;
}

static bool read_x86(struct isa_followed *f)
{
	const struct isa_function *function = &f->function;
	size_t at = 0;

	f->n_registers = X86_N_REGISTERS;
	f->steps = mem_alloc(MOST_INSTRUCTIONS, sizeof(*f->steps));
	f->starts = mem_alloc(MOST_INSTRUCTIONS + 1, sizeof(*f->starts));
	for (; at < function->size && f->n < MOST_INSTRUCTIONS; f->n++) {
		isa_read_x86(function->code + at, function->size - at, function->address + at,
			     &f->steps[f->n]);
		f->starts[f->n] = (uint32_t)at;
		at += f->steps[f->n].size;
	}
	f->starts[f->n] = (uint32_t)at;
	return at >= function->size;
}

/* The number of the instruction at an address; f->n if none begins there. */
static uint32_t number_at(const struct isa_followed *f, uint64_t address)
{
	uint64_t wanted = address - f->function.address;
	uint32_t at = (uint32_t)bisect(0, f->n, i, f->starts[i] < wanted);

	return at < f->n && f->starts[at] == wanted ? at : f->n;
}

static struct isa_value own_value(enum isa_root root, uint32_t number, uint32_t reg)
{
	return (struct isa_value){ root, (uint64_t)number << ISA_SLOT_SHIFT | reg, 0, 0, 0 };
}

/* Gives unknown registers a value of their own, so that equal values are found again later. */
static void name_unknown(const struct isa_followed *f, enum isa_root root, uint32_t number,
			 struct isa_state *s)
{
	for (uint32_t i = 0; i < f->n_registers; i++) {
		struct isa_value *v = &s->registers[i];

		if (v->root == ISA_NUMBER && v->slot == ISA_UNNAMED)
			v->slot = own_value(root, number, i).slot;
		else if (v->root == ISA_UNKNOWN_VALUE && is_followed(f, i))
			*v = own_value(root, number, i);
	}
}

static void open_state(struct isa_followed *f, uint32_t number)
{
	if (!f->is_open[number])
		*vec_add(&f->open) = number;
	f->is_open[number] = true;
}

static bool follow_is_number(const struct isa_value *v)
{
	return v->root == ISA_NUMBER || v->root == ISA_CONSTANT;
}

/* The new value of a register where different values meet. */
static struct isa_value merged_value(uint32_t number, uint32_t reg, bool are_numbers)
{
	struct isa_value v = own_value(are_numbers ? ISA_NUMBER : ISA_MERGED, number, reg);

	v.slot |= MERGED_SLOT;
	return v;
}

/*
 * Merges `other` into the register's value before instruction `number`. Returns whether that
 * changed.
 */
static bool join_register(uint32_t number, uint32_t reg, struct isa_value *at,
			  const struct isa_value *other)
{
	struct isa_value both =
		merged_value(number, reg, follow_is_number(at) && follow_is_number(other));

	if (at->root == ISA_UNKNOWN_VALUE)
		return false;
	if (at->root == both.root && at->slot == both.slot)
		return false;
	if (at->root == ISA_MERGED && at->slot == both.slot)
		return false;
	if (at->root == other->root && at->slot == other->slot && at->more == other->more) {
		both = isa_value_either(*at, *other);
		if (both.step == at->step)
			return false;
	}
	*at = both;
	return true;
}

static bool is_equal(const struct isa_value *a, const struct isa_value *b)
{
	return a->root == b->root && a->slot == b->slot && a->offset == b->offset &&
	       a->step == b->step && a->more == b->more;
}

/*
 * Merges the state of another predecessor into that before an instruction. With one predecessor only it has the state
 * that this leaves, now that more is known of it.
 */
static void follow_join(struct isa_followed *f, uint32_t number, const struct isa_state *s)
{
	struct isa_state *at = &f->states[number];
	bool is_changed = !f->is_reached[number];

	if (is_changed)
		*at = *s;
	else if (!f->is_met[number])
		for (uint32_t i = 0; i < f->n_registers; i++) {
			is_changed |= !is_equal(&at->registers[i], &s->registers[i]);
			at->registers[i] = s->registers[i];
		}
	else
		for (uint32_t i = 0; i < f->n_registers; i++)
			is_changed |= join_register(number, i, &at->registers[i], &s->registers[i]);
	f->is_reached[number] = true;
	if (is_changed)
		open_state(f, number);
}

static void join_target(struct isa_followed *f, uint64_t target, const struct isa_state *s)
{
	uint64_t distance = target - f->function.address;
	uint32_t number = number_at(f, target);

	if (number < f->n)
		follow_join(f, number, s);
	else if (distance < f->function.size)
		f->is_lost = true;
	else
		f->is_lost |= f->function.may_return(f->function.context, target);
}

static struct flow followed_flow(const struct isa_followed *f, uint32_t number)
{
	if (f->function.isa != ISA_A64)
		return f->steps[number].flow;
	return isa_flow(ISA_A64, f->function.code + f->starts[number], WORD,
			f->function.address + f->starts[number]);
}

static struct isa_state apply_instruction(const struct isa_followed *f, uint32_t number)
{
	struct isa_state s = f->states[number];

	if (f->function.isa == ISA_A64)
		isa_step_a64(&s, follow_word_at(f, number), here_of(f, number));
	else
		isa_step_x86(&s, &f->steps[number], here_of(f, number));
	name_unknown(f, ISA_COMPUTED, number, &s);
	return s;
}

static void follow_from(struct isa_followed *f, uint32_t number)
{
	struct flow flow = followed_flow(f, number);
	struct isa_state s = apply_instruction(f, number);

	if (flow.kind == FLOW_JUMP || flow.kind == FLOW_BRANCH) {
		f->is_lost |= !flow.has_target;
		if (flow.has_target)
			join_target(f, flow.target, &s);
	}
	if (flow.kind != FLOW_JUMP && flow.kind != FLOW_RETURN && flow.kind != FLOW_STOP &&
	    number + 1 < f->n)
		follow_join(f, number + 1, &s);
}

/* Is it padding between blocks? */
static bool is_padding(const struct isa_followed *f, uint32_t number)
{
	if (f->function.isa == ISA_A64)
		return follow_word_at(f, number) == A64_NOP || follow_word_at(f, number) == 0;
	return f->steps[number].is_nop;
}

static void follow_open(struct isa_followed *f)
{
	uint64_t steps = (uint64_t)f->n * STEPS_FOR_INSTRUCTION;

	while (f->open.n > 0 && !f->is_lost) {
		uint32_t number = f->open.items[--f->open.n];

		f->is_open[number] = false;
		follow_from(f, number);
		f->is_lost |= steps-- == 0;
	}
}

static void find_meetings(struct isa_followed *f)
{
	f->is_met = mem_zalloc(f->n + 1, sizeof(*f->is_met));
	for (uint32_t i = 0; i < f->n; i++) {
		struct flow flow = followed_flow(f, i);

		if (flow.has_target)
			f->is_met[number_at(f, flow.target)] = true;
	}
}

static void follow_all(struct isa_followed *f)
{
	find_meetings(f);
	f->states = mem_zalloc(f->n, sizeof(*f->states));
	f->is_reached = mem_zalloc(f->n, sizeof(*f->is_reached));
	f->is_open = mem_zalloc(f->n, sizeof(*f->is_open));
	for (uint32_t i = 0; i < f->n && !f->is_lost; i++) {
		struct isa_state unknown = { 0 };

		if (f->is_reached[i] || (i > 0 && is_padding(f, i)))
			continue;
		f->is_met[i] = true;
		name_unknown(f, ISA_INITIAL, i, &unknown);
		follow_join(f, i, &unknown);
		follow_open(f);
	}
}

struct isa_followed *isa_follow(const struct isa_function *function)
{
	struct isa_followed *f = mem_zalloc(1, sizeof(*f));

	f->function = *function;
	if (function->isa == ISA_A64 ? read_a64(f) : function->isa == ISA_X86_64 && read_x86(f))
		follow_all(f);
	else
		f->is_lost = true;
	if (!f->is_lost)
		return f;
	isa_followed_free(f);
	return NULL;
}

void isa_followed_free(struct isa_followed *f)
{
	if (f == NULL)
		return;
	vec_release(&f->open);
	free(f->is_open);
	free(f->is_met);
	free(f->is_reached);
	free(f->states);
	free(f->starts);
	free(f->steps);
	free(f);
}

struct isa_value isa_followed_register(const struct isa_followed *f, uint64_t at, uint32_t reg)
{
	uint32_t number = number_at(f, at);

	if (number == f->n || !f->is_reached[number])
		return (struct isa_value){ 0 };
	return isa_get(&f->states[number], reg);
}

struct isa_value isa_followed_address(const struct isa_followed *f, uint64_t at,
				      const struct isa_operand *o)
{
	struct isa_value base =
		isa_value_moved(isa_followed_register(f, at, o->base), (uint64_t)o->displacement);
	struct isa_value index;

	if (o->is_thread)
		return (struct isa_value){ 0 };
	if (!o->has_index)
		return base.more == 0 ? base : (struct isa_value){ 0 };
	index = o->is_narrow ? isa_number() : isa_followed_register(f, at, o->index);
	base = isa_value_sum(base, isa_value_times(index, o->scale));
	return base.more == 0 ? base : (struct isa_value){ 0 };
}

struct isa_origin isa_origin_of(const struct isa_followed *f, const struct isa_value *v)
{
	return (struct isa_origin){
		.address =
			f->function.address + f->starts[(v->slot & ~MERGED_SLOT) >> ISA_SLOT_SHIFT],
		.reg = (uint32_t)(v->slot & ((1u << ISA_SLOT_SHIFT) - 1)),
	};
}

size_t isa_followed_holders(const struct isa_followed *f, const struct isa_value *v, size_t max,
			    struct isa_holder *out)
{
	struct isa_value before[ISA_N_REGISTERS] = { { 0 } };
	size_t n = 0;

	for (uint32_t i = 0; i < f->n && n < max; i++) {
		const struct isa_state *s = &f->states[i];

		for (uint32_t k = 0; k < f->n_registers && n < max; k++) {
			const struct isa_value *r = &s->registers[k];
			bool is_new = before[k].root != r->root || before[k].slot != r->slot ||
				      before[k].offset != r->offset || before[k].step != r->step ||
				      before[k].more != r->more;

			if (is_new && f->is_reached[i] && r->root == v->root &&
			    r->slot == v->slot && r->more == 0)
				out[n++] = (struct isa_holder){ here_of(f, i).address, k, r->offset,
								r->step };
		}
		memcpy(before, s->registers, sizeof(before));
	}
	return n;
}
