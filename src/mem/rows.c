/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/largest.h"
#include "keys/keys.h"

enum { MAX_WORDS = 1 + N_KEYS * KEY_MAX_WORDS };

/* Of more rows that are wanted it is quicker to put all in order. */
enum { MOST_FIRST = 64 };

static size_t mem_rows_width_of(const struct keys *by)
{
	size_t width = 1;

	for (size_t i = 0; i < by->n; i++)
		width += key_classes[by->keys[i]].n_words;
	return width;
}

/* The words of the row that a raw key belongs to. */
static void make_words(const struct mem_rows *r, enum memory_kind kind, const uint64_t *raw,
		       uint64_t *words)
{
	*words++ = kind;
	for (size_t i = 0; i < r->by->n; i++) {
		const struct key_class *class = &key_classes[r->by->keys[i]];

		class->make(r->names, raw, words);
		words += class->n_words;
	}
}

static void count_slice(struct mem_rows *r, uint32_t row, uint64_t slice, uint64_t n)
{
	uint32_t n_slices = r->mem->session->slices.n;

	if (n_slices > 0 && slice < n_slices)
		r->slices.items[(size_t)row * n_slices + slice] += n;
}

static uint32_t row_of(struct mem_rows *r, const uint64_t *words)
{
	uint32_t row = tuples_add(&r->keys, words);

	if (row == r->rows.n) {
		vec_add(&r->rows);
		for (uint32_t i = 0; i < r->mem->session->slices.n; i++)
			vec_add(&r->slices);
	}
	return row;
}

static void mem_rows_add_group(struct mem_rows *r, uint32_t group, const struct access_sizes *sizes)
{
	uint64_t raw[N_DIMENSIONS], words[MAX_WORDS];
	enum memory_kind kind = mem_key(r->mem, group, raw);
	uint32_t bytes = access_sizes_bytes(sizes, raw[DIM_PLACE], (uint32_t)raw[DIM_VECTOR]);
	struct mem_row *row;
	uint64_t n, operations;

	make_words(r, kind, raw, words);
	r->row_of_group[group] = row_of(r, words);
	row = &r->rows.items[r->row_of_group[group]];
	n = row->cost.n;
	operations = row->cost.operations;
	mem_cost_add_group(&row->cost, r->mem, group);
	if (bytes > 0) {
		row->bytes += (row->cost.operations - operations) * bytes;
		row->n_sized += row->cost.n - n;
	}
	count_slice(r, r->row_of_group[group], raw[DIM_SLICE], row->cost.n - n);
}

