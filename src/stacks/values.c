/* SPDX-License-Identifier: Apache-2.0 */
/* What stacks are weighed by, in words. */
#include <string.h>

#include "estimate/clock.h"
#include "stacks/stacks.h"

static const struct stack_value_class {
	const char *name, *unit, *meaning;
	bool is_estimate;
} value_classes[N_STACK_VALUES] = {
	[STACK_RECORDS] = { "samples", "samples", "samples, or SPE records" },
	[STACK_PERIOD] = { "period", "events", "events that samples represent" },
	[STACK_SCALED] = { "scaled", "events", "events, scaled for multiplexing", true },
	[STACK_CYCLES] = { "cycles", "cycles", "total latency of SPE records" },
	[STACK_SATURATED] = { "saturated", "cycles", "the part of it by saturated counters" },
	[STACK_OPERATIONS] = { "operations", "operations", "operations that SPE records represent",
			       true },
	[STACK_L1D_MISSES] = { "l1d-misses", "samples", "SPE records with a refill of the L1D" },
	[STACK_LLC_MISSES] = { "llc-misses", "samples", "SPE records with a miss of the LLC" },
	[STACK_WALKS] = { "walks", "samples", "SPE records with a page table walk" },
	[STACK_MISPREDICTED] = { "mispredicted", "samples",
				 "SPE records of mispredicted branches" },
};

const char *stack_value_name(enum stack_value value)
{
	return value_classes[value].name;
}

enum stack_value stack_value_find(const char *name)
{
	int value = 0;

	while (value < N_STACK_VALUES && strcmp(value_classes[value].name, name) != 0)
		value++;
	return (enum stack_value)value;
}

const char *stack_value_meaning(enum stack_value value)
{
	return value_classes[value].meaning;
}

bool stack_value_is_estimate(enum stack_value value)
{
	return value_classes[value].is_estimate;
}

enum stack_quantity stacks_quantity(const struct stacks *s, uint64_t event, enum stack_value value)
{
	const struct capture *c = s->session->capture;

	if (value == STACK_CYCLES || value == STACK_SATURATED)
		return STACK_CYCLE_COUNT;
	if ((value != STACK_PERIOD && value != STACK_SCALED) || event >= capture_n_events(c))
		return STACK_COUNT;
	if (hot_event_is_time(s->hot, event))
		return STACK_TIME;
	return clock_counts_cycles(&capture_event(c, event)->attr) ? STACK_CYCLE_COUNT
								   : STACK_COUNT;
}

const char *stacks_unit(const struct stacks *s, uint64_t event, enum stack_value value)
{
	switch (stacks_quantity(s, event, value)) {
	case STACK_TIME:
		return "nanoseconds";
	case STACK_CYCLE_COUNT:
		return "cycles";
	default:
		return value_classes[value].unit;
	}
}

enum stack_value stacks_weight(const struct stacks *s, uint64_t event)
{
	enum stack_value value = hot_is_spe(s->hot, event) ? STACK_CYCLES : STACK_PERIOD;

	return s->totals[event][value] > 0 ? value : STACK_RECORDS;
}

bool stacks_are_lower_bound(const struct stacks *s, uint64_t event, enum stack_value value)
{
	return value == STACK_CYCLES && s->totals[event][STACK_SATURATED] > 0;
}

bool stacks_are_modelled(const struct stacks *s)
{
	return capture_spe(s->session->capture)->is_modelled;
}

void stacks_event_name(const struct stacks *s, uint64_t event, struct text *out)
{
	size_t sampled;

	if (hot_is_spe(s->hot, event)) {
		text_str(out, "spe");
	} else if (hot_is_branches(s->hot, event, &sampled)) {
		text_str(out, "branches of ");
		text_str(out, capture_event_name(s->session->capture, sampled));
	} else {
		text_str(out, capture_event_name(s->session->capture, event));
	}
}
