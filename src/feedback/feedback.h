/* SPDX-License-Identifier: Apache-2.0 */
/* Feedback for compilers and optimisers, in the formats that they read: how often code was executed, what to prefetch. */
#ifndef CYCLOPS_FEEDBACK_FEEDBACK_H
#define CYCLOPS_FEEDBACK_FEEDBACK_H

#include "estimate/clock.h"
#include "feedback/bolt.h"

struct feedback_format;

/* The format of that name; NULL if it is none of these. */
const struct feedback_format *feedback_format_find(const char *name);

/* The names, by number; NULL behind the last one. */
const char *feedback_format_name(size_t index);

/* Is it made of sampled loads: prefetches, which have no event, but a clock? */
bool feedback_is_of_loads(const struct feedback_format *);

/* One module's profile. */
struct feedback_request {
	const struct feedback_format *format;
	const char *module;	 /* name or path; NULL: the one with most branches */
	const char *event;	 /* whose branch stacks; NULL: the best, else SPE records */
	struct core_clock clock; /* of loads; CLOCK_UNKNOWN: to be derived */
	size_t memory_bytes; /* for branches, before they go to temporary files; 0: as much as usual */
};

/*
 * Writes the profile to the sink. `note` gets what it is made of, with the sampling rate, and what was
 * left out or derived; a sentence on each line. Fails with ERR_NO_DATA if branches were not recorded, or if
 * the sink does.
 */
int feedback_write(struct session *, const struct select *, const struct feedback_request *,
		   feedback_sink *, void *context, struct text *note, struct err *);

#endif
