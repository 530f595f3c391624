/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of --what-if: a program on the model as it is, and with each idealisation. */
#ifndef CYCLOPS_MODEL_EXPERIMENTS_H
#define CYCLOPS_MODEL_EXPERIMENTS_H

#include "base/err.h"
#include "model/gains.h"
#include "model/run.h"
#include "model/what_if_list.h"

/*
 * The first run writes the files that the options name. Further runs get the same standard input,
 * and their output is thrown away; several run at the same time. `symfs` is the folder below which
 * the program's files are, for names of functions; NULL: none. Run 0 of `out` is the program as it
 * is, the others follow. `out_end` is how the first run ended. Fails if that was by a signal. `out`
 * is empty if the model could not start; it has printed the reason.
 */
int experiments_run(const struct model_options *, const struct what_if_list *, const char *symfs,
		    struct gains *out, struct model_end *out_end, struct err *);

#endif
