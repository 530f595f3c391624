/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a CPU's PMU, for sampling. When a counter overflows, which is each period, an
 * interrupt takes a sample after the skid. More events than counters are multiplexed.
 */
#ifndef CYCLOPS_MODEL_PMU_SAMPLER_H
#define CYCLOPS_MODEL_PMU_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/branch_stack.h"
#include "model/events.h"
#include "model/params.h"

enum { PMU_EVENTS_MOST = 16 };

/* An event to sample. */
struct sample_event {
	const struct modelled_event *event;
	uint64_t code;	 /* attr.config */
	uint64_t period; /* occurrences between samples */
	uint32_t skid;	 /* instructions from the one that counted to the sampled one */
	bool is_precise; /* the sample is of the instruction that counted, without skid */
};

/* What the user asked for. */
struct pmu_sampling {
	VEC_OF(struct sample_event) events;
	uint32_t n_counters; /* beside the cycle counter; 0: one for each event */
	struct branch_recording branches;
	bool has_chains; /* samples have call chains */
};

/* "NAME:CODE:PERIOD:SKID:PRECISE", as the command writes it. */
int sample_event_read(const char *text, struct sample_event *out, struct err *);

/* An event's counter. Times are in cycles since the machine started. */
struct pmu_counter {
	uint64_t value;
	uint64_t left;	  /* until the next overflow */
	uint64_t running; /* time running, up to scheduled_at */
	bool is_counting;
};

/* A pending interrupt, which samples instruction `number`. */
struct pmu_interrupt {
	uint32_t event;
	uint64_t number; /* UINT64_MAX: the one behind the first that retires at `cycle` or later */
	uint64_t cycle;
	uint64_t value; /* of the counter at the overflow */
};

struct pmu_sampler {
	const struct pmu_sampling *sampling; /* borrowed, as the next */
	const struct params *params;
	struct pmu_counter counters[PMU_EVENTS_MOST];
	uint64_t random; /* of periods */
	uint64_t scheduled_at, rotates_at;
	uint32_t n_shared;     /* events that share the counters */
	uint32_t first_shared; /* the first of them that is counting */
	VEC_OF(struct pmu_interrupt) interrupts;
};

/* `seed` decides when the first overflows come. */
void pmu_sampler_init(struct pmu_sampler *, const struct pmu_sampling *, const struct params *,
		      uint64_t seed);
void pmu_sampler_release(struct pmu_sampler *);

/* Occurrences of an event in an instruction. */
struct pmu_count {
	uint64_t n;
	uint64_t number; /* of the instruction */
	uint64_t cycle;	 /* when it counted */
	bool is_time;	 /* it counts cycles: one at `cycle`, one at the next … */
};

void pmu_sampler_count(struct pmu_sampler *, uint32_t event, const struct pmu_count *);

/* Occurrences until the next overflow of any event. */
uint64_t pmu_sampler_least_left(const struct pmu_sampler *);

/* The CPU has come to a cycle: rotates the events if the multiplexing interval is over. */
void pmu_sampler_rotate(struct pmu_sampler *, uint64_t cycle);

/* The same for a CPU that was idle since the last call: rotates once for each interval. */
void pmu_sampler_idle(struct pmu_sampler *, uint64_t cycle);

/* The event's time running up to a cycle, in cycles. */
uint64_t pmu_sampler_running(const struct pmu_sampler *, uint32_t event, uint64_t cycle);

#endif
