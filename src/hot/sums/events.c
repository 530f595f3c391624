/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of events in hotspots (DIM_EVENT): 0 … n - 1 the capture's n events, n all SPE records,
 * n + 1 + i the entries of branch stacks of event i.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "hot/sums/sums.h"

uint64_t hot_event_end(const struct hot *hot)
{
	return 2 * (uint64_t)capture_n_events(hot->session->capture) + 1;
}

bool hot_event_is_time(const struct hot *hot, uint64_t event)
{
	return event < capture_n_events(hot->session->capture) &&
	       attr_is_clock(&capture_event(hot->session->capture, event)->attr);
}

struct hot_cost *hot_totals(const struct hot *hot)
{
	struct hot_cost *totals = mem_zalloc(hot_event_end(hot), sizeof(*totals));

	for (uint32_t i = 0; i < hot_n_rests(hot); i++)
		hot_cost_add(&totals[hot_rest_word(hot, i, DIM_EVENT)], hot_rest_cost(hot, i));
	return totals;
}

void hot_keep_events(struct hot *hot, const bool *is_kept)
{
	size_t n = capture_n_events(hot->session->capture);

	if (hot->is_dropped == NULL)
		hot->is_dropped = mem_zalloc(n + 1, sizeof(*hot->is_dropped));
	for (size_t i = 0; i < n; i++)
		hot->is_dropped[i] |= !is_kept[i];
	for (size_t i = 0; i < hot->costs.n; i++) {
		uint32_t group = hot_n_by_place(hot) + (uint32_t)i;
		uint64_t event = hot_key_word(hot, group, DIM_EVENT);

		if (event < n && !is_kept[event])
			hot->costs.items[i] = (struct hot_cost){ 0 };
	}
	for (uint32_t i = 0; i < hot->rests.n; i++) {
		uint64_t event = hot_rest_word(hot, i, DIM_EVENT);

		if (event < n && !is_kept[event])
			hot->of_rests.items[i] = (struct hot_cost){ 0 };
	}
}

size_t hot_n_events(const struct hot *hot)
{
	struct hot_cost *totals = hot_totals(hot);
	size_t n = 0;

	for (uint64_t event = 0; event < hot_event_end(hot); event++)
		n += totals[event].n > 0;
	free(totals);
	return n;
}

uint64_t hot_n_spe_records(const struct hot *hot)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < hot_n_rests(hot); i++)
		if (hot_is_spe(hot, hot_rest_word(hot, i, DIM_EVENT)))
			n += hot_rest_cost(hot, i)->n;
	return n;
}
