/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals of a run, one after the other as they end: rows for programs, lines for people. */
#ifndef CYCLOPS_STAT_TICKS_H
#define CYCLOPS_STAT_TICKS_H

#include "stat/types.h"

struct stat_ticks {
	const struct stat_options *options;
	struct stat_types types;
	struct table counts;	/* each count of the last interval */
	struct table intervals; /* each metric of it */
	struct table lines; /* the same in words: what was asked for, or the roots of the tree */
};

/*
 * `first` is any interval of the run: it tells the types of cores. Options are borrowed. Release
 * it in any case.
 */
int stat_ticks_init(struct stat_ticks *, const struct catalog *, const char *cpu_name,
		    const struct counts *first, const struct stat_options *, struct err *);
void stat_ticks_release(struct stat_ticks *);

/*
 * Fills the tables with an interval, the only one of these counts, in place of the one before.
 * The tables borrow from the counts.
 */
void stat_ticks_take(struct stat_ticks *, const struct counts *);

#endif
