/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One cause is one finding: lines that are contended in the same manner, of one object or of
 * objects of one type.
 */
#ifndef CYCLOPS_C2C_VERDICT_CAUSE_H
#define CYCLOPS_C2C_VERDICT_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "c2c/verdict/instances.h"
#include "c2c/verdict/classes.h"

struct c2c_cause {
	VEC_OF(uint32_t) lines; /* numbers of subjects, in order */
	struct c2c_subject sum; /* of all lines; it is at the first and has the accesses of that */
	enum c2c_class class;
	uint32_t n_objects;   /* of a type; 0: it is not about a type */
	uint32_t n_variables; /* of one type, each with a name; 0: it is not about variables */
	uint32_t finding;     /* its number among the findings; 0: it is none */
};

struct c2c_causes {
	VEC_OF(struct c2c_cause) list; /* in order of what they cost, or of their first lines */
	uint32_t *of_line;	       /* by subject: which one it is part of */
};

/* Each subject is part of one, alone if it has nothing in common with others. */
void c2c_causes_init(struct c2c_causes *, const struct c2c_objects *, const struct c2c_instances *);
void c2c_causes_release(struct c2c_causes *);

/* Is a line among the first `top`, or the first one of so many findings? 0: all are. */
bool c2c_is_shown(const struct c2c_causes *, size_t top, size_t line);

#endif
