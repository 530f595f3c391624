/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/dictionary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "parquet/bits.h"
#include "parquet/packed.h"

enum {
	MAX_DISTINCT = 1 << 15, /* ids have 16 bits, also when a block goes beyond it */
	MAX_TEXT_BYTES = 1 << 20,
	MAX_BITS = 18, /* of slots that are found by the bits themselves */
	/* When so many values, or bytes of texts, are mostly distinct, the others will be. */
	PROBE = 8192,
	PROBE_DISTINCT = PROBE / 8 * 7,
	PROBE_TEXTS = 256,
	PROBE_TEXT_BYTES = 1 << 17,
	MIN_SLOTS = 2 * PROBE,
};

static_assert(PROBE % NUMBERS_BLOCK == 0, "it is asked at the end of a block");
static_assert(MAX_DISTINCT + NUMBERS_BLOCK < UINT16_MAX, "slots have an id and one");

void dictionary_release(struct dictionary *d)
{
	vec_release(&d->numbers);
	vec_release(&d->hashes);
	text_release(&d->texts);
	free(d->slots);
	*d = (struct dictionary){ 0 };
}

static void set_slots(struct dictionary *d, size_t n)
{
	if (n > d->room) {
		free(d->slots);
		d->slots = mem_alloc(n, sizeof(*d->slots));
		d->room = n;
	}
	d->n_slots = n;
	memset(d->slots, 0, n * sizeof(*d->slots));
}

/* `n_slots`: a power of two. */
static void empty(struct dictionary *d, size_t n_slots)
{
	if (d->seed == 0)
		d->seed = hash_seed();
	d->numbers.n = 0;
	d->hashes.n = 0;
	text_reset(&d->texts);
	set_slots(d, n_slots);
}

static uint64_t hash_of(const struct dictionary *d, uint64_t value)
{
	return hash_mix(value ^ d->seed, 0x9e3779b97f4a7c15u);
}

/* Doubles the slots. `hashes` NULL: those of the numbers. */
static void grow(struct dictionary *d, const uint64_t *hashes)
{
	set_slots(d, d->n_slots * 2);
	for (size_t id = 0; id < d->numbers.n; id++) {
		size_t at = hashes != NULL ? hashes[id] : hash_of(d, d->numbers.items[id]);

		for (at &= d->n_slots - 1; d->slots[at] != 0; at = (at + 1) & (d->n_slots - 1))
			;
		d->slots[at] = (uint16_t)(id + 1);
	}
}

static bool is_too_large(const struct dictionary *d, size_t n_seen)
{
	return d->numbers.n > MAX_DISTINCT || d->texts.n > MAX_TEXT_BYTES ||
	       (n_seen == PROBE && d->numbers.n > PROBE_DISTINCT) ||
	       (d->texts.n > PROBE_TEXT_BYTES && n_seen >= PROBE_TEXTS &&
		d->numbers.n > n_seen / 8 * 7);
}

/* There is room for a new number. */
static uint16_t id_of_number(struct dictionary *d, uint64_t value)
{
	size_t mask = d->n_slots - 1;
	size_t at = hash_of(d, value) & mask;

	for (; d->slots[at] != 0; at = (at + 1) & mask)
		if (d->numbers.items[d->slots[at] - 1] == value)
			return d->slots[at] - 1;
	d->numbers.items[d->numbers.n++] = value;
	d->slots[at] = (uint16_t)d->numbers.n;
	if (d->numbers.n * 2 > d->n_slots)
		grow(d, NULL);
	return (uint16_t)(d->numbers.n - 1);
}

static void add_by_hash(struct dictionary *d, const struct numbers *v, size_t first, size_t n,
			uint16_t *ids)
{
	uint64_t room[NUMBERS_BLOCK];
	const uint64_t *values = numbers_load(v, first, n, room);

	ids[0] = id_of_number(d, values[0]);
	for (size_t i = 1; i < n; i++)
		ids[i] = values[i] == values[i - 1] ? ids[i - 1] : id_of_number(d, values[i]);
}

static uint16_t add_number(struct dictionary *d, const struct numbers *v, size_t i)
{
	uint64_t room;

	d->numbers.items[d->numbers.n++] = *numbers_load(v, i, 1, &room);
	return (uint16_t)d->numbers.n;
}

#define ADD_BY_BITS(type)                                                                          \
	static void add_by_bits_##type(struct dictionary *d, const struct numbers *v,              \
				       size_t first, size_t n, uint16_t *ids)                      \
	{                                                                                          \
		size_t mask = d->n_slots - 1;                                                      \
                                                                                                   \
		for (size_t i = 0; i < n; i++) {                                                   \
			type value;                                                                \
			uint16_t *slot;                                                            \
                                                                                                   \
			memcpy(&value, v->at + (first + i) * sizeof(value), sizeof(value));        \
			slot = &d->slots[value & mask];                                            \
			if (*slot == 0)                                                            \
				*slot = add_number(d, v, first + i);                               \
			ids[i] = *slot - 1;                                                        \
		}                                                                                  \
	}

