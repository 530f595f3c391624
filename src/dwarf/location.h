/* SPDX-License-Identifier: Apache-2.0 */
/* Where DWARF says that variables are: in registers, and at distances from them. */
#ifndef CYCLOPS_DWARF_LOCATION_H
#define CYCLOPS_DWARF_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

/* A register and a distance from its value. */
struct location {
	bool is_known;
	uint64_t base; /* DWARF's number */
	int64_t offset;
};

/* The expression of a location at an address; false if there is none, or more than one. */
bool location_find(Dwarf_Die *die, unsigned attribute, uint64_t address, Dwarf_Op **ops, size_t *n);

/* Is it memory at a register's value and a distance? */
bool location_is_memory(const Dwarf_Op *op, struct location *out);

/* Is it a register? */
bool location_is_register(const Dwarf_Op *op, struct location *out);

/*
 * What fbreg counts from in a function, by these unwind tables (of .eh_frame, of .debug_frame; NULL:
 * there is none) if it says so. Not known if that is none of the usual things.
 */
struct location location_frame_base(Dwarf_Die *function, uint64_t address, Dwarf_CFI *unwind,
				    Dwarf_CFI *debug_unwind);

#endif
