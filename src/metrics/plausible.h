/* SPDX-License-Identifier: Apache-2.0 */
/* Counts that contradict each other, or what their CPU can do: nothing is concluded from them. */
#ifndef CYCLOPS_METRICS_PLAUSIBLE_H
#define CYCLOPS_METRICS_PLAUSIBLE_H

#include <stddef.h>

#include "cpu/pmu.h"

enum contradiction_kind {
	CONTRADICTION_MORE,    /* `event` is `value` times `other`, at most `limit` is possible */
	CONTRADICTION_LESS,    /* … at least `limit` */
	CONTRADICTION_IPC,     /* `value` instructions in a cycle, at most `limit` */
	CONTRADICTION_DIVIDED, /* the same, but possible if cycles were divided by 64 */
	CONTRADICTION_SHARE,   /* `metric` is `value` per cent of its whole */
	CONTRADICTION_SUM,     /* the roots of the tree add up to `value` per cent */
	CONTRADICTION_ISSUED,  /* `event` is `value` times the slots that were not empty */
	CONTRADICTION_ZERO,    /* `event` reads 0 while `value` of `other` were counted */
	CONTRADICTION_EVENT,   /* the CPU has no event of that name or number */
	CONTRADICTION_CPU,     /* counted on `other` */
	CONTRADICTION_WIDTH,   /* counted where a cycle has `value` slots, not `limit` */
	CONTRADICTION_IDLE,    /* of whole CPUs: `value` of `event` in a nanosecond of their time */
};

struct contradiction {
	enum contradiction_kind kind;
	const char *event, *other; /* borrowed from the counts or the catalog */
	const struct cpu_metric *metric;
	double value, limit;
};

struct stat;

/* Marks totals that cannot be (stat_init() does it before metrics are evaluated). */
void stat_check_totals(struct stat *);

/* Marks values of metrics that cannot be. */
void stat_check_values(struct stat *);

#endif
