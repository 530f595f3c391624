/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hot cannot do without: it decodes all records, adds up what each place took, and looks for the places that come first.
 * How many places there are is not known before, and no more than 64 MiB may be taken, so the tables grow: a page of code has
 * a word for each instruction of four bytes, when its first record comes. `hot` does that in one thread, `hot-2` in two, each
 * with pages of its own, which are joined. Places are addresses: it does not know whose they are, nor their names.
 *
 * `hot-numbers` is what cyclops does of that: it knows processes, so that an address of two of them is two places, and a word of a
 * page has the number of a place, by which its sums are, as wide as those of cyclops. In one thread.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/largest.h"
#include "base/prefetch.h"
#include "capture/capture.h"
#include "estimate/latency.h"
#include "limits.h"

enum {
	CODE_SHIFT = 12,
	INSTRUCTION_LOG = 2,
	WORDS = 1 << (CODE_SHIFT - INSTRUCTION_LOG),
	PAGES_IN_BLOCK = MEM_HUGE / (WORDS * 8),
	MOST_BLOCKS = 4096,
	ROWS_SHOWN = 20,
	CYCLES_SHIFT =
		24, /* a word: number of records, sum of cycles, and whether a counter was full */
	FULL_BIT = 63,
	CYCLES_OF_NUMBERED =
		32,	   /* bit of the cycles in the first word of sums, above those of squares */
	ADDRESS_BITS = 48, /* in user space */
};

/* Sums of the instructions of the pages of code that a thread has seen, in blocks of memory. */
struct code {
	struct code_slot {
		uint64_t page; /* number of it + 1; 0: free */
		uint64_t *words;
	} * slots;
	size_t mask, n;
	uint64_t *blocks[MOST_BLOCKS];
};

struct hot_job {
	const struct capture *capture;
	struct code of_threads[MOST_THREADS];
	_Atomic size_t next_unit;
};

static void code_init(struct code *c)
{
	enum { FIRST_SLOTS = 1 << 10 };

	c->slots = mem_zalloc(FIRST_SLOTS, sizeof(*c->slots));
	c->mask = FIRST_SLOTS - 1;
	c->n = 0;
}

static void code_release(struct code *c)
{
	for (size_t i = 0; i * PAGES_IN_BLOCK < c->n; i++)
		mem_huge_free(c->blocks[i], 1, MEM_HUGE);
	free(c->slots);
}

static struct code_slot *code_slot(const struct code *c, uint64_t page)
{
	size_t at = first_slot(page, c->mask);

	while (c->slots[at].page != 0 && c->slots[at].page != page + 1)
		at = (at + 1) & c->mask;
	return &c->slots[at];
}

static void code_grow(struct code *c)
{
	struct code old = *c;

	c->mask = 2 * (old.mask + 1) - 1;
	c->slots = mem_zalloc(c->mask + 1, sizeof(*c->slots));
	for (size_t i = 0; i <= old.mask; i++)
		if (old.slots[i].page != 0)
			*code_slot(c, old.slots[i].page - 1) = old.slots[i];
	free(old.slots);
}

static uint64_t *add_page(struct code *c, uint64_t page)
{
	struct code_slot *slot;
	size_t block = c->n / PAGES_IN_BLOCK;

	if (2 * c->n > c->mask)
		code_grow(c);
	if (block == MOST_BLOCKS)
		abort();
	if (c->n % PAGES_IN_BLOCK == 0)
		c->blocks[block] = mem_huge(1, MEM_HUGE);
	slot = code_slot(c, page);
	slot->page = page + 1;
	slot->words = c->blocks[block] + c->n++ % PAGES_IN_BLOCK * WORDS;
	return slot->words;
}

static inline uint64_t *word_of(struct code *c, uint64_t pc)
{
	const struct code_slot *slot = code_slot(c, pc >> CODE_SHIFT);
	uint64_t *words = slot->page != 0 ? slot->words : add_page(c, pc >> CODE_SHIFT);

	return &words[pc >> INSTRUCTION_LOG & (WORDS - 1)];
}

