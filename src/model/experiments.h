/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program on the model as it is, and once more for each idealisation. */
#ifndef CYCLOPS_MODEL_EXPERIMENTS_H
#define CYCLOPS_MODEL_EXPERIMENTS_H

#include "base/err.h"
#include "model/gains.h"
#include "model/run.h"
#include "model/what_if_list.h"

/*
 * The first run is the one that the options describe, and leaves their files. The others, of which
 * several run at the same time, get the same input and write nothing. `symfs`: where the program's
 * files are, for the names of functions; or NULL. Run 0 of `out` is the program as it is, the others
 * follow in the order of the list. *out_end is how the first one ended: if a signal killed it, there
 * are no others, and that is an error. No runs at all: the model could not begin, and said why.
 */
int experiments_run(const struct model_options *, const struct what_if_list *, const char *symfs,
		    struct gains *out, struct model_end *out_end, struct err *);

#endif
