/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts events of a command, processes, threads, CPUs or a cgroup (perf_event_open(2)). Events of
 * a group are counted at the same time. If there are too few counters for all groups, they are
 * multiplexed, or the command is run once for each group.
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
	const struct kernel *kernel; /* opens the events; NULL: the running kernel */
	const char *root;	     /* folder that holds /proc and /sys; "" is this machine */
	bool no_mux;		     /* no multiplexing: a run of the command for each group */
	unsigned n_runs;	     /* repeats of everything; 0 is 1 */
	unsigned interval_ms;	     /* 0: no intervals */
	/* how long the command, or what runs already, is left alone first; its time is not counted */
	unsigned delay_ms;
	/* commands that come meanwhile (counting/control.h); NULL: none */
	const char *control;
	bool starts_disabled;	/* nothing is counted until such a command enables it */
	bool by_cpu, by_thread; /* separate counts; else one sum */
	bool without_children;
	bool user_only, kernel_only;

	/*
	 * Called at the end of each interval with its counts, which are released after the call;
	 * the result then has the totals. Fails with -1, which ends counting. NULL: the result has
	 * the counts of all intervals, and no totals.
	 */
	int (*tick)(void *context, const struct counts *, struct err *);
	void *context;

	/*
	 * Chooses the groups to count from now on: is_on[1] to is_on[n], by number of the group. On
	 * entry they hold the last choice. Called without counts at the start, then from time to
	 * time with the counts so far. One group at least has to be on all of the time, because its
	 * enabled time is taken for that of all. Events that never were on are not in the result.
	 * NULL: all groups are on.
	 */
	void (*choose)(void *context, const struct counts *so_far, bool *is_on, uint32_t n);
	void *choose_context;
};

/* How counting ended. */
struct counting_end {
	int status;	 /* exit status as of a shell; of several runs the first that is not 0 */
	uint32_t n_runs; /* runs that were counted */
	bool is_interrupted; /* by ^C, or by a signal that ends the program */
	char why[256];	     /* why the first event that failed was not counted, or "" */
};

/*
 * Counts until the command ends, or without a command until ^C. `out` is zeroed by the caller, who
 * releases it also after a failure. An event that cannot be counted is in it with its state. Fails
 * if nothing may be counted at all, or if the command cannot be run (out_end->status is then 126 or
 * 127).
 */
int counting_run(const struct counting *, struct counts *out, struct counting_end *out_end,
		 struct err *);

/* How many runs of the command count all events once; 1 unless no_mux is set. */
unsigned counting_n_batches(const struct counting *);

#endif
