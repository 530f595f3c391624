/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What diff cannot do without for one of its captures, in a simple way:
 *
 *	1	decodes all records, and looks each up in a table of places and one of data sources, to add two sums there. Loads that got
 *		their line from another core's cache are added up in a table of lines, with room for these from the start. All
 *		accesses are counted by hash of the line: reloads matter on lines that are accessed often. Latencies of hits are
 *		counted, for their median. Where records with an address are is noted
 *	2	takes the MOST_LINES lines that these loads waited for longest, and those on which reloads may matter
 *	3	decodes again what may be on these lines, as the notes say, and adds up by line and thread: records and writes, when they were
 *		made first and last, latencies. Reloads of lines on which they may matter stand apart, by what accessed what there, as
 *		each of these is judged on its own
 *
 * Two captures are two threads' work, so that nobody joins anything. It judges no reload and ranks no line by these; it knows
 * no mappings, objects, names, errors of sums, intervals or verdicts on phases, and prints nothing. Data sources are those of Neoverse N1.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/address_filter.h"
#include "base/address_index.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "base/vec.h"
#include "limits.h"
#include "process/attribution.h"

/* As in src/diff/measures_shared.c and src/c2c/c2c.c. */
enum { MOST_LINES = 1000, INDEX_BYTES_MAX = 8 << 20 };

/* As in src/c2c/lines/sieve.c: counts of accesses, by bit of a filter for so many lines. Of a count, some were reloads. */
enum {
	COUNTS_LOG = 18,
	FILTER_LINES = 1 << (COUNTS_LOG - 6),
	HAS_RELOADS = 1 << 15,
	PROCESS_LOG = 3
};

/* Lines that a core's own caches keep, as in catalog/cpu/linux-generic.json. */
enum { OWN_CACHE_LINES = 8192 };

enum { N_SOURCES = 16, MOST_CYCLES = 65536, SOURCE_L1D = 0 };

/* Bits of sources: another core's cache, of the same cluster or not; what is beyond them all. */
static const uint32_t peers = 1u << 9 | 1u << 10 | 1u << 12 | 1u << 13,
		      beyond = 1u << 11 | 1u << 14;

/* What a thread did to a line, or of its reloads those of an instruction, to some bytes; n 0: free. */
struct visit {
	uint64_t key; /* number of the line, thread; with the others mixed in */
	uint64_t first_ns, last_ns, first_write_ns, last_write_ns;
	uint32_t n, n_writes, cycles;
};

struct visits {
	struct visit *slots;
	size_t mask;
};

/* How much there is. */
struct diff_sizes {
	size_t n_places, n_lines, n_found, n_visits, n_accesses;
};

/* The work on a capture. */
struct work {
	const struct capture *capture;
	const struct timeline *timeline;
	struct place_numbers *places; /* attribution wants them, though nobody asks */
	struct diff_sizes sizes;      /* room for as many; then how many there are */
	struct table by_place;
	struct slot by_source[N_SOURCES];
	struct lines lines;
	struct address_filter shape; /* of counts; empty */
	uint16_t *counts;	     /* 1 << COUNTS_LOG */
	uint32_t *hits;		     /* MOST_CYCLES: loads that took so long */
	size_t n_accesses;
	struct address_index *index;
	struct address_list noted;
	VEC_OF(struct line) chosen;
	size_t found; /* room for as many lines that are not */
	struct lines
		numbers; /* of the chosen ones, and of those that counts let through once they are met: `n` is the number + 1 */
	uint32_t n_numbers;
	struct address_filter filter;
	struct visits visits;
};

/* Is it a load from one of these sources? */
static bool is_from(const struct batch *b, size_t row, uint32_t sources)
{
	return b->has[row] & HAS_SOURCE && !is_store(b, row) && b->source[row] < N_SOURCES &&
	       sources >> b->source[row] & 1;
}

/* Where accesses to the row's line are counted. As in src/c2c/lines/sieve.c, a process changes some bits of an address's. */
static uint16_t *count_of(const struct work *w, const struct batch *b, size_t row)
{
	uint32_t process = b->va[row] >> 63 ? 0 : batch_process(b, row);

	return &w->counts[address_filter_bit(&w->shape, b->va[row]) ^
			  process * 0x9e3779b9u >> (32 - PROCESS_LOG)];
}

static void count_access(struct work *w, const struct batch *b, size_t row)
{
	uint16_t *count = count_of(w, b, row);

	*count = (uint16_t)(*count + ((*count & ~HAS_RELOADS) < HAS_RELOADS - 1));
	*count |= is_from(b, row, beyond) ? HAS_RELOADS : 0;
	w->hits[cycles_of(b, row)] += is_from(b, row, 1u << SOURCE_L1D);
	w->n_accesses++;
}

