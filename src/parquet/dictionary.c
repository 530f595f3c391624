/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "parquet/bits.h"
#include "parquet/packed.h"

enum {
	MIN_SLOTS = 1 << 10,
	MAX_DISTINCT = 1 << 15,
	MAX_TEXT_BYTES = 1 << 20,
	MAX_BITS = 16, /* of slots that are found by the bits themselves */
	/* When so many values are mostly distinct, the others will be. */
	PROBE = 8192,
	PROBE_DISTINCT = PROBE / 8 * 7,
};

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

static void empty(struct dictionary *d)
{
	if (d->seed == 0)
		d->seed = hash_seed();
	d->numbers.n = 0;
	d->hashes.n = 0;
	text_reset(&d->texts);
	set_slots(d, MIN_SLOTS);
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
		d->slots[at] = (uint32_t)id + 1;
	}
}

static bool is_too_large(const struct dictionary *d, size_t n_seen)
{
	return d->numbers.n > MAX_DISTINCT || d->texts.n > MAX_TEXT_BYTES ||
	       (n_seen == PROBE && d->numbers.n > PROBE_DISTINCT);
}

static uint32_t id_of_number(struct dictionary *d, uint64_t value)
{
	size_t mask = d->n_slots - 1;
	size_t at = hash_of(d, value) & mask;

	for (; d->slots[at] != 0; at = (at + 1) & mask)
		if (d->numbers.items[d->slots[at] - 1] == value)
			return d->slots[at] - 1;
	*vec_add(&d->numbers) = value;
	d->slots[at] = (uint32_t)d->numbers.n;
	if (d->numbers.n * 2 > d->n_slots)
		grow(d, NULL);
	return (uint32_t)d->numbers.n - 1;
}

static void add_by_hash(struct dictionary *d, const uint64_t *values, size_t n, uint32_t *ids)
{
	ids[0] = id_of_number(d, values[0]);
	for (size_t i = 1; i < n && d->numbers.n <= MAX_DISTINCT; i++)
		ids[i] = values[i] == values[i - 1] ? ids[i - 1] : id_of_number(d, values[i]);
}

/* The slots are for all values of the bits in which the numbers differ. */
static void add_by_bits(struct dictionary *d, const uint64_t *values, size_t n, uint32_t *ids)
{
	size_t mask = d->n_slots - 1;

	for (size_t i = 0; i < n && d->numbers.n <= MAX_DISTINCT; i++) {
		uint32_t *slot = &d->slots[values[i] & mask];

		if (*slot == 0) {
			*vec_add(&d->numbers) = values[i];
			*slot = (uint32_t)d->numbers.n;
		}
		ids[i] = *slot - 1;
	}
}

/* For how many values there are bits in which the numbers differ: a power of two. 0: too many. */
static size_t count_by_bits(const uint64_t *values, size_t n)
{
	uint64_t any = values[0], all = values[0];
	unsigned width;

	for (size_t i = 1; i < n; i++) {
		any |= values[i];
		all &= values[i];
	}
	width = bits_of(any ^ all);
	return width <= MAX_BITS && (size_t)1 << width <= MIN_SLOTS + 4 * n ? (size_t)1 << width
									    : 0;
}

bool dictionary_of_numbers(struct dictionary *d, const uint64_t *values, size_t n, uint32_t *ids)
{
	size_t n_probe = n < PROBE ? n : PROBE;
	size_t n_by_bits = n > 0 ? count_by_bits(values, n) : 0;
	void (*add)(struct dictionary *, const uint64_t *, size_t, uint32_t *) =
		n_by_bits > 0 ? add_by_bits : add_by_hash;

	empty(d);
	if (n == 0)
		return true;
	if (n_by_bits > 0)
		set_slots(d, n_by_bits);
	add(d, values, n_probe, ids);
	if (is_too_large(d, n_probe))
		return false;
	if (n_probe < n)
		add(d, values + n_probe, n - n_probe, ids + n_probe);
	return !is_too_large(d, n);
}

static uint32_t id_of_text(struct dictionary *d, const char *packed, size_t size)
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
			return (uint32_t)id;
	}
	*vec_add(&d->numbers) = d->texts.n;
	*vec_add(&d->hashes) = hash;
	text_add(&d->texts, packed, size);
	d->slots[at] = (uint32_t)d->numbers.n;
	if (d->numbers.n * 2 > d->n_slots)
		grow(d, d->hashes.items);
	return (uint32_t)d->numbers.n - 1;
}

bool dictionary_of_texts(struct dictionary *d, const char *packed, size_t n, bool always,
			 uint32_t *ids)
{
	empty(d);
	for (size_t i = 0; i < n; i++) {
		size_t size = packed_prefix + packed_size(packed);

		ids[i] = id_of_text(d, packed, size);
		packed += size;
		if (!always && is_too_large(d, i + 1))
			return false;
	}
	return true;
}
