/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording. Beside those of pmu/event_spec.h:
 *
 *   cycles:P                   as precise as the hardware can
 *   {cycles,instructions}:S    the first samples; the others are read with each sample
 *   mem:0x4006c0:x             a breakpoint: executed, read (r) or written (w)
 */
#ifndef CYCLOPS_RECORD_EVENTS_H
#define CYCLOPS_RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/format/attr.h"
#include "pmu/event_spec.h"

struct record_event {
	const char *name; /* as written */
	/* what it counts, in which modes; the period if the event gives one */
	struct attr attr;
	const struct pmu *pmu; /* NULL: on all CPUs */
	size_t leader;	       /* index of its group's first event; its own index if in no group */
	bool samples_by_leader;
	bool has_period;     /* attr has a period of its own */
	bool wants_precise;  /* as precise as the hardware can: attr says 3, less is accepted */
	bool names_modes;    /* has a modifier that chooses user or kernel code */
	bool is_spe;	     /* fills an AUX buffer with SPE records instead of sampling */
	bool is_for_callers; /* few stacks, for the callers of SPE records; dispensable */
	bool is_left_out;    /* refused, and dispensable: not opened on later CPUs */
	bool is_of_account;  /* its samples have read values: how much of the time it was counted */
	bool follows_no_children; /* the kernel cannot */
	bool is_side_band;	  /* for the records about processes and mappings only */
};

/* The events of a recording. Zeroed is empty. PMUs are borrowed. */
struct record_events {
	VEC_OF(struct record_event) list;
	struct event_specs specs; /* parsed events that the list is made of */
	struct arena names;
};

/* Appends the events of a list. The error names the event, and others like it. */
int record_events_add(struct record_events *, const char *text, struct pmus *,
		      const struct event_finder *, struct err *);

void record_events_release(struct record_events *);

#endif
