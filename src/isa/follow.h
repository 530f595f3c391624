/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the general registers of a function hold before each instruction: a constant, the thread
 * pointer, a value that some instruction loaded or computed, each plus an offset. Where paths meet
 * only what holds on all of them is known.
 */
#ifndef CYCLOPS_ISA_FOLLOW_H
#define CYCLOPS_ISA_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"
#include "isa/operand.h"

enum {
	ISA_N_REGISTERS = 31, /* general registers by DWARF number, without the stack pointer */
};

/* What a value is based on. */
enum isa_root {
	ISA_UNKNOWN_VALUE,
	ISA_CONSTANT,	       /* nothing: the offset is the value */
	ISA_CONTENT,	       /* the 8 bytes at the constant address `slot` */
	ISA_DESCRIPTOR,	       /* the result of the TLS descriptor at `slot` */
	ISA_THREAD,	       /* the thread pointer */
	ISA_THREAD_CONTENT,    /* … + the 8 bytes at `slot` */
	ISA_THREAD_DESCRIPTOR, /* … + the result of the TLS descriptor at `slot` */
	ISA_NUMBER,	       /* a 32-bit or computed value, which is not an address */
	ISA_LOADED,	       /* 8 bytes that an instruction loaded; see isa_origin_of() */
	ISA_COMPUTED,	       /* another result of an instruction; see isa_origin_of() */
	ISA_MERGED, /* different values that meet before an instruction; see isa_origin_of() */
	/* the unknown value at the entry, or where no predecessor is known; see isa_origin_of() */
	ISA_INITIAL,
};

/* (1 + more) * root + offset + n * step, where n is unknown. Step 0: exactly that. */
struct isa_value {
	enum isa_root root;
	uint64_t slot;
	uint64_t offset, step;
	int64_t more; /* 0 for pointers: they contain their root once */
};

/* The instruction that a value of ISA_LOADED, ISA_COMPUTED, ISA_MERGED or ISA_INITIAL comes from. */
struct isa_origin {
	uint64_t address; /* of the instruction */
	/* number of the register; ISA_LOADED: offset from the address of the load */
	uint32_t reg;
};

/* The code of a whole function. All borrowed. */
struct isa_function {
	enum isa isa; /* ISA_A64 or ISA_X86_64 */
	const uint8_t *code;
	size_t size;
	uint64_t address;

	/*
	 * May code at `target`, outside of the function, jump back into it with changed registers?
	 */
	bool (*may_return)(void *context, uint64_t target);
	void *context;
};

struct isa_followed;

/*
 * Analyses a function. NULL if its control flow is not known (indirect jumps) or it has more than
 * 4096 instructions. The code must stay valid. Free with isa_followed_free(), which accepts NULL.
 */
struct isa_followed *isa_follow(const struct isa_function *);
void isa_followed_free(struct isa_followed *);

/* A register before the instruction at an address; ISA_UNKNOWN_VALUE if none begins there. */
struct isa_value isa_followed_register(const struct isa_followed *, uint64_t at, uint32_t reg);

/*
 * The address that an instruction accesses with this operand. ISA_UNKNOWN_VALUE if it is unknown or
 * contains its root more than once.
 */
struct isa_value isa_followed_address(const struct isa_followed *, uint64_t at,
				      const struct isa_operand *);

struct isa_origin isa_origin_of(const struct isa_followed *, const struct isa_value *);

/* A register that holds a value before an instruction. */
struct isa_holder {
	uint64_t address;
	uint32_t reg;
	uint64_t offset, step; /* as in struct isa_value */
};

/*
 * Lists where registers begin to hold values with the same root, in order of addresses, at most
 * `max`. Returns how many.
 */
size_t isa_followed_holders(const struct isa_followed *, const struct isa_value *, size_t max,
			    struct isa_holder *out);

/* Arithmetic. The sum of two values that may both be pointers is ISA_UNKNOWN_VALUE. */
struct isa_value isa_value_moved(struct isa_value, uint64_t by);
struct isa_value isa_value_sum(struct isa_value, struct isa_value);
struct isa_value isa_value_difference(struct isa_value, struct isa_value);
struct isa_value isa_value_times(struct isa_value, uint64_t factor);

/* A value that covers both, which have the same root, slot and factor: offsets become a step. */
struct isa_value isa_value_either(struct isa_value, struct isa_value);

#endif
