/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops run` samples, to find the places: inside this folder only. */
#ifndef CYCLOPS_RUN_SAMPLING_H
#define CYCLOPS_RUN_SAMPLING_H

#include "base/arena.h"
#include "cpu/pmu.h"
#include "pmu/pmu.h"

/* Options of `cyclops record`. */
struct sampling {
	const char *spe;    /* "--spe=interval=N"; NULL: this machine has no SPE */
	const char *events; /* of --event */
};

/*
 * SPE has no call chains, so an event that has some is sampled beside it. Without SPE, that and the
 * events of `first`, the metric of the largest finding of the counts (NULL: there is none). `interval`
 * is that of SPE; 0: the usual one. Texts live in the arena.
 */
struct sampling sampling_choose(struct pmus *, const struct cpu_metric *first, unsigned interval,
				struct arena *);

#endif
