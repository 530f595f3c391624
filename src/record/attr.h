/* SPDX-License-Identifier: Apache-2.0 */
/* Turns options into the attrs that the kernel is asked for. */
#ifndef CYCLOPS_RECORD_ATTR_H
#define CYCLOPS_RECORD_ATTR_H

#include "record/events.h"
#include "record/record.h"

/* Are mappings of data recorded, not of code alone? */
bool record_maps_data(const struct record_options *);

/* Are tasks recorded, and not CPUs or a cgroup? */
bool record_is_of_tasks(const struct record_options *);

/* Is the program that is started recorded, and nothing else? */
bool record_is_of_program(const struct record_options *);

/*
 * Completes the attr of each event: the fields of a sample, its rate, the side-band records. All
 * events have one layout, except for what leaders of groups read. The first event on all CPUs
 * brings the side-band. If there is none, an event for the side-band alone is added at the end.
 * `root`: where /proc is read, "" for this machine.
 */
int record_attrs_complete(struct record_events *, const struct record_options *, struct pmus *,
			  const char *root, struct err *);

/*
 * Takes something out of an event that the kernel refused with `error` (an errno), the newest
 * feature first. Returns a note for the user, or "" if nothing is worth noting. NULL if there is
 * nothing left to take out.
 */
const char *record_attr_simplify(struct record_event *, int error);

/* Roughly the size in bytes of the largest sample. */
size_t record_attr_sample_bytes(const struct attr *);

/*
 * Reads a list of registers, such as "x0,x1,sp"; "" is all. Sets a bit for each, by the kernel's
 * numbers.
 */
int record_registers_parse(const char *list, uint64_t *out, struct err *);

/*
 * Reads kinds of branches for branch stacks: "any", "call,u" …; "" is any. Sets bits of
 * branch_sample_type.
 */
int record_branches_parse(const char *list, uint64_t *out, struct err *);

#endif
