/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions are called with: the integer arguments, out of registers that were recorded
 * where a call is made or a function begins.
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
	struct table values, histogram;
	struct tables shown;
};

/*
 * Scans twice: for the places that have registers, then for the values at those where they are
 * arguments. Fails if no event records registers, those of the architecture are not known, or
 * there is no column `sort`. `out` is to be released also after a failure.
 */
int argument_tables_make(struct session *, const struct select *, const struct argument_request *,
			 struct argument_tables *out, struct err *);
void argument_tables_release(struct argument_tables *);

#endif
