/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers by the kernel's numbers (arch/.../include/uapi/asm/perf_regs.h), and which of them hold
 * integer arguments.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_REGISTERS_H
#define CYCLOPS_CAPTURE_FORMAT_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

enum { N_ARGUMENT_REGISTERS = 8 };

struct registers {
	const char *arch;	  /* as in uname */
	const char *const *names; /* by number; "": samples cannot have it */
	unsigned n;
	unsigned n_arguments;
	uint8_t arguments[N_ARGUMENT_REGISTERS]; /* registers of the arguments, in order */
	const uint8_t *dwarf;			 /* number by DWARF number */
	unsigned n_dwarf;
};

/* The registers of an architecture; NULL if unknown. */
const struct registers *registers_of(const char *arch);

/* All registers that samples can have, as bits. */
uint64_t registers_mask(const struct registers *);

/* The number of a register, ignoring case; -1 if there is none. */
int registers_find(const struct registers *, const char *name);

/* The number of a register by its DWARF number; -1 if samples do not have it. */
int registers_of_dwarf(const struct registers *, unsigned dwarf);

/* Name number `i`, for messages; NULL behind the last. */
const char *registers_name_at(const void *registers, size_t i);

#endif
