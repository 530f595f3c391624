/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What c2c cannot do without, in a simple way:
 *
 *	1	decodes loads and stores, and counts each in its line: records, latency of loads, whether several threads
 *		accessed it and whether one wrote. Each thread has a table, with room for all lines from the start.
 *	2	joins the tables, each thread a part of all lines, and lists the lines that are shared
 *	3	takes those that loads waited for longest, as many as have MOST_RECORDS records together
 *	4	decodes again, but delivers only what may be on these lines, and keeps these accesses
 *	5	puts the accesses of a line together, in order of offset, instruction and thread, and adds up each row's records,
 *		latencies and threads; each thread takes the next line
 *
 * Threads and processes are those of the timeline, which is made before: an address of two processes is two lines. It knows no
 * data sources, mappings, lines near by, objects, names, rates or verdicts, and prints nothing.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/address_filter.h"
#include "base/alloc.h"
#include "base/prefetch.h"
#include "base/vec.h"
#include "limits.h"
#include "process/attribution.h"

/* As in src/c2c/choose.c. */
enum { MOST_RECORDS = 65536, LEAST_LINES = 20 };

struct access {
	uint64_t pc, order; /* offset, store or load: what rows differ by before pc */
	uint32_t line, thread, cycles;
};

/* A row: what an instruction does to an offset of a line. */
struct row {
	uint64_t cycles;
	uint32_t n, n_threads;
};

struct sharing {
	const struct capture *capture;
	const struct timeline *timeline;
	struct place_numbers *places; /* attribution wants them, though nobody asks */
	size_t n_lines;
	unsigned n_threads;
	_Atomic size_t next;
	struct lines tables[MOST_THREADS];	  /* 1: of each thread */
	VEC_OF(struct line) shared[MOST_THREADS]; /* 2: of each part */
	VEC_OF(struct line) chosen;		  /* 3 */
	struct lines numbers;			  /* of the chosen ones: `n` is the number + 1 */
	struct address_filter filter;
	VEC_OF(struct access) seen[MOST_THREADS]; /* 4 */
	struct access *accesses;		  /* 5: by line */
	size_t *first;				  /* by line; one more behind */
	_Atomic uint64_t n_rows, sum;
};

void lines_init(struct lines *t, size_t n)
{
	size_t n_slots = slots_for(n);

	*t = (struct lines){ mem_zalloc(n_slots, sizeof(*t->slots)), n_slots - 1 };
}

static void count_batch(struct lines *t, const struct batch *b)
{
	uint64_t keys[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++)
		keys[row] = key_of_line(b, row);
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;

		for (size_t row = from; row < to; row++)
			prefetch_to_write(&t->slots[first_slot(keys[row], t->mask)]);
		for (size_t row = from; row < to; row++) {
			struct line one = {
				.key = keys[row],
				.n = 1,
				.thread = thread_of(b, row),
				.cycles = cycles_of(b, row),
				.is_written = is_store(b, row),
			};

			if (b->has[row] & HAS_VA)
				line_merge(line_at(t, one.key), &one);
		}
	}
}

static void keep_batch(struct sharing *s, unsigned thread, const struct batch *b)
{
	for (size_t row = 0; row < b->n; row++) {
		uint64_t va = b->va[row];
		uint32_t number = line_at(&s->numbers, key_of_line(b, row))->n;

		if (b->has[row] & HAS_VA && number != 0)
			*vec_add(&s->seen[thread]) = (struct access){
				.pc = b->pc[row],
				.order = (va & ((1u << LINE_LOG) - 1)) << 1 | is_store(b, row),
				.line = number - 1,
				.thread = thread_of(b, row),
				.cycles = cycles_of(b, row),
			};
	}
}

