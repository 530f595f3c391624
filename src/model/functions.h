/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a program that ran on the model: which one each block of code belongs to. */
#ifndef CYCLOPS_MODEL_FUNCTIONS_H
#define CYCLOPS_MODEL_FUNCTIONS_H

#include "base/err.h"
#include "base/tuples.h"
#include "model/ideal.h"
#include "session/session.h"

/* A function, or all code of a module that is in no function. */
struct model_function {
	const char *name;   /* NULL: not known. Borrowed from the session, like the next */
	const char *module; /* file name */
};

struct model_functions {
	struct session *session; /* borrowed */
	VEC_OF(struct model_function) list;
	VEC_OF(uint32_t) of_block;	   /* by number of the block: index into `list` */
	VEC_OF(struct ideal_range) ranges; /* the same: addresses of the function; 0, 0: unknown */
	VEC_OF(struct place) starts;	   /* the same: where it begins */
};

/* The function's name, or the module's if it has none. */
const char *model_function_label(const struct model_function *);

/* Finds the functions of the blocks at `pcs`. The session is a capture of the same program. */
void model_functions_init(struct model_functions *, struct session *, const struct tuples *pcs);
void model_functions_release(struct model_functions *);

/*
 * Adds the addresses of all functions of that name that ran, and of the compiler's clones of them
 * ("f.constprop.0", "f.cold"); without one, of those that have it as another name. Fails if there is none;
 * the error suggests a similar name.
 */
int model_functions_find(const struct model_functions *, const char *name, struct ideal *out,
			 struct err *);

#endif
