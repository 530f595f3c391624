/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hotspots: its columns and rows. */
#include "hot/hot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "callers/callers.h"
#include "base/alloc.h"
#include "estimate/estimate.h"
#include "estimate/shares.h"
#include "hot/elapsed/elapsed.h"
#include "hot/rows.h"
#include "hot/sums/group.h"
#include "scan/spe_filters.h"
#include "session/tip.h"

enum {
	MAX_COLUMNS = 1 + N_KEYS * KEY_MAX_COLUMNS + 16,
};

/* Columns of the sums, behind those of the keys. */
enum sum_column {
	SUM_TIME_ESTIMATE,
	SUM_SHARE,
	SUM_TOTAL_SHARE,
	SUM_SAMPLES,
	SUM_PERIOD,
	SUM_EVENTS,
	SUM_CPU_TIME,
	SUM_CYCLES,
	SUM_MEAN,
	SUM_ESTIMATED,
	SUM_LOW,
	SUM_HIGH,
	SUM_LIMITS,
	SUM_BRANCHES,
	SUM_BRANCH_RATE,
	SUM_BRANCH_CYCLES,
	SUM_TIME,
	N_SUMS,
};

static const struct column event_column = {
	"event",   NULL, "",
	CELL_TEXT, 0,	 "event that was sampled; arm_spe for SPE records; whose branch stacks",
};

static const struct column sum_columns[N_SUMS] = {
	[SUM_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
			"part of the event's total: of latency cycles for SPE, of events for "
			"samples" },
	[SUM_TOTAL_SHARE] = { "total_share", "total", "", CELL_NUMBER, COLUMN_SHARE,
			      "the same, with everything it called" },
	[SUM_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0,
			  "records or samples, or entries of branch stacks" },
	[SUM_PERIOD] = { "period", "events", "events", CELL_COUNT, COLUMN_MACHINE_ONLY,
			 "events that the samples represent; of clocks nanoseconds" },
	[SUM_EVENTS] = { "shown_events", "events", "events", CELL_COUNT, COLUMN_TEXT_ONLY,
			 "events that the samples represent" },
	[SUM_CPU_TIME] = { "shown_time", "cpu time", "ns", CELL_COUNT, COLUMN_TEXT_ONLY,
			   "time that the samples of a clock represent" },
	[SUM_CYCLES] = { "latency_cycles", "latency", "cycles", CELL_COUNT, COLUMN_TRUST,
			 "sum of the total latencies of the sampled operations" },
	[SUM_MEAN] = { "mean_latency_cycles", "mean", "cycles", CELL_NUMBER, COLUMN_TRUST,
		       "mean total latency of a sampled operation" },
	[SUM_ESTIMATED] = { "estimated_operations", "estimated", "operations", CELL_COUNT,
			    COLUMN_TRUST, "estimated operations" },
	[SUM_LOW] = { "estimated_low", NULL, "operations", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		      "lower limit of it (95 %)" },
	[SUM_HIGH] = { "estimated_high", NULL, "operations", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		       "upper limit of it (95 %)" },
	[SUM_LIMITS] = { "estimated_limits", "95 % interval", "", CELL_TEXT,
			 COLUMN_TEXT_ONLY | COLUMN_WHOLE,
			 "where the truth lies, 19 times out of 20" },
	[SUM_BRANCHES] = { "branches", NULL, "entries", CELL_COUNT, 0,
			   "entries of branch stacks there, of the event or not" },
	[SUM_BRANCH_RATE] = { "branch_share", "event ratio", "", CELL_NUMBER,
			      COLUMN_SHARE | COLUMN_TRUST,
			      "part of those that tell it for which the event holds" },
	[SUM_BRANCH_CYCLES] = { "branch_cycles", "since last branch", "cycles", CELL_NUMBER, 0,
				"mean cycles from the branch before to one of these" },
	[SUM_TIME] = { "time", SLICES_TITLE, "", CELL_TEXT, COLUMN_SPARK | COLUMN_TEXT_ONLY,
		       "weight over time" },
	[SUM_TIME_ESTIMATE] = { "time_estimate", "time estimate", "", CELL_NUMBER,
				COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
				"part of the time of all code, estimated by a walk through it" },
};

