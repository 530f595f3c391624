/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that count share: inside this folder only. */
#ifndef CYCLOPS_COUNTING_COUNTING_INSIDE_H
#define CYCLOPS_COUNTING_COUNTING_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/counting.h"
#include "counting/handles.h"
#include "counting/sums.h"
#include "pmu/perf_event.h"

/* Software events that happen in the kernel alone: counting "user" finds none. */
enum { CONTEXT_SWITCHES = 3, CPU_MIGRATIONS = 4, CGROUP_SWITCHES = 11 };

/* Everything about one call of counting_run(). */
struct state {
	const struct counting *c;
	const struct event_spec *specs;
	size_t n_specs;
	struct event_rights rights;
	bool user_only;	   /* asked for, or nothing else is allowed */
	bool is_mixed;	   /* several kinds of cores */
	uint32_t *batches; /* of each spec: the batch it is in, or EVERY_BATCH */
	uint32_t n_batches;
	bool *is_on, *was_on; /* of each group, 0: of events in none; see counting.choose */
	struct fate *fates;
	uint8_t *states;   /* enum count_state of each spec, as decided before opening */
	struct runs *runs; /* of each slot and spec */
	size_t n_slots;
	struct target_place
		*slots; /* what the counts of each are of; texts borrowed from `memory` */
	struct arena memory;
	double elapsed_ns;
	struct counts *out;
	struct counting_end *end;
};

enum { EVERY_BATCH = UINT32_MAX };

/* Does the event count what cores do? */
static inline bool is_core(const struct event_spec *spec)
{
	return spec->pmu != NULL && spec->pmu->is_core;
}

/* Are counts of places wanted apart? */
static inline bool is_apart(const struct counting *c)
{
	return c->by_cpu || c->by_thread;
}

/* Is there anything to open for the event at that place? */
bool is_at(const struct event_spec *, const struct target_place *);

/* Numbers the groups of each core PMU: a batch has one group of each. */
void make_batches(struct state *);

/* Would events take turns that look the same as being on another kind of core? */
bool has_ambiguous_turns(const struct state *);

/* What is known of an event before it is opened: an enum count_state. */
uint8_t state_before(const struct state *, const struct event_spec *);

/* Adds a count of each event and slot to `out`. */
void add_counts(const struct state *, struct counts *out, const struct runs *);

#endif
