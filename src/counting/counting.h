/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts events of a command, processes, threads, CPUs or a cgroup (perf_event_open(2)). Events of a
 * group are counted at the same moments; groups that have no room beside each other take turns, or
 * the command is run once for each of them.
 */
#ifndef CYCLOPS_COUNTING_COUNTING_H
#define CYCLOPS_COUNTING_COUNTING_H

#include <stdbool.h>

#include "base/err.h"
#include "count/counts.h"
#include "pmu/event_spec.h"
#include "pmu/kernel.h"
#include "pmu/pmu.h"
#include "pmu/target.h"

struct counting {
	const struct target *target;
	struct pmus *pmus;
	const struct event_specs *specs;
	const struct kernel *kernel; /* that opens events; NULL: the one this program runs on */
	const char *root;	     /* where /proc and /sys are: "" */
	bool one_group_at_a_time;    /* no turns: the command runs once for each group of a PMU */
	unsigned n_runs;	     /* of everything; 0 is 1 */
	unsigned interval_ms;	     /* 0: none */
	bool by_cpu, by_thread;	     /* counts apart; else added up */
	bool without_children;
	bool user_only, kernel_only;

	/*
	 * With an interval: called with the counts of each as it ends, which are then forgotten.
	 * NULL: they are kept in the result, in which the totals then are not. -1: stop.
	 */
	int (*tick)(void *context, const struct counts *, struct err *);
	void *context;

	/*
	 * Which groups of events are to take turns from now on, by their number, `n` at most; is_on
	 * has what was said before. Called with no counts first, then every so often with those so
	 * far. One group at least has to be on all of the time: its time is that of the whole.
	 * Events that never were on are left out of the result. NULL: all of them.
	 */
	void (*choose)(void *context, const struct counts *so_far, bool *is_on, uint32_t n);
	void *choose_context;
};

/* How it went. */
struct counting_end {
	int status;	     /* of the command, as shells have it: the first that is not 0 */
	uint32_t n_runs;     /* of the command, or of the time without one */
	bool is_interrupted; /* by ^C or a request to end */
	char why[256];	     /* the first reason why an event was not counted, or "" */
};

/*
 * Runs until the command ends, or without one until ^C. Counts are added to `out`, zeroed by
 * the caller and released by it in any case. An event that cannot be counted is there, with its
 * state. Fails if nothing may be counted at all or the command cannot be run (`out_end->status`
 * then is 126 or 127).
 */
int counting_run(const struct counting *, struct counts *out, struct counting_end *out_end,
		 struct err *);

/* Has the command to be run several times? */
unsigned counting_n_batches(const struct counting *);

#endif
