/* SPDX-License-Identifier: Apache-2.0 */
/* What an event counts, as far as it decides what branch stacks stand for. By programming, not name. */
#ifndef CYCLOPS_BRANCH_STACKS_TRIGGER_H
#define CYCLOPS_BRANCH_STACKS_TRIGGER_H

#include "session/session.h"

enum stack_trigger {
	TRIGGER_OTHER,
	TRIGGER_TAKEN,	      /* taken branches: each has the same chance to be recorded */
	TRIGGER_RETURNS,      /* returns, likewise */
	TRIGGER_RECORDED,     /* branches that the filter lets into the stack, likewise */
	TRIGGER_CYCLES,	      /* slow code is recorded more often than fast code */
	TRIGGER_INSTRUCTIONS, /* retired ones */
};

/* `out_is_speculative` (may be NULL): it counts what never retires, too. */
enum stack_trigger stack_trigger_of(const struct session *, size_t event, bool *out_is_speculative);

/* Which branches are recorded with an event's samples. */
enum stack_filter {
	FILTER_NONE,	/* no stacks, or call stacks */
	FILTER_ANY,	/* all taken branches */
	FILTER_RETURNS, /* returns, and nothing else */
	FILTER_SOME,
};

enum stack_filter stack_filter_of(const struct session *, size_t event);

/*
 * Does a sample stand for its period of what is in its stack? Only if the event counts what the filter
 * records.
 */
bool stack_trigger_counts(enum stack_trigger, enum stack_filter);

#endif
