/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "estimate/estimate.h"
#include "estimate/shares.h"
#include "hot/sums/functions.h"
#include "hot/sums/group.h"
#include "session/tip.h"
#include "table/answer.h"
#include "table/human.h"

enum { NO_PLACE = UINT32_MAX };

/* The number of the first group that the table shows; false if there is none. */
static bool first_group(const struct hot_grouping *g, uint32_t *out)
{
	size_t i = 0, n;
	uint32_t *order = hot_grouping_first(g, 1, &n);

	while (i < n && g->groups.items[order[i]].cost.n == 0)
		i++;
	if (i < n)
		*out = order[i];
	free(order);
	return i < n;
}

/* Is a place of the function with these words? They begin with the event. */
static bool is_place_of(const struct hot_grouping *g, uint32_t place, const uint64_t *wanted,
			bool is_outer)
{
	const uint64_t raw[N_DIMENSIONS] = { [DIM_EVENT] = wanted[0], [DIM_PLACE] = place };
	uint64_t words[HOT_GROUP_WORDS];

	if (names_know_any(g->names) && g->names->symbols[place].function.v != wanted[1])
		return false; /* most are of others */
	hot_words(g, raw, words);
	if (is_outer)
		hot_words_of_outer(g, words);
	return memcmp(words, wanted, g->n_words * sizeof(*words)) == 0;
}

/* By place: what its groups weigh that are not in hot->by_place. NULL: there are none. To be freed. */
static uint64_t *weigh_other_groups(const struct hot_grouping *g, uint64_t event)
{
	const struct hot *hot = g->hot;
	uint64_t *weights = NULL;

	if (hot->costs.n > 0)
		weights = mem_zalloc(g->names->n + 1, sizeof(*weights));
	for (uint32_t i = hot_n_by_place(hot); i < hot_end(hot); i++) {
		const struct hot_cost cost = hot_cost(hot, i);

		if (hot_key_word(hot, i, DIM_EVENT) == event)
			weights[hot_key_word(hot, i, DIM_PLACE)] +=
				hot_event_weight(hot, event, &cost);
	}
	return weights;
}

/* Looks for the place that weighs most of a function by its words; of equals the first in its module. */
struct heaviest_job {
	const struct hot_grouping *g;
	const uint64_t *wanted; /* words */
	bool is_outer;
	const uint64_t *others; /* weigh_other_groups() */
	size_t n_parts;
	struct heaviest {
		uint32_t place; /* or NO_PLACE */
		uint64_t weight;
	} * of_parts;
};

static bool is_heavier(const struct session *s, uint32_t place, uint64_t weight,
		       const struct heaviest *best)
{
	return best->place == NO_PLACE || weight > best->weight ||
	       (weight == best->weight && hot_place_is_before(s, place, best->place));
}

/* Few places weigh as much as the heaviest so far, so the function is compared behind that. */
static void find_heaviest(void *context, size_t i, unsigned worker)
{
	const struct heaviest_job *job = context;
	const struct hot *hot = job->g->hot;
	uint32_t n_own = hot_is_spe(hot, job->wanted[0]) ? hot_n_by_place(hot) : 0;
	uint32_t end = (uint32_t)((uint64_t)job->g->names->n * (i + 1) / job->n_parts);
	struct heaviest best = { NO_PLACE, 0 };

	(void)worker;
	for (uint32_t place = (uint32_t)((uint64_t)job->g->names->n * i / job->n_parts);
	     place < end; place++) {
		uint64_t weight = job->others != NULL ? job->others[place] : 0;

		if (place < n_own)
			weight += place_costs_cycles(&hot->by_place, place);
		if (weight > 0 && weight >= best.weight &&
		    is_place_of(job->g, place, job->wanted, job->is_outer) &&
		    is_heavier(hot->session, place, weight, &best))
			best = (struct heaviest){ place, weight };
	}
	job->of_parts[i] = best;
}

