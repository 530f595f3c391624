/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops hot` says first (table/answer.h): the hottest function and its hottest line, or the first row by other keys. */
#ifndef CYCLOPS_HOT_SUMMARY_H
#define CYCLOPS_HOT_SUMMARY_H

#include "hot/elapsed/elapsed.h"
#include "hot/hot.h"

/*
 * Says the first row of a table, of its first event: nothing if that is of no known module, or of branch
 * stacks.
 */
void hot_summary(struct session *, const struct hot_grouping *, struct table *answer);

/*
 * Says instead which row by these keys has most of the run time, and of a function what shows why. Nothing, and the
 * answer stays as it is, if that is not known of any. The names are those of `hot`.
 */
void hot_summary_run_time(struct session *, const struct hot *, const struct names *,
			  const struct keys *, const struct elapsed_told *, struct table *answer);

#endif
