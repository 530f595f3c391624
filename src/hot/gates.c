/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of `cyclops hot --fail-if` may be about. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "estimate/estimate.h"
#include "estimate/shares.h"
#include "hot/hot.h"
#include "hot/sums/group.h"

enum { SELF_SHARE, TOTAL_SHARE, SAMPLES };

const struct quantity hot_quantities[HOT_N_QUANTITIES] = {
	[SELF_SHARE] = { "share", "NAME", "", true,
			 "self, with what is inlined into it: part of the event's total; of "
			 "SPE, of latency" },
	[TOTAL_SHARE] = { "total", "NAME", "", true,
			  "the same with everything it called; needs call chains" },
	[SAMPLES] = { "samples", NULL, "", false, "samples or records of the event" },
};

/* The rows of the first event, and their names. */
struct labels {
	const struct hot_grouping *g;
	const uint32_t *order;
	uint64_t event;
	struct table texts; /* holds the names */
};

/* What a row is called: of inlined code by its own function. */
static const char *label_of(struct labels *l, uint32_t group)
{
	const uint64_t *words = tuples_get(&l->g->keys, group) + 1;
	enum key key = l->g->view->keys.keys[0];
	struct cell cells[KEY_MAX_COLUMNS] = { 0 };
	const struct session *s = l->g->hot->session;

	if (key == KEY_FUNCTION && words[KEY_INLINED] != 0)
		return strings_get(symbols_strings(s->symbols),
				   (struct str_id){ (uint32_t)words[KEY_INLINED] });
	key_classes[key].show(l->g->names, words, &l->texts, cells);
	return cells[0].type == CELL_NONE ? "" : table_human(&l->texts, cells[0], "");
}

/* The function that a row's code is inlined into; "": none. */
static const char *function_around(struct labels *l, uint32_t group)
{
	const uint64_t *words = tuples_get(&l->g->keys, group) + 1;

	if (l->g->view->keys.keys[0] != KEY_FUNCTION || words[KEY_INLINED] == 0)
		return "";
	return strings_get(symbols_strings(l->g->hot->session->symbols),
			   (struct str_id){ (uint32_t)words[0] });
}

/* Has the table this row, and is it of the first event? */
static bool is_row(const struct labels *l, uint32_t group)
{
	const struct hot_group *its = &l->g->groups.items[group];

	return tuples_get(&l->g->keys, group)[0] == l->event &&
	       (its->cost.n > 0 || its->cost.n_branches == 0);
}

/* For nearest_word(): what is no row has an empty name. */
static const char *label_at(const void *context, size_t i)
{
	struct labels *l = (struct labels *)(uintptr_t)context;

	if (i >= l->g->groups.n)
		return NULL;
	return is_row(l, l->order[i]) ? label_of(l, l->order[i]) : "";
}

static int no_such_row(struct labels *l, const char *name, struct err *err)
{
	const char *nearest = nearest_word(name, label_at, l);

	return err_set(err, ERR_FORMAT, ERR_NOWHERE, "no sample is in '%s'%s%s%s", name,
		       nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
		       nearest != NULL ? "'?" : "");
}

/*
 * Adds up the rows of that name; `self`: also what is inlined into a function of that name, which has it in its total.
 * Returns how many there are.
 */
static size_t add_rows(struct labels *l, const char *name, bool self, struct hot_group *out)
{
	size_t n = 0;

	*out = (struct hot_group){ 0 };
	for (uint32_t i = 0; i < l->g->groups.n; i++) {
		const struct hot_group *group = &l->g->groups.items[i];

		if (!is_row(l, i) || (strcmp(label_of(l, i), name) != 0 &&
				      !(self && strcmp(function_around(l, i), name) == 0)))
			continue;
		hot_cost_add(&out->cost, &group->cost);
		out->inclusive += group->inclusive;
		n++;
	}
	return n;
}

static double half_interval(const struct hot_grouping *g, uint64_t event,
			    const struct hot_cost *cost, const struct hot_cost *all, double share)
{
	bool is_latency = hot_is_spe(g->hot, event) && !g->view->by_samples;
	double squares = is_latency ? (double)cost->squares : 0;
	double rest = is_latency ? (double)(all->squares - cost->squares) : 0;

	return share_error(share, cost->n, all->n,
			   share_spread(squares, (double)cost->n, (double)cost->cycles),
			   share_spread(rest, (double)(all->n - cost->n),
					(double)(all->cycles - cost->cycles))) +
	       (hot_is_spe(g->hot, event) ? estimate_lost_error(share, &g->hot->session->lost) : 0);
}

static struct measured around(double share, double error)
{
	return measured_between(share, fmax(0, share - error), fmin(1, share + error));
}

static struct measured self_share(const struct labels *l, const struct hot_group *row,
				  const struct hot_cost *all)
{
	const struct hot_grouping *g = l->g;
	struct latency_amount part = { hot_weight(g, l->event, &row->cost),
				       hot_full_weight(g, l->event, &row->cost) };
	struct latency_amount whole = { g->weights[l->event], g->full[l->event] };
	double share = ratio(part.cycles, whole.cycles);
	struct measured m = around(share, half_interval(g, l->event, &row->cost, all, share));

	latency_share_bounds(part, whole, &m.least, &m.most);
	if (hot_is_spe(g->hot, l->event) && !g->view->by_samples)
		m.basis = "of latency, which is no run time";
	return m;
}

/* All samples are taken to weigh the same. */
static struct measured total_share(const struct labels *l, const struct hot_group *row,
				   const struct hot_cost *all)
{
	double share = fmin(1, ratio(row->inclusive, l->g->weights[l->event]));
	uint64_t n = (uint64_t)llround(share * all->n);

	return around(share, share_error(share, n, all->n, 1, 1));
}

static int measure_row(struct labels *l, const struct gate *gate, const struct hot_cost *all,
		       struct measured *out, struct err *err)
{
	char *name = mem_strndup(gate->argument, gate->argument_size);
	struct hot_group row;
	int rc = 0;

	if (gate->quantity == TOTAL_SHARE && !l->g->has_chains)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "there are no call chains, or rows are not by code alone");
	else if (add_rows(l, name, gate->quantity == SELF_SHARE, &row) == 0)
		rc = no_such_row(l, name, err);
	else
		*out = gate->quantity == TOTAL_SHARE ? total_share(l, &row, all)
						     : self_share(l, &row, all);
	free(name);
	return rc;
}

int hot_measure(const struct hot *hot, const struct names *names, const struct hot_view *view,
		const struct gate *gate, struct measured *out, struct err *err)
{
	struct hot_cost *totals = hot_totals(hot);
	struct hot_grouping g;
	struct labels l = { .g = &g };
	uint32_t *order;
	int rc = 0;

	hot_grouping_init(&g, hot, names, view);
	order = hot_grouping_order(&g);
	table_init(&l.texts, "names", NULL, key_classes[view->keys.keys[0]].columns, 1);
	l.order = order;
	l.event = g.groups.n > 0 ? tuples_get(&g.keys, order[0])[0] : 0;
	if (g.groups.n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "there are no samples");
	else if (gate->quantity == SAMPLES)
		*out = measured_exactly(totals[l.event].n);
	else if (view->keys.n != 1)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE, "rows have no name by several keys");
	else
		rc = measure_row(&l, gate, &totals[l.event], out, err);
	table_release(&l.texts);
	hot_grouping_release(&g);
	free(order);
	free(totals);
	return rc;
}
