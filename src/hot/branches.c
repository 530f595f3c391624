/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/branches.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "capture/format/branches.h"
#include "capture/format/sample.h"

/* Bits of branch_sample_type that choose kinds of branches; without ANY only these are recorded. */
static const struct {
	uint8_t bit;
	const char *name;
} kinds[] = {
	{ 4, "calls" },
	{ 5, "returns" },
	{ 6, "indirect calls" },
	{ 7, "aborts of transactions" },
	{ 8, "in transactions" },
	{ 9, "outside of transactions" },
	{ 10, "conditional ones" },
	{ 12, "indirect jumps" },
	{ 13, "direct calls" },
};

enum { ANY = 3 };

static bool has_stacks(const struct attr *a)
{
	return a->sample_type >> SAMPLE_BRANCH_STACK & 1 && !branches_are_calls(a);
}

bool session_has_branches(const struct session *s)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (has_stacks(&capture_event(s->capture, i)->attr))
			return true;
	return false;
}

/* The sums of all branch entries. */
static struct hot_cost all_branches(const struct hot *hot)
{
	struct hot_cost all = { 0 }, *totals = hot_totals(hot);

	for (uint64_t event = 0; event < hot_event_end(hot); event++) {
		size_t sampled;

		if (hot_is_branches(hot, event, &sampled))
			hot_cost_add(&all, &totals[event]);
	}
	free(totals);
	return all;
}

int hot_branches_check(const struct hot *hot, const struct hot_event *e, struct err *err)
{
	struct hot_cost all = all_branches(hot);

	if (all.n_branches == 0 || capture_spe(hot->session->capture)->is_present)
		return 0;
	if (e->needs_prediction && all.n_predicted == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--event: the CPU did not record predictions: not in any of %" PRIu32
			       " branch stack entries",
			       all.n_branches);
	if (e->needs_type && all.n_typed == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--event: kinds of branches were not recorded in %" PRIu32
			       " branch stack entries (record with --branches=any,save_type)",
			       all.n_branches);
	return 0;
}

static void note_kinds(const struct attr *a, const char *name, struct table *t)
{
	struct text text = { 0 };

	if (!has_stacks(a) || a->branch_sample_type >> ANY & 1)
		return;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (a->branch_sample_type >> kinds[i].bit & 1)
			text_format(&text, "%s%s", text.n > 0 ? ", " : "", kinds[i].name);
	if (text.n > 0)
		table_note(t, "only some branches were recorded with %s: %.*s", name, (int)text.n,
			   text.bytes);
	text_release(&text);
}

void hot_branches_note(const struct hot *hot, struct table *t)
{
	const struct capture *capture = hot->session->capture;
	struct hot_cost all = all_branches(hot);
	uint64_t decidable = all.n_decidable;

	if (all.n_branches == 0) {
		table_note(t, "no entries of branch stacks");
		return;
	}
	table_note(t,
		   "rows count branch stack entries, the branches before each sample: %" PRIu32
		   " of %" PRIu64 " (%.1f %%)",
		   all.n, decidable,
		   decidable == 0 ? 0 : 100.0 * (double)all.n / (double)decidable);
	table_note(t, "the entries are near samples, not a sample of all branches: there are no "
		      "totals, and shares are of entries");
	if (all.n_predicted > 0 && all.n_mispredicted == 0)
		table_note(t, "all entries are marked as predicted: perf inject does so when it "
			      "makes branch stacks of a trace");
	if (decidable < all.n_branches)
		table_note(t, "%" PRIu64 " more entries do not say", all.n_branches - decidable);
	for (size_t i = 0; i < capture_n_events(capture); i++)
		note_kinds(&capture_event(capture, i)->attr, capture_event_name(capture, i), t);
}
