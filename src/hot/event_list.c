/* SPDX-License-Identifier: Apache-2.0 */
/* The table of --event list: all words of --event are counted in one scan. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "hot/branches.h"
#include "hot/event.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"
#include "spe/names.h"
#include "spe/packet.h"

enum { SPE_BITS = 64, MAX_WORDS = SPE_BITS + 32 };

static const struct column columns[] = {
	{ "event", NULL, "", CELL_TEXT, COLUMN_GROW, "name for --event" },
	{ "records", NULL, "", CELL_TEXT, COLUMN_GROW,
	  "whose records tell it: samples, arm_spe, or branch stacks of a sampled event" },
	{ "samples", NULL, "samples", CELL_COUNT, 0,
	  "records or samples, or entries of branch stacks" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
	  "part of those that tell whether it holds" },
};

/* The words, and an analysis for each; behind the last one an analysis of all records. */
struct list {
	const char *names[MAX_WORDS];
	struct hot_event events[MAX_WORDS];
	struct hot_options options[MAX_WORDS];
	struct analysis analyses[MAX_WORDS + 1];
	size_t n;
};

/* Leaves out a word that no kind of record in this capture has. */
static void event_list_add_word(struct list *l, struct session *s, const char *name)
{
	struct hot_event *e = &l->events[l->n];
	struct err err;

	if (name == NULL || hot_event_choose(s, &name, 1, NULL, e, &err) < 0 || !e->is_spe)
		return;
	e->sampled = -1; /* not to be compared with samples */
	e->with_skid = false;
	l->names[l->n] = name;
	l->options[l->n] = hot_event_options(e, 1u << DIM_EVENT);
	l->analyses[l->n] = (struct analysis){ .class = &hot_class, .options = &l->options[l->n] };
	l->n++;
}

static void event_list_add_words(struct list *l, struct session *s)
{
	if (!capture_spe(s->capture)->is_present && !session_has_branches(s))
		return;
	for (unsigned bit = 0; bit < SPE_BITS; bit++)
		event_list_add_word(
			l, s, bit == SPE_EV_MISPREDICTED ? "mispredicted" : spe_event_name(bit));
	for (size_t i = 0; hot_event_word(i) != NULL && l->n < MAX_WORDS; i++)
		event_list_add_word(l, s, hot_event_word(i));
}

static void hot_event_list_add_row(struct table *t, const char *name, const char *records,
				   uint64_t n, uint64_t of)
{
	struct cell *row;

	if (n == 0)
		return;
	row = table_add_row(t);
	row[0] = cell_text(name);
	row[1] = cell_text(records);
	row[2] = cell_count(n);
	if (of > 0)
		row[3] = cell_number((double)n / (double)of);
}

static void show_word(const struct list *l, size_t word, const struct hot_cost *all,
		      struct table *t)
{
	const struct hot *hot = l->analyses[word].result;
	struct hot_cost *totals = hot_totals(hot);

	for (uint64_t event = 0; event < hot_event_end(hot); event++) {
		const char *name = table_text(t, l->names[word]);
		size_t sampled;

		if (hot_is_spe(hot, event))
			hot_event_list_add_row(t, name, "arm_spe", totals[event].n, all[event].n);
		if (hot_is_branches(hot, event, &sampled))
			hot_event_list_add_row(
				t, name,
				table_format(t, "branch stacks of %s",
					     capture_event_name(hot->session->capture, sampled)),
				totals[event].n, totals[event].n_decidable);
	}
	free(totals);
}

/* Event bits without a name: --event takes them as "impdef:12". */
static void show_unnamed(const struct hot *hot, uint64_t n_all, struct table *t)
{
	uint64_t n[SPE_BITS] = { 0 };

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t key[N_DIMENSIONS];

		hot_key(hot, i, key);
		if (!hot_is_spe(hot, key[DIM_EVENT]))
			continue;
		for (uint64_t bits = key[DIM_EVENTS]; bits != 0; bits &= bits - 1)
			n[__builtin_ctzll(bits)] += hot_cost(hot, i).n;
	}
	for (unsigned bit = 0; bit < SPE_BITS; bit++)
		if (spe_event_name(bit) == NULL)
			hot_event_list_add_row(t, table_format(t, "impdef:%u", bit), "arm_spe",
					       n[bit], n_all);
}

void hot_event_list(struct session *s, const struct select *select, struct table *out)
{
	const struct hot_options everything = { .dimensions = 1u << DIM_EVENT | 1u << DIM_EVENTS,
						.event = -1,
						.branches_of = -1 };
	const struct scan_wish wish = { .with_branches = session_has_branches(s) };
	struct list *l = mem_zalloc(1, sizeof(*l));
	struct hot_cost *all;

	event_list_add_words(l, s);
	l->analyses[l->n] = (struct analysis){ .class = &hot_class, .options = &everything };
	scan_part(s, select, &wish, l->analyses, l->n + 1);
	all = hot_totals(l->analyses[l->n].result);
	table_init(out, "events", "Events for --event", columns, COUNT(columns));
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		hot_event_list_add_row(out, table_text(out, capture_event_name(s->capture, i)),
				       "samples", all[i].n, 0);
	for (size_t i = 0; i < l->n; i++)
		show_word(l, i, all, out);
	show_unnamed(l->analyses[l->n].result, all[capture_n_events(s->capture)].n, out);
	for (size_t i = 0; i <= l->n; i++)
		hot_class.free(l->analyses[i].result);
	for (size_t i = 0; i < l->n; i++)
		hot_event_release(&l->events[i]);
	free(all);
	free(l);
}

void hot_event_note_none(struct session *s, const struct hot_event *e, const struct select *select,
			 struct table *t)
{
	const struct select *condition = e->is_spe ? e->condition : select;
	const struct hot_options all = { .event = -1, .branches_of = -1, .without_samples = true };
	struct hot_options some = all;
	struct analysis analyses[] = {
		{ .class = &hot_class, .options = &all },
		{ .class = &hot_class, .options = &some },
	};
	uint64_t n[COUNT(analyses)] = { 0 };

	if (table_n_rows(t) > 0 || condition == NULL || !capture_spe(s->capture)->is_present)
		return;
	some.condition = condition;
	scan_part(s, NULL, &(struct scan_wish){ 0 }, analyses, COUNT(analyses));
	for (size_t i = 0; i < COUNT(analyses); i++) {
		struct hot_cost *totals = hot_totals(analyses[i].result);

		n[i] = totals[capture_n_events(s->capture)].n;
		free(totals);
		hot_class.free(analyses[i].result);
	}
	if (n[0] == 0)
		table_note(t, "none: the capture has no SPE records");
	else if (n[1] > 0)
		table_note(t, "no selected SPE record has it; %" PRIu64 " of all records do", n[1]);
	else
		table_note(t,
			   e->is_spe ? "none of %s has it; not all CPUs record it"
				     : "none of %s matches; not all CPUs record all events and "
				       "operations",
			   table_human(t, cell_count(n[0]), "SPE records"));
	spe_filters_note(s, t);
}
