/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines near those that are shown. An object on a line that is shown may reach over others, and what
 * is done to it there belongs to it. Which objects there are is known only when the accesses are
 * named, so the scan that finds these keeps what is done near them, too: up to as far as objects
 * reach or, where that would be too much, up to as far as it is not. Most is kept around lines that
 * cost enough for a finding of their own, next to them all of it; others matter only as objects of
 * one type, and less is kept around them.
 */
#ifndef CYCLOPS_C2C_ACCESSES_NEAR_H
#define CYCLOPS_C2C_ACCESSES_NEAR_H

#include "base/vec.h"
#include "c2c/accesses/accesses.h"

/* How far to look for an object's other lines; larger ones are rare. */
#define C2C_REACH_BYTES ((uint64_t)32768)

struct c2c;

/* What has no name of its own may be a part of what is known on a line next to it. */
enum { C2C_NEAR_LINES = 2 };

/* What may be kept of lines near by, in the second look and in the third: so many touches each. */
enum { C2C_MOST_NEAR = 32768 };

/* … of which the second one finds so many: those of the third are mostly among them, and then it takes no scan. */
enum { C2C_MOST_KEPT = 3 * C2C_MOST_NEAR };

/* Some of the subjects, and how far around them lines are kept. */
struct c2c_neighbourhood {
	uint64_t reach_bytes;		  /* up to so far from any, all lines that were accessed */
	VEC_OF(struct c2c_spot) subjects; /* by space and address */
};

/* Zeroed is empty. */
struct c2c_near {
	VEC_OF(struct c2c_spot) lines; /* that were accessed */
	struct c2c_neighbourhood contended, all;
};

/* Chooses them, of the table of all lines. */
void c2c_near_choose(struct c2c *);
void c2c_near_release(struct c2c_near *);

/* May a line (space, address) that is not among them have been accessed? */
bool c2c_near_is_beyond(const struct c2c_near *, const uint64_t *line);

#endif
