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

/* Of more rows and slices of them it would take too much memory to add up each in every lane. */
enum { MOST_IN_LANES = 4096 };

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

/* Of rows what their order depends on. */
struct weighed {
	struct tuples keys;
	VEC_OF(struct weight) list; /* by number of the row */
};

/* Groups whose rows are looked up at once, so that cache misses overlap. */
struct groups_at_once {
	uint64_t words[MEM_ROWS_AT_ONCE * MAX_WORDS];
	struct weight weights[MEM_ROWS_AT_ONCE];
	size_t n;
};

/* What a worker finds in its partitions. */
struct rows_lane {
	struct weighed rows;
	struct weighed
		of_partition; /* if rows are of places: those of the partition that is read */
	struct groups_at_once waiting;
	uint32_t n_left_out;
	VEC_OF(struct mem_row) shown; /* if rows are of several partitions: as in struct mem_rows */
	VEC_OF(uint64_t) slices;
};

/* The making of some rows. */
struct making_rows {
	struct mem_rows *rows;
	size_t top;
	bool tells_places;	 /* so each row is of one partition */
	bool adds_in_place;	 /* to rows that are shown, not to those of a lane */
	struct rows_lane *lanes; /* by worker */
	struct weighed all;
};

/* A job is a partition of the groups. */
struct rows_job {
	const struct mem *mem;
	const struct access_sizes *sizes;
	struct mem_partitions partitions;
	size_t n_workers;
	struct mem_rows *totals; /* by worker: of each what all groups come to */
	struct making_rows *list;
	size_t n;
};

static void weighed_init(struct weighed *w, size_t width)
{
	*w = (struct weighed){ 0 };
	tuples_init(&w->keys, width);
}

static void weighed_release(struct weighed *w)
{
	tuples_release(&w->keys);
	vec_release(&w->list);
}

static void weighed_add(struct weighed *w, uint32_t number, const struct weight *weight)
{
	w->list.items[number].cycles += weight->cycles;
	w->list.items[number].n += weight->n;
}

static void weighed_join(struct weighed *to, const struct weighed *from, uint32_t row)
{
	uint32_t number = tuples_add(&to->keys, tuples_get(&from->keys, row));

	if (number == to->list.n)
		vec_add(&to->list);
	weighed_add(to, number, &from->list.items[row]);
}

static void weigh_waiting(struct weighed *w, struct groups_at_once *groups)
{
	uint32_t numbers[MEM_ROWS_AT_ONCE];

	tuples_add_all(&w->keys, groups->words, groups->n, numbers);
	while (w->list.n < w->keys.n)
		vec_add(&w->list);
	for (size_t i = 0; i < groups->n; i++)
		prefetch_to_write(&w->list.items[numbers[i]]);
	for (size_t i = 0; i < groups->n; i++)
		weighed_add(w, numbers[i], &groups->weights[i]);
	groups->n = 0;
}

/* The weight of what a group adds up to, as mem_weight() of its cost. */
static struct weight mem_group_weight(const struct mem_group *g)
{
	struct weight weight = { mem_sums_total(&g->sums), mem_group_n(g) };

	if (g->has_wide)
		weight.cycles += mem_weight(&g->wide);
	return weight;
}

static void add_to_totals(struct mem_rows *totals, const struct mem_group *g,
			  const struct access_sizes *sizes)
{
	uint64_t place = g->key[DIM_PLACE];
	uint32_t bytes = access_sizes_bytes(sizes, place, (uint32_t)g->key[DIM_VECTOR]);

	mem_cost_add_group(&totals->kinds[g->kind], g);
	totals->bytes[g->kind] += g->operations * bytes;
	totals->n_sized[g->kind] += bytes > 0 ? mem_group_n(g) : 0;
	if (g->kind == MEMORY_LOAD && place < sizes->n && sizes->is_prefetch[place])
		mem_cost_add_group(&totals->prefetches, g);
}