static bool has_sum(const struct hot_grouping *g, enum sum_column sum)
{
	switch (sum) {
	case SUM_TOTAL_SHARE:
		return g->has_chains;
	case SUM_ESTIMATED:
	case SUM_LOW:
	case SUM_HIGH:
	case SUM_LIMITS:
		return g->view->with_estimates;
	case SUM_BRANCHES:
	case SUM_BRANCH_RATE:
	case SUM_BRANCH_CYCLES:
		return g->view->with_branches;
	case SUM_TIME_ESTIMATE:
		return g->view->time != NULL;
	case SUM_TIME:
		return g->hot->session->slices.n > 0;
	default:
		return true;
	}
}

/* Are rows of SPE records weighed by their latency? */
static bool weighs_latency(const struct hot *hot, const struct hot_view *view)
{
	return !view->by_samples && hot_n_spe_records(hot) > 0;
}

/* The event first if there are several, then keys and sums. */
static void hot_start_table(const struct hot_grouping *g, struct table *t)
{
	const struct slices *slices = &g->hot->session->slices;
	struct column list[MAX_COLUMNS], *own;
	size_t n = 0;

	if (hot_n_events(g->hot) > 1)
		n = columns_add(list, n, &event_column);
	n = keys_add_columns(&g->view->keys, list, n);
	for (size_t i = 0; i < N_SUMS; i++)
		if (has_sum(g, (enum sum_column)i))
			n = columns_add(list, n, &sum_columns[i]);
	table_init(t, g->view->name, g->view->title, list, n);
	own = table_own_columns(t, slices->n + 1);
	if (g->view->with_estimates) /* how many there are is the question, not their sum */
		own[table_column(t, "latency_cycles")].flags |= COLUMN_MACHINE_ONLY;
	if (g->view->time != NULL) /* rows are in that order */
		own[table_column(t, "share")].flags &= ~(unsigned)COLUMN_BAR;
	if (weighs_latency(g->hot, g->view) && hot_n_events(g->hot) == 1)
		own[table_column(t, "share")].title = "latency share";
	else if (g->has_chains)
		own[table_column(t, "share")].title = "self";
	if (keys_have(&g->view->keys, KEY_FUNCTION))
		own[t->n_columns++] = hot_inlined_column;
	for (uint32_t i = 0; i < slices->n; i++)
		own[t->n_columns++] = (struct column){
			.name = table_format(t, "slice_%u", i),
			.unit = "",
			.type = CELL_COUNT,
			.flags = COLUMN_MACHINE_ONLY,
			.meaning = "weight in this slice of time",
		};
	slices_note(slices, t);
	spe_filters_name_estimates(g->hot->session, t);
}

static void show_branches(const struct hot_cost *c, struct table *t, struct cell *row)
{
	hot_table_set(t, row, "branches", cell_count(c->n_branches));
	if (c->n_decidable > 0)
		hot_table_set(t, row, "branch_share",
			      cell_sparse(cell_ratio(c->n, c->n_decidable), c->n_decidable));
	if (c->n_cycles > 0)
		hot_table_set(t, row, "branch_cycles",
			      cell_number((double)c->cycles / (double)c->n_cycles));
}

static struct latency_amount hot_whole(const struct hot_grouping *g, uint64_t event)
{
	return (struct latency_amount){ g->weights[event], g->full[event] };
}

/* Scaled up, if the event was counted for a part of the time only. */
static struct cell events_cell(const struct mux *mux, uint64_t event, const struct hot_cost *c)
{
	if (mux == NULL || mux_factor(mux, event, UINT32_MAX) <= 1)
		return cell_count(c->period);
	return cell_marked(cell_count(c->scaled / HOT_SCALED_UNIT), MARK_SCALED);
}

void hot_show_sums(const struct hot_grouping *g, uint64_t event, const struct hot_cost *c,
		   struct table *t, struct cell *row)
{
	enum cell_mark mark = c->n_saturated > 0 ? MARK_SATURATED : MARK_EXACT;
	const struct latency_amount part = { hot_weight(g, event, c),
					     hot_full_weight(g, event, c) };
	size_t sampled;

