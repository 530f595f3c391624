/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/largest.h"
#include "base/prefetch.h"
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

/* Of a row: its latency, its records. */
struct weight {
	uint64_t cycles, n;
};

/* Of all rows what their order depends on, and of which row each part of a group is, as mem_next() gives it. */
struct weighing {
	struct mem_rows *rows;
	VEC_OF(struct weight) list; /* by number of the row */
	VEC_OF(uint32_t) numbers;   /* by part */
};

static void count_slice(struct mem_rows *r, uint32_t row, uint64_t slice, uint64_t n)
{
	uint32_t n_slices = r->mem->session->slices.n;

	if (n_slices > 0 && slice < n_slices)
		r->slices.items[(size_t)row * n_slices + slice] += n;
}

/* What a part of a group adds to its row. */
static struct mem_row part_of_row(const struct mem_group *g, const struct access_sizes *sizes)
{
	uint32_t bytes = access_sizes_bytes(sizes, g->key[DIM_PLACE], (uint32_t)g->key[DIM_VECTOR]);
	struct mem_row part = { .bytes = g->operations * bytes,
				.n_sized = bytes > 0 ? mem_group_n(g) : 0 };

	mem_cost_add_group(&part.cost, g);
	return part;
}

/* Parts of groups whose rows are looked up at once, so that cache misses overlap. */
struct parts_at_once {
	uint64_t words[MEM_ROWS_AT_ONCE * MAX_WORDS];
	struct weight weights[MEM_ROWS_AT_ONCE];
	size_t n;
};

static void weigh_parts(struct weighing *w, struct parts_at_once *parts)
{
	uint32_t numbers[MEM_ROWS_AT_ONCE];

	tuples_add_all(&w->rows->keys, parts->words, parts->n, numbers);
	while (w->list.n < w->rows->keys.n)
		vec_add(&w->list);
	for (size_t i = 0; i < parts->n; i++)
		prefetch_to_write(&w->list.items[numbers[i]]);
	for (size_t i = 0; i < parts->n; i++) {
		struct weight *weight = &w->list.items[numbers[i]];

		weight->cycles += parts->weights[i].cycles;
		weight->n += parts->weights[i].n;
		*vec_add(&w->numbers) = numbers[i];
	}
	parts->n = 0;
}

static void weigh_group(struct weighing *w, const struct mem_group *g,
			const struct access_sizes *sizes, struct parts_at_once *parts)
{
	struct mem_rows *r = w->rows;
	struct mem_row part = part_of_row(g, sizes);

	make_words(r, g->kind, g->key, parts->words + parts->n * r->keys.width);
	parts->weights[parts->n++] = (struct weight){ mem_weight(&part.cost), part.cost.n };
	mem_cost_add(&r->kinds[g->kind], &part.cost);
	r->bytes[g->kind] += part.bytes;
	r->n_sized[g->kind] += part.n_sized;
	if (g->kind == MEMORY_LOAD && g->key[DIM_PLACE] < sizes->n &&
	    sizes->is_prefetch[g->key[DIM_PLACE]])
		mem_cost_add(&r->prefetches, &part.cost);
	if (parts->n == MEM_ROWS_AT_ONCE)
		weigh_parts(w, parts);
}

static void mem_rows_add_group(struct mem_rows *r, uint32_t number, const struct mem_group *g,
			       const struct access_sizes *sizes)
{
	struct mem_row part, *row;

	if (r->index[number] == UINT32_MAX)
		return; /* most are */
	part = part_of_row(g, sizes);
	row = &r->rows.items[r->index[number]];
	mem_cost_add(&row->cost, &part.cost);
	row->bytes += part.bytes;
	row->n_sized += part.n_sized;
	count_slice(r, r->index[number], g->key[DIM_SLICE], mem_group_n(g));
}

uint32_t mem_rows_find(const struct mem_rows *r, enum memory_kind kind, const struct batch *b,
		       size_t row)
{
	const struct mem *m = r->mem;
	uint64_t key[N_DIMENSIONS] = { 0 }, words[MAX_WORDS];

	key[DIM_EVENT] = capture_n_events(m->session->capture);
	for (size_t i = 0; i < m->n_dimensions; i++)
		key[m->dimensions[i]] = record_dimension(m->session, b, row, m->dimensions[i]);
	if (m->has_place)
		key[DIM_PLACE] = record_dimension(m->session, b, row, DIM_PLACE);
	make_words(r, kind, key, words);
	return tuples_find(&r->keys, words);
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
	const struct weighing *w = context;
	const struct mem_rows *r = w->rows;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *x = tuples_get(&r->keys, a), *y = tuples_get(&r->keys, b);
	const struct weight *wa = &w->list.items[a], *wb = &w->list.items[b];

	if (x[0] != y[0])
		return (x[0] > y[0]) - (x[0] < y[0]);
	if (keys_are_time(r->by))
		return compare_words(r, x, y);
	if (wa->cycles != wb->cycles)
		return (wa->cycles < wb->cycles) - (wa->cycles > wb->cycles);
	if (wa->n != wb->n)
		return (wa->n < wb->n) - (wa->n > wb->n);
	return compare_words(r, x, y);
}