static void add_source(struct work *w, const struct batch *b, size_t row, uint32_t cycles)
{
	struct slot *slot = &w->by_source[b->source[row] % N_SOURCES];

	if (b->has[row] & HAS_SOURCE) {
		slot->n++;
		slot->sum += cycles;
	}
}

static void count_rows(struct work *w, const struct batch *b, size_t from, size_t to)
{
	for (size_t row = from; row < to; row++)
		prefetch_to_write(&w->by_place.slots[first_slot(b->pc[row], w->by_place.mask)]);
	for (size_t row = from; row < to; row++)
		prefetch_to_write(count_of(w, b, row));
	for (size_t row = from; row < to; row++) {
		uint32_t cycles = b->has[row] & HAS_TOTAL ? b->total[row] : 0;

		table_add(&w->by_place, b->pc[row], cycles);
		add_source(w, b, row, cycles);
		if (!(b->has[row] & HAS_VA))
			continue;
		count_access(w, b, row);
		if (is_from(b, row, peers)) {
			const struct line one = {
				.key = key_of_line(b, row),
				.n = 1,
				.cycles = cycles_of(b, row),
			};

			line_merge(line_at(&w->lines, one.key), &one);
		}
	}
}

static void note_batch(struct work *w, const struct batch *b)
{
	uint16_t rows[BATCH_ROWS];
	size_t n = 0;

	for (size_t row = 0; row < b->n; row++) {
		rows[n] = (uint16_t)row;
		n += (b->has[row] & HAS_VA) != 0;
	}
	address_list_add(&w->noted, w->index, b->position, b->va, rows, n);
}

static void widen(uint64_t *first_ns, uint64_t *last_ns, uint64_t time_ns)
{
	*first_ns = time_ns < *first_ns ? time_ns : *first_ns;
	*last_ns = time_ns > *last_ns ? time_ns : *last_ns;
}

/* May reloads matter on lines with this count? */
static bool may_matter(const struct work *w, uint16_t count)
{
	return count & HAS_RELOADS &&
	       (uint64_t)(count & ~HAS_RELOADS) * OWN_CACHE_LINES >= w->n_accesses;
}

static struct visit *visit_at(struct work *w, uint64_t key)
{
	struct visits *t = &w->visits;
	size_t at = first_slot(key, t->mask);

	while (t->slots[at].n != 0 && t->slots[at].key != key)
		at = (at + 1) & t->mask;
	if (t->slots[at].n == 0) {
		t->slots[at].key = key;
		t->slots[at].first_ns = t->slots[at].first_write_ns = UINT64_MAX;
		w->sizes.n_visits++;
	}
	return &t->slots[at];
}

static void visit_batch(struct work *w, const struct batch *b)
{
	for (size_t row = 0; row < b->n; row++) {
		uint64_t key = key_of_line(b, row), own;
		struct line *line = line_at(&w->numbers, key);
		bool matters = may_matter(w, *count_of(w, b, row));
		struct visit *visit;

		if (!(b->has[row] & HAS_VA) || (line->n == 0 && !matters))
			continue;
		if (line->n == 0) {
			*line = (struct line){ .key = key, .n = ++w->n_numbers };
			w->sizes.n_found++;
		}
		w->sizes.n_accesses++;
		own = (uint64_t)line->n << 32 | thread_of(b, row);
		if (matters && is_from(b, row, beyond))
			own = hash_mix(own, hash_mix(b->pc[row], b->va[row] << 32 | b->cpu[row]));
		visit = visit_at(w, own);
		visit->n++;
		visit->cycles += cycles_of(b, row);
		widen(&visit->first_ns, &visit->last_ns, b->time_ns[row]);
		if (!is_store(b, row))
			continue;
		visit->n_writes++;
		widen(&visit->first_write_ns, &visit->last_write_ns, b->time_ns[row]);
	}
}

