/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads of programs ran at a time, and what the others waited for: out of records of context
 * switches. Threads of the kernel are left out.
 *
 * A thread that is preempted, or new, waits for a CPU. Another one that leaves its CPU waits for something
 * else; for what, the sample tells that was taken at its switch (the events context-switches and
 * sched:sched_switch), else, less surely, the last sample before it.
 */
#ifndef CYCLOPS_RUNNING_RUNNING_H
#define CYCLOPS_RUNNING_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/analysis.h"
#include "session/session.h"
#include "table/table.h"

enum waiting_cause {
	WAITING_FOR_CPU, /* it could have run */
	WAITING_BLOCKED,
	N_WAITING_CAUSES,
};

/* A time in which a thread did not run. */
struct wait {
	uint64_t from_ns, to_ns;
	uint32_t thread; /* number */
	enum waiting_cause cause;
};

struct running {
	struct session *session; /* borrowed */
	uint64_t first_ns, last_ns;
	VEC_OF(uint64_t) ns;	   /* by number of threads that run at the same time */
	struct tuples threads;	   /* tid … */
	VEC_OF(struct wait) waits; /* by thread, then by time */
	uint32_t *first_wait;	   /* by thread: in waits; one more than there are threads */
	bool has_switch_events;	   /* samples are taken at switches */
	uint64_t slice_ns; /* of running_of_slices(): an estimate, and no waits; 0: of switches */
};

/* NULL if the capture does not tell: it has no records of switches. Free it. */
struct running *running_new(struct session *);
void running_free(struct running *);

/* The last sample of each wait's thread before it. Options: struct running. Result: this. */
struct wait_places {
	const struct running *running;
	struct wait_place *list;     /* by wait; NULL: too many */
	VEC_OF(uint32_t) with_frame; /* of a worker: waits whose place has a frame */
};

extern const struct analysis_class wait_places_class;

/*
 * Where there are no records of switches: a thread runs in those slices of the time in which it has SPE
 * records. Options: struct slices_options. Result: struct running_slices.
 */
struct slices_options {
	uint64_t first_ns, last_ns, slice_ns;
};
struct running_slices {
	const struct slices_options *options;
	struct tuples threads; /* slice, tid */
};

extern const struct analysis_class running_slices_class;

/* Chooses slices with enough of so many records, after a scan; false: there are too few. */
bool running_slices_choose(const struct session *, uint64_t n_records, struct slices_options *out);

/* What the slices come to. Free it with running_free(). */
struct running *running_of_slices(struct session *, const struct running_slices *);

/* Zeroed is empty. */
struct running_tables {
	struct table running, waiting;
	const char *
		blocked_in; /* where threads were blocked longest, of the table's; NULL: not known */
	double blocked_share; /* that part of all time that threads waited */
};

/*
 * "running": a row for each number of threads; "waiting": a row for each cause and place, the longest first,
 * `top` of them (0: all). The session has the names of that scan still.
 */
void running_tables_make(const struct running *, const struct wait_places *, size_t top,
			 struct running_tables *out);
void running_tables_release(struct running_tables *);

/* Did several threads run at a time, or none for a part of the time that counts? */
bool running_says_much(const struct running *);

/* The same in a sentence or two. */
void running_sum_up(const struct running *, const struct running_tables *, struct text *);

#endif