static void decode(struct sharing *s, unsigned thread, bool is_first)
{
	struct unit_reader *r = unit_reader_new(s->capture);
	struct attribution *attribution = attribution_new(s->timeline, s->places);
	struct batch *batch = batch_new();
	size_t unit;

	attribution_skip_places(attribution);
	unit_reader_want_spe(r, (struct spe_wanted){ .only_memory = true,
						     .addresses = is_first ? NULL : &s->filter });
	while ((unit = atomic_fetch_add(&s->next, 1)) < capture_n_units(s->capture)) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch)) {
			attribution_apply(attribution, batch);
			if (is_first)
				count_batch(&s->tables[thread], batch);
			else
				keep_batch(s, thread, batch);
		}
	}
	batch_free(batch);
	attribution_free(attribution);
	unit_reader_free(r);
}

static void count_lines(void *context, unsigned thread)
{
	struct sharing *s = context;

	lines_init(&s->tables[thread], s->n_lines);
	decode(s, thread, true);
}

static bool is_shared(const struct line *line)
{
	return line->n > 0 && line->has_threads && line->is_written;
}

/* What the other table has of a slot is joined when the slot is in this part; what only the other one has, too. */
static void join_lines(void *context, unsigned part)
{
	struct sharing *s = context;
	struct lines *first = &s->tables[0], *second = &s->tables[s->n_threads - 1];
	size_t n = (first->mask + 1) / s->n_threads, from = part * n;

	for (size_t i = from; i < from + n; i++) {
		struct line line = first->slots[i];

		if (line.n > 0 && s->n_threads > 1) {
			const struct line *other = line_at(second, line.key);

			if (other->n > 0)
				line_merge(&line, other);
		}
		if (is_shared(&line))
			*vec_add(&s->shared[part]) = line;
	}
	for (size_t i = from; s->n_threads > 1 && i < from + n; i++) {
		const struct line *line = &second->slots[i];

		if (is_shared(line) && line_at(first, line->key)->n == 0)
			*vec_add(&s->shared[part]) = *line;
	}
}

int lines_compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->cycles != b->cycles)
		return (a->cycles < b->cycles) - (a->cycles > b->cycles);
	return (a->key > b->key) - (a->key < b->key);
}

static void choose_lines(struct sharing *s)
{
	uint64_t n_records = 0;
	size_t n = 0;

	for (unsigned part = 0; part < s->n_threads; part++)
		for (size_t i = 0; i < s->shared[part].n; i++)
			*vec_add(&s->chosen) = s->shared[part].items[i];
	if (s->chosen.n > 1)
		qsort(s->chosen.items, s->chosen.n, sizeof(*s->chosen.items), lines_compare);
	while (n < s->chosen.n && (n < LEAST_LINES || n_records < MOST_RECORDS))
		n_records += s->chosen.items[n++].n;
	s->chosen.n = n;
	lines_init(&s->numbers, n);
	address_filter_init(&s->filter, UINT64_C(1) << LINE_LOG, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t key = s->chosen.items[i].key;

		*line_at(&s->numbers, key) = (struct line){ .key = key, .n = (uint32_t)i + 1 };
		address_filter_add(&s->filter, address_of(key));
	}
}

static void keep_accesses(void *context, unsigned thread)
{
	decode(context, thread, false);
}

static void place_accesses(struct sharing *s)
{
	size_t n = 0;

	for (unsigned i = 0; i < s->n_threads; i++)
		n += s->seen[i].n;
	s->first = mem_zalloc(s->chosen.n + 2, sizeof(*s->first));
	s->accesses = mem_alloc(n + 1, sizeof(*s->accesses));
	for (unsigned i = 0; i < s->n_threads; i++)
		for (size_t k = 0; k < s->seen[i].n; k++)
			s->first[s->seen[i].items[k].line + 2 <= s->chosen.n
					 ? s->seen[i].items[k].line + 2
					 : s->chosen.n + 1]++;
	for (size_t i = 1; i < s->chosen.n + 2; i++)
		s->first[i] += s->first[i - 1];
	for (unsigned i = 0; i < s->n_threads; i++)
		for (size_t k = 0; k < s->seen[i].n; k++) {
			const struct access *a = &s->seen[i].items[k];

			s->accesses[s->first[a->line + 1]++] = *a;
		}
}

