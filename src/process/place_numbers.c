/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most places are instructions of four bytes, or callers, close together. A page of them has arrays of
 * numbers, which are read without a lock. Other places, those of pages beyond the first MAX_PAGES, and callers in pages beyond
 * the first MAX_CALLERS that have any, are in hash tables. A place of a page is added without a lock, too: which thread adds
 * it is settled where its number is stored, so threads that add neighbours do not take the line of a lock from each other's core. Pages and other
 * places are added under one of N_SHARDS locks, so that threads rarely wait.
 *
 *	chunks ─► [ places 0 … 1023 ] [ 1024 … 3071 ] …       by number
 *	shards ─► pages ──► [ numbers of a page ]             by (module, page)
 *	       └► others ─► numbers                           by (module, offset)
 */
#include "process/place_numbers.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/radix.h"
#include "base/tuples.h"
#include "base/vec.h"

enum {
	SHARDS_LOG = 7, /* a thread that adds a page holds a lock while memory is cleared for it */
	N_SHARDS = 1 << SHARDS_LOG,
	MAX_PAGES = 4096,   /* 4 KiB each */
	MAX_CALLERS = 2048, /* the same */
	/*
	 * Are allocated together: each allocation of a thread grows its heap by a system call. So many have a mapping of
	 * their own, of which only what is written takes memory; in a heap zeroes are written to half of them.
	 */
	PAGES_AT_ONCE = 64,
	/* Behind the first blocks of pages there are those of huge pages: a page of 4 KiB has a page fault. */
	SMALL_BLOCKS = 8,
	SMALL_PAGES = SMALL_BLOCKS * PAGES_AT_ONCE,
	PAGES_IN_HUGE = MEM_HUGE / sizeof(struct place_page),
	HUGE_BLOCKS = (MAX_PAGES - SMALL_PAGES + PAGES_IN_HUGE - 1) / PAGES_IN_HUGE,
};

struct shard {
	pthread_mutex_t mutex;
	struct tuples pages;		     /* (module, offset of the page); by its number: */
	VEC_OF(struct place_page *) page_of; /* … NULL: there were too many pages */
	struct tuples others;		     /* (module, offset); by its number: */
	VEC_OF(uint32_t) number_of;
};

/* Numbers of the callers of a page. */
struct callers {
	_Atomic uint32_t numbers[PLACE_WORDS];
};

struct place_index {
	uint64_t seed;
	pthread_mutex_t growing; /* held by who makes a chunk, or takes a page or callers */
	uint32_t n_pages, n_callers;
	_Atomic bool is_full_of_callers; /* there are MAX_CALLERS, all given to pages */
	struct place_page *pages[SMALL_BLOCKS + HUGE_BLOCKS];
	struct callers *callers[MAX_CALLERS / PAGES_AT_ONCE];
	struct shard shards[N_SHARDS];
};

/* An empty one; mutexes stay as they are. */
static void place_index_init(struct place_index *index)
{
	index->n_pages = 0;
	index->n_callers = 0;
	index->is_full_of_callers = false;
	for (int i = 0; i < N_SHARDS; i++) {
		tuples_init(&index->shards[i].pages, 2);
		tuples_init(&index->shards[i].others, 2);
	}
}

struct place_numbers *place_numbers_new(void)
{
	struct place_numbers *p = mem_zalloc(1, sizeof(*p));

	p->index = mem_zalloc(1, sizeof(*p->index));
	p->index->seed = hash_seed();
	pthread_mutex_init(&p->index->growing, NULL);
	for (int i = 0; i < N_SHARDS; i++)
		pthread_mutex_init(&p->index->shards[i].mutex, NULL);
	place_index_init(p->index);
	place_numbers_add(p, (struct place){ 0 });
	return p;
}

static void place_shard_forget(struct shard *shard)
{
	vec_release(&shard->page_of);
	vec_release(&shard->number_of);
	tuples_release(&shard->pages);
	tuples_release(&shard->others);
}

static void place_index_forget(struct place_index *index)
{
	for (int i = 0; i < N_SHARDS; i++)
		place_shard_forget(&index->shards[i]);
	for (size_t i = 0; i < COUNT(index->pages); i++) {
		if (i < SMALL_BLOCKS)
			free(index->pages[i]);
		else
			mem_huge_free(index->pages[i], 1, MEM_HUGE);
		index->pages[i] = NULL;
	}
	for (size_t i = 0; i < COUNT(index->callers); i++) {
		free(index->callers[i]);
		index->callers[i] = NULL;
	}
}

void place_numbers_forget_index(struct place_numbers *p)
{
	place_index_forget(p->index);
	p->is_without_index = true;
	malloc_trim(0); /* other tables are too small to be given back one by one */
}

