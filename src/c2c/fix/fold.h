/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was done to many objects of one type, as if it were one object: offsets are those in each of
 * them, and threads are distinguished by what they do there.
 */
#ifndef CYCLOPS_C2C_FIX_FOLD_H
#define CYCLOPS_C2C_FIX_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/fix/layout.h"
#include "c2c/verdict/cause.h"

struct c2c_fold {
	VEC_OF(struct layout_access) accesses;
	/*
	 * Objects have threads of their own: threads of `accesses` are numbers of roles. Those that do
	 * the same to different objects have one role, so do those that are alike and next in order of
	 * what they write and read, and of their ids. Else they are thread ids.
	 */
	bool has_roles;
	uint64_t address;   /* where one of them begins: where in a line most of what waits is */
	uint32_t n_objects; /* of all lines of the cause … */
	uint32_t n_alike;   /* … and those of them that begin as far into a line */
};

/* Of a cause about a type, by number. */
void c2c_fold_init(struct c2c_fold *, const struct c2c_objects *, const struct c2c_instances *,
		   const struct c2c_causes *, uint32_t cause);
void c2c_fold_release(struct c2c_fold *);

/* What a touch did, at that offset of an object. */
struct layout_access c2c_layout_access(const struct c2c *, uint32_t touch, uint64_t offset);

#endif
