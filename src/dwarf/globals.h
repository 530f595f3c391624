/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a file that have an address of their own, by DWARF. */
#ifndef CYCLOPS_DWARF_GLOBALS_H
#define CYCLOPS_DWARF_GLOBALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/vec.h"
#include "dwarf/dwarf_file.h"

/* What to do with an entry (DIE) while searching for variables. */
enum global_role {
	GLOBAL_SKIP,
	GLOBAL_VARIABLE,
	GLOBAL_FUNCTION, /* may hold static variables */
	GLOBAL_ENTER,	 /* holds variables and functions */
	GLOBAL_TYPE,	 /* holds other types, and variables of DWARF 5 */
};

enum global_role global_role_of(int tag);

/* The address that a variable's location yields, if it is one that is fixed when linking. */
bool global_address(Dwarf_Die *variable, uint64_t *out);

/* An upper limit of the entries of this file, if it is not damaged. */
uint64_t globals_steps(const struct dwarf_file *);

struct global {
	uint64_t address;
	Dwarf_Die die;
};

/* Zeroed is empty. */
struct globals {
	bool is_read;
	VEC_OF(struct global) list; /* by address */
};

/*
 * Finds the highest address, up to `address`, at which variables begin. Calls `each` for these
 * variables, until it returns true; returns whether it did. Reads all variables of the file at the
 * first call.
 */
bool globals_find(struct globals *, const struct dwarf_file *, uint64_t address,
		  bool (*each)(void *context, struct global *), void *context);

void globals_release(struct globals *);

#endif
