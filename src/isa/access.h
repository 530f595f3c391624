/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction does to memory, from its bytes alone: how many bytes it reads or writes,
 * and how. Bytes of an access are what tells false sharing from true sharing, and what
 * bandwidth is made of; records do not say them.
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
	ACCESS_STORE = 1 << 1,	   /* with ACCESS_LOAD: one operation that does both */
	ACCESS_ATOMIC = 1 << 2,	   /* LSE, compare and swap, a locked x86 instruction, xchg */
	ACCESS_EXCLUSIVE = 1 << 3, /* half of a load/store-exclusive pair */
	ACCESS_ACQUIRE = 1 << 4,
	ACCESS_RELEASE = 1 << 5,
	ACCESS_PREFETCH = 1 << 6, /* a hint: no data is read */
	ACCESS_VECTOR = 1 << 7,
	ACCESS_SCALABLE =
		1 << 8, /* the size depends on the vector length: `bytes` holds for 128 bits */
	ACCESS_STRIDED = 1 << 9, /* gathers or scatters: elements lie apart, `bytes` is their sum */
	ACCESS_CACHE = 1 << 10,	 /* cache maintenance; DC ZVA is a store of 64 bytes */
};

/* The access of one instruction. */
struct isa_access {
	uint32_t bytes; /* from the lowest address on; 0: accesses no data, or not known */
	uint32_t flags; /* enum isa_access_flag; 0: accesses no data */
};

/*
 * Decodes the instruction that starts at `code`, of which `size` bytes are there. False if it
 * is cut short, not an instruction, or of an instruction set that is not decoded here. Only
 * what accesses memory is decoded to the last bit: of other words some that are undefined
 * pass for instructions. Any thread may call it.
 *
 * Vectors with predicates or masks count as if all elements were active. Bytes of a tag (MTE) are
 * none of the data's. Of x86, strings that are repeated have no size, nor have states that are
 * saved (XSAVE); what CALL and PUSH of memory put on the stack is as long as what they read.
 */
bool isa_access(enum isa, const void *code, size_t size, struct isa_access *out);

#endif
