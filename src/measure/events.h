/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a program asks for, and how the kernel is asked for them. */
#ifndef CYCLOPS_MEASURE_EVENTS_H
#define CYCLOPS_MEASURE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/format/attr.h"

enum {
	MEASURE_EVENTS = 32, /* of all sets together; index 0 is the elapsed time */
	MEASURE_SETS = 8,
	MEASURE_NAME = 64,
	MEASURE_DURATION = 0,
};

enum measure_state {
	MEASURE_COUNTED,
	MEASURE_NOT_SUPPORTED, /* this machine cannot count it */
	MEASURE_FORBIDDEN,     /* this user may not */
};

struct measure_event {
	char name[MEASURE_NAME]; /* as asked for, without modifiers */
	struct attr attr;
	uint8_t set;
	uint8_t state;	    /* enum measure_state */
	bool is_hardware;   /* takes a counter of the PMU */
	bool is_added;	    /* nobody asked for it: cycles */
	bool has_privilege; /* by a modifier */
	bool is_user_only;
	char why[256]; /* it is not counted; "": it is */
};

/* Where this thread runs. Zeroed: no PMU. */
struct measure_pmu {
	char name[MEASURE_NAME]; /* "": no core PMU */
	uint32_t type;
	bool is_arm;
	bool has_user_reads; /* Arm: config1 bit 1 asks for them */
	bool is_mixed;	     /* other cores have another PMU */
	uint64_t midr;	     /* 0: not Arm, or not known */
};

/* The core PMU of a CPU; `root` is where /sys is read, "" for this machine. Allocates. */
void measure_pmu_read(struct measure_pmu *, const char *root, unsigned cpu);

struct measure_events {
	struct measure_event items[MEASURE_EVENTS];
	unsigned n;
	struct {
		unsigned first, n;
	} sets[MEASURE_SETS];
	unsigned n_sets;
};

/*
 * Parses a list such as "cycles,page-faults" or "{a,b},{c:u,d}". Each set gets `cycles` first if it
 * has none. An event that nobody knows is MEASURE_NOT_SUPPORTED and says why. Fails if the list is
 * not well-formed, or too long.
 */
int measure_events_parse(struct measure_events *, const char *text, const struct measure_pmu *,
			 const char *root, struct err *);

#endif