static int compare_words(const struct mem_rows *r, const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < r->by->n; i++) {
		const struct key_class *class = &key_classes[r->by->keys[i]];

		for (size_t w = 0; w < class->n_words; w++) {
			int order = key_word_compare(r->names, class->words[w], *++a, *++b);

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

static int mem_rows_compare_rows(const void *left, const void *right, void *context)
{
	const struct mem_rows *r = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *x = tuples_get(&r->keys, a), *y = tuples_get(&r->keys, b);
	const struct mem_cost *ca = &r->rows.items[a].cost, *cb = &r->rows.items[b].cost;
	uint64_t wa = mem_weight(ca), wb = mem_weight(cb);

	if (x[0] != y[0])
		return (x[0] > y[0]) - (x[0] < y[0]);
	if (keys_are_time(r->by))
		return compare_words(r, x, y);
	if (wa != wb)
		return (wa < wb) - (wa > wb);
	if (ca->n != cb->n)
		return (ca->n < cb->n) - (ca->n > cb->n);
	return compare_words(r, x, y);
}

/* Lists the rows that can be among the first `top` of their kind, or all. Returns how many. */
static size_t list_rows(const struct mem_rows *r, size_t top, uint32_t *out)
{
	uint64_t largest[N_MEMORY_KINDS][MOST_FIRST] = { 0 };
	bool are_few = top > 0 && top <= MOST_FIRST;
	size_t n = 0;

	for (uint32_t i = 0; i < r->rows.n && are_few; i++)
		largest_enter(largest[tuples_get(&r->keys, i)[0]], top,
			      mem_weight(&r->rows.items[i].cost));
	for (uint32_t i = 0; i < r->rows.n; i++)
		if (!are_few || mem_weight(&r->rows.items[i].cost) >=
					largest[tuples_get(&r->keys, i)[0]][top - 1])
			out[n++] = i;
	return n;
}

/* Chooses the first rows of each kind. */
static void mem_rows_choose(struct mem_rows *r, size_t top)
{
	size_t n_of_kind[N_MEMORY_KINDS] = { 0 };
	uint32_t *order = mem_alloc(r->rows.n + 1, sizeof(*order));
	size_t n = list_rows(r, top, order);

	if (n > 1)
		qsort_r(order, n, sizeof(*order), mem_rows_compare_rows, r);
	r->shown = mem_alloc(n + 1, sizeof(*r->shown));
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = tuples_get(&r->keys, order[i])[0];

		if (top == 0 || n_of_kind[kind]++ < top)
			r->shown[r->n_shown++] = order[i];
	}
	r->n_left_out = (uint32_t)r->rows.n - r->n_shown;
	free(order);
}

void mem_rows_init(struct mem_rows *r, const struct mem *mem, const struct names *names,
		   const struct keys *by, const struct access_sizes *sizes, size_t top)
{
	*r = (struct mem_rows){ .mem = mem, .names = names, .by = by };
	tuples_init(&r->keys, mem_rows_width_of(by));
	r->row_of_group = mem_alloc(mem_n_groups(mem) + 1, sizeof(*r->row_of_group));
	for (uint32_t i = 0; i < mem_n_groups(mem); i++)
		mem_rows_add_group(r, i, sizes);
	for (uint32_t i = 0; i < r->rows.n; i++)
		mem_cost_add(&r->kinds[tuples_get(&r->keys, i)[0]], &r->rows.items[i].cost);
	mem_rows_choose(r, keys_are_time(by) ? 0 : top);
}

void mem_rows_release(struct mem_rows *r)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.items[i].histograms != NULL)
			mem_histograms_release(r->rows.items[i].histograms);
	for (size_t i = 0; i < r->rows.n; i++)
		free(r->rows.items[i].histograms);
	vec_release(&r->rows);
	vec_release(&r->slices);
	tuples_release(&r->keys);
	free(r->row_of_group);
	free(r->shown);
}

const struct histogram *mem_row_histogram(const struct mem_row *row, enum latency latency)
{
	static const struct histogram none;

	return row->histograms == NULL ? &none : &row->histograms->of[latency];
}

/* Few rows have distributions, which are larger than all else of a row. */
static void add_histograms(struct mem_row *row, const struct mem_histograms *from)
{
	if (row->histograms == NULL)
		row->histograms = mem_zalloc(1, sizeof(*row->histograms));
	mem_histograms_merge(row->histograms, from);
}

void mem_rows_take_histograms(struct mem_rows *r, const struct mem *from)
{
	for (uint32_t i = 0; i < mem_n_groups(from); i++) {
		uint64_t raw[N_DIMENSIONS], words[MAX_WORDS];
		uint32_t row;

		make_words(r, mem_key(from, i, raw), raw, words);
		row = tuples_find(&r->keys, words);
		if (row != TUPLES_NONE)
			add_histograms(&r->rows.items[row], &from->histograms.items[i]);
	}
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
	for (uint32_t i = 0; i < n; i++)
		add_histograms(&r->rows.items[r->shown[i]], &detail->rows[i]);
	mem_detail_class.free(detail);
	free(rows);
	free(place_in_focus);
	return r->n_shown - n;
}

/* The places of a result. */
static bool *places_of(const struct session *s, const struct mem *mem)
{
	bool *wanted = mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*wanted));

	for (uint32_t i = 0; i < mem_n_groups(mem); i++) {
		uint64_t raw[N_DIMENSIONS];

		mem_key(mem, i, raw);
		wanted[raw[DIM_PLACE]] = true;
		wanted[raw[DIM_CALLER]] = true;
	}
	return wanted;
}

void mem_names(struct session *s, const struct mem *mem, const struct keys *by, struct names *out)
{
	enum symbols_depth depth = SYMBOLS_FUNCTIONS;
	bool needs_names = false;
	bool *wanted;

	for (size_t i = 0; i < by->n; i++) {
		const struct key_class *class = &key_classes[by->keys[i]];

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
