/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines near those that are shown. An object on a line that is shown may reach over others, and what
 * is done to it there belongs to it. Which objects there are is known only when the accesses are
 * named, so the scan that finds these keeps what is done near them, too: up to as far as objects
 * reach or, where that would be too much, up to as far as it is not.
 */
#ifndef CYCLOPS_C2C_ACCESSES_NEAR_H
#define CYCLOPS_C2C_ACCESSES_NEAR_H

#include "c2c/accesses/accesses.h"

/* How far to look for an object's other lines; larger ones are rare. */
#define C2C_REACH_BYTES ((uint64_t)32768)

struct c2c;

/* Zeroed is empty. */
struct c2c_near {
	struct c2c_choice choice;  /* lines that were accessed */
	struct c2c_accesses *seen; /* what was done to them; NULL: they were not looked at */
	uint64_t reach_bytes;	   /* up to so far from a subject all that were accessed */
	struct c2c_spot *subjects; /* by space and address */
	size_t n_subjects;
};

/* Chooses them, of the table of all lines. */
void c2c_near_choose(struct c2c *);

/* The number of a line (space, address) among them, or TUPLES_NONE. */
uint32_t c2c_near_find(const struct c2c_near *, const uint64_t *line);

/* Takes what was done to them. If that is too much to be kept there are none. */
void c2c_near_take(struct c2c_near *, struct c2c_accesses *);
void c2c_near_release(struct c2c_near *);

/* May a line (space, address) that is not among them have been accessed? */
bool c2c_near_is_beyond(const struct c2c_near *, const uint64_t *line);

#endif