static void add_rows(struct code *c, const struct batch *b)
{
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;
		uint64_t *words[ROWS_AT_ONCE];

		for (size_t row = from; row < to; row++) {
			words[row - from] = word_of(c, b->pc[row]);
			prefetch_to_write(words[row - from]);
		}
		for (size_t row = from; row < to; row++) {
			uint64_t total = b->has[row] & HAS_TOTAL ? b->total[row] : 0;

			*words[row - from] = (*words[row - from] + (total << CYCLES_SHIFT | 1)) |
					     (uint64_t)latency_is_full(total) << FULL_BIT;
		}
	}
}

static void add_units(void *context, unsigned thread)
{
	struct hot_job *job = context;
	struct unit_reader *r = unit_reader_new(job->capture);
	struct batch *batch = batch_new();
	struct code *code = &job->of_threads[thread];
	size_t unit;

	code_init(code);
	unit_reader_want_spe(r, (struct spe_wanted){ .without_addresses = true });
	while ((unit = atomic_fetch_add(&job->next_unit, 1)) < capture_n_units(job->capture)) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch))
			add_rows(code, batch);
	}
	batch_free(batch);
	unit_reader_free(r);
}

static void join(struct code *to, const struct code *from)
{
	for (size_t i = 0; i <= from->mask; i++) {
		const struct code_slot *slot = &from->slots[i];
		uint64_t *words;

		if (slot->page == 0)
			continue;
		words = word_of(to, (slot->page - 1) << CODE_SHIFT);
		for (size_t k = 0; k < WORDS; k++)
			words[k] = ((words[k] + (slot->words[k] & ~(UINT64_C(1) << FULL_BIT))) |
				    (slot->words[k] & UINT64_C(1) << FULL_BIT));
	}
}

/* Returns how many places there are. */
static size_t find_first(const struct code *c, uint64_t largest[ROWS_SHOWN])
{
	size_t n = 0;

	for (size_t page = 0; page < c->n; page++) {
		const uint64_t *words =
			c->blocks[page / PAGES_IN_BLOCK] + page % PAGES_IN_BLOCK * WORDS;

		for (size_t k = 0; k < WORDS; k++) {
			n += words[k] != 0;
			largest_enter(largest, ROWS_SHOWN,
				      (words[k] & ~(UINT64_C(1) << FULL_BIT)) >> CYCLES_SHIFT);
		}
	}
	return n;
}

/* An instruction of a process. Those of the kernel are of all. */
static uint64_t key_of(const struct batch *b, size_t row)
{
	uint64_t pc = b->pc[row];

	return pc >> 63 ? pc : pc | (uint64_t)batch_process(b, row) << ADDRESS_BITS;
}

/* A place, and sums as wide as those of cyclops. */
struct numbered_place {
	uint64_t place, words[2];
};

enum { PLACES_IN_BLOCK = MEM_HUGE / sizeof(struct numbered_place) };

struct numbered {
	struct code numbers; /* a word: the number + 1; 0: it has none */
	struct numbered_place *blocks[MOST_BLOCKS];
	size_t n;
};

static struct numbered_place *place_of(const struct numbered *t, uint64_t number)
{
	return &t->blocks[number / PLACES_IN_BLOCK][number % PLACES_IN_BLOCK];
}

static uint64_t add_place(struct numbered *t, uint64_t place)
{
	uint64_t number = t->n++;

	if (number / PLACES_IN_BLOCK == MOST_BLOCKS)
		abort();
	if (number % PLACES_IN_BLOCK == 0)
		t->blocks[number / PLACES_IN_BLOCK] = mem_huge(1, MEM_HUGE);
	place_of(t, number)->place = place;
	return number;
}

