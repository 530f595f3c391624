/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/parts.h"

#include <stdlib.h>

#include "access/data_src.h"
#include "base/alloc.h"
#include "estimate/shares.h"
#include "spe/names.h"
#include "spe/packet.h"

enum translation_column {
	TRANSLATION_KIND,
	TRANSLATION_HOW,
	TRANSLATION_SAMPLES,
	TRANSLATION_SHARE,
	TRANSLATION_MEAN,
	TRANSLATION_ACCESS,
	TRANSLATION_TOTAL,
	TRANSLATION_PART,
	N_TRANSLATION,
};
static const struct column translation_columns[N_TRANSLATION] = {
	{ "access", NULL, "", CELL_TEXT, 0, "load, store, or atomic (counted as neither)" },
	{ "translation", NULL, "", CELL_TEXT, 0, "with or without a page table walk" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "SPE records, or samples" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE, "part of this kind of access" },
	{ "translation_mean_cycles", "translation", "cycles", CELL_NUMBER, COLUMN_TRUST,
	  "mean translation latency" },
	{ "access_mean_cycles", "execution + translation", "cycles", CELL_NUMBER, COLUMN_TRUST,
	  "mean execution and translation latency" },
	{ "total_mean_cycles", "total", "cycles", CELL_NUMBER, COLUMN_TRUST, "mean total latency" },
	{ "translation_share", "translation share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
	  "translation's part of the total latency cycles of this kind of access" },
};

/* SPE records always say whether there was a walk, samples need not. */
enum translation { NO_WALK, WALK, NOT_TOLD, N_TRANSLATIONS };
static const char *const translation_words[] = { "no walk", "walk", "not recorded" };

static enum translation translation_of(const struct mem *mem, uint64_t events)
{
	if (events >> SPE_EV_TLB_WALK & 1)
		return WALK;
	return mem->is_sampled && !(events >> SPE_EV_TLB_ACCESS & 1) ? NOT_TOLD : NO_WALK;
}

static void show_translation(const struct mem_cost *c, const struct mem_cost *all,
			     enum memory_kind kind, enum translation how, struct table *out)
{
	struct cell *row;

	if (c->n == 0)
		return;
	row = table_add_row(out);
	row[TRANSLATION_KIND] = cell_text(memory_kind_name(kind));
	row[TRANSLATION_HOW] = cell_text(translation_words[how]);
	row[TRANSLATION_SAMPLES] = cell_count(c->n);
	row[TRANSLATION_SHARE] = cell_ratio(c->n, all->n);
	row[TRANSLATION_MEAN] = mem_mean_cell(&c->sums[LATENCY_XLAT], 1);
	row[TRANSLATION_ACCESS] = mem_mean_cell(&c->sums[LATENCY_ACCESS], 1);
	row[TRANSLATION_TOTAL] = mem_mean_cell(&c->sums[LATENCY_TOTAL], 1);
	if (c->sums[LATENCY_XLAT].n > 0)
		row[TRANSLATION_PART] = cell_latency_share(
			(struct latency_amount){ c->sums[LATENCY_XLAT].cycles, 0 },
			(struct latency_amount){ mem_weight(all), all->full_cycles }, c->n);
}

bool mem_translation_table(const struct mem *mem, struct table *out)
{
	uint64_t n_walks = 0;
	struct mem_cost costs[N_MEMORY_KINDS][N_TRANSLATIONS] = { 0 }, all[N_MEMORY_KINDS] = { 0 };
	struct mem_position at = { 0 };
	struct mem_group g;

	while (mem_next(mem, &at, &g)) {
		mem_cost_add_group(&costs[g.kind][translation_of(mem, g.key[DIM_EVENTS])], &g);
		mem_cost_add_group(&all[g.kind], &g);
	}
	table_init(out, "translation", "Address translation", translation_columns, N_TRANSLATION);
	for (int kind = 0; kind < N_MEMORY_KINDS; kind++) {
		for (int how = 0; how < N_TRANSLATIONS; how++)
			show_translation(&costs[kind][how], &all[kind], (enum memory_kind)kind,
					 (enum translation)how, out);
		n_walks += costs[kind][WALK].n;
	}
	return n_walks > 0;
}

static const struct column event_columns[] = {
	{ "access", NULL, "", CELL_TEXT, 0, "load, store, or atomic (counted as neither)" },
	{ "events", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH,
	  "the set of events of the records" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "SPE records, or samples" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE, "part of this kind of access" },
	{ "total_mean_cycles", "total", "cycles", CELL_NUMBER, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
	  "mean total latency" },
};

/* A set of events with what it adds up to. */
struct event_set {
	enum memory_kind kind;
	uint64_t events;
	struct mem_cost cost;
};

static int compare_sets(const void *left, const void *right)
{
	const struct event_set *a = left, *b = right;

	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (a->cost.n != b->cost.n)
		return (a->cost.n < b->cost.n) - (a->cost.n > b->cost.n);
	return (a->events > b->events) - (a->events < b->events);
}

static void show_set(const struct event_set *set, bool is_sampled, const uint64_t *n_of_kind,
		     struct table *out)
{
	struct cell *row = table_add_row(out);
	struct text text = { 0 };

	if (is_sampled)
		data_src_facts_text(set->events, ':', &text);
	else
		spe_events_text(set->events, ':', &text);
	text_char(&text, '\0');
	row[0] = cell_text(memory_kind_name(set->kind));
	row[1] = cell_text(table_text(out, text.bytes));
	row[2] = cell_count(set->cost.n);
	row[3] = cell_ratio(set->cost.n, n_of_kind[set->kind]);
	row[4] = mem_mean_cell(&set->cost.sums[LATENCY_TOTAL], 1);
	text_release(&text);
}

void mem_events_table(const struct mem *mem, size_t top, struct table *out)
{
	VEC_OF(struct event_set) sets = { 0 };
	uint64_t n_of_kind[N_MEMORY_KINDS] = { 0 };
	size_t n_left[N_MEMORY_KINDS], n_cut = 0;
	struct mem_position at = { 0 };
	struct mem_group g;
	struct tuples keys;

	tuples_init(&keys, 2);
	while (mem_next(mem, &at, &g)) {
		uint64_t key[2] = { g.kind, g.key[DIM_EVENTS] };
		uint32_t number = tuples_add(&keys, key);

		if (number == sets.n)
			*vec_add(&sets) = (struct event_set){ .kind = g.kind, .events = key[1] };
		mem_cost_add_group(&sets.items[number].cost, &g);
	}
	for (size_t i = 0; i < sets.n; i++)
		n_of_kind[sets.items[i].kind] += sets.items[i].cost.n;
	if (sets.n > 1)
		qsort(sets.items, sets.n, sizeof(*sets.items), compare_sets);
	table_init(out, "events", "Sets of events", event_columns, COUNT(event_columns));
	for (int kind = 0; kind < N_MEMORY_KINDS; kind++)
		n_left[kind] = top == 0 ? SIZE_MAX : top;
	for (size_t i = 0; i < sets.n; i++) {
		if (n_left[sets.items[i].kind] == 0) {
			n_cut++;
			continue;
		}
		n_left[sets.items[i].kind]--;
		show_set(&sets.items[i], mem->is_sampled, n_of_kind, out);
	}
	if (n_cut > 0)
		table_note(out, "%zu more; --all shows them", n_cut);
	tuples_release(&keys);
	vec_release(&sets);
}
