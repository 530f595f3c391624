/* SPDX-License-Identifier: Apache-2.0 */
/* What a root or a metric above its threshold means, and what helps. */
#ifndef CYCLOPS_STAT_CAUSES_ADVICE_H
#define CYCLOPS_STAT_CAUSES_ADVICE_H

#include "findings/finding.h"
#include "metrics/inside.h"
#include "stat/causes/costs.h"
#include "stat/causes/pattern.h"

/* What a root is about, as far as the counts tell. */
struct stat_cause {
	enum finding_cause cause;
	bool is_measured; /* by stalls that the CPU tells apart, not by what misses may cost */
	bool has_reason;
	enum evidence_kind reason; /* what says so, or what would */
	const char *issue;	   /* "stores", "coherence"; NULL: what costs most */
	enum remedy_kind remedy;   /* against that issue */
	double share;		   /* of cycles, that the reason is about; NAN: of none */
	double value;		   /* of the reason: lines of code, stalled cycles of a branch */
};

/*
 * Of the back end: memory or core; of the front end: what was counted, or fetching
 * (Arm Neoverse N1 core: performance analysis methodology).
 */
struct stat_cause stat_cause_of(const struct stat *, const struct stat_costs *,
				const struct cpu_metric *root);

/*
 * Stalled cycles of the root for each mispredicted branch, if these are many times what the pipeline takes:
 * then branches wait for what they compare. NAN: they do not, or there are too few to tell.
 */
double stat_branch_stalls(const struct stat *, const struct stat_costs *,
			  const struct cpu_metric *root);

/*
 * Does a metric speak of this root? Misses of a cache that instructions and data share are the
 * front end's only as far as the L1I has some.
 */
bool stat_fits_root(const struct stat *, const struct cpu_metric *root, const struct cpu_metric *);

/* What to try against a cost, and where a metric stands out; REMEDY_NONE: nothing is known. */
enum remedy_kind stat_remedy_of_cost(const struct stat_cost *, enum stat_pattern);
enum remedy_kind stat_remedy_of_metric(const struct stat *, const struct cpu_metric *);

/* What operations are, in per cent of them; NAN: not known. */
struct stat_mix {
	double vector, scalar, memory;
};

struct stat_mix stat_mix_of(const struct stat *);

#endif
