/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of groups. Private to the files of hot_table(). */
#ifndef CYCLOPS_HOT_ROWS_H
#define CYCLOPS_HOT_ROWS_H

#include "hot/sums/group.h"
#include "table/table.h"

/* hot/hot_table.c: the sums of a group in a row of the table. */
void hot_show_sums(const struct hot_grouping *, uint64_t event, const struct hot_cost *,
		   struct table *, struct cell *row);

/* What the group and everything it called have of the event's weight, and which event that is. */
void hot_show_total(const struct hot_grouping *, uint64_t event, uint64_t weight, struct table *,
		    struct cell *row);

/* hot/callers.c: the rows of the call tree, outermost callers first, callees below them by their total. */
void hot_show_call_tree(const struct hot_grouping *, struct table *);

/* hot/callers.c: appends who called the group of the last row, as a tree below it. */
void hot_show_callers(const struct hot_grouping *, uint32_t group, struct table *);

#endif
