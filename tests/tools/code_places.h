/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a program as one space without gaps, so that places in it can be drawn by lot. */
#ifndef CYCLOPS_TESTS_CODE_PLACES_H
#define CYCLOPS_TESTS_CODE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* Bytes of code: where in the flat space, where in memory. */
struct code_range {
	uint64_t flat, address, size;
};

/* A mapping of the file with code in it, whole pages. */
struct code_mapping {
	uint64_t address, size, offset;
};

/* Zeroed is empty. */
struct code_places {
	VEC_OF(struct code_range) ranges; /* ascending, without overlaps */
	VEC_OF(struct code_mapping) mappings;
	uint64_t size; /* of the flat space */
};

/*
 * Reads an ELF file of any machine: its functions, or all that it maps as executable.
 * Addresses are those of a process: a file that can stand anywhere stands at 0xaaaac0000000.
 */
int code_places_read(struct code_places *, const char *path, bool only_functions, struct err *);
void code_places_release(struct code_places *);

/* The address of a flat position below `size`. */
uint64_t code_places_address(const struct code_places *, uint64_t flat);

#endif
