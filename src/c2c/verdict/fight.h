/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One cause is one finding: lines that are fought over in the same manner, of one object or of
 * objects of one type.
 */
#ifndef CYCLOPS_C2C_VERDICT_FIGHT_H
#define CYCLOPS_C2C_VERDICT_FIGHT_H

#include <stdint.h>

#include "base/vec.h"
#include "c2c/verdict/instances.h"
#include "c2c/verdict/worth.h"

struct sharing_fight {
	VEC_OF(uint32_t) lines; /* numbers of subjects, in order */
	struct sharing_subject
		sum; /* of all lines; it is at the first and has the accesses of that */
	enum sharing_worth worth;
	uint32_t n_objects; /* of a type; 0: it is not about a type */
	uint32_t finding;   /* its number among those that are worth a word; 0: it is not */
};

struct sharing_fights {
	VEC_OF(struct sharing_fight) list; /* in order of what they cost, or of their first lines */
	uint32_t *of_line;		   /* by subject: which one it is part of */
};

/* Each subject is part of one, alone if it has nothing in common with others. */
void sharing_fights_init(struct sharing_fights *, const struct sharing_objects *,
			 const struct sharing_instances *);
void sharing_fights_release(struct sharing_fights *);

#endif
