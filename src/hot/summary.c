/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "hot/functions.h"
#include "hot/group.h"
#include "table/answer.h"

enum { NO_PLACE = UINT32_MAX };

/* The number of the first group that the table shows; false if there is none. */
static bool first_group(const struct hot_grouping *g, uint32_t *out)
{
	uint32_t *order = hot_grouping_order(g);
	size_t i = 0;

	while (i < g->groups.n && g->groups.items[order[i]].cost.n == 0)
		i++;
	if (i < g->groups.n)
		*out = order[i];
	free(order);
	return i < g->groups.n;
}

/* The place of the group that weighs most; of equals the first in its module. */
static uint32_t heaviest_place(const struct hot_grouping *g, const uint64_t *group)
{
	const struct hot *hot = g->hot;
	uint64_t *weights = mem_zalloc(g->names->n + 1, sizeof(*weights));
	uint32_t best = NO_PLACE;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t raw[N_DIMENSIONS], words[HOT_GROUP_WORDS];

		hot_key(hot, i, raw);
		hot_words(g, raw, words);
		if (memcmp(words, group, g->n_words * sizeof(*words)) == 0)
			weights[raw[DIM_PLACE]] += hot_weight(g, raw[DIM_EVENT], hot_cost(hot, i));
	}
	for (uint32_t place = 0; place < g->names->n; place++) {
		bool is_equal = best != NO_PLACE && weights[place] == weights[best];

		if (weights[place] > 0 &&
		    (best == NO_PLACE || weights[place] > weights[best] ||
		     (is_equal && hot_place_is_before(hot->session, place, best))))
			best = place;
	}
	free(weights);
	return best;
}

/* " (sharing.c:52)"; "" if the line is not known. */
static const char *line_of(struct session *s, uint32_t place, uint32_t n_places, struct table *t)
{
	bool *wanted = mem_zalloc(n_places + 1, sizeof(*wanted));
	struct names names = { 0 };
	const char *file, *text = "";
	uint32_t line;

	if (place != NO_PLACE) {
		wanted[place] = true;
		names_init(&names, s, wanted, SYMBOLS_LINES);
		if (names_line(&names, place, &file, &line))
			text = table_format(t, " (%s:%" PRIu32 ")", path_base(file), line);
		names_release(&names);
	}
	free(wanted);
	return text;
}

/* What the share is of. */
static const char *whole_of(const struct hot_grouping *g, uint64_t event)
{
	if (g->view->by_samples)
		return "samples";
	return hot_is_spe(g->hot, event)
		       ? "latency"
		       : capture_event_name(g->hot->session->capture, (size_t)event);
}

void hot_summary(struct session *s, const struct hot *hot, const struct names *names,
		 const struct hot_view *view, struct table *answer)
{
	struct hot_grouping g;
	uint32_t number = 0;
	size_t sampled;

	hot_grouping_init(&g, hot, names, view);
	if (first_group(&g, &number)) {
		const uint64_t *words = tuples_get(&g.keys, number);
		const struct hot_cost *cost = &g.groups.items[number].cost;
		struct latency_amount part = { hot_weight(&g, words[0], cost),
					       hot_full_weight(&g, words[0], cost) };
		struct latency_amount whole = { g.weights[words[0]], g.full[words[0]] };
		struct cell cells[KEY_MAX_COLUMNS] = { 0 };

		key_classes[KEY_FUNCTION].show(names, words + 1, answer, cells);
		if (words[1] != 0 && whole.cycles > 0 && !hot_is_branches(hot, words[0], &sampled))
			answer_say(answer, "%s%.1f %% of %s in %s%s%s.",
				   latency_share_words(latency_share_mark(part, whole)),
				   100 * ratio(part.cycles, whole.cycles), whole_of(&g, words[0]),
				   cells[0].text,
				   line_of(s, heaviest_place(&g, words), names->n, answer),
				   cost->n < SPARSE_BELOW ? ", too few samples" : "");
	}
	hot_grouping_release(&g);
}
