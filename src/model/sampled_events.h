/* SPDX-License-Identifier: Apache-2.0 */
/* The options of cyclops model that are about samples of the PMU. */
#ifndef CYCLOPS_MODEL_SAMPLED_EVENTS_H
#define CYCLOPS_MODEL_SAMPLED_EVENTS_H

#include "base/err.h"
#include "model/pmu_sampler.h"

/*
 * Adds the event of "EVENT:PERIOD[:skid=N|precise]". `cpu`: its id in the catalog. An event is
 * named as in the catalog or by the kernel, in any case. Fails if the model does not count it.
 */
int sampled_event_read(const char *text, const char *cpu, struct pmu_sampling *, struct err *);

/* "", "N", "N,FILTER" or "FILTER"; a filter is any, ret or call. */
int branch_recording_read(const char *text, struct branch_recording *out, struct err *);

#endif
