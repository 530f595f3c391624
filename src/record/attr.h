/* SPDX-License-Identifier: Apache-2.0 */
/* From what users ask for to what the kernel is asked for. */
#ifndef CYCLOPS_RECORD_ATTR_H
#define CYCLOPS_RECORD_ATTR_H

#include "record/events.h"
#include "record/record.h"

/* Are mappings of data recorded, not of code alone? */
bool record_maps_data(const struct record_options *);

/* Is it the program that is recorded, and nothing else? */
bool record_is_of_program(const struct record_options *);

/*
 * Completes the attr of each event: what a sample holds, how often, which side-band records
 * come. All events lay out their records alike, but for what only leaders of groups read.
 * The first event that is on all CPUs brings the side-band; if there is none, one that does
 * nothing else is added at the end. `root` is where /proc is looked at.
 */
int record_attrs_complete(struct record_events *, const struct record_options *, struct pmus *,
			  const char *root, struct err *);

/*
 * After the kernel refused: takes something out of the event that it may do without, the newest
 * invention first, and says what; "" if it is not worth telling. NULL: nothing is left.
 */
const char *record_attr_simplify(struct record_event *, int error);

/* Bytes that a sample takes at most, roughly. */
size_t record_attr_sample_bytes(const struct attr *);

/* A list of registers such as "x0,x1,sp"; "": all. Sets bits by the kernel's numbers. */
int record_registers_parse(const char *list, uint64_t *out, struct err *);

/* Kinds of branches for branch stacks: "any", "call,u" …; "": any. */
int record_branches_parse(const char *list, uint64_t *out, struct err *);

#endif
