/* SPDX-License-Identifier: Apache-2.0 */
/* What a metric above its threshold means, and what to try: inside this folder only. */
#ifndef CYCLOPS_STAT_ADVICE_H
#define CYCLOPS_STAT_ADVICE_H

#include "metrics/inside.h"
#include "table/table.h"

/* What a root is about, as far as the counts tell. */
struct stat_cause {
	const char *claim;  /* goes behind the claim: ", on memory", or "" */
	const char *why;    /* what says so, or what would; NULL: nothing to say */
	const char *remedy; /* NULL: the metrics below know better */
};

/* Of the back end: memory or core (docs/reference/methodology.md, step 3). */
struct stat_cause stat_cause_of(const struct stat *, const struct cpu_metric *root);

/* "83.9 % of cycles stalled in the back end" */
const char *stat_claim_words(const struct stat *, struct table *, const struct cpu_metric *);

/* How much of a claim is left without what its cause put behind it: ", in the core". */
size_t stat_claim_length(const char *claim);

/* Is its cause the core, as far as counts tell? */
bool stat_claims_core(const char *claim);

/*
 * Can the metric be about the part of the pipeline that the root is? Levels that instructions and
 * data share are not about the front end where its own caches hardly miss (methodology.md, step 3).
 */
bool stat_fits_root(const struct stat *, const struct cpu_metric *root, const struct cpu_metric *);

/*
 * Of a root of the front end with nothing above a threshold that fits it: what mispredicted branches
 * would explain, as an observation that belongs to the table; NULL: not counted, or not a front end.
 */
const char *stat_front_words(const struct stat *, struct table *, const struct cpu_metric *root);

/* What to try where these words hold. */
extern const char stat_front_remedy[];

/* What to try: by the worst metric below (may be NULL), by the cause, by the root. Or NULL. */
const char *stat_remedy(const struct cpu_metric *worst, const struct cpu_metric *root,
			const struct stat_cause *);

#endif