/* Lists the rows that can be among the first `top` of their kind, or all. Returns how many. */
static size_t list_rows(const struct weighed *w, size_t top, uint32_t *out)
{
	const struct tuples *keys = &w->keys;
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

/* Keeps of the rows of a partition those that may be shown. */
static void keep_first_rows(struct rows_lane *lane, size_t top)
{
	struct weighed *rows = &lane->of_partition;
	uint32_t *order = mem_alloc((size_t)rows->keys.n + 1, sizeof(*order));
	size_t n = list_rows(rows, top, order);

	for (size_t i = 0; i < n; i++)
		weighed_join(&lane->rows, rows, order[i]);
	lane->n_left_out += rows->keys.n - (uint32_t)n;
	tuples_reset(&rows->keys);
	rows->list.n = 0;
	free(order);
}

static void weigh_group(struct making_rows *m, unsigned worker, const struct mem_group *g)
{
	struct rows_lane *lane = &m->lanes[worker];
	struct groups_at_once *waiting = &lane->waiting;

	make_words(m->rows, g->kind, g->key, waiting->words + waiting->n * m->rows->keys.width);
	waiting->weights[waiting->n++] = mem_group_weight(g);
	if (waiting->n == MEM_ROWS_AT_ONCE)
		weigh_waiting(m->tells_places ? &lane->of_partition : &lane->rows, waiting);
}

static void finish_partition(struct making_rows *m, unsigned worker)
{
	struct rows_lane *lane = &m->lanes[worker];

	weigh_waiting(m->tells_places ? &lane->of_partition : &lane->rows, &lane->waiting);
	if (m->tells_places)
		keep_first_rows(lane, m->top);
}

static void weigh_partition(void *context, size_t partition, unsigned worker)
{
	const struct rows_job *job = context;
	struct mem_partition_position at = { 0 };
	struct mem_group g;

	while (mem_next_of(job->mem, &job->partitions, partition, &at, &g)) {
		add_to_totals(&job->totals[worker], &g, job->sizes);
		for (size_t i = 0; i < job->n; i++)
			weigh_group(&job->list[i], worker, &g);
	}
	for (size_t i = 0; i < job->n; i++)
		finish_partition(&job->list[i], worker);
}

static void add_totals(struct mem_rows *to, const struct mem_rows *from)
{
	for (int kind = 0; kind < N_MEMORY_KINDS; kind++) {
		mem_cost_add(&to->kinds[kind], &from->kinds[kind]);
		to->bytes[kind] += from->bytes[kind];
		to->n_sized[kind] += from->n_sized[kind];
	}
	mem_cost_add(&to->prefetches, &from->prefetches);
}

static void start_weighing(struct making_rows *m, size_t n_workers)
{
	size_t width = m->rows->keys.width;

	m->lanes = mem_zalloc(n_workers, sizeof(*m->lanes));
	for (size_t i = 0; i < n_workers; i++) {
		weighed_init(&m->lanes[i].rows, width);
		weighed_init(&m->lanes[i].of_partition, width);
	}
}

/* Joins what the workers found. */
static void join_weighed(struct making_rows *m, const struct rows_job *job)
{
	m->all = m->lanes[0].rows;
	m->lanes[0].rows = (struct weighed){ 0 };
	for (size_t i = 0; i < job->n_workers; i++) {
		struct rows_lane *lane = &m->lanes[i];

		for (uint32_t row = 0; row < lane->rows.keys.n; row++)
			weighed_join(&m->all, &lane->rows, row);
		add_totals(m->rows, &job->totals[i]);
		m->rows->n_left_out += lane->n_left_out;
		weighed_release(&lane->rows);
		weighed_release(&lane->of_partition);
	}
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
	const struct making_rows *m = context;
	const struct mem_rows *r = m->rows;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *x = tuples_get(&m->all.keys, a), *y = tuples_get(&m->all.keys, b);
	const struct weight *wa = &m->all.list.items[a], *wb = &m->all.list.items[b];

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

/* Chooses the first rows of each kind. */
static void mem_rows_choose(struct making_rows *m)
{
	struct mem_rows *r = m->rows;
	const struct tuples *keys = &m->all.keys;
	size_t n_of_kind[N_MEMORY_KINDS] = { 0 };
	uint32_t *order = mem_alloc((size_t)keys->n + 1, sizeof(*order));
	size_t n = list_rows(&m->all, m->top, order);

	if (n > 1)
		qsort_r(order, n, sizeof(*order), mem_rows_compare_rows, m);
	r->shown = mem_alloc(n + 1, sizeof(*r->shown));
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = tuples_get(keys, order[i])[0];

		if (m->top == 0 || n_of_kind[kind]++ < m->top)
			r->shown[r->n_shown++] = order[i];
	}
	r->n_left_out += keys->n - r->n_shown;
	free(order);
}

static void add_group_to_row(const struct rows_job *job, const struct mem_group *g, uint32_t shown,
			     struct mem_row *row, uint64_t *slices)
{
	uint32_t bytes =
		access_sizes_bytes(job->sizes, g->key[DIM_PLACE], (uint32_t)g->key[DIM_VECTOR]);
	uint32_t n_slices = job->mem->session->slices.n;

	mem_cost_add_group(&row->cost, g);
	row->bytes += g->operations * bytes;
	row->n_sized += bytes > 0 ? mem_group_n(g) : 0;
	if (g->key[DIM_SLICE] < n_slices)
		slices[(size_t)shown * n_slices + g->key[DIM_SLICE]] += mem_group_n(g);
}

static void add_up_group(const struct rows_job *job, const struct making_rows *m, unsigned worker,
			 const struct mem_group *g)
{
	struct mem_rows *r = m->rows;
	struct rows_lane *lane = &m->lanes[worker];
	uint64_t words[MAX_WORDS];
	uint32_t number;

	make_words(r, g->kind, g->key, words);
	number = tuples_find(&r->keys, words);
	if (number == TUPLES_NONE || r->index[number] == UINT32_MAX)
		return; /* most are */
	number = r->index[number];
	if (m->adds_in_place)
		add_group_to_row(job, g, number, &r->rows.items[number], r->slices.items);
	else
		add_group_to_row(job, g, number, &lane->shown.items[number], lane->slices.items);
}

static void add_up_partition(void *context, size_t partition, unsigned worker)
{
	const struct rows_job *job = context;
	struct mem_partition_position at = { 0 };
	struct mem_group g;

	while (mem_next_of(job->mem, &job->partitions, partition, &at, &g))
		for (size_t i = 0; i < job->n; i++)
			add_up_group(job, &job->list[i], worker, &g);
}

/* Room for the rows that are shown. */
static void make_room_for_rows(struct making_rows *m, const struct rows_job *job)
{
	struct mem_rows *r = m->rows;
	size_t n_slices = (size_t)r->n_shown * job->mem->session->slices.n;

	r->index = mem_alloc((size_t)r->keys.n + 1, sizeof(*r->index));
	for (uint32_t i = 0; i < r->keys.n; i++)
		r->index[i] = UINT32_MAX;
	for (uint32_t i = 0; i < r->n_shown; i++)
		r->index[r->shown[i]] = i;
	vec_reserve(&r->rows, r->n_shown);
	r->rows.n = r->n_shown;
	vec_reserve(&r->slices, n_slices);
	r->slices.n = n_slices;
	m->adds_in_place = m->tells_places || r->n_shown + n_slices > MOST_IN_LANES;
	for (size_t i = 0; i < job->n_workers && !m->adds_in_place; i++) {
		vec_reserve(&m->lanes[i].shown, r->n_shown);
		vec_reserve(&m->lanes[i].slices, n_slices);
	}
}

static void join_rows(struct making_rows *m, size_t n_workers)
{
	struct mem_rows *r = m->rows;

	for (size_t worker = 0; worker < n_workers && !m->adds_in_place; worker++) {
		struct rows_lane *lane = &m->lanes[worker];

		for (size_t i = 0; i < r->rows.n; i++) {
			mem_cost_add(&r->rows.items[i].cost, &lane->shown.items[i].cost);
			r->rows.items[i].bytes += lane->shown.items[i].bytes;
			r->rows.items[i].n_sized += lane->shown.items[i].n_sized;
		}
		for (size_t i = 0; i < r->slices.n; i++)
			r->slices.items[i] += lane->slices.items[i];
		vec_release(&lane->shown);
		vec_release(&lane->slices);
	}
}

/* Adds up the rows that are shown: by one worker, if there are so many that lanes would take much memory. */
static void add_up_shown(struct rows_job *job)
{
	bool is_serial = false;

	for (size_t i = 0; i < job->n; i++) {
		make_room_for_rows(&job->list[i], job);
		is_serial |= job->list[i].adds_in_place && !job->list[i].tells_places;
	}
	for (size_t i = 0; i < MEM_PARTITIONS && is_serial; i++)
		add_up_partition(job, i, 0);
	if (!is_serial)
		pool_run(job->mem->session->pool, MEM_PARTITIONS, add_up_partition, job);
	for (size_t i = 0; i < job->n; i++)
		join_rows(&job->list[i], job->n_workers);
}

void mem_rows_init_some(const struct mem_rows_wish *wishes, size_t n, const struct mem *mem,
			const struct names *names, const struct access_sizes *sizes)
{
	struct rows_job job = {
		.mem = mem,
		.sizes = sizes,
		.n_workers = pool_size(mem->session->pool),
		.n = n,
	};

	job.totals = mem_zalloc(job.n_workers, sizeof(*job.totals));
	job.list = mem_zalloc(n, sizeof(*job.list));
	mem_partitions_init(&job.partitions, mem);
	for (size_t i = 0; i < n; i++) {
		struct making_rows *m = &job.list[i];
		const struct keys *by = wishes[i].by;

		*wishes[i].rows = (struct mem_rows){ .mem = mem, .names = names, .by = by };
		wishes[i].rows->keys.width = mem_rows_width_of(by);
		m->rows = wishes[i].rows;
		m->top = keys_are_time(by) ? 0 : wishes[i].top;
		m->tells_places = keys_tell_places(by);
		start_weighing(m, job.n_workers);
	}
	pool_run(mem->session->pool, MEM_PARTITIONS, weigh_partition, &job);
	for (size_t i = 0; i < n; i++) {
		join_weighed(&job.list[i], &job);
		mem_rows_choose(&job.list[i]);
		job.list[i].rows->keys = job.list[i].all.keys;
	}
	add_up_shown(&job);
	for (size_t i = 0; i < n; i++) {
		vec_release(&job.list[i].all.list);
		free(job.list[i].lanes);
	}
	mem_partitions_release(&job.partitions);
	free(job.list);
	free(job.totals);
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

	mem_note_places(mem, places);
	for (size_t i = 0; i < 64 * mem->spilled_places.n; i++)
		if (mem->spilled_places.items[i / 64] >> i % 64 & 1)
			places[i] = true;
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