static uint32_t heaviest_place(const struct hot_grouping *g, const uint64_t *wanted, bool is_outer)
{
	const struct session *s = g->hot->session;
	uint64_t *others = weigh_other_groups(g, wanted[0]);
	struct heaviest best = { NO_PLACE, 0 };
	struct heaviest_job job = { .g = g,
				    .wanted = wanted,
				    .is_outer = is_outer,
				    .others = others,
				    .n_parts = pool_size(s->pool) };

	job.of_parts = mem_alloc(job.n_parts, sizeof(*job.of_parts));
	pool_run(s->pool, job.n_parts, find_heaviest, &job);
	for (size_t i = 0; i < job.n_parts; i++)
		if (job.of_parts[i].place != NO_PLACE &&
		    is_heavier(s, job.of_parts[i].place, job.of_parts[i].weight, &best))
			best = job.of_parts[i];
	free(job.of_parts);
	free(others);
	return best.place;
}

/* " (sharing.c:52)", the line of the heaviest place of a function; "" if it is not known. */
static const char *line_of(struct session *s, const struct hot_grouping *g, const uint64_t *words,
			   bool is_outer, struct table *t)
{
	const char *file;
	uint32_t place, line;

	if (g->names->know_nothing)
		return "";
	place = heaviest_place(g, words, is_outer);
	if (place == NO_PLACE || !names_find_line(s, place, &file, &line))
		return "";
	return table_format(t, " (%s:%" PRIu32 ")", path_base(file), line);
}

/* What the share is of. */
static const char *whole_of(const struct hot_grouping *g, uint64_t event, struct table *t)
{
	const char *name;

	if (g->view->by_samples && g->view->event != NULL)
		return table_format(t, "the %s samples", g->view->event);
	if (g->view->by_samples)
		return "the samples";
	if (hot_is_spe(g->hot, event))
		return "latency";
	name = capture_event_name(g->hot->session->capture, (size_t)event);
	return strcmp(name, "cpu-clock") == 0 || strcmp(name, "task-clock") == 0 ? "the CPU time"
										 : name;
}

/* "latency is", "the CPU time is", "cycles are", "the samples are" */
static bool is_singular(const struct hot_grouping *g, uint64_t event)
{
	return !g->view->by_samples &&
	       (hot_is_spe(g->hot, event) || hot_event_is_time(g->hot, event));
}

/* "compare", or "code without symbols of libc.so.6". */
static const char *function_words(const struct names *names, const uint64_t *words, struct table *t)
{
	struct cell cells[KEY_MAX_COLUMNS] = { 0 };

	key_classes[KEY_FUNCTION].show(names, words, t, cells);
	if (words[0] != 0)
		return cells[0].text;
	return table_format(t, "code without symbols in %s", cells[2].text);
}

/* "cyclops annotate compare": what to look at next. Nothing for code without names. */
static void say_next(const struct session *s, const struct names *names, const uint64_t *words,
		     struct table *answer)
{
	struct text command = { 0 };
	const uint64_t outer[KEY_MAX_WORDS] = { words[0], words[1] };
	struct cell cells[KEY_MAX_COLUMNS] = { 0 };

	if (words[0] == 0)
		return;
	key_classes[KEY_FUNCTION].show(names, outer, answer, cells);
	text_str(&command, "annotate");
	text_shell_word(&command, cells[0].text);
	text_char(&command, '\0');
	answer_next(answer, tip(answer, s, command.bytes));
	text_release(&command);
}

/* " ± 2.0" half the 95 % interval of a share; "" where the share is a bound, or has no samples beside it. */
static const char *share_error_words(const struct hot_grouping *g, uint64_t event,
				     const struct hot_cost *cost, double share, struct table *t)
{
	struct hot_cost *totals = hot_totals(g->hot);
	const struct hot_cost *all = &totals[event];
	bool is_latency = hot_is_spe(g->hot, event) && !g->view->by_samples;
	double squares = is_latency ? (double)cost->squares : 0;
	double rest = is_latency ? (double)(all->squares - cost->squares) : 0;
	double error = share_error(share, cost->n, all->n,
				   share_spread(squares, (double)cost->n, (double)cost->cycles),
				   share_spread(rest, (double)(all->n - cost->n),
						(double)(all->cycles - cost->cycles)));

	if (hot_is_spe(g->hot, event))
		error += estimate_lost_error(share, &g->hot->session->lost);
	free(totals);
	return error == 0 ? "" : table_format(t, " \xc2\xb1 %.1f", 100 * error);
}

static const char *doubt_of(const struct hot_grouping *g, uint32_t number)
{
	return g->groups.items[number].cost.n < SPARSE_BELOW ? ": too few samples" : "";
}