void place_numbers_restore_index(struct place_numbers *p)
{
	uint32_t n = place_numbers_n(p);

	if (!p->is_without_index)
		return;
	p->is_without_index = false;
	place_index_init(p->index);
	atomic_store(&p->n, 0);
	for (uint32_t i = 0; i < n; i++)
		place_numbers_add(p, place_numbers_get(p, i));
}

void place_numbers_free(struct place_numbers *p)
{
	if (p == NULL)
		return;
	place_index_forget(p->index);
	for (int i = 0; i < N_SHARDS; i++)
		pthread_mutex_destroy(&p->index->shards[i].mutex);
	pthread_mutex_destroy(&p->index->growing);
	for (int i = 0; i < PLACE_CHUNKS; i++)
		mem_huge_free(atomic_load(&p->chunks[i]), (size_t)1 << (i + PLACE_FIRST_LOG),
			      sizeof(struct place));
	free(p->index);
	free(p);
}

uint32_t place_numbers_n(const struct place_numbers *p)
{
	return atomic_load(&p->n);
}

/* Chunk `i`, allocated by the first thread that needs it. */
static struct place *chunk_of(struct place_numbers *p, unsigned i)
{
	struct place *chunk = atomic_load_explicit(&p->chunks[i], memory_order_acquire);

	if (chunk != NULL)
		return chunk;
	pthread_mutex_lock(&p->index->growing);
	chunk = atomic_load_explicit(&p->chunks[i], memory_order_relaxed);
	if (chunk == NULL) {
		chunk = mem_huge((size_t)1 << (i + PLACE_FIRST_LOG), sizeof(*chunk));
		atomic_store_explicit(&p->chunks[i], chunk, memory_order_release);
	}
	pthread_mutex_unlock(&p->index->growing);
	return chunk;
}

/* The first of `n` numbers, which nobody else gets. */
static uint32_t next_numbers(struct place_numbers *p, uint32_t n)
{
	uint32_t first = atomic_fetch_add_explicit(&p->n, n, memory_order_relaxed);

	assert(first < PLACE_NONE - (1u << PLACE_FIRST_LOG));
	return first;
}

/* Where the place of a number goes, and in `out_n` of how many numbers from it on, as they are in one chunk. */
static struct place *places_from(struct place_numbers *p, uint32_t number, uint64_t *out_n)
{
	uint64_t slot;
	unsigned chunk = place_chunk_of(number, &slot);

	*out_n = ((uint64_t)1 << (chunk + PLACE_FIRST_LOG)) - slot;
	return &chunk_of(p, chunk)[slot];
}

static struct shard *shard_of(const struct place_numbers *p, const uint64_t tuple[2])
{
	return &p->index->shards[hash_words(tuple, 2, p->index->seed) >> (64 - SHARDS_LOG)];
}

static struct place_page *new_page(struct place_numbers *p, struct place start)
{
	struct place_index *index = p->index;
	struct place_page *page = NULL, **pages;

	pthread_mutex_lock(&index->growing);
	if (index->n_pages < SMALL_PAGES) {
		pages = &index->pages[index->n_pages / PAGES_AT_ONCE];
		if (*pages == NULL)
			*pages = mem_zalloc(PAGES_AT_ONCE, sizeof(**pages));
		page = &(*pages)[index->n_pages++ % PAGES_AT_ONCE];
	} else if (index->n_pages < MAX_PAGES) {
		uint32_t at = index->n_pages++ - SMALL_PAGES;

		pages = &index->pages[SMALL_BLOCKS + at / PAGES_IN_HUGE];
		if (*pages == NULL)
			*pages = mem_huge(1, MEM_HUGE);
		page = &(*pages)[at % PAGES_IN_HUGE];
	}
	pthread_mutex_unlock(&index->growing);
	if (page != NULL)
		page->start = start;
	return page;
}

/* Writes to the pages of memory that these numbers are in: what is read before that has two page faults. */
static void touch(_Atomic uint32_t *numbers)
{
	atomic_store_explicit(&numbers[0], 0, memory_order_relaxed);
	atomic_store_explicit(&numbers[PLACE_WORDS - 1], 0, memory_order_relaxed);
}

