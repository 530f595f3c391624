/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF locations of variables: in a register, or in memory at a register plus an offset. */
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
 * The frame base of a function (for DW_OP_fbreg). If that is DW_OP_call_frame_cfa, uses these
 * tables (.eh_frame and .debug_frame; NULL: none). is_known is false for unusual expressions.
 */
struct location location_frame_base(Dwarf_Die *function, uint64_t address, Dwarf_CFI *unwind,
				    Dwarf_CFI *debug_unwind);

#endif
