/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mem_rows.h"

#include <stdlib.h>

#include "analysis/hot_keys.h"
#include "base/alloc.h"

enum { MAX_WORDS = 1 + HOT_N_KEYS * HOT_KEY_WORDS };

static size_t width_of(const struct hot_keys *by)
{
	size_t width = 1;

	for (size_t i = 0; i < by->n; i++)
		width += hot_key_classes[by->keys[i]].n_words;
	return width;
}

/* The words of the row that a raw key belongs to. */
static void make_words(const struct mem_rows *r, enum mem_kind kind, const uint64_t *raw,
		       uint64_t *words)
{
	*words++ = kind;
	for (size_t i = 0; i < r->by->n; i++) {
		const struct hot_key_class *class = &hot_key_classes[r->by->keys[i]];

		class->make(r->names, raw, words);
		words += class->n_words;
	}
}

static uint32_t row_of(struct mem_rows *r, const uint64_t *words)
{
	uint32_t row = tuples_add(&r->keys, words);

	if (row == r->rows.n)
		vec_add(&r->rows);
	return row;
}

static void add_group(struct mem_rows *r, uint32_t group)
{
	uint64_t raw[HOT_N_DIMENSIONS], words[MAX_WORDS];

	make_words(r, mem_key(r->mem, group, raw), raw, words);
	r->row_of_group[group] = row_of(r, words);
	mem_cost_add_group(&r->rows.items[r->row_of_group[group]].cost, r->mem, group);
}

/* Finds the rows of another result's groups, which tells the same apart and more. */
struct row_finder {
	const struct mem_rows *rows;
	const struct mem *other;
	uint32_t *row_of_rest; /* if the keys need no place, by rest: its row + 1, or 0 */
};

static struct row_finder finder_of(const struct mem_rows *r, const struct mem *other)
{
	struct row_finder f = { r, other, NULL };

	if (!r->mem->has_place)
		f.row_of_rest = mem_zalloc(other->rests.n + 1, sizeof(*f.row_of_rest));
	return f;
}

static uint32_t find_row(const struct row_finder *f, uint32_t group)
{
	uint32_t rest = mem_place_group(f->other, group).rest;
	uint64_t raw[HOT_N_DIMENSIONS], words[MAX_WORDS];
	uint32_t row;

	if (f->row_of_rest != NULL && f->row_of_rest[rest] != 0)
		return f->row_of_rest[rest] - 1;
	make_words(f->rows, mem_key(f->other, group, raw), raw, words);
	row = tuples_find(&f->rows->keys, words);
	if (f->row_of_rest != NULL)
		f->row_of_rest[rest] = row + 1;
	return row;
}

void mem_rows_take_bytes(struct mem_rows *r, const struct mem *places,
			 const struct access_sizes *sizes)
{
	struct row_finder finder = finder_of(r, places);

	for (uint32_t i = 0; i < mem_n_groups(places); i++) {
		uint32_t bytes = sizes->bytes[mem_place_group(places, i).place];
		uint64_t operations, n = mem_count(places, i, &operations);
		struct mem_row *row;

		if (bytes == 0)
			continue;
		row = &r->rows.items[places == r->mem ? r->row_of_group[i] : find_row(&finder, i)];
		row->bytes += operations * bytes;
		row->n_sized += n;
	}
	free(finder.row_of_rest);
}

void mem_rows_take_slices(struct mem_rows *r, const struct mem *slices)
{
	struct row_finder finder = finder_of(r, slices);
	uint32_t n_slices = slices->session->slices.n;

	vec_reserve(&r->slices, r->rows.n * n_slices);
	r->slices.n = r->rows.n * n_slices;
	for (uint32_t i = 0; i < mem_n_groups(slices); i++) {
		uint64_t raw[HOT_N_DIMENSIONS], operations;

		mem_key(slices, i, raw);
		if (raw[DIM_SLICE] < n_slices)
			r->slices.items[(size_t)find_row(&finder, i) * n_slices + raw[DIM_SLICE]] +=
				mem_count(slices, i, &operations);
	}
	free(finder.row_of_rest);
}

/* Adds up the rows of each kind. */
static void add_up(struct mem_rows *r)
{
	for (uint32_t i = 0; i < r->rows.n; i++)
		mem_cost_add(&r->kinds[tuples_get(&r->keys, i)[0]], &r->rows.items[i].cost);
}

static int compare_words(const struct mem_rows *r, const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < r->by->n; i++) {
		const struct hot_key_class *class = &hot_key_classes[r->by->keys[i]];

		for (size_t w = 0; w < class->n_words; w++) {
			int order = hot_word_compare(r->names, class->words[w], *++a, *++b);

			if (order != 0)
				return order;
		}
	}
	return 0;
}

