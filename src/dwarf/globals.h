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

/* What a walk over a file's entries for variables does with one. */
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

/* How many entries sound units of this file have at most. */
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
 * Calls `each` for the variables that begin at the last address, up to this one, at which any
 * does, until it returns true; returns whether it did. Reads them first, if they were not. They
 * are borrowed from the file.
 */
bool globals_find(struct globals *, const struct dwarf_file *, uint64_t address,
		  bool (*each)(void *context, struct global *), void *context);

void globals_release(struct globals *);

#endif
