/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/report.h"
#include "scan/scan.h"
#include "table/answer.h"

struct event_sum report_node_sum(const struct cycle_report *r, uint32_t row, int node)
{
	const struct event_sum *sums = report_sums(r, row);
	struct event_sum out = { 0 };

	for (size_t i = 0; i < r->events.n; i++) {
		if (r->events.nodes[i] != node)
			continue;
		out.weight += sums[i].weight;
		out.events += sums[i].events;
		out.variance += sums[i].variance;
		out.n += sums[i].n;
	}
	return out;
}

double report_cycles(const struct cycle_report *r, uint32_t row)
{
	const struct cycle_value *v = &report_values(r, row)[r->tree->cycles];

	return v->state == CYCLE_MEASURED ? v->cycles : 0;
}

/* What is counted at a node in a row: nothing, unless the capture has its event. */
static void count_nodes(const struct cycle_report *r, uint32_t row, struct cycle_count *counts)
{
	const struct event_sum *sums = report_sums(r, row);

	for (size_t i = 0; i < r->tree->n_nodes; i++)
		counts[i] = (struct cycle_count){ 0 };
	for (size_t i = 0; i < r->events.n; i++) {
		struct cycle_count *count;

		if (r->events.nodes[i] == NO_NODE)
			continue;
		count = &counts[r->events.nodes[i]];
		count->is_collected = true;
		count->events += sums[i].events;
		count->variance += sums[i].variance;
		count->n_samples += sums[i].n;
	}
}

