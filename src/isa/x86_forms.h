/* SPDX-License-Identifier: Apache-2.0 */
/* The table of x86 instructions that access memory; private to x86_access.c. */
#ifndef CYCLOPS_ISA_X86_FORMS_H
#define CYCLOPS_ISA_X86_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opcode maps, as VEX and EVEX number them. */
enum x86_map {
	X86_ONE_BYTE,
	X86_0F,
	X86_0F38,
	X86_0F3A,
	X86_MAP5 = 5,
	X86_MAP6,
};

enum x86_encoding {
	X86_LEGACY = 1,
	X86_VEX = 2,
	X86_EVEX = 4,
};

/* The prefix that belongs to the opcode. */
enum x86_prefix {
	X86_NONE = 1,
	X86_66 = 2,
	X86_F3 = 4,
	X86_F2 = 8,
};

/* Bytes of an operand: a number below 1000, or … */
enum x86_size {
	X86_REGISTER = 1000, /* 2, 4 or 8: 0x66, neither, W */
	X86_REGISTER_4_8,    /* 4 or 8: W */
	X86_REGISTER_16_8,   /* 8 or 16: W */
	X86_POINTER,	     /* 8 in 64-bit code, else 4 */
	X86_STACK,	     /* the same, 2 with 0x66 */
	X86_FAR,	     /* a selector and X86_REGISTER */
	X86_TWO,	     /* two X86_REGISTER */
	X86_TABLE,	     /* a limit of 2 bytes and an address */
	X86_PORT,	     /* 4, 2 with 0x66 */
	X86_VECTOR,	     /* a whole vector register, … */
	X86_HALF,	     /* … a part of it … */
	X86_QUARTER,
	X86_EIGHTH,
	X86_DOUBLED,	      /* MOVDDUP: half of the shortest, all of others */
	X86_HALF_UNLESS_WIDE, /* X86_HALF, with W X86_VECTOR */
	X86_SCALAR,	      /* 4 or 8: W */
	X86_MASK,	      /* KMOV: 1, 2, 4 or 8 */
};

/* Opcodes first … last of a map; the first form that fits holds. */
struct x86_form {
	uint8_t map, encodings, prefixes;
	uint8_t first, last;
	uint8_t regs;	  /* bit n: with n in the middle of the ModRM byte */
	bool is_implicit; /* no operand says the address: the stack, strings */
	uint16_t size;	  /* enum x86_size; 0: not known from the instruction */
	uint16_t flags;	  /* enum isa_access_flag */
};

extern const struct x86_form x86_forms[];
extern const size_t x86_n_forms;

#endif
