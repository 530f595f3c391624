/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops hot` says first (table/answer.h): the hottest function, and its hottest line. */
#ifndef CYCLOPS_HOT_SUMMARY_H
#define CYCLOPS_HOT_SUMMARY_H

#include "hot/hot.h"

/*
 * Says the first row of a table by function, of its first event: nothing if that is not known by name,
 * or if it is of branch stacks. The names are those of the table.
 */
void hot_summary(struct session *, const struct hot *, const struct names *,
		 const struct hot_view *, struct table *answer);

#endif
