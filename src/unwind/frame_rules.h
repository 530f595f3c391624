/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of call frame information: from registers to those of the caller (DWARF 5, section 6.4). */
#ifndef CYCLOPS_UNWIND_FRAME_RULES_H
#define CYCLOPS_UNWIND_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

enum { FRAME_REGISTERS = 33 }; /* general ones, stack pointer, return address; by DWARF numbers */

/* Registers of a thread, and the stack that they point into. */
struct frame_state {
	uint64_t registers[FRAME_REGISTERS];
	uint64_t known; /* a bit for each register whose value is known */
	uint64_t stack_start;
	const uint8_t *stack; /* borrowed */
	size_t stack_size;
};

enum frame_rule_kind {
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_MEMORY,   /* at the frame's address plus `offset` */
	RULE_VALUE,    /* is the frame's address plus `offset` */
	RULE_REGISTER, /* is in register number `offset` */
	RULE_AT_EXPRESSION,
	RULE_IS_EXPRESSION,
};

struct frame_rule {
	enum frame_rule_kind kind;
	int64_t offset;
	const Dwarf_Op *ops; /* of expressions; borrowed from the file */
	size_t n_ops;
};

/* The rules at one instruction. */
struct frame_rules {
	struct frame_rule address; /* the canonical frame address (CFA) */
	int address_register;	   /* `address.offset` counts from it; -1: an expression */
	struct frame_rule registers[FRAME_REGISTERS];
	int return_register;
	bool is_signal; /* the caller was interrupted, it did not call */
};

enum frame_outcome {
	FRAME_STEPPED,
	FRAME_OUTERMOST, /* there is no caller */
	FRAME_NO_MEMORY, /* a word of the stack is needed that was not copied */
	FRAME_UNKNOWN,	 /* a register is needed that is not known, or a rule is not supported */
};

/*
 * Reads the rules at an address of the file; false if it has none there. Equal rules of one file
 * have equal bytes, so they can be compared and hashed as bytes. `preserved` has a bit for each
 * register that functions preserve (System V ABI of the machine): the same where nothing is said.
 */
bool frame_rules_read(Dwarf_CFI *, uint64_t address, uint64_t preserved, struct frame_rules *out);

/*
 * Applies the rules: `state` becomes that of the caller, and `out_pc` where it goes on. Nothing
 * is changed unless the outcome is FRAME_STEPPED. `stack_register` is the DWARF number.
 */
enum frame_outcome frame_rules_apply(const struct frame_rules *, unsigned stack_register,
				     struct frame_state *state, uint64_t *out_pc);

/* The 64-bit word at an address of the stack; false if it was not copied. */
bool frame_state_read(const struct frame_state *, uint64_t address, uint64_t *out);

/*
 * The value of an expression; `frame` is the address of the frame. Returns FRAME_STEPPED if there
 * is one.
 */
enum frame_outcome frame_expression(const struct frame_state *, const Dwarf_Op *ops, size_t n,
				    const uint64_t *frame, uint64_t *out);

#endif
