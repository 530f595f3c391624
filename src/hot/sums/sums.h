/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspots: sums of records, grouped by any dimensions. The weight of a PMU sample is its period,
 * that of an SPE record its total latency in cycles, that of a branch stack entry is 1.
 */
#ifndef CYCLOPS_HOT_SUMS_SUMS_H
#define CYCLOPS_HOT_SUMS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "estimate/mux.h"
#include "hot/sums/chains.h"
#include "hot/sums/cost.h"
#include "hot/sums/place_costs.h"
#include "keys/keys.h"
#include "keys/place_groups.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "session/names.h"

struct hot_options {
	uint32_t dimensions; /* bit n: group by enum dimension n; DIM_EVENT is always one */
	const struct select
		*condition;    /* only SPE records and branch entries that match, or NULL */
	uint32_t branch_needs; /* HAS_x that a branch entry needs to be tested for the condition */
	int event;	       /* only samples of this event; -1: of all */
	int branches_of;       /* only entries of branch stacks of this event; -1: of all */
	bool without_spe;      /* count no SPE records */
	bool without_samples;  /* count no samples */
	const struct mux *mux; /* by which numbers of events are scaled; NULL: they are not */
	/*
	 * Memory of a worker for sums by call chain; what has no room goes to a temporary file: see
	 * hot_chained_next(). 0: as much as they take, and there is no such file.
	 */
	size_t chains_bytes;
};

/* What is usual for chains_bytes: what a core has close by, and together no more than 16 MiB. */
size_t hot_chains_bytes(const struct session *);

/*
 * The result: numbered groups, each with a key and sums. Iterate with hot_next(). Group numbers
 * below hot_n_by_place() are those of `by_place`, the others are those of `costs`.
 */
struct hot {
	const struct session *session;
	const struct hot_options *options;

	uint64_t spe_event; /* DIM_EVENT of SPE records: behind those of the capture */

	/* If the place is the only dimension of SPE records: their sums by place. */
	bool is_by_place;
	struct place_costs by_place;

	/*
	 * All other groups. A "rest" is a combination of all dimensions but the place. The group of
	 * (place, rest) is found by `groups`; without DIM_PLACE the group is the rest.
	 */
	VEC_OF(struct hot_cost) costs;
	enum dimension dimensions[N_DIMENSIONS]; /* of a rest */
	size_t n_dimensions;
	bool has_place; /* DIM_PLACE is a dimension */
	struct tuples rests;
	struct place_groups groups;

	/* The sums of all groups with a rest, from the end of the scan on: see hot_n_rests(). */
	VEC_OF(struct hot_cost) of_rests;
	struct hot_cost of_by_place;

	/* With chains_bytes. */
	struct hot_chains chains;
	struct hot *folded; /* of a worker: sums of what is in `chains`, without them */
	struct tuples
		events_with_callers; /* of `chains`: DIM_EVENT of those with more than one frame */
	bool *is_dropped;	     /* by event of the capture: hot_keep_events(); NULL: none */
};

/*
 * As DIM_FRAME of a rest: the chains are known to hot_chained_next() only. The sums are in groups nevertheless, whose
 * key has no frame.
 */
#define HOT_FOLDED UINT32_MAX

static inline uint32_t hot_n_by_place(const struct hot *hot)
{
	return place_costs_n(&hot->by_place);
}

/* All groups have numbers below this. */
static inline uint32_t hot_end(const struct hot *hot)
{
	return hot_n_by_place(hot) + (uint32_t)hot->costs.n;
}

/* The sums of a group. */
static inline struct hot_cost hot_cost(const struct hot *hot, uint32_t group)
{
	return group < hot_n_by_place(hot) ? place_costs_get(&hot->by_place, group)
					   : hot->costs.items[group - hot_n_by_place(hot)];
}

/* Does a group hold no records? */
static inline bool hot_is_empty(const struct hot *hot, uint32_t group)
{
	const struct hot_cost *cost;

	if (group < hot_n_by_place(hot))
		return place_costs_is_empty(&hot->by_place, group);
	cost = &hot->costs.items[group - hot_n_by_place(hot)];
	return cost->n == 0 && cost->n_branches == 0;
}

/* The next group from `group` on that holds records; hot_end() if there is none. */
static inline uint32_t hot_next(const struct hot *hot, uint32_t group)
{
	while (group < hot_end(hot) && hot_is_empty(hot, group))
		group++;
	return group;
}