/* Lists the rows that can be among the first `top` of their kind, or all. Returns how many. */
static size_t list_rows(const struct weighing *w, size_t top, uint32_t *out)
{
	const struct tuples *keys = &w->rows->keys;
	uint64_t largest[N_MEMORY_KINDS][MOST_FIRST] = { 0 };
	bool are_few = top > 0 && top <= MOST_FIRST;
	size_t n = 0;

	for (uint32_t i = 0; i < keys->n && are_few; i++)
		largest_enter(largest[tuples_get(keys, i)[0]], top, w->list.items[i].cycles);
	for (uint32_t i = 0; i < keys->n; i++)
		if (!are_few || w->list.items[i].cycles >= largest[tuples_get(keys, i)[0]][top - 1])
			out[n++] = i;
	return n;
}

/* Chooses the first rows of each kind. */
static void mem_rows_choose(struct weighing *w, size_t top)
{
	struct mem_rows *r = w->rows;
	size_t n_of_kind[N_MEMORY_KINDS] = { 0 };
	uint32_t *order = mem_alloc((size_t)r->keys.n + 1, sizeof(*order));
	size_t n = list_rows(w, top, order);

	if (n > 1)
		qsort_r(order, n, sizeof(*order), mem_rows_compare_rows, w);
	r->shown = mem_alloc(n + 1, sizeof(*r->shown));
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = tuples_get(&r->keys, order[i])[0];

		if (top == 0 || n_of_kind[kind]++ < top)
			r->shown[r->n_shown++] = order[i];
	}
	r->n_left_out = r->keys.n - r->n_shown;
	free(order);
}

/* Adds up the rows that are shown. */
static void add_up_shown(struct weighing *w, const struct access_sizes *sizes)
{
	struct mem_rows *r = w->rows;
	struct mem_position at = { 0 };
	struct mem_group g;

	r->index = mem_alloc((size_t)r->keys.n + 1, sizeof(*r->index));
	for (uint32_t i = 0; i < r->keys.n; i++)
		r->index[i] = UINT32_MAX;
	for (uint32_t i = 0; i < r->n_shown; i++)
		r->index[r->shown[i]] = i;
	vec_reserve(&r->rows, r->n_shown);
	r->rows.n = r->n_shown;
	vec_reserve(&r->slices, (size_t)r->n_shown * r->mem->session->slices.n);
	for (size_t i = 0; r->n_shown > 0 && mem_next(r->mem, &at, &g); i++)
		mem_rows_add_group(r, w->numbers.items[i], &g, sizes);
}

void mem_rows_init(struct mem_rows *r, const struct mem *mem, const struct names *names,
		   const struct keys *by, const struct access_sizes *sizes, size_t top)
{
	struct weighing w = { .rows = r };
	struct mem_position at = { 0 };
	struct parts_at_once parts;
	struct mem_group g;

	parts.n = 0;
	*r = (struct mem_rows){ .mem = mem, .names = names, .by = by };
	tuples_init(&r->keys, mem_rows_width_of(by));
	while (mem_next(mem, &at, &g))
		weigh_group(&w, &g, sizes, &parts);
	weigh_parts(&w, &parts);
	mem_rows_choose(&w, keys_are_time(by) ? 0 : top);
	add_up_shown(&w, sizes);
	vec_release(&w.list);
	vec_release(&w.numbers);
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
	free(r->shown);
	free(r->index);
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
	struct mem_position at = { 0 };
	struct mem_group g;

	while (mem_next(from, &at, &g)) {
		uint64_t words[MAX_WORDS];
		uint32_t row;

		make_words(r, g.kind, g.key, words);
		row = tuples_find(&r->keys, words);
		if (row != TUPLES_NONE && r->index[row] != UINT32_MAX)
			add_histograms(&r->rows.items[r->index[row]], g.histograms);
	}
}

uint32_t mem_rows_detail(struct mem_rows *r, struct session *s, const struct select *select)
{
	uint32_t n = r->n_shown < MEM_ROWS_DETAILED ? r->n_shown : MEM_ROWS_DETAILED;
	uint32_t *place_in_focus = mem_alloc((size_t)r->keys.n + 1, sizeof(*place_in_focus));
	struct mem_focus focus = { .rows = r, .place_in_focus = place_in_focus, .n = n };
	struct mem_detail *detail;

	for (uint32_t i = 0; i < r->keys.n; i++)
		place_in_focus[i] = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		place_in_focus[r->shown[i]] = i;
	detail = mem_detail_scan(s, select, &focus);
	for (uint32_t i = 0; i < n; i++)
		add_histograms(&r->rows.items[i], &detail->list[i]);
	mem_detail_class.free(detail);
	free(place_in_focus);
	return r->n_shown - n;
}

bool *mem_places(const struct session *s, const struct mem *mem)
{
	bool *places = mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*places));
	struct mem_position at = { 0 };
	struct mem_group g;

	while (mem_next(mem, &at, &g)) {
		places[g.key[DIM_PLACE]] = true;
		places[g.key[DIM_CALLER]] = true;
	}
	return places;
}

void mem_names(struct session *s, const bool *places, const struct keys *by, struct names *out)
{
	enum symbols_depth depth = SYMBOLS_FUNCTIONS;
	bool needs_names = false;
	bool *none;

	for (size_t i = 0; i < by->n; i++) {
		const struct key_class *class = &key_classes[by->keys[i]];

		needs_names |= class->needs_names;
		if (class->needs_lines)
			depth = SYMBOLS_LINES;
	}
	none = needs_names ? NULL : mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*none));
	names_init(out, s, needs_names ? places : none, depth);
	free(none);
}
