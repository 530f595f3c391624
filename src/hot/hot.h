/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspots: what the records add up to, grouped by any of the keys below. PMU samples weigh
 * their period; SPE records weigh the cycles that the operation took (total latency), entries of
 * branch stacks 1.
 */
#ifndef CYCLOPS_HOT_HOT_H
#define CYCLOPS_HOT_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "keys/keys.h"
#include "keys/place_groups.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "session/names.h"
#include "table/table.h"

struct hot_options {
	uint32_t dimensions; /* bit n: enum dimension n is told apart; DIM_EVENT always is */
	const struct select
		*condition;    /* only SPE records and branch entries that match, or NULL */
	uint32_t branch_needs; /* HAS_x of branch entries that can tell the condition */
	int event;	       /* only samples of this event; -1: of all */
	int branches_of;       /* only entries of branch stacks of this event; -1: of all */
	bool without_spe;      /* no SPE records: an event of samples was asked for */
	bool without_samples;  /* no samples: something of SPE was asked for */
};

/*
 * The sums of a group, all of one event: of samples, or of SPE records. There may be very many
 * groups: numbers of records go up to 2^32 - 1, which is 256 GiB of them.
 */
struct hot_cost {
	union {
		uint64_t period; /* samples: events they stand for */
		uint64_t cycles; /* SPE: total latency of those that have one; branch entries: since
				    the branch before, of those that say it */
	};
	union {
		uint64_t xlat_cycles; /* SPE: translation latency of those with a walk */
		uint64_t n_decidable; /* branch entries: that can tell the condition */
	};
	uint64_t squares;  /* SPE: of the total latencies, for their spread */
	uint64_t full;	   /* SPE: those of `cycles` that full counters show */
	uint32_t n;	   /* records or samples; branch entries that match the condition */
	uint32_t n_cycles; /* of which `cycles` is */
	union {
		uint32_t
			n_saturated; /* SPE: whose counter was full, so `cycles` is a lower bound */
		uint32_t n_typed;    /* branch entries: that say which kind of branch it was */
	};
	union {
		uint32_t n_walks;     /* SPE: with a translation table walk */
		uint32_t n_predicted; /* branch entries: that say whether it was predicted */
	};
	uint32_t n_branches, n_mispredicted; /* SPE; all branch entries, matching or not */
};

void hot_cost_add(struct hot_cost *, const struct hot_cost *);

/* The result: groups, numbered, each with its key and its sums; hot_next() finds them. */
struct hot {
	const struct session *session;
	const struct hot_options *options;

	bool is_by_place;		  /* SPE records are told apart by place alone, … */
	VEC_OF(struct hot_cost) by_place; /* … so that places number their groups */

	/*
	 * The other groups, by their place, if that is told apart, and the number of what else
	 * is. hot_key() puts all of it together.
	 */
	VEC_OF(struct hot_cost) costs;
	enum dimension dimensions[N_DIMENSIONS];
	size_t n_dimensions;
	bool has_place;
	struct tuples rests;
	struct place_groups groups; /* unused without places: the rest is the group */
};

/* All groups have numbers below this. */
static inline uint32_t hot_end(const struct hot *hot)
{
	return (uint32_t)(hot->by_place.n + hot->costs.n);
}

/* The sums of a group. */
static inline const struct hot_cost *hot_cost(const struct hot *hot, uint32_t group)
{
	return group < hot->by_place.n ? &hot->by_place.items[group]
				       : &hot->costs.items[group - hot->by_place.n];
}

/* The next group from `group` on that holds records; hot_end() if there is none. */
static inline uint32_t hot_next(const struct hot *hot, uint32_t group)
{
	while (group < hot_end(hot) && hot_cost(hot, group)->n == 0 &&
	       hot_cost(hot, group)->n_branches == 0)
		group++;
	return group;
}

/* The key of a group: one word for each dimension, 0 where not told apart. */
void hot_key(const struct hot *, uint32_t group, uint64_t key[N_DIMENSIONS]);

/* How many events there are records of; all SPE records count as one. */
size_t hot_n_events(const struct hot *);

/* Does this number of an event stand for SPE records? */
bool hot_is_spe(const struct hot *, uint64_t event);

/* Does it stand for entries of branch stacks? Then it says of which sampled event. */
bool hot_is_branches(const struct hot *, uint64_t event, size_t *out_sampled);

/* All numbers of events are below this. */
uint64_t hot_event_end(const struct hot *);

/* What records of an event weigh: their latency for SPE, 1 for branch entries, else what they
   stand for. */
uint64_t hot_event_weight(const struct hot *, uint64_t event, const struct hot_cost *);

/* Is the event a clock, so that its samples stand for nanoseconds? */
bool hot_event_is_time(const struct hot *, uint64_t event);

/* The sums of each event, by DIM_EVENT. Free with free(). */
struct hot_cost *hot_totals(const struct hot *);

/* Options: struct hot_options. Result: struct hot. */
extern const struct analysis_class hot_class;

/* How a table of hotspots is made from the result. */
struct hot_view {
	struct keys keys;
	const char *name; /* of the table */
	const char *title;
	size_t top;	     /* rows for each event; 0: all */
	bool by_samples;     /* share and order by number of records, not by what they weigh */
	bool with_callers;   /* who called, as a tree below each row */
	bool with_estimates; /* totals that SPE records stand for */
	bool with_branches;  /* what entries of branch stacks tell */
	const char *sort;    /* name of a column, or NULL */
};

/*
 * Names the places of the result, as far as these keys need names. One set of names can
 * serve several tables: give the keys of all.
 */
void hot_names(struct session *, const struct hot *, const struct keys *, struct names *out);

/*
 * Fills `out` (to be released by the caller also after a failure). Fails if there is no
 * column `sort`.
 */
int hot_table(const struct hot *, const struct names *, const struct hot_view *, struct table *out,
	      struct err *);

/*
 * The function that weighs most of the first event, as such a table by function has it first. Zero
 * ids: not known. False if there are no records.
 */
bool hot_heaviest_function(const struct hot *, const struct names *, struct str_id *out_function,
			   struct module_id *out_module);

/*
 * Notes below a table of hotspots what its numbers are not: latencies of SPE records no run
 * time, totals of filtered records not those of the program.
 */
void hot_table_notes(const struct hot *, const struct hot_view *, struct table *);

#endif
