/* SPDX-License-Identifier: Apache-2.0 */
/* How metrics of a top-down tree are said: what they are parts of, what their nodes are called. */
#ifndef CYCLOPS_METRICS_METRIC_WORDS_H
#define CYCLOPS_METRICS_METRIC_WORDS_H

#include "cpu/pmu.h"
#include "table/table.h"

/* What a percentage is of: "slots", "cycles", "stalls" …; "" of what is none. */
const char *metric_whole(const struct cpu_metric *);

/* "frontend", "backend memory cache" for frontend_bound, backend_mem_cache_bound. */
const char *metric_node_words(struct table *, const struct cpu_metric *);

/* "83.9 % of cycles", "106.5": a value in the unit of the metric. */
const char *metric_value_words(struct table *, const struct cpu_metric *, double value);

#endif
