/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes and counters of one thread. They are one group: each hit of a probe puts the values of all
 * counters at that moment into the thread's ring (PERF_SAMPLE_READ).
 */
#ifndef CYCLOPS_STAT_PROBES_GROUP_H
#define CYCLOPS_STAT_PROBES_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "counting/handles.h"
#include "pmu/event_spec.h"
#include "pmu/kernel.h"
#include "pmu/pmu.h"
#include "record/ring/ring.h"
#include "stat/probes/functions.h"
#include "stat/probes/pairs.h"

/* An event, as opening it for the first thread showed it. */
struct probe_event {
	const struct event_spec *spec;
	uint8_t state;	   /* enum count_state */
	bool is_user_only; /* kernel code is excluded */
	char why[256];	   /* it is not counted; "": it is */
};

/* What each thread gets. */
struct probe_plan {
	const struct kernel *kernel;
	const char *root; /* where /proc and /sys are; "" is this machine */
	struct probe_functions functions;
	uint32_t type;				/* number of the uprobe PMU */
	uint64_t return_bits;			/* of config: a probe of returns */
	struct probe_event events[CALL_EVENTS]; /* from 1, as in struct probe_hit */
	size_t n_events;
	bool user_only, kernel_only;
	bool was_opened; /* for a first thread: what failed then is left out */
};

/* Finds the uprobe PMU. Fails with what to do if there is none, or it may not be used. */
int probe_plan_check(struct probe_plan *, struct pmus *, struct err *);

struct probe_id {
	uint64_t id;
	uint32_t function;
	bool is_return;
	uint8_t pushed; /* bytes that are no longer on the stack then, but were at the function's start */
};

/* A thread that is counted. Zeroed is empty. */
struct probe_thread {
	int32_t tid;
	bool is_set_up; /* its events are open, or could not be */
	VEC_OF(int) fds;
	VEC_OF(struct probe_id) probes; /* the last ones of the group */
	size_t n_counted;		/* events of the group, from its second */
	struct ring ring;
	struct attr attr; /* of the probes */
};

/*
 * Opens the group of a thread (0: the calling one), which counts from its next exec on, or from
 * probe_thread_start() on. A thread that has ended is no error.
 */
int probe_thread_open(struct probe_plan *, struct probe_thread *, int32_t tid, struct err *);
void probe_thread_start(const struct probe_plan *, const struct probe_thread *, bool is_on);

/* Adds the hits that came since the last time. Returns how many records there were. */
size_t probe_thread_read(const struct probe_plan *, struct probe_thread *, struct call_counts *);

/* The descriptor that is readable when records have come; -1: none. */
int probe_thread_ring(const struct probe_thread *);

void probe_thread_close(const struct probe_plan *, struct probe_thread *);

#endif
