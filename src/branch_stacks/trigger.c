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

/* Bits of config that say what is counted: of x86 edge, inv and cmask, too. */
#define ARM_EVENT 0xffffu
#define X86_EVENT 0xff84ffffu

/* Raw events, by the CPU's maker: the beginning of its CPUID text, or the architecture. */
static const struct {
	const char *maker;
	uint64_t config;
	enum stack_trigger trigger;
	bool is_speculative;
} raw_events[] = {
	{ "GenuineIntel", 0x20c4, TRIGGER_TAKEN, false },    /* BR_INST_RETIRED.NEAR_TAKEN */
	{ "GenuineIntel", 0x08c4, TRIGGER_RETURNS, false },  /* BR_INST_RETIRED.NEAR_RETURN */
	{ "GenuineIntel", 0x20cc, TRIGGER_RECORDED, false }, /* ROB_MISC_EVENTS.LBR_INSERTS */
	{ "GenuineIntel", 0x003c, TRIGGER_CYCLES, false },
	{ "GenuineIntel", 0x00c0, TRIGGER_INSTRUCTIONS, false }, /* INST_RETIRED.ANY_P */
	{ "GenuineIntel", 0x01c0, TRIGGER_INSTRUCTIONS, false }, /* INST_RETIRED.PREC_DIST */
	{ "GenuineIntel", 0x0100, TRIGGER_INSTRUCTIONS, false }, /* the same, newer CPUs */
	{ "AuthenticAMD", 0x00c4, TRIGGER_TAKEN, false },	 /* EX_RET_BRN_TKN */
	{ "AuthenticAMD", 0x0076, TRIGGER_CYCLES, false },
	{ "AuthenticAMD", 0x00c0, TRIGGER_INSTRUCTIONS, false }, /* EX_RET_INSTR */
	{ "aarch64", 0x810c, TRIGGER_TAKEN, false },		 /* BR_TAKEN_RETIRED */
	{ "aarch64", 0x000c, TRIGGER_TAKEN, false },		 /* PC_WRITE_RETIRED */
	{ "aarch64", 0x0076, TRIGGER_TAKEN, true },		 /* PC_WRITE_SPEC */
	{ "aarch64", 0x000e, TRIGGER_RETURNS, false },		 /* BR_RETURN_RETIRED */
	{ "aarch64", 0x0079, TRIGGER_RETURNS, true },		 /* BR_RETURN_SPEC */
	{ "aarch64", 0x811f, TRIGGER_RECORDED, false },		 /* BRB_FILTRATE */
	{ "aarch64", 0x0011, TRIGGER_CYCLES, false },
	{ "aarch64", 0x0008, TRIGGER_INSTRUCTIONS, false }, /* INST_RETIRED */
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

/* PERF_COUNT_HW_… */
static enum stack_trigger trigger_of_kernel(uint32_t event)
{
	enum { CPU_CYCLES, INSTRUCTIONS };

	return event == CPU_CYCLES     ? TRIGGER_CYCLES
	       : event == INSTRUCTIONS ? TRIGGER_INSTRUCTIONS
				       : TRIGGER_OTHER;
}

enum stack_trigger stack_trigger_of(const struct session *s, size_t event, bool *out_is_speculative)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;

	if (out_is_speculative != NULL)
		*out_is_speculative = false;
	if (a->type == ATTR_TYPE_HARDWARE)
		return trigger_of_kernel((uint32_t)a->config);
	if (a->type < ATTR_TYPE_RAW || a->type == ATTR_TYPE_BREAKPOINT)
		return TRIGGER_OTHER;
	for (size_t i = 0; i < COUNT(raw_events); i++) {
		bool is_arm = strcmp(raw_events[i].maker, "aarch64") == 0;

		if ((a->config & (is_arm ? ARM_EVENT : X86_EVENT)) != raw_events[i].config ||
		    !is_of_maker(s, raw_events[i].maker))
			continue;
		if (out_is_speculative != NULL)
			*out_is_speculative = raw_events[i].is_speculative;
		return raw_events[i].trigger;
	}
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
