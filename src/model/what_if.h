/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of --what-if: what a program would gain if one resource were perfect. */
#ifndef CYCLOPS_MODEL_WHAT_IF_H
#define CYCLOPS_MODEL_WHAT_IF_H

#include "model/gains.h"
#include "session/session.h"
#include "table/table.h"

struct what_if {
	struct table ideals, functions; /* a row for each run; for each function and run */
	struct tables shown;		/* what is printed */
};

/*
 * Makes the tables. Run 0 is the program as it is, the session is its capture. `top`: how many
 * functions are shown; 0: all.
 */
void what_if_make(const struct gains *, struct session *, size_t top, struct what_if *out);
void what_if_release(struct what_if *);

/*
 * Part of all cycles that a function saves where `ideal` is perfect: in all code, or in this function ("l1d@chase"). NAN:
 * nobody asked, or there is no such function.
 */
double what_if_function_gain(const struct gains *, struct session *, const char *ideal,
			     const char *function, const char *module);

#endif
