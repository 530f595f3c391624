/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction does to memory, from its bytes alone: how many bytes it reads or writes, and
 * how. Records do not contain this. The bytes of an access separate false from true sharing, and
 * bandwidth is their sum.
 */
#ifndef CYCLOPS_ISA_ACCESS_H
#define CYCLOPS_ISA_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa {
	ISA_UNKNOWN,
	ISA_A64,
	ISA_A32, /* and T32 */
	ISA_X86_64,
	ISA_X86_32,
};

enum { ISA_LONGEST_INSTRUCTION = 15 }; /* bytes, of any instruction set */

enum isa_access_flag {
	ACCESS_LOAD = 1 << 0,
	ACCESS_STORE = 1 << 1,	   /* with ACCESS_LOAD: one read-modify-write operation */
	ACCESS_ATOMIC = 1 << 2,	   /* LSE, compare and swap, locked x86 instructions, xchg */
	ACCESS_EXCLUSIVE = 1 << 3, /* one of a load-exclusive/store-exclusive pair */
	ACCESS_ACQUIRE = 1 << 4,
	ACCESS_RELEASE = 1 << 5,
	ACCESS_PREFETCH = 1 << 6, /* a hint: loads no data */
	ACCESS_VECTOR = 1 << 7,
	ACCESS_SCALABLE =
		1 << 8, /* the size depends on the vector length; `bytes` is for 128 bits */
	/* gather or scatter: elements are not adjacent, `bytes` is their sum */
	ACCESS_STRIDED = 1 << 9,
	ACCESS_CACHE = 1 << 10, /* cache maintenance; DC ZVA is a store of 64 bytes instead */
};

/* The memory access of an instruction. */
struct isa_access {
	uint32_t bytes; /* from the lowest address on; 0: no data, or not known */
	uint32_t flags; /* enum isa_access_flag; 0: no data access */
};

/*
 * Decodes the instruction at `code`, of which `size` bytes are readable. False if it is cut off,
 * undefined, or of an instruction set that is not supported. Words outside of the memory encodings
 * are checked roughly, so some undefined ones pass. Any thread may call it.
 *
 * All elements of predicated or masked vectors count as active. MTE tags are not counted. On x86
 * repeated string instructions and saved states (XSAVE) have no size; for CALL and PUSH with a
 * memory operand the store has the size of the load.
 */
bool isa_access(enum isa, const void *code, size_t size, struct isa_access *out);

#endif
