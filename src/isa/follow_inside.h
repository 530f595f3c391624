/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of single instructions on the state of registers. For follow.c only. */
#ifndef CYCLOPS_ISA_FOLLOW_INSIDE_H
#define CYCLOPS_ISA_FOLLOW_INSIDE_H

#include "isa/flow.h"
#include "isa/follow.h"

/* The registers before an instruction. */
struct isa_state {
	struct isa_value registers[ISA_N_REGISTERS];
};

/*
 * The slot of a value that an instruction makes: its number << ISA_SLOT_SHIFT | register or offset.
 */
enum { ISA_SLOT_SHIFT = 8 };
#define ISA_UNNAMED UINT64_MAX

struct isa_here {
	uint64_t address;
	uint64_t slot; /* number << ISA_SLOT_SHIFT */
};

static inline struct isa_value isa_get(const struct isa_state *s, uint32_t reg)
{
	return reg < ISA_N_REGISTERS ? s->registers[reg] : (struct isa_value){ 0 };
}

static inline void isa_set(struct isa_state *s, uint32_t reg, struct isa_value value)
{
	if (reg < ISA_N_REGISTERS)
		s->registers[reg] = value;
}

/* The register gets an unknown value. follow.c then gives it an identity. */
static inline void isa_forget(struct isa_state *s, uint32_t reg)
{
	isa_set(s, reg, (struct isa_value){ 0 });
}

static inline struct isa_value isa_constant(uint64_t value)
{
	return (struct isa_value){ .root = ISA_CONSTANT, .offset = value };
}

/* An unknown number. follow.c then gives it an identity. */
static inline struct isa_value isa_number(void)
{
	return (struct isa_value){ .root = ISA_NUMBER, .slot = ISA_UNNAMED };
}

/* The 8 bytes that an instruction loads from its address + `displacement`. */
static inline struct isa_value isa_loaded(struct isa_here here, struct isa_value address,
					  uint64_t displacement)
{
	if (address.root == ISA_CONSTANT && address.step == 0)
		return (struct isa_value){ .root = ISA_CONTENT,
					   .slot = address.offset + displacement };
	return (struct isa_value){ .root = ISA_LOADED, .slot = here.slot | displacement };
}

/* Applies an A64 instruction. */
void isa_step_a64(struct isa_state *, uint32_t word, struct isa_here);

/* The effect of an x86-64 instruction. */
struct isa_x86_step {
	uint8_t size; /* bytes, at least 1 */
	enum isa_x86_effect {
		X86_EFFECT_NONE,
		X86_EFFECT_SUM,	       /* target = base + index * scale + displacement */
		X86_EFFECT_DIFFERENCE, /* target = base - (index + displacement) */
		X86_EFFECT_LOAD,       /* target = 8 bytes of memory */
		X86_EFFECT_ADD,	       /* target += 8 bytes of memory */
	} effect;
	bool is_nop;
	bool is_narrow;		     /* 32-bit result, zero-extended */
	bool is_absolute;	     /* the address of the load is `displacement` */
	uint8_t target, base, index; /* X86_NO_REGISTER: none */
	uint32_t lost; /* bit n: register n becomes unknown; applied before the target is set */
	uint64_t scale, displacement;
	struct flow flow;
};

enum { X86_NO_REGISTER = 255 };

/*
 * Decodes the instruction at the start of `code`, of which `size` (at least 1) bytes are readable.
 */
void isa_read_x86(const uint8_t *code, size_t size, uint64_t address, struct isa_x86_step *out);
void isa_step_x86(struct isa_state *, const struct isa_x86_step *, struct isa_here);

#endif
