/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of integer arguments of functions (hot --arguments), from registers that were sampled at a
 * call, or at the start of a function.
 */
#ifndef CYCLOPS_HOT_ARGUMENTS_ARGUMENTS_H
#define CYCLOPS_HOT_ARGUMENTS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "scan/select.h"
#include "session/session.h"
#include "table/table.h"

struct argument_request {
	int event;	     /* only samples of this event; -1: of all */
	size_t top;	     /* functions shown; 0: all */
	const char *sort;    /* name of a column, or NULL: by samples */
	bool with_histogram; /* also a table of how the values are distributed */
};

/* Zeroed is empty. */
struct argument_tables {
	struct table values, histogram, loops;
	struct tables shown;
};

/*
 * Scans twice: for the places with registers, then for the values at those places where registers
 * hold arguments, or limits of counted loops. Fails if no event records registers, if the architecture's registers are not
 * known, or if there is no column `sort`. `out` is to be released also after a failure.
 */
int argument_tables_make(struct session *, const struct select *, const struct argument_request *,
			 struct argument_tables *out, struct err *);
void argument_tables_release(struct argument_tables *);

#endif
