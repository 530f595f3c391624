/* SPDX-License-Identifier: Apache-2.0 */
/* Applies x86-64 instructions, as x86_step.c decoded them. */
#include "isa/follow_inside.h"

/* Zero if there is no register. */
static struct isa_value x86_register_or_zero(const struct isa_state *s, uint8_t reg)
{
	return reg == X86_NO_REGISTER ? isa_constant(0) : isa_get(s, reg);
}

/*
 * base + index * scale + displacement. The stack pointer is not tracked, so it never becomes
 * unknown.
 */
static struct isa_value follow_x86_sum_of(const struct isa_state *s,
					  const struct isa_x86_step *step)
{
	struct isa_value base = x86_register_or_zero(s, step->base),
			 index = x86_register_or_zero(s, step->index);

	if (step->base == step->index && step->base != X86_NO_REGISTER)
		base = isa_value_times(base, step->scale + 1);
	else if (step->index != X86_NO_REGISTER)
		base = isa_value_sum(base, isa_value_times(index, step->scale));
	return isa_value_moved(base, step->displacement);
}

static struct isa_value difference_of(const struct isa_state *s, const struct isa_x86_step *step)
{
	struct isa_value index = x86_register_or_zero(s, step->index);

	return isa_value_difference(x86_register_or_zero(s, step->base),
				    isa_value_moved(index, step->displacement));
}

static struct isa_value loaded_value(const struct isa_state *s, const struct isa_x86_step *step,
				     struct isa_here here)
{
	if (step->is_absolute)
		return isa_loaded(here, isa_constant(step->displacement), 0);
	return isa_loaded(here,
			  step->base == X86_NO_REGISTER ? (struct isa_value){ 0 }
							: follow_x86_sum_of(s, step),
			  0);
}

void isa_step_x86(struct isa_state *s, const struct isa_x86_step *step, struct isa_here here)
{
	struct isa_value value = { 0 };

	if (step->effect == X86_EFFECT_SUM)
		value = step->is_absolute ? isa_constant(step->displacement)
					  : follow_x86_sum_of(s, step);
	else if (step->effect == X86_EFFECT_DIFFERENCE)
		value = difference_of(s, step);
	else if (step->effect == X86_EFFECT_LOAD)
		value = loaded_value(s, step, here);
	else if (step->effect == X86_EFFECT_ADD)
		value = isa_value_sum(isa_get(s, step->target), loaded_value(s, step, here));
	for (uint32_t i = 0; i < ISA_N_REGISTERS; i++)
		if (step->lost >> i & 1)
			isa_forget(s, i);
	if (step->target == X86_NO_REGISTER)
		return;
	if (step->is_narrow && (value.root != ISA_CONSTANT || value.step != 0 ||
				value.offset != (uint32_t)value.offset))
		value = isa_number();
	isa_set(s, step->target, value);
}