static int compare_rows(const struct access *a, const struct access *b)
{
	if (a->order != b->order)
		return (a->order > b->order) - (a->order < b->order);
	return (a->pc > b->pc) - (a->pc < b->pc);
}

static int compare_accesses(const void *left, const void *right)
{
	const struct access *a = left, *b = right;
	int order = compare_rows(a, b);

	return order != 0 ? order : (a->thread > b->thread) - (a->thread < b->thread);
}

static void sum_line(struct sharing *s, struct access *list, size_t n)
{
	struct row row = { 0 };

	if (n > 1)
		qsort(list, n, sizeof(*list), compare_accesses);
	for (size_t i = 0; i < n; i++) {
		bool is_new = i == 0 || compare_rows(&list[i - 1], &list[i]) != 0;

		if (is_new && i > 0) {
			s->n_rows++;
			s->sum += row.cycles / row.n * row.n_threads;
			row = (struct row){ 0 };
		}
		row.n_threads += is_new || list[i].thread != list[i - 1].thread;
		row.n++;
		row.cycles += list[i].cycles;
	}
}

static void sum_lines(void *context, unsigned thread)
{
	struct sharing *s = context;
	size_t line;

	(void)thread;
	while ((line = atomic_fetch_add(&s->next, 1)) < s->chosen.n)
		sum_line(s, s->accesses + s->first[line], s->first[line + 1] - s->first[line]);
}

static void sharing_release(struct sharing *s)
{
	for (unsigned i = 0; i < s->n_threads; i++) {
		free(s->tables[i].slots);
		vec_release(&s->shared[i]);
		vec_release(&s->seen[i]);
	}
	vec_release(&s->chosen);
	free(s->numbers.slots);
	address_filter_release(&s->filter);
	free(s->accesses);
	free(s->first);
}

static void run_step(struct sharing *s, void (*step)(void *, unsigned))
{
	s->next = 0;
	run_threads(s->n_threads, step, s);
}

static struct sharing find_sharing(struct sharing s, unsigned n_threads)
{
	s.n_threads = n_threads;

	run_step(&s, count_lines);
	run_step(&s, join_lines);
	choose_lines(&s);
	run_step(&s, keep_accesses);
	place_accesses(&s);
	run_step(&s, sum_lines);
	return s;
}

/* How many lines there are, with a table that has room for one of each record. */
static size_t count_keys(struct sharing s)
{
	size_t n = 0;

	s.n_threads = 1;
	count_lines(&s, 0);
	for (size_t i = 0; i <= s.tables[0].mask; i++)
		n += s.tables[0].slots[i].n > 0;
	free(s.tables[0].slots);
	return n;
}

void limits_of_sharing(const struct capture *c, const struct timeline *timeline, size_t n_records,
		       int repeats)
{
	static const char *const names[MOST_THREADS] = { "shared", "shared-2" };
	struct sharing none = { .capture = c,
				.timeline = timeline,
				.places = place_numbers_new(),
				.n_lines = n_records };

	none.n_lines = count_keys(none);
	for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads++) {
		struct cost least = { 0 };
		size_t n_shared = 0, n_chosen = 0, n_accesses = 0;

		for (int i = 0; i < repeats; i++) {
			struct cost start = now();
			struct sharing s = find_sharing(none, n_threads);

			take_least(&least, start, i == 0);
			n_shared = n_accesses = 0;
			n_chosen = s.chosen.n;
			for (unsigned k = 0; k < n_threads; k++) {
				n_shared += s.shared[k].n;
				n_accesses += s.seen[k].n;
			}
			sharing_release(&s);
		}
		print_limit(names[n_threads - 1], least, capture_size(c));
		printf("lines by process %zu, of which shared %zu, looked at %zu, accesses to "
		       "these %zu\n",
		       none.n_lines, n_shared, n_chosen, n_accesses);
	}
	place_numbers_free(none.places);
}
