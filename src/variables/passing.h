/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How arguments of a type are passed: System V psABI for x86-64 (3.2.3), AAPCS64 (6.8.2), as far
 * as general registers go.
 */
#ifndef CYCLOPS_VARIABLES_PASSING_H
#define CYCLOPS_VARIABLES_PASSING_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "isa/access.h"

enum passing_kind {
	PASSED_SIGNED, /* an integer */
	PASSED_UNSIGNED,
	PASSED_POINTER,
	PASSED_OTHERWISE, /* a struct, a float, something not known: no single number */
};

struct passing {
	enum passing_kind kind;
	uint8_t size;	     /* bytes of the number */
	uint8_t n_registers; /* general registers that it takes; 0: none */
	bool is_aligned;     /* begins with an even register (AAPCS64, 16 bytes) */
};

/* How a value of this type is passed; NULL is no type. */
struct passing passing_of(enum isa, Dwarf_Die *type);

/* Does a function that returns this type get a hidden first argument in a register? */
bool passing_has_hidden_result(enum isa, Dwarf_Die *type);

/* The DWARF number of the n-th general register of arguments; -1: there are not so many. */
int passing_register(enum isa, unsigned n);

/* Is it a general register, by its DWARF number? */
bool passing_is_general(enum isa, uint64_t dwarf_register);

#endif
