/* SPDX-License-Identifier: Apache-2.0 */
#include "report/leading.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/trigger.h"
#include "session/tip.h"

/* Of the events that were sampled, those with the least rank lead. */
enum rank { RANK_CYCLES, RANK_CLOCK, RANK_OTHER };

static enum rank event_rank(const struct hot *hot, size_t event)
{
	if (stack_trigger_of(hot->session, event, NULL) == TRIGGER_CYCLES)
		return RANK_CYCLES;
	return hot_event_is_time(hot, event) ? RANK_CLOCK : RANK_OTHER;
}

size_t leading_keep(struct hot *hot)
{
	size_t n = capture_n_events(hot->session->capture), n_left = 0;
	struct hot_cost *totals = hot_totals(hot);
	bool *is_kept = mem_zalloc(n + 1, sizeof(*is_kept));
	enum rank least = RANK_OTHER;

	for (size_t i = 0; i < n; i++)
		if (totals[i].n > 0 && event_rank(hot, i) < least)
			least = event_rank(hot, i);
	for (size_t i = 0; i < n; i++) {
		is_kept[i] = least == RANK_OTHER || event_rank(hot, i) == least;
		n_left += totals[i].n > 0 && !is_kept[i];
	}
	if (n_left > 0)
		hot_keep_events(hot, is_kept);
	free(is_kept);
	free(totals);
	return n_left;
}

void leading_note(const struct session *s, size_t n_left, struct table *t)
{
	if (n_left > 0)
		table_note(t, "%zu other event%s sampled: %s", n_left,
			   n_left == 1 ? " was" : "s were", tip(t, s, "hot --event list"));
}
