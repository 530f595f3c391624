/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tuples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/prefetch.h"

enum {
	FIRST_SLOTS = 64,
	FETCHED_AT_ONCE = 32, /* about the cache misses that a core can have outstanding */
};

static uint32_t tuples_hash(const struct tuples *t, const uint64_t *tuple)
{
	return (uint32_t)hash_words(tuple, t->width, t->seed);
}

/*
 * The slot of the tuple, or the empty slot where it is to be added. `width` is the table's: where it is a constant this is
 * faster.
 */
static inline uint32_t probe_width(const struct tuples *t, const uint64_t *tuple, uint32_t hash,
				   size_t width)
{
	uint32_t slot = hash & t->mask;

	while (t->slots[slot] != 0 &&
	       !tuples_equal(t->words + (size_t)(t->slots[slot] - 1) * width, tuple, width))
		slot = (slot + 1) & t->mask;
	return slot;
}

static uint32_t tuples_probe(const struct tuples *t, const uint64_t *tuple, uint32_t hash)
{
	return probe_width(t, tuple, hash, t->width);
}

/* Puts tuples, each of which is there once, into empty slots: no other tuple is looked at. */
static void fill_slots(struct tuples *t, uint32_t from, uint32_t n)
{
	uint32_t hashes[FETCHED_AT_ONCE];

	for (uint32_t i = 0; i < n; i++) {
		hashes[i] = tuples_hash(t, tuples_get(t, from + i));
		prefetch_to_write(&t->slots[hashes[i] & t->mask]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = hashes[i] & t->mask;

		while (t->slots[slot] != 0)
			slot = (slot + 1) & t->mask;
		t->slots[slot] = from + i + 1;
	}
}

static void fill_all_slots(struct tuples *t)
{
	for (uint32_t i = 0; i < t->n; i += FETCHED_AT_ONCE)
		fill_slots(t, i, t->n - i < FETCHED_AT_ONCE ? t->n - i : FETCHED_AT_ONCE);
}

/* Makes so many slots, of which at most half are in use. */
static void make_slots(struct tuples *t, size_t slots)
{
	assert(slots <= (size_t)1 << 31);
	t->mask = (uint32_t)slots - 1;
	t->cap = (uint32_t)(slots / 2);
	t->words = mem_resize(t->words, t->cap, t->width * sizeof(*t->words));
	free(t->slots);
	t->slots = mem_zalloc_pages(slots, sizeof(*t->slots));
	fill_all_slots(t);
}

static void tuples_grow(struct tuples *t)
{
	make_slots(t, 2 * ((size_t)t->mask + 1));
}

void tuples_init(struct tuples *t, size_t width)
{
	assert(width > 0);
	*t = (struct tuples){ .width = width, .mask = FIRST_SLOTS / 2 - 1, .seed = hash_seed() };
	tuples_grow(t);
}

void tuples_release(struct tuples *t)
{
	free(t->words);
	free(t->slots);
	*t = (struct tuples){ 0 };
}

void tuples_reset(struct tuples *t)
{
	if (t->slots != NULL)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
}

void tuples_empty(struct tuples *t)
{
	size_t width = t->width;

	if (t->mask < 4 * FIRST_SLOTS) {
		tuples_reset(t);
		return;
	}
	tuples_release(t);
	tuples_init(t, width);
}

/* Most are pairs, for which a call of memcpy() takes longer than the copy. */
static inline void copy_tuple(uint64_t *to, const uint64_t *from, size_t width)
{
	if (width == 2)
		memcpy(to, from, 2 * sizeof(*to));
	else
		memcpy(to, from, width * sizeof(*to));
}

static uint32_t add_new(struct tuples *t, const uint64_t *tuple, uint32_t hash, uint32_t slot)
{
	if (t->n == t->cap) {
		tuples_grow(t);
		slot = tuples_probe(t, tuple, hash);
	}
	copy_tuple(t->words + (size_t)t->n * t->width, tuple, t->width);
	t->slots[slot] = ++t->n;
	return t->n - 1;
}

static inline uint32_t add_hashed(struct tuples *t, const uint64_t *tuple, uint32_t hash,
				  size_t width)
{
	uint32_t slot = probe_width(t, tuple, hash, width);

	return t->slots[slot] != 0 ? t->slots[slot] - 1 : add_new(t, tuple, hash, slot);
}

uint32_t tuples_add(struct tuples *t, const uint64_t *tuple)
{
	return add_hashed(t, tuple, tuples_hash(t, tuple), t->width);
}

void tuples_forget_index(struct tuples *t)
{
	free(t->slots);
	t->slots = NULL;
}

void tuples_index(struct tuples *t)
{
	size_t slots = (size_t)t->mask + 1;

	while (slots / 2 < t->n)
		slots *= 2;
	if (t->slots == NULL)
		make_slots(t, slots);
}

/* Room for `n` more, without an index. Many are appended at once, or one after the other. */
static void reserve_words(struct tuples *t, uint32_t n)
{
	uint32_t grown = t->cap <= UINT32_MAX - t->cap / 8 ? t->cap + t->cap / 8 : UINT32_MAX;

	assert(n <= UINT32_MAX - t->n);
	if (t->cap - t->n >= n)
		return;
	t->cap = t->n + n > grown ? t->n + n : grown;
	t->words = mem_resize(t->words, t->cap, t->width * sizeof(*t->words));
}

uint64_t *tuples_append(struct tuples *t, uint32_t n, uint32_t *out_first)
{
	if (t->slots == NULL)
		reserve_words(t, n);
	while (t->cap - t->n < n)
		tuples_grow(t);
	*out_first = t->n;
	t->n += n;
	return t->words + (size_t)*out_first * t->width;
}

/* Prefetches the slots first. They may be wrong later, if the table grows or a slot is taken. */
static inline void add_some(struct tuples *t, const uint64_t *tuples, size_t n, size_t width,
			    uint32_t *out)
{
	uint32_t hashes[FETCHED_AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		hashes[i] = (uint32_t)hash_words(tuples + i * width, width, t->seed);
		prefetch(&t->slots[hashes[i] & t->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t number = t->slots[hashes[i] & t->mask];

		prefetch(t->words + (size_t)(number == 0 ? 0 : number - 1) * width);
	}
	for (size_t i = 0; i < n; i++)
		out[i] = add_hashed(t, tuples + i * width, hashes[i], width);
}

void tuples_add_all(struct tuples *t, const uint64_t *tuples, size_t n, uint32_t *out_numbers)
{
	for (size_t i = 0; i < n; i += FETCHED_AT_ONCE) {
		size_t some = n - i < FETCHED_AT_ONCE ? n - i : FETCHED_AT_ONCE;

		if (t->width == 2) /* most are pairs */
			add_some(t, tuples + i * 2, some, 2, out_numbers + i);
		else if (t->width == 4) /* accesses of c2c */
			add_some(t, tuples + i * 4, some, 4, out_numbers + i);
		else
			add_some(t, tuples + i * t->width, some, t->width, out_numbers + i);
	}
}

void tuples_add_runs(struct tuples *t, const uint64_t *tuples, size_t n, uint32_t *out_numbers)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t *tuple = tuples + i * t->width;

		if (i > 0 && tuples_equal(tuple, tuple - t->width, t->width))
			out_numbers[i] = out_numbers[i - 1];
		else
			out_numbers[i] = tuples_add(t, tuple);
	}
}

void tuples_reorder(struct tuples *t, const uint32_t *order)
{
	uint64_t *words = mem_alloc(t->cap, t->width * sizeof(*words));

	for (uint32_t i = 0; i < t->n; i++)
		memcpy(words + (size_t)i * t->width, tuples_get(t, order[i]),
		       t->width * sizeof(*words));
	free(t->words);
	t->words = words;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	fill_all_slots(t);
}

static inline uint32_t find_width(const struct tuples *t, const uint64_t *tuple, size_t width)
{
	uint32_t hash = (uint32_t)hash_words(tuple, width, t->seed);
	uint32_t number = t->slots[probe_width(t, tuple, hash, width)];

	return number == 0 ? TUPLES_NONE : number - 1;
}

uint32_t tuples_find(const struct tuples *t, const uint64_t *tuple)
{
	return t->width == 2 ? find_width(t, tuple, 2) : find_width(t, tuple, t->width);
}
