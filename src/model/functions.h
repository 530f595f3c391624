/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a program that ran on the model: names for blocks of code, addresses for names. */
#ifndef CYCLOPS_MODEL_FUNCTIONS_H
#define CYCLOPS_MODEL_FUNCTIONS_H

#include "base/err.h"
#include "base/tuples.h"
#include "model/ideal.h"
#include "session/session.h"

/* A function, or the code of a module that belongs to none. */
struct model_function {
	const char *name;   /* borrowed from the session; NULL: none is known */
	const char *module; /* the same */
};

struct model_functions {
	VEC_OF(struct model_function) list;
	VEC_OF(uint32_t) of_block;	   /* the function of each block, by number */
	VEC_OF(struct ideal_range) ranges; /* the addresses of that function; 0, 0: not known */
};

/* Its name, or the module where it has none. */
const char *model_function_label(const struct model_function *);

/* Names the blocks at these addresses with the capture of the same program. */
void model_functions_init(struct model_functions *, struct session *, const struct tuples *pcs);
void model_functions_release(struct model_functions *);

/*
 * Adds the addresses of all functions of that name that ran, and of the clones that compilers make of
 * them ("f.constprop.0", "f.cold"). An unknown name gives the nearest right one.
 */
int model_functions_find(const struct model_functions *, const char *name, struct ideal *out,
			 struct err *);

#endif
