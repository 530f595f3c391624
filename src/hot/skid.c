/* SPDX-License-Identifier: Apache-2.0 */
/* Skid: where samples of an event fell, beside where SPE records say that it happened. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "hot/event.h"
#include "hot/sums/group.h"

enum { N_SUMS = 5, MAX_COLUMNS = N_KEYS * KEY_MAX_COLUMNS + N_SUMS };

static const struct column sums[N_SUMS] = {
	{ "spe_share", "SPE", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
	  "part of the SPE records with the event" },
	{ "sampled_share", "sampled", "", CELL_NUMBER, COLUMN_SHARE,
	  "part of the sampled event, as its samples fell" },
	{ "difference", NULL, "", CELL_NUMBER, COLUMN_SHARE, "sampled share less SPE share" },
	{ "spe_samples", "records", "samples", CELL_COUNT, 0, "SPE records with the event" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples of the event" },
};

/* A group: its SPE records, and its samples. */
struct skid_row {
	uint64_t words[HOT_GROUP_WORDS];
	uint64_t n_spe, n_sampled, period;
};

struct skid {
	struct tuples keys;
	VEC_OF(struct skid_row) rows;
	uint64_t n_spe, n_sampled, period;
	uint64_t on_spe; /* period of samples in groups that have SPE records */
};

static void skid_add_groups(struct skid *k, const struct hot *hot, const struct hot_event *e,
			    const struct hot_grouping *g)
{
	for (size_t i = 0; i < g->groups.n; i++) {
		const struct hot_cost *cost = &g->groups.items[i].cost;
		uint64_t words[HOT_GROUP_WORDS] = { 0 };
		uint64_t event;
		uint32_t number;

		memcpy(words, tuples_get(&g->keys, (uint32_t)i), g->n_words * sizeof(*words));
		event = words[0];
		if (cost->n == 0 || (!hot_is_spe(hot, event) && (int)event != e->sampled))
			continue;
		words[0] = 0;
		number = tuples_add(&k->keys, words);
		if (number == k->rows.n)
			memcpy(vec_add(&k->rows)->words, words, sizeof(words));
		if (hot_is_spe(hot, event)) {
			k->rows.items[number].n_spe += cost->n;
			k->n_spe += cost->n;
		} else {
			k->rows.items[number].n_sampled += cost->n;
			k->rows.items[number].period += cost->period;
			k->n_sampled += cost->n;
			k->period += cost->period;
		}
	}
	for (size_t i = 0; i < k->rows.n; i++)
		k->on_spe += k->rows.items[i].n_spe > 0 ? k->rows.items[i].period : 0;
}

struct order {
	const struct skid *skid;
	const struct hot_grouping *g;
};

static int hot_skid_compare_rows(const void *left, const void *right, void *context)
{
	const struct order *o = context;
	const struct skid_row *a = &o->skid->rows.items[*(const uint32_t *)left];
	const struct skid_row *b = &o->skid->rows.items[*(const uint32_t *)right];
	double x = fmax(ratio(a->n_spe, o->skid->n_spe), ratio(a->period, o->skid->period));
	double y = fmax(ratio(b->n_spe, o->skid->n_spe), ratio(b->period, o->skid->period));

	if (x != y)
		return (x < y) - (x > y);
	if (a->n_spe != b->n_spe)
		return (a->n_spe < b->n_spe) - (a->n_spe > b->n_spe);
	return hot_words_compare(o->g, a->words, b->words);
}

static void skid_start_table(const struct keys *keys, struct table *out)
{
	struct column list[MAX_COLUMNS];
	size_t n = keys_add_columns(keys, list, 0);

	memcpy(list + n, sums, sizeof(sums));
	table_init(out, "skid", NULL, list, n + N_SUMS);
	table_own_columns(out, 0);
}

static void hot_skid_show_row(const struct skid *k, const struct hot_grouping *g,
			      const struct skid_row *r, struct table *out)
{
	struct cell *row = table_add_row(out);
	struct cell *sum = row + out->n_columns - N_SUMS;
	double spe = ratio(r->n_spe, k->n_spe), sampled = ratio(r->period, k->period);

	hot_show_keys(g, r->words + 1, out, row);
	sum[0] = cell_number(spe);
	sum[1] = cell_number(sampled);
	sum[2] = cell_number(sampled - spe);
	sum[3] = cell_count(r->n_spe);
	sum[4] = cell_count(r->n_sampled);
}

void hot_skid_table(const struct hot *hot, const struct hot_event *e, const struct names *names,
		    const struct keys *keys, size_t top, struct table *out)
{
	const struct hot_view view = { .keys = *keys };
	struct hot_grouping g;
	struct skid skid = { 0 };
	struct order order = { &skid, &g };
	uint32_t *numbers;

	hot_grouping_init(&g, hot, names, &view);
	tuples_init(&skid.keys, HOT_GROUP_WORDS);
	skid_add_groups(&skid, hot, e, &g);
	skid_start_table(keys, out);
	out->title = table_format(out, "Skid of %s: samples beside SPE records",
				  capture_event_name(hot->session->capture, (size_t)e->sampled));
	numbers = mem_alloc(skid.rows.n + 1, sizeof(*numbers));
	for (uint32_t i = 0; i < skid.rows.n; i++)
		numbers[i] = i;
	qsort_r(numbers, skid.rows.n, sizeof(*numbers), hot_skid_compare_rows, &order);
	for (size_t i = 0; i < skid.rows.n && (top == 0 || i < top); i++)
		hot_skid_show_row(&skid, &g, &skid.rows.items[numbers[i]], out);
	if (skid.period > 0 && skid.n_spe > 0)
		table_note(out,
			   "%.1f %% of the samples are at instructions without an SPE record of "
			   "the event: samples skid, SPE records do not",
			   100 * (1 - ratio(skid.on_spe, skid.period)));
	free(numbers);
	tuples_release(&skid.keys);
	vec_release(&skid.rows);
	hot_grouping_release(&g);
}