/* Gives a page numbers of callers, if there are not too many of them: that is so for good. */
static void give_callers(struct place_index *index, struct place_page *page)
{
	struct callers **callers;
	_Atomic uint32_t *numbers;

	if (index->n_callers == MAX_CALLERS) {
		atomic_store_explicit(&index->is_full_of_callers, true, memory_order_release);
		return;
	}
	callers = &index->callers[index->n_callers / PAGES_AT_ONCE];
	if (*callers == NULL)
		*callers = mem_zalloc(PAGES_AT_ONCE, sizeof(**callers));
	numbers = (*callers)[index->n_callers++ % PAGES_AT_ONCE].numbers;
	touch(numbers);
	atomic_store_explicit(&page->last, numbers, memory_order_release);
}

/* Where a page stores the number of a caller, whose numbers it gets with the first one. NULL: it does not. */
static _Atomic uint32_t *kept_caller(struct place_index *index, struct place_page *page,
				     uint64_t offset)
{
	if (!atomic_load_explicit(&index->is_full_of_callers, memory_order_acquire)) {
		pthread_mutex_lock(&index->growing);
		if (atomic_load_explicit(&page->last, memory_order_relaxed) == NULL)
			give_callers(index, page);
		pthread_mutex_unlock(&index->growing);
	}
	return place_numbers_kept(page, offset);
}

/* A page that is about to be looked at for this offset. */
static struct place_page *touched(struct place_page *page, uint64_t offset)
{
	if (page != NULL && offset % PLACE_CODE_SIZE == 0)
		touch(page->first);
	else if (page != NULL)
		atomic_store_explicit(&page->last, NULL, memory_order_relaxed);
	return page;
}

/* A page that was refused stays refused: the numbers of its places are in `others` for good. */
struct place_page *place_numbers_page(struct place_numbers *p, struct module_id module,
				      uint64_t offset)
{
	const uint64_t tuple[2] = { module.v, offset & -(uint64_t)PLACE_PAGE };
	struct shard *shard = shard_of(p, tuple);
	struct place_page *page;
	uint32_t number;

	pthread_mutex_lock(&shard->mutex);
	number = tuples_add(&shard->pages, tuple);
	if (number == shard->page_of.n)
		*vec_add(&shard->page_of) =
			touched(new_page(p, (struct place){ module, tuple[1] }), offset);
	page = shard->page_of.items[number];
	pthread_mutex_unlock(&shard->mutex);
	return page;
}

/* Waits for the number that another thread is about to give: that takes it less time than to wait for a lock. */
static uint32_t wait_for_number(const _Atomic uint32_t *kept)
{
	uint32_t stored;

	while ((stored = atomic_load_explicit(kept, memory_order_acquire)) == PLACE_BEING_ADDED)
		sched_yield();
	return stored - 1;
}

/* Gives numbers to those of some places that are this thread's to number. */
static void number_kept(struct place_numbers *p, const struct kept_place *places,
			const uint8_t *mine, uint32_t n)
{
	uint32_t number = next_numbers(p, n), end = number + n;

	while (number < end) {
		uint64_t n_there;
		struct place *to = places_from(p, number, &n_there);

		for (; number < end && n_there > 0; number++, n_there--) {
			const struct kept_place *its = &places[*mine++];

			*to++ = its->place;
			atomic_store_explicit(its->kept, number + 1, memory_order_release);
		}
	}
}

/* A thread gives all numbers that it must before it waits for others. */
void place_numbers_add_kept(struct place_numbers *p, struct kept_place *places, size_t n)
{
	uint8_t mine[KEPT_AT_ONCE];
	uint32_t n_mine = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t stored = 0;

		mine[n_mine] = (uint8_t)i;
		n_mine += atomic_compare_exchange_strong_explicit(
			places[i].kept, &stored, PLACE_BEING_ADDED, memory_order_relaxed,
			memory_order_relaxed);
	}
	if (n_mine > 0)
		number_kept(p, places, mine, n_mine);
	for (size_t i = 0; i < n; i++)
		places[i].number = wait_for_number(places[i].kept);
}

/* Adds a place that is not in a page. */
static uint32_t add_other(struct place_numbers *p, struct place place)
{
	const uint64_t tuple[2] = { place.module.v, place.offset };
	struct shard *shard = shard_of(p, tuple);
	uint32_t at, number;
	uint64_t n_there;

	pthread_mutex_lock(&shard->mutex);
	at = tuples_add(&shard->others, tuple);
	if (at == shard->number_of.n) {
		number = next_numbers(p, 1);
		*places_from(p, number, &n_there) = place;
		*vec_add(&shard->number_of) = number;
	}
	number = shard->number_of.items[at];
	pthread_mutex_unlock(&shard->mutex);
	return number;
}

/* May a page store it? */
static bool is_kept(struct place place)
{
	return place.offset % PLACE_CODE_SIZE == 0 ||
	       place.offset % PLACE_CODE_SIZE == PLACE_CODE_SIZE - 1;
}

