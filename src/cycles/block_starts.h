/* SPDX-License-Identifier: Apache-2.0 */
/* The basic block that each sampled place is in. */
#ifndef CYCLOPS_CYCLES_BLOCK_STARTS_H
#define CYCLOPS_CYCLES_BLOCK_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

#define BLOCK_UNKNOWN UINT32_MAX

/* Zeroed is empty. */
struct block_starts {
	uint32_t n;	  /* places, and those where their blocks begin */
	uint32_t *starts; /* by place: that where its block begins */
	uint32_t *
		numbers; /* by place where a block begins: its number in the function; BLOCK_UNKNOWN */
	bool *is_start; /* by place: does a block of a wanted place begin there? */
};

/*
 * Of the places that are wanted. Where the code of a function is not here, all of it is one block without
 * a number; where not even the function is known, all of the module is. Adds places to the session.
 */
void block_starts_init(struct block_starts *, struct session *, const bool *wanted);
void block_starts_release(struct block_starts *);

/* The place where the block of a wanted place begins. */
uint32_t block_starts_of(const struct block_starts *, uint32_t place);

/* The number of the block that begins at a place. */
uint32_t block_starts_number(const struct block_starts *, uint32_t place);

#endif
