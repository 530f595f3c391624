/* SPDX-License-Identifier: Apache-2.0 */
/* Makes struct counts, which other rooms read, out of the sums of each slot and event. */
#include <errno.h>
#include <string.h>

#include "counting/counting_inside.h"

uint8_t state_before_open(const struct counting_state *s, const struct event_spec *spec)
{
	const struct attr *a = &spec->attr;
	bool only_in_kernel = a->type == ATTR_TYPE_SOFTWARE &&
			      (a->config == CONTEXT_SWITCHES || a->config == CPU_MIGRATIONS ||
			       a->config == CGROUP_SWITCHES);

	if (is_core_spec(spec) && a->type == spec->pmu->type &&
	    !pmu_has_event(spec->pmu, a->config))
		return COUNT_NOT_SUPPORTED;
	if (only_in_kernel && s->user_only && !s->c->user_only)
		return COUNT_FORBIDDEN;
	return COUNT_COUNTED;
}

bool event_counts_at(const struct event_spec *spec, const struct target_place *place)
{
	return place->cpu == EVENT_ANY_CPU || spec->pmu == NULL || spec->pmu->cpus.n == 0 ||
	       cpu_list_has(&spec->pmu->cpus, (uint32_t)place->cpu);
}

/* The enum count_state of an event after counting. */
static uint8_t state_after_counting(const struct counting_state *s, size_t event,
				    const struct runs *runs)
{
	int error = s->outcomes[event].error;

	if (s->states[event] != COUNT_COUNTED) /* getrusage() may have counted it */
		return runs->n > 0 ? COUNT_COUNTED : s->states[event];
	if (error == EACCES || error == EPERM)
		return COUNT_FORBIDDEN;
	if (error != 0)
		return COUNT_NOT_SUPPORTED;
	return runs_are_counted(runs) ? COUNT_COUNTED : COUNT_NOT_COUNTED;
}

static void add_slot_count(const struct counting_state *s, struct counts *out, size_t slot,
			   size_t event, const struct runs *runs)
{
	const struct event_spec *spec = &s->specs[event];
	const struct target_place *place = &s->slots[slot];
	struct count *count = counts_add(out, spec->name);
	bool is_clock = attr_is_clock(&spec->attr);
	double n = runs->n > 0 ? runs->n : 1;

	if (spec->pmu != NULL)
		count->pmu = arena_strndup(&out->memory, spec->pmu->name, strlen(spec->pmu->name));
	count->unit = is_clock ? "ns"
		      : spec->unit == NULL
			      ? NULL
			      : arena_strndup(&out->memory, spec->unit, strlen(spec->unit));
	count->value = runs->mean * spec->scale;
	count->raw = (uint64_t)(runs->raw / n + 0.5);
	count->enabled_ns = (uint64_t)(runs->enabled_ns / n + 0.5);
	count->running_ns = (uint64_t)(runs->running_ns / n + 0.5);
	count->spread = runs_spread(runs);
	count->n_runs = runs->n;
	count->group = runs->group;
	count->cpu = s->c->by_cpu ? place->cpu : COUNT_ANY;
	count->tid = s->c->by_thread ? place->tid : COUNT_ANY;
	if (place->where != NULL)
		count->where = arena_strndup(&out->memory, place->where, strlen(place->where));
	count->state = state_after_counting(s, event, runs);
	/* clocks, and counts of getrusage(), include the kernel */
	count->is_user_only = !is_clock && s->states[event] == COUNT_COUNTED &&
			      ((s->user_only && !spec->has_privilege) ||
			       attr_has(&spec->attr, ATTR_EXCLUDE_KERNEL));
	count->interval = out->intervals.n > 0 ? (uint32_t)out->intervals.n - 1 : 0;
}

/* Is there nothing to show? The PMU of the event is not in the slot, or its group was never on. */
static bool is_not_in_slot(const struct counting_state *s, size_t slot, size_t event)
{
	const struct event_spec *spec = &s->specs[event];

	if (s->c->choose != NULL && spec->group != 0 && !s->was_on[spec->group])
		return true;
	if (spec->pmu != NULL && spec->pmu->is_uncore && !target_is_cpus(s->c->target))
		return slot >= cpu_list_n(&spec->pmu->cpus);
	return !event_counts_at(spec, &s->slots[slot]);
}

void add_slot_counts(const struct counting_state *s, struct counts *out, const struct runs *runs)
{
	for (size_t slot = 0; slot < s->n_slots; slot++)
		for (size_t event = 0; event < s->n_specs; event++)
			if (!is_not_in_slot(s, slot, event))
				add_slot_count(s, out, slot, event,
					       &runs[slot * s->n_specs + event]);
}
