/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was done to many objects of one type, as if it were one object: offsets are those in each of
 * them, and threads are told apart by what they do there.
 */
#ifndef CYCLOPS_C2C_FIX_FOLD_H
#define CYCLOPS_C2C_FIX_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/fix/layout.h"
#include "c2c/verdict/fight.h"

struct sharing_fold {
	VEC_OF(struct layout_access) accesses;
	/*
	 * Objects have threads of their own: threads of `accesses` are numbers of roles. Those that do
	 * the same to different objects have one role, so do those that are alike and next in order of
	 * what they write and read, and of their ids. Else they are thread ids.
	 */
	bool has_roles;
	uint64_t address;   /* where one of them begins: where in a line most of what waits is */
	uint32_t n_objects; /* of all lines of the fight … */
	uint32_t n_alike;   /* … and those of them that begin as far into a line */
};

/* Of a fight about a type, by number. */
void sharing_fold_init(struct sharing_fold *, const struct sharing_objects *,
		       const struct sharing_instances *, const struct sharing_fights *,
		       uint32_t fight);
void sharing_fold_release(struct sharing_fold *);

/* What a touch did, at that offset of an object. */
struct layout_access sharing_layout_access(const struct sharing *, uint32_t touch, uint64_t offset);

#endif
