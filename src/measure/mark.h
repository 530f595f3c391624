/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: how the library tells the machine model (docs/model.md, "Regions") what it does. A mark is
 * two moves of constants to the zero register, which do nothing, and a load of 8 bytes from a struct
 * mark. The model finds the three instructions in any code, and reads the struct by the address that
 * is loaded.
 */
#ifndef CYCLOPS_MEASURE_MARK_H
#define CYCLOPS_MEASURE_MARK_H

#include <stdint.h>

enum mark_kind {
	MARK_OPEN = 1, /* a handle; regions until MARK_READY are empty, and show the bias */
	MARK_READY,
	MARK_BEGIN, /* a region of the thread */
	MARK_END,
	MARK_RESET, /* all numbers of the handle are void, open regions too */
	MARK_CLOSE, /* the thread's open regions are void */
};

/* Changes with the struct. */
#define MARK_MAGIC UINT64_C(0x316b72616d637963) /* "cycmark1" */

struct mark {
	uint64_t magic;
	uint64_t kind;
	uint64_t handle; /* a number that no other open handle of the process has */
	uint64_t region; /* of MARK_BEGIN and MARK_END: from 1 on */
	uint64_t name;	 /* of MARK_BEGIN: address of the region's name, ended by a NUL */
};

enum {
	MARK_MOST_REGION = 1 << 16,
	MARK_FIRST_WORD = 0xd298f83f,  /* mov xzr, #0xc7c1 */
	MARK_SECOND_WORD = 0xd281619f, /* mov xzr, #0x0b0c */
	MARK_LOAD_WORD = 0xf9400000,   /* ldr Xt, [Xn] */
	MARK_LOAD_MASK = 0xfffffc00,
};

/*
 * Sets a mark. The branch makes the emulator begin a block of instructions there, and the alignment
 * keeps the mark within a page.
 */
static inline void mark_set(enum mark_kind kind, const void *handle, int region, const char *name)
{
#if defined(__aarch64__)
	const struct mark m = {
		.magic = MARK_MAGIC,
		.kind = kind,
		.handle = (uintptr_t)handle,
		.region = (uint64_t)region,
		.name = (uintptr_t)name,
	};
	uint64_t unused;

	__asm__ volatile("	b	1f\n"
			 "	.balign	16\n"
			 "1:	.inst	%c1\n"
			 "	.inst	%c2\n"
			 "	ldr	%0, [%3]\n"
			 : "=&r"(unused)
			 : "i"(MARK_FIRST_WORD), "i"(MARK_SECOND_WORD), "r"(&m), "m"(m)
			 : "memory");
#else
	(void)kind, (void)handle, (void)region, (void)name;
#endif
}

#endif