ADD_BY_BITS(uint8_t)
ADD_BY_BITS(uint16_t)
ADD_BY_BITS(uint32_t)
ADD_BY_BITS(uint64_t)

static bool are_equal(const char *at, size_t size, unsigned width)
{
	return memcmp(at, at + width, size - width) == 0;
}

/* The slots are for all values of the bits in which the numbers differ. */
static void add_by_bits(struct dictionary *d, const struct numbers *v, size_t first, size_t n,
			uint16_t *ids)
{
	if (are_equal(v->at + first * v->width, n * v->width, v->width)) {
		uint64_t room;
		uint16_t *slot = &d->slots[*numbers_load(v, first, 1, &room) & (d->n_slots - 1)];

		if (*slot == 0)
			*slot = add_number(d, v, first);
		for (size_t i = 0; i < n; i++)
			ids[i] = *slot - 1;
		return;
	}
	if (v->width == 1)
		add_by_bits_uint8_t(d, v, first, n, ids);
	else if (v->width == 2)
		add_by_bits_uint16_t(d, v, first, n, ids);
	else if (v->width == 4)
		add_by_bits_uint32_t(d, v, first, n, ids);
	else
		add_by_bits_uint64_t(d, v, first, n, ids);
}

/* Whether the first ones ascend and are mostly distinct: a dictionary would not pay, and there is no need to fill it. */
static bool are_ascending(const struct numbers *v)
{
	uint64_t room[NUMBERS_BLOCK];
	size_t n_distinct = 1;
	uint64_t before = 0;

	if (v->n < PROBE)
		return false;
	for (size_t first = 0; first < PROBE; first += NUMBERS_BLOCK) {
		const uint64_t *values = numbers_load(v, first, NUMBERS_BLOCK, room);

		for (size_t i = 0; i < NUMBERS_BLOCK; i++) {
			if (values[i] < before)
				return false;
			n_distinct += values[i] > before;
			before = values[i];
		}
	}
	return n_distinct > PROBE_DISTINCT;
}

/* For how many values there are bits in which the numbers differ: a power of two. 0: too many. */
static size_t count_by_bits(const struct numbers *v)
{
	struct numbers few = *v;
	uint64_t any, all;
	unsigned width;

	if (v->width <= sizeof(uint16_t))
		return (size_t)1 << 8 * v->width;
	if (few.n > NUMBERS_BLOCK)
		few.n = NUMBERS_BLOCK;
	numbers_survey(&few, &any, &all);
	width = bits_of(any ^ all);
	if (few.n < v->n && width <= MAX_BITS) {
		numbers_survey(v, &any, &all);
		width = bits_of(any ^ all);
	}
	return width <= MAX_BITS && (size_t)1 << width <= MIN_SLOTS + 4 * v->n ? (size_t)1 << width
									       : 0;
}

bool dictionary_of_numbers(struct dictionary *d, const struct numbers *v, uint16_t *ids)
{
	size_t n_by_bits = v->n > 0 ? count_by_bits(v) : 0;

	if (n_by_bits == 0 && are_ascending(v))
		return false;
	empty(d, n_by_bits > 0 ? n_by_bits : MIN_SLOTS);
	for (size_t first = 0; first < v->n; first += NUMBERS_BLOCK) {
		size_t n = v->n - first < NUMBERS_BLOCK ? v->n - first : NUMBERS_BLOCK;

		vec_reserve(&d->numbers, n);
		if (n_by_bits > 0)
			add_by_bits(d, v, first, n, ids + first);
		else
			add_by_hash(d, v, first, n, ids + first);
		if (is_too_large(d, first + n))
			return false;
	}
	return true;
}

static uint16_t id_of_text(struct dictionary *d, const char *packed, size_t size)
{
	uint64_t hash = hash_bytes(packed, size, d->seed);
	size_t mask = d->n_slots - 1;
	size_t at = hash & mask;

	for (; d->slots[at] != 0; at = (at + 1) & mask) {
		size_t id = d->slots[at] - 1;

		/* Sizes are part of what is compared, so neither goes beyond its end. */
		if (d->hashes.items[id] == hash &&
		    memcmp(d->texts.bytes + d->numbers.items[id], packed, packed_prefix) == 0 &&
		    memcmp(d->texts.bytes + d->numbers.items[id], packed, size) == 0)
			return (uint16_t)id;
	}
	*vec_add(&d->numbers) = d->texts.n;
	*vec_add(&d->hashes) = hash;
	text_add(&d->texts, packed, size);
	d->slots[at] = (uint16_t)d->numbers.n;
	if (d->numbers.n * 2 > d->n_slots)
		grow(d, d->hashes.items);
	return (uint16_t)(d->numbers.n - 1);
}

bool dictionary_of_texts(struct dictionary *d, const char *packed, size_t n, bool always,
			 uint16_t *ids)
{
	assert(!always || n <= UINT16_MAX);
	empty(d, MIN_SLOTS);
	for (size_t i = 0; i < n; i++) {
		size_t size = packed_prefix + packed_size(packed);

		ids[i] = id_of_text(d, packed, size);
		packed += size;
		if (!always && is_too_large(d, i + 1))
			return false;
	}
	return true;
}