static void decode(struct work *w, bool is_first)
{
	struct unit_reader *r = unit_reader_new(w->capture);
	struct attribution *attribution = attribution_new(w->timeline, w->places);
	struct batch *b = batch_new();

	attribution_skip_places(attribution);
	unit_reader_want_spe(r, (struct spe_wanted){
					.without_targets = true,
					.only_memory = !is_first,
					.addresses = is_first ? NULL : &w->filter,
				});
	if (!is_first)
		unit_reader_want_records(r, w->index);
	for (size_t unit = 0; unit < capture_n_units(w->capture); unit++) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, b)) {
			attribution_apply(attribution, b);
			if (!is_first) {
				visit_batch(w, b);
				continue;
			}
			note_batch(w, b);
			for (size_t row = 0; row < b->n; row += ROWS_AT_ONCE)
				count_rows(w, b, row,
					   b->n - row < ROWS_AT_ONCE ? b->n : row + ROWS_AT_ONCE);
		}
		if (is_first)
			address_index_keep(w->index, unit, &w->noted);
	}
	batch_free(b);
	attribution_free(attribution);
	unit_reader_free(r);
}

static void choose_lines(struct work *w)
{
	size_t n;

	for (size_t i = 0; i <= w->lines.mask; i++)
		if (w->lines.slots[i].n > 0)
			*vec_add(&w->chosen) = w->lines.slots[i];
	w->sizes.n_lines = w->chosen.n;
	if (w->chosen.n > 1)
		qsort(w->chosen.items, w->chosen.n, sizeof(*w->chosen.items), lines_compare);
	n = w->chosen.n < MOST_LINES ? w->chosen.n : MOST_LINES;
	lines_init(&w->numbers, n + w->found);
	address_filter_init(&w->filter, UINT64_C(1) << LINE_LOG, FILTER_LINES);
	for (size_t i = 0; i < 1u << COUNTS_LOG; i++)
		for (size_t change = 0; change < 1u << PROCESS_LOG && may_matter(w, w->counts[i]);
		     change++)
			address_filter_add_bit(&w->filter, i ^ change);
	for (size_t i = 0; i < n; i++) {
		uint64_t key = w->chosen.items[i].key;

		*line_at(&w->numbers, key) = (struct line){ .key = key, .n = (uint32_t)i + 1 };
		address_filter_add(&w->filter, address_of(key));
	}
	w->n_numbers = (uint32_t)n;
}

static void do_work(struct work *w)
{
	size_t n_visits = slots_for(w->sizes.n_visits);

	w->index = address_index_new(capture_n_units(w->capture), UINT64_C(1) << LINE_LOG,
				     INDEX_BYTES_MAX);
	table_init(&w->by_place, slots_for(w->sizes.n_places));
	lines_init(&w->lines, w->sizes.n_lines);
	address_filter_init(&w->shape, UINT64_C(1) << LINE_LOG, FILTER_LINES);
	w->counts = mem_zalloc(1u << COUNTS_LOG, sizeof(*w->counts));
	w->hits = mem_zalloc(MOST_CYCLES, sizeof(*w->hits));
	w->visits = (struct visits){ mem_zalloc(n_visits, sizeof(*w->visits.slots)), n_visits - 1 };
	w->found = w->sizes.n_found;
	w->sizes = (struct diff_sizes){ 0 };
	decode(w, true);
	w->sizes.n_places = w->by_place.n;
	choose_lines(w);
	decode(w, false);
}

static void work_release(struct work *w)
{
	free(w->by_place.slots);
	free(w->lines.slots);
	address_filter_release(&w->shape);
	free(w->counts);
	free(w->hits);
	address_index_free(w->index);
	address_list_release(&w->noted);
	vec_release(&w->chosen);
	free(w->numbers.slots);
	address_filter_release(&w->filter);
	free(w->visits.slots);
}

static void work_on(void *context, unsigned thread)
{
	struct work *works = context;

	do_work(&works[thread]);
	work_release(&works[thread]);
}

void limits_of_diff(const struct capture *c, const struct timeline *timeline, size_t n_records,
		    int repeats)
{
	static const char *const names[MOST_THREADS] = { "diff", "diff-2" };
	struct work none = { .capture = c,
			     .timeline = timeline,
			     .places = place_numbers_new(),
			     .sizes = { n_records, n_records, n_records, n_records, 0 } };
	struct work first = none;

	do_work(&first);
	work_release(&first);
	none.sizes = first.sizes;
	for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads++) {
		struct cost least = { 0 };

		for (int i = 0; i < repeats; i++) {
			struct work works[MOST_THREADS] = { none, none };
			struct cost start = now();

			run_threads(n_threads, work_on, works);
			take_least(&least, start, i == 0);
		}
		print_limit(names[n_threads - 1], least, n_threads * capture_size(c));
	}
	printf("lines that loads waited for %zu, others looked at %zu, accesses to all of these "
	       "%zu, by line and thread, and reloads, %zu\n",
	       first.sizes.n_lines, first.sizes.n_found, first.sizes.n_accesses,
	       first.sizes.n_visits);
	place_numbers_free(none.places);
}