/* The whole capture is the sum of all rows. */
static void sum_rows(struct cycle_report *r)
{
	r->whole = mem_zalloc(r->events.n + 1, sizeof(*r->whole));
	for (uint32_t row = 0; row < r->rows.words.n; row++)
		for (size_t i = 0; i < r->events.n; i++) {
			const struct event_sum *sum = &cycle_rows_sums(&r->rows, row)[i];

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

	vec_reserve(&r->values, (r->rows.words.n + 1) * n);
	r->values.n = (r->rows.words.n + 1) * n;
	count_nodes(r, report_whole(r), counts);
	whole.issued_per_cycle = cycle_issued_per_cycle(r->tree, counts);
	cycle_account(r->tree, counts, &whole, &r->values.items[report_whole(r) * n]);
	r->options = whole;
	r->options.is_fine = r->is_fine;
	for (uint32_t row = 0; row < r->rows.words.n; row++) {
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
	double p = report_cycles(r, x), q = report_cycles(r, y);
	const uint64_t *u = tuples_get(&r->rows.words, x), *v = tuples_get(&r->rows.words, y);
	uint64_t n = 0, m = 0;
	size_t at = 0;

	if (p != q)
		return p > q ? -1 : 1;
	for (size_t i = 0; i < r->events.n; i++) {
		n += report_sums(r, x)[i].n;
		m += report_sums(r, y)[i].n;
	}
	if (n != m)
		return n > m ? -1 : 1;
	for (size_t i = 0; i < r->rows.keys->n; i++) {
		const struct key_class *class = &key_classes[r->rows.keys->keys[i]];

		for (size_t w = 0; w < class->n_words; w++, at++) {
			int order = key_word_compare(&r->names, class->words[w], u[at], v[at]);

			if (order != 0)
				return order;
		}
	}
	return 0;
}

static void order_rows(struct cycle_report *r)
{
	uint32_t n = r->rows.words.n;

	r->order = mem_alloc(n + 1u, sizeof(*r->order));
	for (uint32_t i = 0; i < n; i++)
		r->order[i] = i;
	qsort_r(r->order, n, sizeof(*r->order), compare_rows, r);
}

/* Nothing to account: the error says what the capture has, and how to record more. */
static int check_events(const struct cycle_report *r, struct err *err)
{
	struct text names = { 0 };

	if (r->events.n_matched > 0)
		return 0;
	for (size_t i = 0; i < r->events.n; i++) {
		if (!cycle_event_counts(r->session, i))
			continue;
		text_part(&names);
		text_str(&names, capture_event_name(r->session->capture, i));
	}
	err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		"no event of the cycle accounting tree %s was sampled; found %.*s. List its events "
		"with "
		"'cyclops list penalties --cpu %s'",
		r->tree->id, names.n > 0 ? (int)names.n : 7, names.n > 0 ? names.bytes : "nothing",
		r->tree->id);
	text_release(&names);
	return -1;
}

static bool is_fine(const struct keys *keys)
{
	return keys_have(keys, KEY_LINE) || keys_have(keys, KEY_INSTRUCTION) ||
	       keys_have(keys, KEY_PLACE);
}

static void report_release(struct cycle_report *r)
{
	cycle_events_release(&r->events);
	mux_free(r->mux);
	names_release(&r->names);
	cycle_rows_release(&r->rows);
	vec_release(&r->values);
	free(r->whole);
	free(r->order);
}

static int fill_tables(struct cycle_report *r, struct cycle_tables *out, struct err *err)
{
	if (report_long(r, &out->cycles, err) < 0)
		return -1;
	if (!r->request->is_for_people) {
		*vec_add(&out->shown.list) = &out->cycles;
		return 0;
	}
	if (r->request->node_of != NULL) {
		*vec_add(&out->shown.list) = &out->nodes;
		return report_nodes(r, &out->nodes, err);
	}
	report_answer(r, &out->answer);
	report_shares(r, &out->shares);
	*vec_add(&out->shown.list) = &out->answer;
	*vec_add(&out->shown.list) = &out->shares;
	return 0;
}

/* Matches the events, scans and accounts. `r` is to be released also after a failure. */
static int report_make(struct cycle_report *r, struct session *s, const struct select *select,
		       const struct cycle_request *request, struct err *err)
{
	struct cycle_sums_options options = { 0 };
	struct analysis sums = { .class = &cycle_sums_class, .options = &options };

	*r = (struct cycle_report){ .session = s, .request = request, .tree = request->tree };
	if (cycle_events_match(s, r->tree, &r->events, err) < 0)
		return -1;
	r->is_fine = is_fine(&request->keys);
	r->mux = mux_new(s);
	options.mux = r->mux;
	options.dimensions =
		keys_dimensions(&request->keys) | (mux_differs_by_cpu(r->mux) ? 1u << DIM_CPU : 0);
	if (check_events(r, err) < 0)
		return -1;
	scan(s, select, &sums, 1);
	cycle_names(s, sums.result, &request->keys, &r->names);
	cycle_rows_init(&r->rows, sums.result, &r->names, &request->keys);
	cycle_sums_class.free(sums.result);
	sum_rows(r);
	account_rows(r);
	order_rows(r);
	return 0;
}

int cycles_make(struct session *s, const struct select *select, const struct cycle_request *request,
		struct cycle_tables *out, struct err *err)
{
	struct cycle_report r;
	int rc;

	*out = (struct cycle_tables){ 0 };
	rc = report_make(&r, s, select, request, err);
	if (rc == 0)
		rc = fill_tables(&r, out, err);
	report_release(&r);
	return rc;
}

int cycle_totals_init(struct cycle_totals *out, struct session *s, const struct select *select,
		      struct err *err)
{
	struct cycle_request request = { .keys = { { KEY_PROCESS }, 1 } };
	struct cycle_report r;
	size_t n;
	int rc;

	*out = (struct cycle_totals){ 0 };
	if (cycle_template_of_capture(s, &out->tree, err) < 0)
		return -1;
	n = out->tree->n_nodes;
	out->penalties = mem_alloc(n, sizeof(*out->penalties));
	for (size_t i = 0; i < n; i++)
		out->penalties[i] = cycle_node_penalty(out->tree, (int)i, 0);
	request.tree = out->tree;
	request.penalties = out->penalties;
	rc = report_make(&r, s, select, &request, err);
	if (rc == 0) {
		out->values = mem_alloc(n, sizeof(*out->values));
		memcpy(out->values, report_values(&r, report_whole(&r)), n * sizeof(*out->values));
	}
	report_release(&r);
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
