/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of sharing_run(), each in a file of its own. */
#ifndef CYCLOPS_ANALYSIS_SHARING_STEPS_H
#define CYCLOPS_ANALYSIS_SHARING_STEPS_H

#include "analysis/sharing.h"

enum { SHARING_LINE_BYTES_MAX = 4096 }; /* offsets in a line have 16 bits */

/* Makes subjects of the lines that the first look puts first, and frees the table of all lines. */
void sharing_choose_lines(struct sharing *);

/* Looks at all subjects and the lines around: what accesses them, and what it is. */
void sharing_look_closely(struct sharing *, const struct select *);

/* Makes lines and accesses of what was touched. Part of sharing_look_closely(), as is … */
void sharing_group_accesses(struct sharing *);

/* … names for the places, and the sizes of accesses. */
void sharing_name_accesses(struct sharing *);

/* Frees what sharing_look_closely() made. */
void sharing_forget_accesses(struct sharing *);

/*
 * Objects reach over other lines than those that are shown. What they are is known only after the
 * look at these: if there are such lines, of lines worth a word, all are looked at again.
 */
void sharing_look_around(struct sharing *, const struct select *);

/* What each subject costs, and its verdict. */
void sharing_rate_subjects(struct sharing *);

/* In the order of what they cost, if that is what they are sorted by. */
void sharing_order_subjects(struct sharing *);

#endif
