/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the stat answer: inside this folder only. Each is initialised and filled. */
#ifndef CYCLOPS_STAT_TABLES_H
#define CYCLOPS_STAT_TABLES_H

#include "findings/finding.h"
#include "metrics/inside.h"
#include "metrics/metric_words.h"
#include "table/table.h"

/* What was counted, on what, how fast it went, how well it was counted: for people, and for programs. */
void stat_facts_table(const struct stat *, struct table *out);
void stat_run_table(const struct stat *, struct table *out);

/* Where slots or cycles go: the nodes that the walk came by. */
void stat_topdown_table(const struct stat *, struct table *out);

/* The groups that explain it, for people; what was asked for with --groups and --metrics. */
int stat_detail_table(const struct stat *, struct table *out, struct err *);

/* Every metric that the counts allow, for programs. */
void stat_metrics_table(const struct stat *, struct table *out);

/* Every event; metrics of every tick. */
void stat_events_table(const struct stat *, struct table *out);
void stat_intervals_table(const struct stat *, struct table *out);

/* Every count: an empty table, then any number of rows. */
void stat_counts_init(struct table *);
void stat_counts_add(const struct counts *, struct table *);

/* The table of intervals the same way; `pmu` is borrowed, NULL: cores are of one type. */
void stat_intervals_init(struct table *);
void stat_intervals_add(const struct stat *, const struct stat_totals *, uint64_t end_ns,
			const char *pmu, struct table *);

/* Raw counts, scaled ones, per thousand instructions; every metric that they allow. */
void stat_rates_table(const struct stat *, struct table *out);
void stat_ratios_table(const struct stat *, struct table *out);

/* What each cause costs at the most. */
void stat_costs_table(const struct stat *, struct table *out);

/* Counts in the tree of cycle accounting that the options choose. */
int stat_tree_table(const struct stat *, struct table *out, struct err *);

/* A count: whole numbers as such, so that programs need not read a fraction. */
struct cell stat_count_cell(double value);

#endif
