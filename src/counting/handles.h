/* SPDX-License-Identifier: Apache-2.0 */
/* Open events, in groups that count at the same moments, and what they have counted. */
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

/* One event at one place. A leader is followed by the others of its group. */
struct handle {
	int fd;
	uint32_t event; /* index into the specs */
	uint32_t group; /* number of the group, from 1, the same at all places */
	uint32_t place; /* index that the opener gave */
	uint32_t spot;	/* where it is open, as the opener numbers that */
	bool is_leader;
	bool is_started_by_exec;
	struct reading last; /* what handles_read() found before */
};

/* How events of a group are opened. */
struct opening {
	const struct event_spec *specs;
	const uint32_t *events; /* indices into the specs */
	size_t n_events;
	uint32_t group, next_group; /* the former, plus multiples of the latter for what does not
				       fit into it */
	const struct target_place *place;
	uint32_t place_index, spot;
	bool with_children;  /* follows children and new threads */
	bool starts_by_exec; /* counting starts when the task executes a program */
	bool user_only, kernel_only;
};

/* What became of an event. */
struct fate {
	int error; /* errno of opening it; 0: it is open */
};

/* Zeroed is empty. */
struct handles {
	VEC_OF(struct handle) list;
	const struct kernel *kernel; /* NULL: the one this program runs on */
};

/*
 * Opens a group; an event that cannot be opened is left out and its fate told, by index of the
 * spec. Events that do not fit into the group are put into another one. Fails if nothing else
 * could be opened either: no descriptors left; or, with ESRCH, if the task is gone, which is
 * no error but adds nothing.
 */
int handles_open(struct handles *, const struct opening *, struct fate *fates, const char *root,
		 struct err *);

/* Starts and stops those that do not start by exec. */
void handles_start(const struct handles *);
void handles_stop(const struct handles *);

/* Lets the group of that leader take turns, or not, whatever it did before. */
void handles_switch(const struct handles *, size_t leader, bool is_on);

/*
 * Reads all events of the group whose leader is handle number `leader`, in the order of the
 * handles, and how many there are in `out_n`. False: it is in error, which is not counted.
 */
bool handles_read(const struct handles *, size_t leader, struct reading *out, size_t *out_n);

enum { GROUP_MAX = 64 }; /* events; a larger group is split */

/*
 * Reads what the kernel gives for a group with both times: nr, enabled, running, values.
 * Returns the number of events, 0 if the bytes are not that.
 */
size_t readings_parse(const void *bytes, size_t size, struct reading out[GROUP_MAX]);

void handles_release(struct handles *);

#endif
