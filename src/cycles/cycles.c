/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/events.h"
#include "cycles/report.h"
#include "table/answer.h"

double cycle_report_cycles(const struct cycle_report *r, uint32_t row)
{
	const struct cycle_value *v = &cycle_report_values(r, row)[r->tree->cycles];

	return v->state == CYCLE_MEASURED ? v->cycles : 0;
}

/* What is counted at a node in a row: nothing, unless a capture has its event. */
static void count_nodes(const struct cycle_report *r, uint32_t row, struct cycle_count *counts)
{
	const struct event_sum *sums = cycle_report_sums(r, row);

	for (size_t i = 0; i < r->tree->n_nodes; i++)
		counts[i] = (struct cycle_count){ 0 };
	for (size_t i = 0; i < r->objects->events.n; i++) {
		const struct cycle_event *event = &r->objects->events.items[i];

		if (event->node != NO_NODE && event->reads_0 && event->n == 0)
			counts[event->node].reads_0 = true;
		else if (event->node != NO_NODE)
			counts[event->node] = (struct cycle_count){
				.is_collected = true,
				.is_unscaled = !event->is_known,
				.events = sums[i].events,
				.variance = sums[i].variance,
				.n_samples = sums[i].n,
			};
	}
}

/* The whole is the sum of all objects. */
static void sum_objects(struct cycle_report *r)
{
	size_t n = r->objects->events.n;

	r->whole = mem_zalloc(n + 1, sizeof(*r->whole));
	for (uint32_t row = 0; row < cycle_report_whole(r); row++)
		for (size_t i = 0; i < n; i++) {
			const struct event_sum *sum = &cycle_report_sums(r, row)[i];

			r->whole[i].weight += sum->weight;
			r->whole[i].events += sum->events;
			r->whole[i].variance += sum->variance;
			r->whole[i].n += sum->n;
		}
}

/* The rate of issue is that of the whole capture, so this row is accounted first. */
static void account_rows(struct cycle_report *r)
{
	size_t n = r->tree->n_nodes;
	struct cycle_count *counts = mem_alloc(n, sizeof(*counts));
	struct cycle_account_options whole = { .penalties = r->request->penalties };

	vec_reserve(&r->values, (cycle_report_whole(r) + (size_t)1) * n);
	r->values.n = (cycle_report_whole(r) + (size_t)1) * n;
	count_nodes(r, cycle_report_whole(r), counts);
	whole.issued_per_cycle = cycle_issued_per_cycle(r->tree, counts);
	cycle_account(r->tree, counts, &whole, &r->values.items[cycle_report_whole(r) * n]);
	r->options = whole;
	r->options.is_fine = r->is_fine;
	for (uint32_t row = 0; row < cycle_report_whole(r); row++) {
		count_nodes(r, row, counts);
		cycle_account(r->tree, counts, &r->options, &r->values.items[row * n]);
	}
	free(counts);
}

/* By cycles, then by samples of all events, then by what the keys stand for. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct cycle_report *r = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double p = cycle_report_cycles(r, x), q = cycle_report_cycles(r, y);
	uint64_t n = 0, m = 0;

	if (p != q)
		return p > q ? -1 : 1;
	for (size_t i = 0; i < r->objects->events.n; i++) {
		n += cycle_report_sums(r, x)[i].n;
		m += cycle_report_sums(r, y)[i].n;
	}
	if (n != m)
		return n > m ? -1 : 1;
	return cycle_objects_compare(r->objects, x, y);
}

static void order_rows(struct cycle_report *r)
{
	uint32_t n = cycle_report_whole(r);

	r->order = mem_alloc(n + 1u, sizeof(*r->order));
	for (uint32_t i = 0; i < n; i++)
		r->order[i] = i;
	qsort_r(r->order, n, sizeof(*r->order), compare_rows, r);
}

static bool is_fine(const struct keys *keys)
{
	return keys_have(keys, KEY_LINE) || keys_have(keys, KEY_INSTRUCTION) ||
	       keys_have(keys, KEY_PLACE);
}

static void cycle_report_make(struct cycle_report *r, const struct cycle_objects *objects,
			      const struct cycle_request *request)
{
	*r = (struct cycle_report){
		.objects = objects,
		.request = request,
		.tree = objects->tree,
		.is_fine = is_fine(&objects->keys),
	};
	sum_objects(r);
	account_rows(r);
	order_rows(r);
}

static void cycle_report_release(struct cycle_report *r)
{
	vec_release(&r->values);
	free(r->whole);
	free(r->order);
}

static int fill_tables(const struct cycle_report *r, struct cycle_tables *out, struct err *err)
{
	if (cycle_report_long(r, &out->cycles, err) < 0)
		return -1;
	if (!r->request->is_for_people) {
		*vec_add(&out->shown.list) = &out->cycles;
		return 0;
	}
	if (r->request->node_of != NULL) {
		*vec_add(&out->shown.list) = &out->nodes;
		return cycle_report_nodes(r, &out->nodes, err);
	}
	cycle_report_answer(r, &out->answer);
	cycle_report_shares(r, &out->shares);
	*vec_add(&out->shown.list) = &out->answer;
	*vec_add(&out->shown.list) = &out->shares;
	return 0;
}

int cycles_make(const struct cycle_objects *objects, const struct cycle_request *request,
		struct cycle_tables *out, struct err *err)
{
	struct cycle_report r;
	int rc;

	*out = (struct cycle_tables){ 0 };
	cycle_report_make(&r, objects, request);
	rc = fill_tables(&r, out, err);
	cycle_report_release(&r);
	return rc;
}

int cycle_totals_init(struct cycle_totals *out, struct session *s, const struct select *select,
		      const struct cycle_options *options, struct err *err)
{
	const struct keys keys = { { KEY_PROCESS }, 1 };
	struct cycle_objects objects;
	struct cycle_request request = { 0 };
	struct cycle_report r;
	size_t n;
	int rc;

	*out = (struct cycle_totals){ 0 };
	if (cycle_options_tree(options, s, &out->tree, err) < 0)
		return -1;
	n = out->tree->n_nodes;
	out->penalties = cycle_options_penalties(options, out->tree, err);
	if (out->penalties == NULL) {
		cycle_totals_release(out);
		return -1;
	}
	request.penalties = out->penalties;
	cycle_objects_init(&objects, out->tree, &keys, false);
	rc = cycle_objects_add(&objects, s, select, err);
	if (rc == 0) {
		cycle_report_make(&r, &objects, &request);
		out->values = mem_alloc(n, sizeof(*out->values));
		memcpy(out->values, cycle_report_values(&r, cycle_report_whole(&r)),
		       n * sizeof(*out->values));
		cycle_report_release(&r);
	}
	cycle_objects_release(&objects);
	if (rc < 0)
		cycle_totals_release(out);
	return rc;
}

void cycle_totals_release(struct cycle_totals *t)
{
	cycle_template_free(t->tree);
	free(t->penalties);
	free(t->values);
}

void cycle_tables_release(struct cycle_tables *t)
{
	table_release(&t->answer);
	table_release(&t->shares);
	table_release(&t->nodes);
	table_release(&t->cycles);
	vec_release(&t->shown.list);
}
