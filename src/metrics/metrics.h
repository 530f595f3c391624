/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts mean: metrics of the CPU, the top-down method, findings. Whoever counts asks for
 * the sets of events first; the counts, from wherever, become an answer of tables.
 */
#ifndef CYCLOPS_METRICS_METRICS_H
#define CYCLOPS_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "count/counts.h"
#include "cpu/pmu.h"

/*
 * What is wanted. Lists end with NULL and may be NULL; an item may be several names joined by
 * commas. Without any list and without `all`: the top-down method.
 */
struct stat_options {
	unsigned level; /* of the top-down tree, the roots are 1; 0: all that is worth it */
	const char *const *groups;
	const char *const *metrics;
	const char *const *events;
	const char *const *thresholds; /* "NAME=VALUE" */
	bool all;		       /* every metric of the CPU */
	bool for_programs;	       /* csv and json: everything */
	bool as_rates;		       /* raw counts, per thousand instructions, ratios */
	/* not NULL: instead, counts in a tree of cycle accounting: its name or file; "": the CPU's */
	const char *tree;
	unsigned slots; /* in a cycle, where the catalog leaves it to the kernel */
};

/*
 * An event by name; what the catalog does not know is for the kernel to resolve. One of the
 * catalog is opened by its linux_name if it has one, else by its code; counts call it `name`.
 */
struct wanted_event {
	const char *name;
	const struct cpu_event *event; /* NULL: not of the catalog */
};

/* Events to be counted at the same moments. */
struct event_set {
	const char *what; /* the metric or event that it is for */
	struct wanted_event *events;
	size_t n;
};

/* In order of importance. Zeroed is empty. */
struct event_sets {
	struct arena memory;
	VEC_OF(struct event_set) list;
};

void event_sets_release(struct event_sets *);

/*
 * The sets of events that the options ask for, one for each metric, none twice. A name that the
 * CPU does not have is an error that says the nearest one; `events` may be any names.
 */
int stat_wanted(const struct cpu_pmu *, const struct stat_options *, struct event_sets *out,
		struct err *);

/*
 * The metrics that the method comes to with these counts but that lack them: those beside each
 * other below what stands out, and those of the groups that explain it. Empty when the method
 * is through. `counts` are of one type of core and have the catalog's names.
 */
void stat_wanted_next(const struct cpu_pmu *, const struct counts *, const struct stat_options *,
		      struct event_sets *out);

/*
 * The metrics that the method looks at with these counts, known or not: its first stage, those
 * beside each other below what stands out, and those of the groups that explain it.
 */
void stat_wanted_now(const struct cpu_pmu *, const struct counts *, const struct stat_options *,
		     struct event_sets *out);

/* Can the event be counted? `context` is the caller's. */
typedef bool event_is_there(void *context, const struct wanted_event *);

/* Are all events of `inner` in `outer`? */
bool event_set_holds(const struct event_set *outer, const struct event_set *inner);

/*
 * Takes out the sets that lack an event: the rest of a metric says nothing. The events that are
 * not there are added to `out_missing`, each once, in a set of its own that borrows from `sets`.
 */
void event_sets_drop(struct event_sets *sets, event_is_there *, void *context,
		     struct event_sets *out_missing);

/*
 * Puts sets together as far as `n_counters` programmable counters hold them; events with a counter of
 * their own are free. Cycles take part in each set where they fit, so that they are counted whenever
 * anything is. The first set is never split; a set
 * that is too large by itself is left alone (its `n` says so).
 */
void event_sets_pack(const struct cpu_pmu *, const struct event_sets *, size_t n_counters,
		     struct event_sets *out);

#endif
