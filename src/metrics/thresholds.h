/* SPDX-License-Identifier: Apache-2.0 */
/* From which value on a metric is worth a word: inside this folder only. */
#ifndef CYCLOPS_METRICS_THRESHOLDS_H
#define CYCLOPS_METRICS_THRESHOLDS_H

#include <stdbool.h>

#include "base/err.h"
#include "cpu/pmu.h"

/* Thresholds that are not of a metric; the catalog has each of them. */
#define THRESHOLD_COVERAGE "coverage"	 /* least per cent of the time to conclude from */
#define THRESHOLD_BUSY "cpu_utilization" /* below, per cent: waiting is the question */
#define THRESHOLD_TIE "tie"		 /* points within which siblings are as bad */
#define THRESHOLD_SUM "slots_sum"	 /* points by which the slots may miss 100 */
#define THRESHOLD_LEAF "part"		 /* of the deeper nodes of a tree, in per cent */
#define THRESHOLD_COST "cost"		 /* least per cent of cycles that a cause is told for */

/* Checks "NAME=VALUE" texts, ended by NULL: metrics of the CPU, or the names above. */
int stat_thresholds_check(const struct cpu_pmu *, const char *const *given, struct err *);

/*
 * The threshold of that name: as given, else the CPU's own, else the usual one. False if there
 * is none. The list was checked.
 */
bool stat_threshold(const struct cpu_pmu *, const char *const *given, const char *name,
		    double *out);

#endif
