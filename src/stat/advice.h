/* SPDX-License-Identifier: Apache-2.0 */
/* What a metric above its threshold means, and what helps. */
#ifndef CYCLOPS_STAT_ADVICE_H
#define CYCLOPS_STAT_ADVICE_H

#include "findings/finding.h"
#include "metrics/inside.h"

/* What a root is about, as far as the counts tell. */
struct stat_cause {
	enum finding_cause cause;
	bool has_reason;
	enum evidence_kind reason; /* what says so, or what would */
	enum remedy_kind remedy;   /* REMEDY_NONE: the metrics below know better */
};

/* Of the back end: memory or core (docs/reference/methodology.md, step 3). */
struct stat_cause stat_cause_of(const struct stat *, const struct cpu_metric *root);

/*
 * Does a metric speak of this root? Misses of a cache that instructions and data share are the
 * front end's only as far as the L1I has some.
 */
bool stat_fits_root(const struct stat *, const struct cpu_metric *root, const struct cpu_metric *);

/*
 * Of the front end, where no rate of the instruction side is above its threshold: stalled cycles
 * for each mispredicted branch; NAN if they do not tell.
 */
double stat_branch_stalls(const struct stat *, const struct cpu_metric *root);

/* What to try: by the worst metric below (may be NULL), by the cause, by the root. */
enum remedy_kind stat_remedy(const struct cpu_metric *worst, const struct cpu_metric *root,
			     enum remedy_kind of_cause);

#endif
