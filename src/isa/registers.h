/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers an instruction of A64 reads and writes: what makes one wait for another. */
#ifndef CYCLOPS_ISA_REGISTERS_H
#define CYCLOPS_ISA_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of registers: x0 … x30, the stack pointer, v0 … v31, the flags. */
enum {
	ISA_REG_STACK = 31,
	ISA_REG_VECTOR = 32,
	ISA_REG_FLAGS = 64,
	ISA_N_REGS,
	ISA_REG_NONE = 255,
};

enum { ISA_MOST_READ = 8, ISA_MOST_WRITTEN = 5 };

struct isa_registers {
	uint8_t reads[ISA_MOST_READ], writes[ISA_MOST_WRITTEN];
	uint8_t n_reads, n_writes;
	bool is_access; /* of memory: the first `n_address` of `reads` make the address */
	uint8_t n_address;
	uint8_t moved; /* base that the access moves on, also among `writes`; or ISA_REG_NONE */
	int64_t step; /* … by so much; of ADD and SUB of a constant, by how much the result differs */
	bool is_step; /* ADD, SUB of a constant */
	bool is_call;
	bool is_vector; /* works on several elements at once, or loads or stores a whole register */
	bool is_float;	/* arithmetic of floating point or vectors: not only moved or loaded */
};

/*
 * Reads of the zero register and of the stack pointer, which makes no one wait, are left out, but for
 * the stack pointer in an address. False if the word is not known; SVE is not.
 */
bool isa_registers_of(uint32_t word, struct isa_registers *out);

#endif
