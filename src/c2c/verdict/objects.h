/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that accesses to shared lines are to, and what else was done to these objects. */
#ifndef CYCLOPS_C2C_VERDICT_OBJECTS_H
#define CYCLOPS_C2C_VERDICT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tuples.h"
#include "c2c/accesses/result.h"
#include "data/data_names.h"

struct c2c_objects {
	const struct c2c *sharing; /* borrowed */
	struct data_names names;   /* by access of the sharing */
	uint32_t *lines;	   /* by access: the number of its line */
	struct tuples keys;	   /* the objects */
	uint32_t *numbers;	   /* by access: its object; TUPLES_NONE: none is known */
	uint32_t *order;	   /* accesses by object, … */
	uint32_t *first; /* … by object: where its accesses begin in that; one more behind */
};

/*
 * Where an access is, and how far it reaches: no more. The address is that in the line's own space: an object
 * that several processes have at different places is one.
 */
struct data_query c2c_objects_query(const struct c2c_objects *, uint32_t access);

/* Names the objects of all accesses, those of the lines around, too. */
void c2c_objects_init(struct c2c_objects *, const struct c2c *);
void c2c_objects_release(struct c2c_objects *);

/*
 * Makes one object of what the code knew in parts, such as the base class of one that is known from
 * elsewhere, and of objects that stand side by side. Part of c2c_objects_init().
 */
void c2c_objects_join(struct c2c_objects *);

/*
 * Adds to `out` the lines (space, address) that objects on `wanted` lines (by subject) reach over
 * and that were not looked at. Of large objects those near what was accessed.
 */
void c2c_objects_lines(const struct c2c_objects *, const bool *wanted, struct tuples *out);

#endif