static void add_numbered_rows(struct numbered *t, const struct batch *b)
{
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;
		uint64_t *words[ROWS_AT_ONCE];
		struct numbered_place *places[ROWS_AT_ONCE];

		for (size_t row = from; row < to; row++) {
			words[row - from] = word_of(&t->numbers, key_of(b, row));
			prefetch_to_write(words[row - from]);
		}
		for (size_t row = from; row < to; row++) {
			if (*words[row - from] == 0)
				*words[row - from] = add_place(t, key_of(b, row)) + 1;
			places[row - from] = place_of(t, *words[row - from] - 1);
			prefetch_to_write(places[row - from]);
		}
		for (size_t row = from; row < to; row++) {
			uint64_t total = b->has[row] & HAS_TOTAL ? b->total[row] : 0;

			places[row - from]->words[0] +=
				total * total + (total << CYCLES_OF_NUMBERED);
			places[row - from]->words[1] +=
				1 + ((uint64_t)latency_is_full(total) << 32);
		}
	}
}

/* Of the sums of a place: cycles. */
static uint64_t cycles_of_place(const struct numbered_place *place)
{
	return place->words[0] >> CYCLES_OF_NUMBERED;
}

static void run_numbered(const struct capture *c, const struct timeline *timeline)
{
	struct unit_reader *r = unit_reader_new(c);
	struct batch *batch = batch_new();
	struct numbered *t = mem_zalloc(1, sizeof(*t));
	struct place_numbers *none = place_numbers_new();
	struct attribution *attribution = attribution_new(timeline, none);
	uint64_t largest[ROWS_SHOWN] = { 0 };

	code_init(&t->numbers);
	attribution_skip_places(attribution);
	unit_reader_want_spe(r, (struct spe_wanted){ .without_addresses = true });
	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch)) {
			attribution_apply(attribution, batch);
			add_numbered_rows(t, batch);
		}
	}
	for (uint64_t i = 0; i < t->n; i++)
		largest_enter(largest, ROWS_SHOWN, cycles_of_place(place_of(t, i)));
	for (size_t i = 0; i * PLACES_IN_BLOCK < t->n; i++)
		mem_huge_free(t->blocks[i], 1, MEM_HUGE);
	code_release(&t->numbers);
	free(t);
	attribution_free(attribution);
	place_numbers_free(none);
	batch_free(batch);
	unit_reader_free(r);
}

static void limits_of_numbers(const struct capture *c, const struct timeline *timeline, int repeats)
{
	struct cost least = { 0 };

	for (int i = 0; i < repeats; i++) {
		struct cost start = now();

		run_numbered(c, timeline);
		take_least(&least, start, i == 0);
	}
	print_limit("hot-numbers", least, capture_size(c));
}

static size_t run_hot(const struct capture *c, unsigned n_threads)
{
	struct hot_job *job = mem_zalloc(1, sizeof(*job));
	uint64_t largest[ROWS_SHOWN] = { 0 };
	size_t n;

	job->capture = c;
	run_threads(n_threads, add_units, job);
	for (unsigned i = 1; i < n_threads; i++)
		join(&job->of_threads[0], &job->of_threads[i]);
	n = find_first(&job->of_threads[0], largest);
	for (unsigned i = 0; i < n_threads; i++)
		code_release(&job->of_threads[i]);
	free(job);
	return n;
}

void limits_of_hot(const struct capture *c, const struct timeline *timeline, int repeats)
{
	static const char *const names[MOST_THREADS] = { "hot", "hot-2" };
	size_t n = 0;

	for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads++) {
		struct cost least = { 0 };

		for (int i = 0; i < repeats; i++) {
			struct cost start = now();

			n = run_hot(c, n_threads);
			take_least(&least, start, i == 0);
		}
		print_limit(names[n_threads - 1], least, capture_size(c));
	}
	limits_of_numbers(c, timeline, repeats);
	printf("places of instructions %zu\n", n);
}
