/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetch hints for LLVM's x86 back end (-prefetch-hints-file): a sample profile with a line for each load that walks by a
 * constant stride and misses the L1 cache, and how many bytes ahead its prefetch is.
 */
#ifndef CYCLOPS_FEEDBACK_PREFETCH_H
#define CYCLOPS_FEEDBACK_PREFETCH_H

#include "base/text.h"
#include "estimate/clock.h"
#include "feedback/bolt.h"
#include "feedback/loads.h"
#include "scan/select.h"
#include "session/session.h"

/* What is said of a load. */
enum prefetch_verdict {
	PREFETCH_PROPOSED,
	PREFETCH_FEW,	     /* too few samples to see how it walks */
	PREFETCH_HITS,	     /* most samples hit the L1 cache */
	PREFETCH_NO_STRIDE,  /* it walks by no constant stride */
	PREFETCH_NO_LATENCY, /* no latency was recorded, or no time between samples */
	PREFETCH_SHORT,	     /* the walk is over before what is ahead arrives */
	N_PREFETCH_VERDICTS,
};

/*
 * Decides on a load: `out_bytes` ahead, of a stride that descends negative. As many iterations ahead as pass in the mean
 * latency of its misses, and at least a cache line.
 */
enum prefetch_verdict prefetch_judge(const struct load_sum *, double hz, int64_t *out_bytes);

/* Like feedback_write(), of feedback.h. */
int prefetch_write(struct session *, const struct select *, const char *module,
		   const struct core_clock *, feedback_sink *, void *context, struct text *note,
		   struct err *);

#endif