uint32_t place_numbers_add(struct place_numbers *p, struct place place)
{
	struct place_page *page = NULL;
	struct kept_place its = { .place = place };

	if (is_kept(place))
		page = place_numbers_page(p, place.module, place.offset);
	its.kept = place_numbers_kept(page, place.offset);
	if (its.kept == NULL && page != NULL)
		its.kept = kept_caller(p->index, page, place.offset);
	if (its.kept == NULL)
		return add_other(p, place);
	place_numbers_add_kept(p, &its, 1);
	return its.number;
}

static uint32_t find_other(struct shard *shard, const uint64_t tuple[2])
{
	uint32_t at, number = PLACE_NONE;

	pthread_mutex_lock(&shard->mutex);
	at = tuples_find(&shard->others, tuple);
	if (at != TUPLES_NONE)
		number = shard->number_of.items[at];
	pthread_mutex_unlock(&shard->mutex);
	return number;
}

static struct place_page *find_page(struct shard *shard, const uint64_t tuple[2])
{
	struct place_page *page = NULL;
	uint32_t at;

	pthread_mutex_lock(&shard->mutex);
	at = tuples_find(&shard->pages, tuple);
	if (at != TUPLES_NONE)
		page = shard->page_of.items[at];
	pthread_mutex_unlock(&shard->mutex);
	return page;
}

uint32_t place_numbers_find(const struct place_numbers *p, struct place place)
{
	const uint64_t tuple[2] = { place.module.v, place.offset };
	const uint64_t page[2] = { place.module.v, place.offset & -(uint64_t)PLACE_PAGE };
	const _Atomic uint32_t *kept = NULL;
	uint32_t number;

	if (is_kept(place))
		kept = place_numbers_kept(find_page(shard_of(p, page), page), place.offset);
	if (kept == NULL)
		return find_other(shard_of(p, tuple), tuple);
	number = place_numbers_look(kept);
	return place_is_none(number) ? PLACE_NONE : number;
}

static int place_numbers_compare_places(struct place a, struct place b)
{
	if (a.module.v != b.module.v)
		return (a.module.v > b.module.v) - (a.module.v < b.module.v);
	return (a.offset > b.offset) - (a.offset < b.offset);
}

static int place_numbers_compare_pages(const void *left, const void *right)
{
	const struct place_page *const *a = left, *const *b = right;

	return place_numbers_compare_places((*a)->start, (*b)->start);
}

/* All pages. To be freed. */
static const struct place_page **list_pages(const struct place_numbers *p, size_t *out_n)
{
	VEC_OF(const struct place_page *) pages = { 0 };

	for (int i = 0; i < N_SHARDS; i++) {
		const struct shard *shard = &p->index->shards[i];

		for (size_t at = 0; at < shard->page_of.n; at++)
			if (shard->page_of.items[at] != NULL)
				*vec_add(&pages) = shard->page_of.items[at];
	}
	*out_n = pages.n;
	return pages.items;
}

/* The numbers of places that are not in pages. Returns how many there are. */
static size_t list_others(const struct place_numbers *p, uint32_t *out)
{
	size_t n = 0;

	for (int i = 0; i < N_SHARDS; i++)
		for (size_t at = 0; at < p->index->shards[i].number_of.n; at++)
			out[n++] = p->index->shards[i].number_of.items[at];
	return n;
}

static void sort_by_place(const struct place_numbers *p, uint32_t *out, size_t n)
{
	uint64_t *keys = mem_alloc(place_numbers_n(p), sizeof(*keys));

	for (size_t i = 0; i < n; i++)
		keys[out[i]] = place_numbers_get(p, out[i]).offset;
	radix_sort(out, n, keys);
	for (size_t i = 0; i < n; i++)
		keys[out[i]] = place_numbers_get(p, out[i]).module.v;
	radix_sort(out, n, keys);
	free(keys);
}

/* What place_numbers_sorted() fills. Each page is a job: others that come before its end are its, too. */
struct sorting {
	const struct place_numbers *p;
	const struct place_page **pages; /* in order */
	const uint32_t *others;		 /* numbers, in order */
	size_t n_others;
	size_t *first;	     /* by page: how many places are in the pages before it */
	size_t *first_other; /* … and how many others are before its start, or in pages before it */
	uint32_t *numbers;
	struct place *places;
};

/* How many numbers are stored. Nobody stores any meanwhile. */
static size_t count_kept(const _Atomic uint32_t *kept)
{
	uint32_t n = 0;

	for (size_t word = 0; word < PLACE_WORDS; word++)
		n += atomic_load_explicit(&kept[word], memory_order_relaxed) != 0;
	return n;
}

