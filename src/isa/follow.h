/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of registers at each instruction of a function, however the function gets there:
 * constants, the thread pointer, what was loaded or left by which instruction, and what was added
 * to that. Where paths meet, only what all of them agree on stays.
 */
#ifndef CYCLOPS_ISA_FOLLOW_H
#define CYCLOPS_ISA_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"
#include "isa/operand.h"

enum {
	ISA_N_REGISTERS = 31, /* general ones, by DWARF's numbers; the stack pointer counts not */
};

/* What a value is made of. */
enum isa_root {
	ISA_ANYTHING,
	ISA_CONSTANT,	/* nothing else: the offset is the value */
	ISA_CONTENT,	/* of the 8 bytes at the address `slot` */
	ISA_DESCRIBED,	/* what the TLS descriptor at `slot` gave */
	ISA_THREAD,	/* the thread pointer */
	ISA_THREAD_AND, /* … + what is at `slot` */
	ISA_THREAD_BY,	/* … + what the descriptor at `slot` gave */
	ISA_NUMBER,	/* something of 32 bits, or from a calculation: no address */
	ISA_FETCHED,	/* 8 bytes that an instruction loaded, see isa_slot_of() */
	ISA_LEFT,	/* what an instruction left in a register by other means */
	ISA_MERGED, /* what a register has before an instruction, where paths meet that differ */
	ISA_GIVEN, /* what a register has at the start, or where it is not told how one got there */
};

/* (1 + more) * the root + `offset` + an unknown multiple of `step`; step 0: it is just that. */
struct isa_value {
	enum isa_root root;
	uint64_t slot;
	uint64_t offset, step;
	int64_t more; /* 0 where the root may be a pointer */
};

/* Of ISA_FETCHED, ISA_LEFT, ISA_MERGED and ISA_GIVEN: which. */
struct isa_origin {
	uint64_t address; /* of the instruction */
	uint32_t reg;	  /* fetched: bytes from the address that it accesses */
};

/* The code of a whole function, and where else it may go on. All borrowed. */
struct isa_function {
	enum isa isa; /* ISA_A64 or ISA_X86_64 */
	const uint8_t *code;
	size_t size;
	uint64_t address;

	/* May code at `target`, which is outside, come back with other values in registers? */
	bool (*may_return)(void *context, uint64_t target);
	void *context;
};

struct isa_followed;

/*
 * NULL if it cannot be told where the function goes: after jumps to where a register says, in
 * functions of more than 4096 instructions. The function's code must stay. Free with
 * isa_followed_free(), which takes NULL.
 */
struct isa_followed *isa_follow(const struct isa_function *);
void isa_followed_free(struct isa_followed *);

/* A register before the instruction at an address; ISA_ANYTHING if there is none. */
struct isa_value isa_followed_register(const struct isa_followed *, uint64_t at, uint32_t reg);

/* The address that an instruction with this operand accesses: the root counts once. */
struct isa_value isa_followed_address(const struct isa_followed *, uint64_t at,
				      const struct isa_operand *);

struct isa_origin isa_origin_of(const struct isa_followed *, const struct isa_value *);

/* A register that has a value before an instruction. */
struct isa_holder {
	uint64_t address;
	uint32_t reg;
	uint64_t offset, step; /* as in the value */
};

/*
 * Where registers begin to hold the same root, at most `max`, by address. Returns how many.
 */
size_t isa_followed_holders(const struct isa_followed *, const struct isa_value *, size_t max,
			    struct isa_holder *out);

/* Sums, differences, products. The sum of two that may be pointers is ISA_ANYTHING. */
struct isa_value isa_value_moved(struct isa_value, uint64_t by);
struct isa_value isa_value_sum(struct isa_value, struct isa_value);
struct isa_value isa_value_difference(struct isa_value, struct isa_value);
struct isa_value isa_value_times(struct isa_value, uint64_t factor);

/* What holds for either of two values that have as much of the same root. */
struct isa_value isa_value_either(struct isa_value, struct isa_value);

#endif
