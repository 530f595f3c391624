/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can this capture be trusted? What was lost, when and how much; what filters hide; what
 * records lack; how uncertain the largest rows are; whether the sampling interval beats with a loop.
 */
#ifndef CYCLOPS_QUALITY_QUALITY_H
#define CYCLOPS_QUALITY_QUALITY_H

#include "hot/sums/sums.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "table/table.h"

/* The tables, to be released with quality_release(). Zeroed is empty. */
struct quality {
	bool is_for_people; /* set it before: problems first, and an answer */
	struct table answer, checks, losses, cpus, rows, bias, callers;
	struct tables shown; /* those that have something to say */
};

/* Scans the selected records (NULL: all) and judges. */
int quality_make(struct session *, const struct select *, size_t top, struct quality *out,
		 struct err *);
void quality_release(struct quality *);

#endif
