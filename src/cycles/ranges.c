/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/ranges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "cycles/events.h"
#include "cycles/sums.h"
#include "scan/scan.h"

/* The ranges while their samples are added up. */
struct summing {
	const struct cycle_ranges *ranges;
	const struct session *session;
	struct module_id module;
	const uint64_t *starts;
	const struct cycle_events *events;
	const struct mux *mux;
	struct cycle_count *counts; /* range x node; the last range: all */
};

/* The range that an offset is in; n: none. */
static size_t range_at(const struct summing *s, uint64_t offset)
{
	if (offset < s->starts[0] || offset >= s->starts[s->ranges->n])
		return s->ranges->n;
	return bisect(0, s->ranges->n, i, s->starts[i] <= offset) - 1;
}

static void add_to(struct cycle_count *c, const struct sample_sum *sum, double factor)
{
	c->events += (double)sum->weight * factor;
	c->variance += uint128_to_double(sum->squares) * factor * factor;
	c->n_samples += sum->n;
}

static void add_group(struct summing *s, const struct cycle_sums *sums, uint32_t group)
{
	size_t n_nodes = s->ranges->tree->n_nodes, range;
	uint64_t key[N_DIMENSIONS];
	struct place place;
	double factor;
	int node;

	cycle_sums_key(sums, group, key);
	node = s->events->nodes[key[DIM_EVENT]];
	place = session_place(s->session, (uint32_t)key[DIM_PLACE]);
	range = place.module.v == s->module.v ? range_at(s, place.offset) : s->ranges->n;
	if (node == NO_NODE || range == s->ranges->n)
		return;
	factor = mux_factor(s->mux, (size_t)key[DIM_EVENT], cycle_sums_cpu(sums, key));
	add_to(&s->counts[range * n_nodes + (size_t)node], &sums->sums.items[group], factor);
	add_to(&s->counts[s->ranges->n * n_nodes + (size_t)node], &sums->sums.items[group], factor);
}

static void sum_ranges(struct summing *s, const struct cycle_sums *sums)
{
	uint32_t *order = cycle_sums_order(sums);
	size_t n_nodes = s->ranges->tree->n_nodes;

	for (size_t i = 0; i < s->events->n; i++)
		for (size_t range = 0; range <= s->ranges->n && s->events->nodes[i] != NO_NODE;
		     range++) {
			struct cycle_count *c =
				&s->counts[range * n_nodes + (size_t)s->events->nodes[i]];

			c->is_collected = true;
			c->is_unscaled = !mux_is_known(s->mux, i);
		}
	for (uint32_t i = 0; i < sums->sums.n; i++)
		add_group(s, sums, order[i]);
	free(order);
}

static void account_ranges(struct summing *s, const double *penalties)
{
	const struct cycle_template *tree = s->ranges->tree;
	struct cycle_account_options options = { .penalties = penalties, .is_fine = true };
	size_t n = tree->n_nodes;

	for (size_t i = 0; i <= s->ranges->n; i++) {
		options.is_fine = i < s->ranges->n;
		cycle_account(tree, &s->counts[i * n], &options, &s->ranges->values[i * n]);
	}
}

static int sum_and_account(struct summing *s, struct session *session, const struct select *select,
			   const double *penalties, struct err *err)
{
	struct cycle_sums_options options = { 0 };
	struct analysis sums = { .class = &cycle_sums_class, .options = &options };
	struct cycle_events events = { 0 };
	struct mux *mux;

	if (cycle_events_match(session, s->ranges->tree, &events, err) < 0)
		return -1;
	if (events.n_matched < 2) {
		err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			"%zu of the events of the cycle accounting tree %s were sampled; 'cyclops "
			"record --cycles' samples them",
			events.n_matched, s->ranges->tree->id);
		cycle_events_release(&events);
		return -1;
	}
	s->events = &events;
	s->mux = options.mux = mux = mux_new(session);
	options.dimensions = 1u << DIM_PLACE | (mux_differs_by_cpu(mux) ? 1u << DIM_CPU : 0);
	scan(session, select, &sums, 1);
	sum_ranges(s, sums.result);
	account_ranges(s, penalties);
	cycle_sums_class.free(sums.result);
	mux_free(mux);
	cycle_events_release(&events);
	return 0;
}

int cycle_ranges_init(struct cycle_ranges *r, struct session *session, const struct select *select,
		      const struct cycle_options *options, struct module_id module,
		      const uint64_t *starts, size_t n, struct err *err)
{
	struct summing s = { .ranges = r, .session = session, .module = module, .starts = starts };
	double *penalties;
	int rc = -1;

	*r = (struct cycle_ranges){ .n = n };
	if (cycle_options_tree(options, session, &r->tree, err) < 0)
		return -1;
	penalties = cycle_options_penalties(options, r->tree, err);
	r->assumed_ghz = cycle_options_assumed_ghz(options, r->tree);
	r->values = mem_zalloc((n + 1) * r->tree->n_nodes, sizeof(*r->values));
	s.counts = mem_zalloc((n + 1) * r->tree->n_nodes, sizeof(*s.counts));
	if (penalties != NULL)
		rc = sum_and_account(&s, session, select, penalties, err);
	free(s.counts);
	free(penalties);
	if (rc < 0)
		cycle_ranges_release(r);
	return rc;
}

void cycle_ranges_release(struct cycle_ranges *r)
{
	cycle_template_free(r->tree);
	free(r->values);
	*r = (struct cycle_ranges){ 0 };
}