	hot_table_set(t, row, "share", cell_latency_share(part, hot_whole(g, event), c->n));
	hot_table_set(t, row, "samples", cell_count(c->n));
	if (hot_is_branches(g->hot, event, &sampled)) {
		show_branches(c, t, row);
	} else if (!hot_is_spe(g->hot, event)) {
		hot_table_set(t, row, "period", cell_count(c->period));
		hot_table_set(t, row,
			      hot_event_is_time(g->hot, event) ? "shown_time" : "shown_events",
			      events_cell(g->hot->options->mux, event, c));
	} else if (c->n_cycles > 0) {
		hot_table_set(t, row, "latency_cycles", cell_marked(cell_count(c->cycles), mark));
		hot_table_set(
			t, row, "mean_latency_cycles",
			cell_marked(cell_number((double)c->cycles / (double)c->n_cycles), mark));
	}
}

/* "120 … 340": with few records the interval is not symmetric, so both ends are shown. */
static struct cell limits_cell(const struct estimate *e, struct table *t)
{
	if (isinf(e->high))
		return cell_text(table_format(t, "\xe2\x89\xa5 %s",
					      table_human(t, cell_number(round(e->low)), "")));
	return cell_text(table_format(t, "%s \xe2\x80\xa6 %s",
				      table_human(t, cell_number(round(e->low)), ""),
				      table_human(t, cell_number(round(e->high)), "")));
}

/* How many operations the records stand for. */
static void hot_table_show_estimates(const struct hot_grouping *g, const struct hot_group *group,
				     struct table *t, struct cell *row)
{
	struct spe_interval_range range = spe_interval_range(g->hot->session);
	struct estimate e;

	if (range.longest == 0)
		return;
	e = estimate_of(group->cost.n, group->operations, &range);
	hot_table_set(t, row, "estimated_operations", estimate_cell(&e));
	hot_table_set(t, row, "estimated_low", cell_number(e.low));
	hot_table_set(t, row, "estimated_high", estimate_high_cell(&e));
	hot_table_set(t, row, "estimated_limits", limits_cell(&e, t));
}

static void hot_show_slices(const struct hot_grouping *g, uint32_t number, struct table *t,
			    struct cell *row)
{
	uint32_t n = g->hot->session->slices.n;
	int first = table_column(t, "slice_0");
	const uint64_t *amounts;

	if (n == 0)
		return;
	amounts = g->slices.items + (size_t)number * n;
	hot_table_set(t, row, "time", cell_text(slices_spark(t, amounts, n)));
	for (uint32_t i = 0; i < n && first >= 0; i++)
		row[(size_t)first + i] = cell_count(amounts[i]);
}

const char *hot_event_text(const struct hot *hot, uint64_t event, struct table *t)
{
	size_t sampled;

	if (hot_is_branches(hot, event, &sampled))
		return table_format(t, "branches of %s",
				    capture_event_name(hot->session->capture, sampled));
	return hot_event_name(hot, event);
}

void hot_show_total(const struct hot_grouping *g, uint64_t event, uint64_t weight, struct table *t,
		    struct cell *row)
{
	hot_table_set(t, row, "event", cell_text(hot_event_text(g->hot, event, t)));
	hot_table_set(t, row, "total_share", cell_ratio(weight, g->weights[event]));
}

static void show_group(const struct hot_grouping *g, uint32_t number, struct table *t)
{
	const uint64_t *words = tuples_get(&g->keys, number);
	const struct hot_group *group = &g->groups.items[number];
	struct cell *row = table_add_row(t);

	hot_show_keys(g, words + 1, t, row);
	hot_show_sums(g, words[0], &group->cost, t, row);
	if (g->has_chains)
		hot_show_total(g, words[0], group->inclusive, t, row);
	else
		hot_table_set(t, row, "event", cell_text(hot_event_text(g->hot, words[0], t)));
	if (g->view->with_estimates && hot_is_spe(g->hot, words[0]))
		hot_table_show_estimates(g, group, t, row);
	hot_show_slices(g, number, t, row);
	if (g->view->time != NULL && hot_is_spe(g->hot, words[0]))
		hot_table_set(t, row, "time_estimate",
			      cell_marked(cell_ratio(group->time, COMMIT_TIME_WHOLE), MARK_SCALED));
}

/* Entries of branch stacks of which none matches are not shown. */
static bool has_no_match(const struct hot_cost *cost)
{
	return cost->n == 0 && cost->n_branches > 0;
}

