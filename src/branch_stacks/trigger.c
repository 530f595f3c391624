/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/trigger.h"

#include <string.h>

#include "base/alloc.h"
#include "capture/format/branches.h"
#include "capture/format/sample.h"

/* Bits of branch_sample_type (perf_event.h). */
enum {
	BRANCH_ANY = 3,
	BRANCH_ANY_RETURN = 5,
	/* kinds of branches: bits 3 to 13, without 11, the call stack mode */
	KINDS = 0x37f8,
};

enum { CONFIG_EVENT = 0xffff };

/* Raw events, by the CPU's maker: the beginning of its CPUID text, or the architecture. */
static const struct {
	const char *maker;
	uint64_t config;
	enum stack_trigger trigger;
} raw_events[] = {
	{ "GenuineIntel", 0x20c4, TRIGGER_TAKEN },    /* BR_INST_RETIRED.NEAR_TAKEN */
	{ "GenuineIntel", 0x08c4, TRIGGER_RETURNS },  /* BR_INST_RETIRED.NEAR_RETURN */
	{ "GenuineIntel", 0x20cc, TRIGGER_RECORDED }, /* ROB_MISC_EVENTS.LBR_INSERTS */
	{ "GenuineIntel", 0x003c, TRIGGER_CYCLES },
	{ "AuthenticAMD", 0x00c4, TRIGGER_TAKEN }, /* EX_RET_BRN_TKN */
	{ "AuthenticAMD", 0x0076, TRIGGER_CYCLES },
	{ "aarch64", 0x810c, TRIGGER_TAKEN },	 /* BR_TAKEN_RETIRED */
	{ "aarch64", 0x000e, TRIGGER_RETURNS },	 /* BR_RETURN_RETIRED */
	{ "aarch64", 0x811f, TRIGGER_RECORDED }, /* BRB_FILTRATE */
	{ "aarch64", 0x0011, TRIGGER_CYCLES },
};

static bool has_prefix(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_of_maker(const struct session *s, const char *maker)
{
	const struct info *info = capture_info(s->capture);
	const struct strings *strings = capture_strings(s->capture);

	return has_prefix(s->symbols_options.arch, maker) ||
	       has_prefix(strings_get(strings, info->cpuid), maker);
}

enum stack_trigger stack_trigger_of(const struct session *s, size_t event)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;

	if (a->type == ATTR_TYPE_HARDWARE)
		return (uint32_t)a->config == 0 ? TRIGGER_CYCLES : TRIGGER_OTHER;
	if (a->type < ATTR_TYPE_RAW || a->type == ATTR_TYPE_BREAKPOINT)
		return TRIGGER_OTHER;
	for (size_t i = 0; i < COUNT(raw_events); i++)
		if ((a->config & CONFIG_EVENT) == raw_events[i].config &&
		    is_of_maker(s, raw_events[i].maker))
			return raw_events[i].trigger;
	return TRIGGER_OTHER;
}

enum stack_filter stack_filter_of(const struct session *s, size_t event)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;
	uint64_t kinds = a->branch_sample_type & KINDS;

	if (!(a->sample_type >> SAMPLE_BRANCH_STACK & 1) || branches_are_calls(a))
		return FILTER_NONE;
	if (kinds >> BRANCH_ANY & 1)
		return FILTER_ANY;
	return kinds == 1u << BRANCH_ANY_RETURN ? FILTER_RETURNS : FILTER_SOME;
}

bool stack_trigger_counts(enum stack_trigger trigger, enum stack_filter filter)
{
	return (trigger == TRIGGER_TAKEN && filter == FILTER_ANY) ||
	       (trigger == TRIGGER_RETURNS && filter == FILTER_RETURNS) ||
	       (trigger == TRIGGER_RECORDED && filter != FILTER_NONE);
}

bool stack_period_is_regular(const struct session *s, size_t event)
{
	enum { LARGEST_FACTOR = 1000 };
	const struct attr *a = &capture_event(s->capture, event)->attr;

	if (a->flags >> ATTR_FREQ & 1)
		return false;
	for (uint64_t factor = 2; factor <= LARGEST_FACTOR && factor < a->sample_period; factor++)
		if (a->sample_period % factor == 0)
			return true;
	return false;
}
