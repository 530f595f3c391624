/* SPDX-License-Identifier: Apache-2.0 */
/* Opens events as groups, starts and stops them, reads their counts (perf_event_open(2)). */
#ifndef CYCLOPS_COUNTING_HANDLES_H
#define CYCLOPS_COUNTING_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "pmu/event_spec.h"
#include "pmu/kernel.h"
#include "pmu/target.h"

struct reading {
	uint64_t value, enabled_ns, running_ns;
};

/* One event that is open at one place. The members of a group follow its leader. */
struct handle {
	int fd;
	uint32_t event;	      /* index into the specs */
	uint32_t group;	      /* number of the group, from 1, the same at all places */
	uint32_t slot;	      /* opening.slot */
	uint32_t place_index; /* opening.place_index */
	bool is_leader;
	bool is_started_by_exec;
	struct reading last; /* the caller's: what it read last */
};

/* A group of events to open at one place. */
struct opening {
	const struct event_spec *specs;
	const uint32_t *events; /* indices into the specs */
	size_t n_events;
	uint32_t group;	     /* its number */
	uint32_t next_group; /* added to the number for each further group of what does not fit */
	const struct target_place *place;
	uint32_t slot, place_index; /* the caller's numbers, copied to the handles */
	bool with_children;	    /* also counts children and new threads */
	bool starts_by_exec;	    /* counting starts when the task executes a program */
	bool stays_disabled;	    /* also when the task executes a program */
	bool user_only, kernel_only;
};

/* The outcome of opening an event. */
struct open_outcome {
	int error; /* errno; 0: it is open */
};

/* Zeroed is empty. */
struct handles {
	VEC_OF(struct handle) list;
	const struct kernel *kernel; /* NULL: the running kernel */
};

/*
 * Opens a group. An event that cannot be opened is left out; `outcomes`, by index of the spec, has
 * its error. Events that do not fit into the group go into another one. A task that has ended
 * (ESRCH) adds nothing and is no error. Fails if there are no descriptors left.
 */
int handles_open(struct handles *, const struct opening *, struct open_outcome *outcomes,
		 const char *root, struct err *);

/* Starts or stops all groups, except those that start by exec. */
void handles_start(const struct handles *);
void handles_stop(const struct handles *);

/* Switches the group of the leader with this index on or off; also one that starts by exec. */
void handles_switch(const struct handles *, size_t leader, bool is_on);

/*
 * Reads the group whose leader has index `leader`: the counts of its events in the order of the
 * handles, and their number in out_n. False: the group cannot be read (a pinned group in error).
 */
bool handles_read(const struct handles *, size_t leader, struct reading *out, size_t *out_n);

enum { GROUP_MAX = 64 }; /* events; a larger group is split */

/*
 * Parses what read(2) gives for a group with PERF_FORMAT_GROUP and both times: nr, time_enabled,
 * time_running, values. Returns the number of events; 0 if the bytes have another form.
 */
size_t readings_parse(const void *bytes, size_t size, struct reading out[GROUP_MAX]);

void handles_release(struct handles *);

#endif