/* Leaves the first `top` groups of each event in their order. Returns how many there are. */
static size_t keep_shown(const struct hot_grouping *g, size_t top, uint32_t *order, size_t n)
{
	uint64_t event = UINT64_MAX;
	size_t n_of_event = 0, n_shown = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t its_event = tuples_get(&g->keys, order[i])[0];

		if (has_no_match(&g->groups.items[order[i]].cost))
			continue;
		if (its_event != event)
			n_of_event = 0;
		event = its_event;
		if (top == 0 || n_of_event++ < top)
			order[n_shown++] = order[i];
	}
	return n_shown;
}

static int show_all(struct hot_grouping *g, struct table *t, struct err *err)
{
	bool shows_all =
		g->view->top == 0 || g->view->sort != NULL || keys_are_time(&g->view->keys);
	size_t top = shows_all ? 0 : g->view->top, n, n_matching = 0;
	bool with_callers = g->view->with_callers && g->has_chains;
	uint32_t *order = hot_grouping_first(g, top, &n);
	struct hot_callers callers = { 0 };
	int rc = 0;

	n = keep_shown(g, top, order, n);
	for (size_t i = 0; i < g->groups.n; i++)
		n_matching += !has_no_match(&g->groups.items[i].cost);
	if (with_callers)
		rc = hot_callers_init(&callers, g, order, n, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		show_group(g, order[i], t);
		if (with_callers)
			hot_callers_show(&callers, order[i], t);
	}
	n_matching += g->n_left_out;
	if (n < n_matching)
		table_note(t, "%zu more; --all shows them", n_matching - n);
	hot_callers_release(&callers);
	free(order);
	return rc;
}

int hot_table_of(struct hot_grouping *g, struct table *out, struct err *err)
{
	int rc;

	hot_start_table(g, out);
	if (g->view->with_call_tree && g->has_chains)
		rc = hot_show_call_tree(g, out, err);
	else
		rc = show_all(g, out, err);
	return rc < 0 ? rc : table_sort_by(out, g->view->sort, g->view->top, err);
}

int hot_table(const struct hot *hot, const struct names *names, const struct hot_view *view,
	      struct table *out, struct err *err)
{
	struct hot_grouping g;
	int rc;

	hot_grouping_init_first(&g, hot, names, view);
	rc = hot_table_of(&g, out, err);
	hot_grouping_release(&g);
	return rc;
}

bool hot_heaviest_function(const struct hot *hot, const struct names *names,
			   struct str_id *out_function, struct module_id *out_module)
{
	const struct hot_view view = { .keys = { { KEY_FUNCTION }, 1 } };
	struct hot_grouping g;
	uint32_t *order;
	bool is_found = false;

	hot_grouping_init(&g, hot, names, &view);
	order = hot_grouping_order(&g);
	for (size_t i = 0; i < g.groups.n && !is_found; i++) {
		const uint64_t *words = tuples_get(&g.keys, order[i]) + 1;

		if (has_no_match(&g.groups.items[order[i]].cost))
			continue;
		*out_function = (struct str_id){ (uint32_t)words[0] };
		*out_module = (struct module_id){ (uint32_t)words[1] };
		is_found = true;
	}
	free(order);
	hot_grouping_release(&g);
	return is_found;
}

void hot_table_notes(const struct hot *hot, const struct hot_view *view, struct table *t)
{
	if (hot->options->mux != NULL)
		table_note(
			t,
			"events took turns on the counters: their numbers are scaled up; csv and "
			"json have what was counted");
	if (weighs_latency(hot, view))
		table_note(t, "latency is no run time: operations overlap%s%s",
			   elapsed_obstacle(hot->session, NULL, false) == NULL ? ". Run time: "
									       : "",
			   elapsed_obstacle(hot->session, NULL, false) == NULL
				   ? tip(t, hot->session, "hot --elapsed")
				   : "");
	if (hot_n_spe_records(hot) > 0)
		spe_filters_note(hot->session, t);
	if (hot_n_spe_records(hot) > 0 && hot_has_chains(hot))
		callers_note(hot->session, t);
	if ((view->with_callers || view->with_call_tree) && !hot_has_chains(hot))
		table_note(t,
			   "no callers: this capture has no call chains. cyclops record -g records "
			   "them%s%s",
			   hot_n_spe_records(hot) > 0
				   ? " of events, SPE has none. Who calls whom, how often: "
				   : "",
			   hot_n_spe_records(hot) > 0 ? tip(t, hot->session, "calls") : "");
}
