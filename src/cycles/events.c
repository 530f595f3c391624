/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "capture/format/info.h"
#include "cpu/event_name.h"
#include "cpu/pmu.h"

/*
 * Bits of x86's config that say what is counted: event, umask, edge, inv, cmask. Not those for user and
 * kernel mode, enable, interrupt and pin control, nor the other thread's.
 */
#define X86_CONFIG_BITS UINT64_C(0xff84ffff)

/* Bits of PMUv3's config: the number of the event. */
#define ARM_CONFIG_BITS UINT64_C(0xffff)

/* The generic hardware events on Intel's cores: the kernel programs these. */
static const uint64_t intel_codes[] = {
	[0] = 0x3c, [1] = 0xc0, [2] = 0x4f2e, [3] = 0x412e, [4] = 0x00c4, [5] = 0xc5, [6] = 0x013c,
};

static const char *pmu_of_type(const struct capture *c, uint32_t type)
{
	const struct info *info = capture_info(c);

	for (size_t i = 0; i < info->pmus.n; i++)
		if (info->pmus.items[i].type == type)
			return strings_get(capture_strings(c), info->pmus.items[i].name);
	return "";
}

bool cycle_event_counts(const struct session *s, size_t event)
{
	const struct attr *attr = &capture_event(s->capture, event)->attr;

	return !attr_is_dummy(attr) && !capture_is_spe_type(s->capture, attr->type);
}

/* The event number behind a generic name of the kernel on this CPU; -1: none, or not known. */
static int64_t arm_generic_code(const struct cpu_pmu *pmu, const struct attr *attr)
{
	const struct cpu_event *event;
	struct text name = { 0 };

	if (pmu == NULL)
		return -1;
	attr_name(attr, NULL, &name);
	text_char(&name, '\0');
	event = cpu_event_of_name(pmu, name.bytes);
	text_release(&name);
	return event != NULL ? (int64_t)event->code : -1;
}

static int64_t generic_code(const struct cycle_template *t, const struct cpu_pmu *pmu,
			    const struct attr *attr)
{
	if (t->vendor == NULL)
		return arm_generic_code(pmu, attr);
	return attr->type == ATTR_TYPE_HARDWARE && attr->config < COUNT(intel_codes)
		       ? (int64_t)intel_codes[attr->config]
		       : -1;
}

/* What the core's PMU was programmed with; -1: it is no event of the core. */
static int64_t programmed_code(const struct session *s, const struct cycle_template *t,
			       const struct cpu_pmu *pmu, const struct attr *attr)
{
	uint64_t bits = t->vendor == NULL ? ARM_CONFIG_BITS : X86_CONFIG_BITS;
	const char *name;

	switch (attr->type) {
	case ATTR_TYPE_HARDWARE:
	case ATTR_TYPE_HW_CACHE:
		return generic_code(t, pmu, attr);
	case ATTR_TYPE_RAW:
		return (int64_t)(attr->config & bits);
	case ATTR_TYPE_SOFTWARE:
	case ATTR_TYPE_TRACEPOINT:
	case ATTR_TYPE_BREAKPOINT:
		return -1;
	default:
		name = pmu_of_type(s->capture, attr->type);
		return name[0] != '\0' && cpu_is_core_pmu(name) ? (int64_t)(attr->config & bits)
								: -1;
	}
}

static int node_of_code(const struct cycle_template *t, int64_t code)
{
	for (size_t i = 0; code >= 0 && i < t->n_nodes; i++)
		if (t->nodes[i].kind == NODE_EVENT && t->nodes[i].code == (uint64_t)code)
			return (int)i;
	return NO_NODE;
}

/* Modes that are not counted: bit 0 user, 1 kernel. */
static unsigned excluded(const struct attr *attr)
{
	return (unsigned)attr_has(attr, ATTR_EXCLUDE_USER) |
	       (unsigned)attr_has(attr, ATTR_EXCLUDE_KERNEL) << 1;
}

/* Two events of one node add up only if one leaves out user code and the other the kernel's. */
static bool counts_twice(const struct session *s, const struct cycle_events *e, size_t event,
			 int node)
{
	unsigned own = excluded(&capture_event(s->capture, event)->attr);

	for (size_t i = 0; i < event; i++)
		if (e->nodes[i] == node &&
		    (own | excluded(&capture_event(s->capture, i)->attr)) != 3)
			return true;
	return false;
}

int cycle_template_of_capture(const struct session *s, struct cycle_template **out, struct err *err)
{
	return cycle_template_of_cpu(
		s->cpu != NULL ? cpu_id(s->cpu) : "",
		strings_get(capture_strings(s->capture), capture_info(s->capture)->cpuid), out,
		err);
}

int cycle_events_match(const struct session *s, const struct cycle_template *t,
		       struct cycle_events *out, struct err *err)
{
	struct cpu_pmu *pmu = NULL;

	if (s->cpu != NULL && cpu_pmu_open(s->catalog, s->cpu, 0, &pmu, err) < 0)
		return -1;
	*out = (struct cycle_events){ .n = capture_n_events(s->capture) };
	out->nodes = mem_alloc(out->n + 1, sizeof(*out->nodes));
	for (size_t i = 0; i < out->n; i++) {
		const struct attr *attr = &capture_event(s->capture, i)->attr;
		int node = NO_NODE;

		if (cycle_event_counts(s, i)) {
			out->n_counting++;
			node = node_of_code(t, programmed_code(s, t, pmu, attr));
			if (node != NO_NODE && counts_twice(s, out, i, node))
				node = NO_NODE;
		}
		out->nodes[i] = node;
		out->n_matched += node != NO_NODE;
	}
	cpu_pmu_free(pmu);
	return 0;
}

bool cycle_events_are_of_tree(const struct session *s)
{
	enum { LEAST = 2 };
	struct cycle_template *tree = NULL;
	struct cycle_events events;
	size_t n_counting = 0, n_matched = 0;
	struct err err;

	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		n_counting += cycle_event_counts(s, i);
	/* the files of the tree and of the CPU's events need not be read for most captures */
	if (n_counting < LEAST || cycle_template_of_capture(s, &tree, &err) < 0)
		return false;
	if (cycle_events_match(s, tree, &events, &err) == 0) {
		n_matched = events.n_matched;
		cycle_events_release(&events);
	}
	cycle_template_free(tree);
	return n_matched >= LEAST;
}

void cycle_events_release(struct cycle_events *e)
{
	free(e->nodes);
	*e = (struct cycle_events){ 0 };
}
