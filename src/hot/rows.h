/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of groups. Private to the files of hot_table(). */
#ifndef CYCLOPS_HOT_ROWS_H
#define CYCLOPS_HOT_ROWS_H

#include "base/sorter.h"
#include "hot/sums/group.h"
#include "table/table.h"

/* hot/hot_table.c: the sums of a group in a row of the table. */
void hot_show_sums(const struct hot_grouping *, uint64_t event, const struct hot_cost *,
		   struct table *, struct cell *row);

/* What the group and everything it called have of the event's weight, and which event that is. */
void hot_show_total(const struct hot_grouping *, uint64_t event, uint64_t weight, struct table *,
		    struct cell *row);

/*
 * hot/callers.c: the rows of the call tree, outermost callers first, callees below them by their total. -1 and an error if
 * a temporary file cannot be written.
 */
int hot_show_call_tree(struct hot_grouping *, struct table *, struct err *);

/* hot/callers.c: who called the groups that are shown, in bounded memory. */
struct hot_callers {
	struct hot_grouping *g;
	struct sorter paths; /* of callers, with their sums, in order of rows */
	uint64_t at;
	uint32_t row; /* the last one that was shown, counted from 1 */
};

/* Of these groups, in the order of their rows. -1 and an error as above; to be released in any case. */
int hot_callers_init(struct hot_callers *, struct hot_grouping *, const uint32_t *groups, size_t n,
		     struct err *);
void hot_callers_release(struct hot_callers *);

/* Appends who called the group of the last row, which is the next one, as a tree below it. */
void hot_callers_show(struct hot_callers *, uint32_t group, struct table *);

#endif
