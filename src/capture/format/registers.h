/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers by the kernel's numbers (arch/.../include/uapi/asm/perf_regs.h), and which of them
 * hold the integer arguments of functions.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_REGISTERS_H
#define CYCLOPS_CAPTURE_FORMAT_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

enum { N_ARGUMENT_REGISTERS = 8 };

struct registers {
	const char *arch;	  /* as uname says it */
	const char *const *names; /* by number; "" for numbers that samples cannot have */
	unsigned n;
	unsigned n_arguments;
	uint8_t arguments[N_ARGUMENT_REGISTERS]; /* numbers, in order of the arguments */
	const uint8_t *dwarf;			 /* DWARF number → number */
	unsigned n_dwarf;
};

/* The registers of an architecture, NULL if it is not known. */
const struct registers *registers_of(const char *arch);

/* The mask of all registers that samples can have. */
uint64_t registers_mask(const struct registers *);

/* The number of a register by its name, whatever its case; -1: no such. */
int registers_find(const struct registers *, const char *name);

/* The kernel's number of a register with this DWARF number; -1: samples do not have it. */
int registers_of_dwarf(const struct registers *, unsigned dwarf);

/* For messages: the names by position in the table; NULL behind the last. */
const char *registers_name_at(const void *registers, size_t i);

#endif
