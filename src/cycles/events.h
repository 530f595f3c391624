/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a capture are which nodes of a tree of cycle accounting. They are matched by what
 * the counter was programmed with, never by name.
 */
#ifndef CYCLOPS_CYCLES_EVENTS_H
#define CYCLOPS_CYCLES_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cycles/tree/template.h"
#include "session/session.h"

struct cycle_events {
	size_t n;   /* events of the capture */
	int *nodes; /* by event: its node; NO_NODE: in no tree, or a second event of the same node */
	size_t n_matched, n_counting; /* events that count something: no dummies, no SPE */
};

/* The embedded tree for the CPU of a capture. Fails with ERR_NO_DATA if there is none. */
int cycle_template_of_capture(const struct session *, struct cycle_template **out, struct err *);

/* Fails if facts of the CPU's events cannot be read. */
int cycle_events_match(const struct session *, const struct cycle_template *,
		       struct cycle_events *out, struct err *);
void cycle_events_release(struct cycle_events *);

/* Is there something to account: are two events of the capture, or more, nodes of the tree of its CPU? */
bool cycle_events_are_of_tree(const struct session *);

/* Does the event of the capture count something (no dummy, no SPE)? */
bool cycle_event_counts(const struct session *, size_t event);

#endif
