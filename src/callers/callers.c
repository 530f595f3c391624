/* SPDX-License-Identifier: Apache-2.0 */
#include "callers/callers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/random.h"
#include "callers/shares.h"

/* What scans give SPE rows their callers by. */
struct caller_model {
	struct stacks_seen seen;
	struct caller_groups groups;
	struct neighbours *neighbours;
	struct chain_shares shares;
	uint32_t *order; /* groups with records, those with the most first */
	uint32_t n_order;
};

static void caller_model_free(void *context)
{
	struct caller_model *m = context;

	chain_shares_release(&m->shares);
	neighbours_free(m->neighbours);
	caller_groups_release(&m->groups);
	stacks_seen_release(&m->seen);
	free(m->order);
	free(m);
}

/* Draws one of the chains by their shares in the row's cell. */
static uint32_t find_callers(const void *context, const struct batch *b, size_t row)
{
	const struct caller_model *m = context;
	uint64_t random = b->position[row];
	const struct caller_group *g;
	const float *sums;
	uint32_t cell, group;
	float drawn;
	const struct group_chain *chain;

	cell = neighbours_cell(m->neighbours, b, row, &group);
	if (cell == TUPLES_NONE)
		return ATTRIBUTION_NO_CALLERS;
	g = &m->groups.list.items[group];
	sums = m->shares.sums.items + m->shares.first[cell];
	drawn = (float)(random_next(&random) >> 40) / (float)(1 << 24) * sums[g->list.n - 1];
	chain = &g->list.items[bisect(0, g->list.n - 1, i, sums[i] <= drawn)];
	return g->frames.items[chain->first_frame + random_below(&random, chain->n_frames)];
}

static int compare_known(const void *left, const void *right, void *context)
{
	const struct callers_known *known = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (known[a].n_records != known[b].n_records)
		return known[a].n_records > known[b].n_records ? -1 : 1;
	return (a > b) - (a < b);
}

static void order_known(struct caller_model *m)
{
	m->order = mem_alloc(m->groups.list.n + 1, sizeof(*m->order));
	for (uint32_t i = 0; i < m->groups.list.n; i++)
		if (m->shares.known[i].n_records > 0)
			m->order[m->n_order++] = i;
	if (m->n_order > 1)
		qsort_r(m->order, m->n_order, sizeof(*m->order), compare_known, m->shares.known);
}

void callers_estimate(struct session *s)
{
	struct caller_model *m;

	if (s->callers.is_asked || capture_n_chunks(s->capture) == 0 ||
	    capture_totals(s->capture)->n_samples == 0)
		return;
	s->callers.is_asked = true;
	m = mem_zalloc(1, sizeof(*m));
	if (!stacks_seen_collect(&m->seen, s)) {
		stacks_seen_release(&m->seen);
		free(m);
		return;
	}
	caller_groups_init(&m->groups, &m->seen);
	m->neighbours = neighbours_find(&m->groups, s);
	chain_shares_init(&m->shares, m->neighbours);
	order_known(m);
	s->callers.of = (struct attribution_callers){ find_callers, m, &m->seen.frames };
	s->callers.free = caller_model_free;
}

static const struct caller_model *model_of(const struct session *s)
{
	return s->callers.of.context;
}

struct callers_known callers_known_of_all(const struct session *s)
{
	return model_of(s) != NULL ? model_of(s)->shares.all : (struct callers_known){ 0 };
}

bool callers_known_at(const struct session *s, size_t i, struct callers_known *out)
{
	const struct caller_model *m = model_of(s);

	if (m == NULL || i >= m->n_order)
		return false;
	*out = m->shares.known[m->order[i]];
	return true;
}

bool callers_sentence(const struct session *s, struct text *out)
{
	struct callers_known all = callers_known_of_all(s);

	if (all.n_records == 0)
		return false;
	text_format(out,
		    "callers of SPE records are estimated from %" PRIu64
		    " stacks of samples: a caller's share of a function's records "
		    "± %.0f points, of latency ± %.0f, of L1D misses ± %.0f",
		    all.n_stacks, 100 * all.error[CALLERS_OF_RECORDS],
		    100 * all.error[CALLERS_OF_LATENCY], 100 * all.error[CALLERS_OF_MISSES]);
	return true;
}

void callers_note(const struct session *s, struct table *t)
{
	struct text text = { 0 };

	if (callers_sentence(s, &text))
		table_note(t, "%.*s", (int)text.n, text.bytes);
	text_release(&text);
}
