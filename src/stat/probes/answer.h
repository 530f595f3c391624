/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat --region FUNCTION -- PROGRAM: what calls of functions count. */
#ifndef CYCLOPS_STAT_PROBES_ANSWER_H
#define CYCLOPS_STAT_PROBES_ANSWER_H

#include "base/err.h"
#include "cli/printer.h"

struct probe_options {
	const char *const *functions; /* as typed; ended by NULL, as the others */
	const char *const *events;    /* NULL: a choice */
	char *const *command;
	bool by_thread, without_children, user_only, kernel_only;
};

/*
 * Runs the program and prints tables "run" and "regions" as libcyclops writes them (docs/schema/measure.json).
 * *out_status: with which to end.
 */
int probes_answer(const struct probe_options *, const struct output_options *, int *out_status,
		  struct err *);

#endif
