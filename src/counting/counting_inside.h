/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by the files of this folder, and used by no other. */
#ifndef CYCLOPS_COUNTING_COUNTING_INSIDE_H
#define CYCLOPS_COUNTING_COUNTING_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/counting.h"
#include "counting/handles.h"
#include "counting/sums.h"
#include "pmu/perf_event.h"

/* Software events that happen in the kernel only. With EXCLUDE_KERNEL they count 0. */
enum { CONTEXT_SWITCHES = 3, CPU_MIGRATIONS = 4, CGROUP_SWITCHES = 11 };

/* Everything about one call of counting_run(). */
struct counting_state {
	const struct counting *c;
	const struct event_spec *specs;
	size_t n_specs;
	struct event_rights rights;
	bool user_only;	   /* asked for, or nothing else is allowed */
	bool is_mixed;	   /* several kinds of cores */
	uint32_t *batches; /* of each spec: the run of the command that counts it, or EVERY_BATCH */
	uint32_t n_batches;
	bool *is_on, *was_on; /* of each group, by number; 0: no group. See counting.choose */
	struct open_outcome *outcomes; /* of each spec */
	uint8_t *states;	       /* enum count_state of each spec, as known before opening */
	struct runs *runs;	       /* of each slot and spec */

	/* A slot is a place that has counts of its own: a CPU or thread, or one for all. */
	size_t n_slots;
	struct target_place *slots; /* texts are in `memory` */
	struct arena memory;
	double elapsed_ns;
	struct counts *out;
	struct counting_end *end;
};

enum { EVERY_BATCH = UINT32_MAX };

/* Is the event counted by a core PMU? */
static inline bool is_core_spec(const struct event_spec *spec)
{
	return spec->pmu != NULL && spec->pmu->is_core;
}

/* Does each CPU or thread have counts of its own? */
static inline bool has_separate_counts(const struct counting *c)
{
	return c->by_cpu || c->by_thread;
}

/* Can the event be counted at that place? A PMU counts on its own CPUs only. */
bool event_counts_at(const struct event_spec *, const struct target_place *);

/* Fills `batches`: a batch has one group of each core PMU. */
void assign_batches(struct counting_state *);

/* Would multiplexed events look the same as events of a task that is on another type of core? */
bool multiplexing_is_ambiguous(const struct counting_state *);

/* What is known of an event before it is opened: an enum count_state. */
uint8_t state_before_open(const struct counting_state *, const struct event_spec *);

/* Adds a count for each slot and event to `out`. */
void add_slot_counts(const struct counting_state *, struct counts *out, const struct runs *);

#endif
