/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers an A64 instruction reads and writes: its data dependences. */
#ifndef CYCLOPS_ISA_REGISTERS_H
#define CYCLOPS_ISA_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Register numbers: x0 … x30, the stack pointer, v0 … v31, the flags. */
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
	bool is_access; /* a memory access; the first n_address of `reads` form the address */
	uint8_t n_address;
	uint8_t moved; /* base register that is written back, also in `writes`; or ISA_REG_NONE */
	int64_t step; /* … by this; of ADD and SUB with a constant: the difference of the result */
	bool is_step; /* ADD or SUB with a constant */
	bool is_call;
	bool is_vector; /* works on several elements, or loads or stores a whole vector register */
	bool is_float;	/* arithmetic on floating point or vectors, not only moves */
};

/*
 * Reads of the zero register are left out. So are those of the stack pointer, except in addresses:
 * nothing waits for it. False if the word is unknown; SVE is.
 */
bool isa_registers_of(uint32_t word, struct isa_registers *out);

/* A store to memory: something is read besides the address, and nothing but a moved base written. */
bool isa_registers_are_store(const struct isa_registers *);

/* Does it write this register? What an unknown word does is not known: true. */
bool isa_writes_register(uint32_t word, unsigned reg);

#endif
