/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table counts: what counters counted beside the samples, or alone (perf stat record), summed by event, process and slice
 * of time.
 */
#ifndef CYCLOPS_COLLECT_COUNTS_H
#define CYCLOPS_COLLECT_COUNTS_H

#include "collect/identity.h"

/* Reads the session and writes its rows; without readings of counters there is no file. */
int counts_write(const struct session *, const char *root, const struct identity *, struct err *);

#endif