/* A job: how many places a page has. */
static void count_page(void *context, size_t i, unsigned worker)
{
	const struct sorting *s = context;
	const struct place_page *page = s->pages[i];
	const _Atomic uint32_t *last = page->last;

	(void)worker;
	s->first[i + 1] = count_kept(page->first) + (last != NULL ? count_kept(last) : 0);
}

/* How many of the others come before the end of a page. */
static size_t others_before_end(const struct sorting *s, const struct place_page *page)
{
	const struct place end = { page->start.module, page->start.offset + (PLACE_PAGE - 1) };

	return bisect(0, s->n_others, i,
		      place_numbers_compare_places(place_numbers_get(s->p, s->others[i]), end) <=
			      0);
}

/* Where the next places of a page go, and the others up to and behind those. */
struct sorting_to {
	size_t at, other, end;
};

static void sorting_put(const struct sorting *s, struct sorting_to *to, uint32_t number,
			struct place place)
{
	s->numbers[to->at] = number;
	if (s->places != NULL)
		s->places[to->at] = place;
	to->at++;
}

static void put_others_before(const struct sorting *s, struct sorting_to *to, struct place place)
{
	for (; to->other < to->end; to->other++) {
		uint32_t number = s->others[to->other];
		struct place other = place_numbers_get(s->p, number);

		if (place_numbers_compare_places(other, place) > 0)
			return;
		sorting_put(s, to, number, other);
	}
}

static void put_kept(const struct sorting *s, struct sorting_to *to, uint32_t number,
		     struct place page, uint64_t offset)
{
	if (place_is_none(number))
		return;
	page.offset += offset;
	if (to->other < to->end)
		put_others_before(s, to, page);
	sorting_put(s, to, number, page);
}

/* A job: puts the places of a page, with its others, where they belong. */
static void put_page(void *context, size_t i, unsigned worker)
{
	const struct sorting *s = context;
	const struct place_page *page = s->pages[i];
	const _Atomic uint32_t *last = page->last;
	struct sorting_to to = { .at = s->first[i] + s->first_other[i],
				 .other = s->first_other[i],
				 .end = s->first_other[i + 1] };

	(void)worker;
	for (uint32_t word = 0; word < PLACE_WORDS; word++) {
		uint32_t first = place_numbers_look(&page->first[word]);
		uint32_t at = word * PLACE_CODE_SIZE;

		if (place_is_none(first) && last == NULL) /* most words have none */
			continue;
		put_kept(s, &to, first, page->start, at);
		if (last != NULL)
			put_kept(s, &to, place_numbers_look(&last[word]), page->start,
				 at + PLACE_CODE_SIZE - 1);
	}
	put_others_before(s, &to, (struct place){ { UINT32_MAX }, UINT64_MAX });
}

void place_numbers_sorted(const struct place_numbers *p, struct pool *pool, uint32_t *out_numbers,
			  struct place *out_places)
{
	struct sorting s = { .p = p, .numbers = out_numbers, .places = out_places };
	size_t n_pages;
	const struct place_page **pages = list_pages(p, &n_pages);
	uint32_t *others = mem_alloc(place_numbers_n(p), sizeof(*others));
	struct sorting_to behind;

	/* Pages with few places each take longer to look through than those to sort. */
	if (place_numbers_n(p) < n_pages * (PLACE_WORDS / 16)) {
		n_pages = 0;
		s.n_others = place_numbers_n(p);
		for (uint32_t number = 0; number < s.n_others; number++)
			others[number] = number;
	} else {
		if (n_pages > 1)
			qsort(pages, n_pages, sizeof(*pages), place_numbers_compare_pages);
		s.n_others = list_others(p, others);
	}
	sort_by_place(p, others, s.n_others);
	s.pages = pages;
	s.others = others;
	s.first = mem_zalloc(n_pages + 1, sizeof(*s.first));
	s.first_other = mem_zalloc(n_pages + 1, sizeof(*s.first_other));
	pool_run(pool, n_pages, count_page, &s);
	for (size_t i = 0; i < n_pages; i++) {
		s.first[i + 1] += s.first[i];
		s.first_other[i + 1] = others_before_end(&s, pages[i]);
	}
	pool_run(pool, n_pages, put_page, &s);
	behind = (struct sorting_to){ .at = s.first[n_pages] + s.first_other[n_pages],
				      .other = s.first_other[n_pages],
				      .end = s.n_others };
	put_others_before(&s, &behind, (struct place){ { UINT32_MAX }, UINT64_MAX });
	free(s.first);
	free(s.first_other);
	free(others);
	free(pages);
}
