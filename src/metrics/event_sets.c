/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of events that are counted at the same moments: what cannot be counted, what fits together. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "metrics/inside.h"

void event_sets_release(struct event_sets *sets)
{
	vec_release(&sets->list);
	arena_release(&sets->memory);
}

struct wanted_event *event_sets_new(struct event_sets *sets, size_t n)
{
	return arena_alloc(&sets->memory, (n > 0 ? n : 1) * sizeof(struct wanted_event));
}

static bool set_has(const struct event_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcasecmp(set->events[i].name, name) == 0)
			return true;
	return false;
}

bool event_set_holds(const struct event_set *outer, const struct event_set *inner)
{
	for (size_t i = 0; i < inner->n; i++)
		if (!set_has(outer, inner->events[i].name))
			return false;
	return true;
}

/* Is the event among those that sets are about? */
static bool is_in_event_sets(const struct event_sets *sets, const char *name)
{
	for (size_t i = 0; i < sets->list.n; i++)
		if (set_has(&sets->list.items[i], name))
			return true;
	return false;
}

static void list_missing(struct event_sets *missing, const struct wanted_event *event)
{
	struct event_set set = { .what = event->name, .n = 1 };

	if (is_in_event_sets(missing, event->name))
		return;
	set.events = event_sets_new(missing, 1);
	set.events[0] = *event;
	*vec_add(&missing->list) = set;
}

void event_sets_drop(struct event_sets *sets, event_is_there *is_there, void *context,
		     struct event_sets *out_missing)
{
	size_t n = 0;

	for (size_t i = 0; i < sets->list.n; i++) {
		const struct event_set *set = &sets->list.items[i];
		bool is_whole = true;

		for (size_t k = 0; k < set->n; k++) {
			if (is_there(context, &set->events[k]))
				continue;
			is_whole = false;
			list_missing(out_missing, &set->events[k]);
		}
		if (is_whole)
			sets->list.items[n++] = *set;
	}
	sets->list.n = n;
}

/* Events that need a programmable counter. */
static size_t n_costly(const struct cpu_pmu *pmu, const struct event_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->events[i].event == NULL || !cpu_event_is_free(pmu, set->events[i].event);
	return n;
}

/* Both together, in `out`'s memory. */
static struct event_set event_sets_join(struct event_sets *out, const struct event_set *a,
					const struct event_set *b)
{
	struct event_set both = { .what = a->what, .n = a->n };

	both.events = event_sets_new(out, a->n + b->n);
	memcpy(both.events, a->events, a->n * sizeof(*a->events));
	for (size_t i = 0; i < b->n; i++)
		if (!set_has(a, b->events[i].name))
			both.events[both.n++] = b->events[i];
	return both;
}

/* Adds the set to the first one that has room for it, or as one of its own. */
static void place(const struct cpu_pmu *pmu, const struct event_set *set, size_t n_counters,
		  struct event_sets *out)
{
	for (size_t i = 0; i < out->list.n; i++)
		if (event_set_holds(&out->list.items[i], set))
			return;
	for (size_t i = 0; i < out->list.n; i++) {
		struct event_set both = event_sets_join(out, &out->list.items[i], set);

		if (n_costly(pmu, &both) > n_counters)
			continue;
		out->list.items[i] = both;
		return;
	}
	*vec_add(&out->list) = *set;
}

/* The set and cycles, if that fits the counters; else the set alone. */
static struct event_set with_cycles(const struct cpu_pmu *pmu, const struct event_set *set,
				    size_t n_counters, struct event_sets *out)
{
	struct wanted_event cycles = { pmu->cycles->name, pmu->cycles };
	struct event_set alone = { .what = pmu->cycles->name, .events = &cycles, .n = 1 };
	struct event_set both;

	if (set_has(set, cycles.name))
		return *set;
	both = event_sets_join(out, set, &alone);
	return n_costly(pmu, &both) <= n_counters || cpu_event_is_free(pmu, pmu->cycles) ? both
											 : *set;
}

/* Cycles join the sets before they are placed: a counter for them may be one that others want. */
void event_sets_pack(const struct cpu_pmu *pmu, const struct event_sets *sets, size_t n_counters,
		     struct event_sets *out)
{
	for (size_t i = 0; i < sets->list.n; i++) {
		struct event_set set = sets->list.items[i];

		if (pmu->cycles != NULL)
			set = with_cycles(pmu, &set, n_counters, out);
		place(pmu, &set, n_counters, out);
	}
}
