/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat: what counts mean, as tables; of one run, or of two side by side. */
#ifndef CYCLOPS_STAT_STAT_H
#define CYCLOPS_STAT_STAT_H

#include "findings/finding.h"
#include "metrics/metrics.h"
#include "table/table.h"

/* The answer, in sentences first; the tables are listed in `shown` in the order in which they are to be written. */
struct stat_answer {
	struct table answer, facts, run, topdown, costs, detail, rates, metrics, events, counts,
		intervals, findings, evidence, tree;
	struct tables shown;
	struct findings found; /* those of the table, as data; metrics are borrowed */
};

/*
 * Explains counts. They are given the catalog's names first (counts_name()), so that they may
 * come from anywhere. With `for_programs` the tables hold everything that can be said, else what
 * the method leads to. The counts must outlive the answer. Fails if the options name something
 * that does not exist.
 */
int stat_answer_make(const struct cpu_pmu *, struct counts *, const struct stat_options *,
		     struct stat_answer *out, struct err *);

/* Two runs side by side: what changed from `before` to `after`, both on the same kind of CPU. */
int stat_answer_compare(const struct cpu_pmu *, struct counts *before, struct counts *after,
			const struct stat_options *, struct stat_answer *out, struct err *);

void stat_answer_release(struct stat_answer *);

#endif
