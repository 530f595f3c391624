/* SPDX-License-Identifier: Apache-2.0 */
/* How a table of hotspots is made from the sums. */
#ifndef CYCLOPS_HOT_SUMS_VIEW_H
#define CYCLOPS_HOT_SUMS_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "commit_time/commit_time.h"
#include "keys/keys.h"

struct hot_view {
	struct keys keys;
	const char *name; /* of the table */
	const char *title;
	size_t top; /* rows for each event; 0: all */
	const char *
		event; /* the only one that was asked for, as the user wrote it; NULL: several, or all */
	bool by_samples;   /* share and order by number of records, not by what they weigh */
	bool with_callers; /* who called, as a tree below each row */
	bool with_call_tree; /* instead of rows: what is called, as a tree from the outermost callers on */
	bool with_estimates; /* totals that SPE records stand for */
	bool with_branches;  /* what entries of branch stacks tell */
	const char *sort;    /* name of a column, or NULL */

	/* Not NULL: a column with the estimated time, by which rows are ordered. */
	const struct commit_time *time;
};

#endif
