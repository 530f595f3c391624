/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of one type at different addresses: what happens to all of them has one cause, and one
 * layout. Objects without a name that code knows the type of, and elements of arrays that are as
 * long as a line at least: of shorter ones the array is the object, because they meet on its lines.
 */
#ifndef CYCLOPS_C2C_VERDICT_INSTANCES_H
#define CYCLOPS_C2C_VERDICT_INSTANCES_H

#include <stdint.h>

#include "c2c/verdict/objects.h"

struct c2c_instance {
	uint32_t kind;	/* which of struct c2c_instances.kinds */
	uint32_t space; /* of its address */
	uint64_t start;
};

struct c2c_instances {
	struct tuples kinds; /* (type, address of the variable that they are elements of, or 0) */
	struct tuples keys;  /* instances */
	uint32_t *of_access; /* by access: its instance, or TUPLES_NONE */
	uint32_t *of_line;   /* by number of the line: the instance that all its accesses are to */
	uint32_t *n_of_kind; /* instances that have a line of their own among the subjects */
};

void c2c_instances_init(struct c2c_instances *, const struct c2c_objects *);
void c2c_instances_release(struct c2c_instances *);

struct c2c_instance c2c_instance(const struct c2c_instances *, uint32_t number);

/* Is it to an element of an array, or an array of these? */
bool c2c_is_in_array(const struct c2c_objects *, uint32_t access);

/* The type of a kind's instances. */
struct type_id c2c_instance_type(const struct c2c_instances *, uint32_t kind);

#endif