uint64_t mem_weight(const struct mem_cost *c)
{
	return c->sums[LATENCY_TOTAL].cycles + c->full_cycles;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct mem_rows *r = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *x = tuples_get(&r->keys, a), *y = tuples_get(&r->keys, b);
	const struct mem_cost *ca = &r->rows.items[a].cost, *cb = &r->rows.items[b].cost;
	uint64_t wa = mem_weight(ca), wb = mem_weight(cb);

	if (x[0] != y[0])
		return (x[0] > y[0]) - (x[0] < y[0]);
	if (hot_keys_are_time(r->by))
		return compare_words(r, x, y);
	if (wa != wb)
		return (wa < wb) - (wa > wb);
	if (ca->n != cb->n)
		return (ca->n < cb->n) - (ca->n > cb->n);
	return compare_words(r, x, y);
}

/* Chooses the first rows of each kind. */
static void choose(struct mem_rows *r, size_t top)
{
	size_t n_of_kind[N_MEM_KINDS] = { 0 };

	for (size_t i = 0; i < r->rows.n; i++) {
		uint64_t kind = tuples_get(&r->keys, r->order[i])[0];

		if (top != 0 && n_of_kind[kind]++ >= top)
			r->n_left_out++;
		else
			r->shown[r->n_shown++] = r->order[i];
	}
}

void mem_rows_init(struct mem_rows *r, const struct mem *mem, const struct names *names,
		   const struct hot_keys *by, size_t top)
{
	*r = (struct mem_rows){ .mem = mem, .names = names, .by = by };
	tuples_init(&r->keys, width_of(by));
	r->row_of_group = mem_alloc(mem_n_groups(mem) + 1, sizeof(*r->row_of_group));
	for (uint32_t i = 0; i < mem_n_groups(mem); i++)
		add_group(r, i);
	add_up(r);
	r->order = mem_alloc(r->rows.n + 1, sizeof(*r->order));
	r->shown = mem_alloc(r->rows.n + 1, sizeof(*r->shown));
	for (uint32_t i = 0; i < r->rows.n; i++)
		r->order[i] = i;
	qsort_r(r->order, r->rows.n, sizeof(*r->order), compare_rows, r);
	choose(r, hot_keys_are_time(by) ? 0 : top);
}

void mem_rows_release(struct mem_rows *r)
{
	for (size_t i = 0; i < r->rows.n; i++)
		mem_histograms_release(&r->rows.items[i].histograms);
	vec_release(&r->rows);
	vec_release(&r->slices);
	tuples_release(&r->keys);
	free(r->row_of_group);
	free(r->order);
	free(r->shown);
}

void mem_rows_take_histograms(struct mem_rows *r)
{
	for (uint32_t i = 0; i < mem_n_groups(r->mem); i++)
		mem_histograms_merge(&r->rows.items[r->row_of_group[i]].histograms,
				     &r->mem->histograms.items[i]);
}

uint32_t mem_rows_detail(struct mem_rows *r, struct session *s, const struct select *select)
{
	uint32_t n = r->n_shown < MEM_ROWS_DETAILED ? r->n_shown : MEM_ROWS_DETAILED;
	uint32_t *place_in_focus = mem_alloc(r->rows.n + 1, sizeof(*place_in_focus));
	uint32_t *rows = mem_alloc(mem_n_groups(r->mem) + 1, sizeof(*rows));
	struct mem_focus focus = { .mem = r->mem, .rows = rows, .n_rows = n };
	struct mem_detail *detail;

	for (uint32_t i = 0; i < r->rows.n; i++)
		place_in_focus[i] = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		place_in_focus[r->shown[i]] = i;
	for (uint32_t i = 0; i < mem_n_groups(r->mem); i++)
		rows[i] = place_in_focus[r->row_of_group[i]];
	detail = mem_detail_scan(s, select, &focus);
	for (uint32_t i = 0; i < n; i++) {
		struct mem_row *row = &r->rows.items[r->shown[i]];

		mem_histograms_merge(&row->histograms, &detail->rows[i]);
	}
	mem_detail_class.free(detail);
	free(rows);
	free(place_in_focus);
	return r->n_shown - n;
}

/* The places of a result. */
static bool *places_of(const struct session *s, const struct mem *mem)
{
	bool *wanted = mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*wanted));

	for (uint32_t i = 0; i < mem_n_groups(mem); i++)
		wanted[mem_place_group(mem, i).place] = true;
	return wanted;
}

void mem_names(struct session *s, const struct mem *mem, const struct hot_keys *by,
	       struct names *out)
{
	enum symbols_depth depth = SYMBOLS_FUNCTIONS;
	bool needs_names = false;
	bool *wanted;

	for (size_t i = 0; i < by->n; i++) {
		const struct hot_key_class *class = &hot_key_classes[by->keys[i]];

		needs_names |= class->needs_names;
		if (class->needs_lines)
			depth = SYMBOLS_LINES;
	}
	wanted = needs_names ? places_of(s, mem)
			     : mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*wanted));
	names_init(out, s, wanted, depth);
	free(wanted);
}

void mem_sizes(struct session *s, const struct mem *mem, struct access_sizes *out)
{
	bool *wanted = places_of(s, mem);

	access_sizes_init(out, s, wanted);
	free(wanted);
}