/* "at least 81.5 %", "38.8 % +- 6.7": what a group has of its event; NULL: nothing, or it is of branch stacks. */
static const char *share_words(const struct hot_grouping *g, uint32_t number, struct table *t)
{
	const uint64_t *words = tuples_get(&g->keys, number);
	const struct hot_cost *cost = &g->groups.items[number].cost;
	struct latency_amount part = { hot_weight(g, words[0], cost),
				       hot_full_weight(g, words[0], cost) };
	struct latency_amount whole = { g->weights[words[0]], g->full[words[0]] };
	enum cell_mark mark = latency_share_mark(part, whole);
	double share = ratio(part.cycles, whole.cycles);
	size_t sampled;

	if (whole.cycles == 0 || hot_is_branches(g->hot, words[0], &sampled))
		return NULL;
	return table_format(t, "%s%.1f %%%s", latency_share_words(mark), 100 * share,
			    mark == MARK_EXACT ? share_error_words(g, words[0], cost, share, t)
					       : "");
}

static void say_first(struct session *s, const struct hot_grouping *g, uint32_t number,
		      struct table *answer)
{
	const uint64_t *words = tuples_get(&g->keys, number);
	const char *share = share_words(g, number, answer);

	if (words[2] == 0 || share == NULL)
		return;
	answer_say_sentence(answer,
			    table_format(answer, "%s of %s %s in %s%s%s", share,
					 whole_of(g, words[0], answer),
					 is_singular(g, words[0]) ? "is" : "are",
					 function_words(g->names, words + 1, answer),
					 line_of(s, g, words, false, answer), doubt_of(g, number)));
	say_next(s, g->names, words + 1, answer);
}

static bool is_by_function(const struct keys *keys)
{
	return keys->n == 1 && keys->keys[0] == KEY_FUNCTION;
}

/* Of other keys than functions: "copies.c:25 has 38.8 % of the samples." */
static void say_first_keys(const struct hot_grouping *g, uint32_t number, struct table *answer)
{
	const uint64_t *words = tuples_get(&g->keys, number);
	const char *name = keys_row_words(&g->view->keys, g->names, words + 1, answer);
	const char *share = share_words(g, number, answer);

	if (name != NULL && share != NULL)
		answer_say(answer, "%s has %s of %s%s.", name, share, whole_of(g, words[0], answer),
			   doubt_of(g, number));
}

void hot_summary(struct session *s, const struct hot_grouping *g, struct table *answer)
{
	uint32_t number = 0;

	if (!first_group(g, &number))
		return;
	if (is_by_function(&g->view->keys))
		say_first(s, g, number, answer);
	else
		say_first_keys(g, number, answer);
}

/* "60.0 % of the run time (59.9 to 60.9 %)", "about 61.2 % …" where the limits are far apart. */
static const char *run_time_words(const struct elapsed_told *told, struct table *t)
{
	const char *share =
		table_format(t, "%s%.1f %% of the run time", told->is_first_told ? "" : "about ",
			     100 * told->first_share);

	return told->has_limits ? table_format(t, "%s (%.1f to %.1f %%)", share,
					       100 * told->first_low, 100 * told->first_high)
				: share;
}

void hot_summary_run_time(struct session *s, const struct hot *hot, const struct names *names,
			  const struct keys *keys, const struct elapsed_told *told,
			  struct table *answer)
{
	const struct hot_view view = { .keys = { { KEY_FUNCTION }, 1 } };
	const struct hot_grouping g = {
		.hot = hot,
		.view = &view,
		.names = names,
		.n_words = 1 + key_classes[KEY_FUNCTION].n_words,
	};
	uint64_t words[HOT_GROUP_WORDS] = { hot->spe_event };

	if (told->has_first && !is_by_function(keys)) {
		const char *name;

		table_reset(answer);
		name = keys_row_words(keys, names, told->first, answer);
		if (name != NULL)
			answer_say(answer, "%s has %s.", name, run_time_words(told, answer));
		return;
	}
	if (!told->has_first || told->first[1] == 0)
		return;
	memcpy(words + 1, told->first, (g.n_words - 1) * sizeof(*words));
	table_reset(answer);
	answer_say_sentence(answer,
			    table_format(answer, "%s is in %s%s", run_time_words(told, answer),
					 function_words(names, words + 1, answer),
					 line_of(s, &g, words, true, answer)));
	say_next(s, names, words + 1, answer);
}