/* The key of a group: a word for each dimension; 0 for those that are not grouped by. */
void hot_key(const struct hot *, uint32_t group, uint64_t key[N_DIMENSIONS]);

/* One word of that key, which takes less time than all of it. */
uint64_t hot_key_word(const struct hot *, uint32_t group, enum dimension);

/* Are the chains of a group somewhere else? */
bool hot_is_folded(const struct hot *, uint32_t group);

/* A group with its chain, out of these frames. */
void hot_read_chained(const struct hot *, uint32_t group, const struct tuples *frames,
		      struct chained_group *);

/*
 * The next of the chains of groups that are folded, as hot_chains_next(). What they come to is in the groups
 * already.
 */
bool hot_chained_next(const struct hot *, struct spool_position *, struct chained_group *);

/* -1 and an error if a temporary file could not be written: then chains are missing. */
int hot_check(const struct hot *, struct err *);

/* Memory that the groups take, and these frames. */
size_t hot_chains_size(const struct hot *, const struct tuples *frames);

/*
 * What does not depend on the place is read from the sums by rest: there are few. Numbers below
 * rests.n are those of `rests`, one more stands for `by_place`. A rest may have no records.
 */
static inline uint32_t hot_n_rests(const struct hot *hot)
{
	return hot->rests.n + 1;
}

/* The sums of all places. */
const struct hot_cost *hot_rest_cost(const struct hot *, uint32_t rest);

/* One word of its key; 0 for DIM_PLACE; HOT_FOLDED. */
uint64_t hot_rest_word(const struct hot *, uint32_t rest, enum dimension);

/* How many events there are records of; all SPE records count as one. */
size_t hot_n_events(const struct hot *);

/* Numbers of events (DIM_EVENT) are explained in hot/sums/events.c. Is this one that of SPE records? */
static inline bool hot_is_spe(const struct hot *hot, uint64_t event)
{
	return event == hot->spe_event;
}

/* Its name, of samples and SPE records: "cycles", "arm_spe". */
static inline const char *hot_event_name(const struct hot *hot, uint64_t event)
{
	return hot_is_spe(hot, event) ? "arm_spe"
				      : capture_event_name(hot->session->capture, event);
}

/* Is it one of branch stack entries? Then *out_sampled is the sampled event they came with. */
static inline bool hot_is_branches(const struct hot *hot, uint64_t event, size_t *out_sampled)
{
	if (event <= hot->spe_event)
		return false;
	*out_sampled = event - hot->spe_event - 1;
	return true;
}

/* All numbers of events are below this. */
uint64_t hot_event_end(const struct hot *);

/*
 * Forgets all samples of events that are not kept, by number of the capture's event. SPE records and
 * entries of branch stacks stay.
 */
void hot_keep_events(struct hot *, const bool *is_kept);

/* Does anything that was counted have a call chain? */
bool hot_has_chains(const struct hot *);

/* How many SPE records there are. */
uint64_t hot_n_spe_records(const struct hot *);

/* The weight of records: total latency of SPE, number of branch entries, period of samples. */
static inline uint64_t hot_event_weight(const struct hot *hot, uint64_t event,
					const struct hot_cost *c)
{
	if (event > hot->spe_event)
		return c->n;
	return hot_is_spe(hot, event) ? c->cycles : c->period;
}

/* Is the event a clock (cpu-clock, task-clock)? Then periods are nanoseconds. */
bool hot_event_is_time(const struct hot *, uint64_t event);

/* The sums of each event, by DIM_EVENT. Free with free(). */
struct hot_cost *hot_totals(const struct hot *);

/* Options: struct hot_options. Result: struct hot. */
extern const struct analysis_class hot_class;

/*
 * Looks up names for the places of the result, as far as these keys need them. For several tables
 * with one set of names, pass the keys of all of them.
 */
void hot_names(struct session *, const struct hot *, const struct keys *, struct names *out);

/*
 * Looks up, in names of functions, what was inlined into those that matter, so that this gets rows
 * of its own: reading debug information for all takes longer.
 */
void hot_names_inlined(const struct hot *, struct names *);

/*
 * The same for sums that are somewhere else. `parts`: by number of a function (struct symbol), below
 * hot_function_end(), its parts of the weight of events, in whole numbers of 2^HOT_PART_BITS, which do not depend on an
 * order.
 */
enum { HOT_PART_BITS = 40 };
void hot_inline_parts(struct names *, const uint64_t *parts);
uint32_t hot_function_end(const struct names *);

#endif
