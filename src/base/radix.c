/* SPDX-License-Identifier: Apache-2.0 */
#include "base/radix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	DIGIT_BITS = 8,
	N_VALUES = 1 << DIGIT_BITS,
	N_DIGITS = 64 / DIGIT_BITS,
};

static unsigned radix_digit(uint64_t key, unsigned digit)
{
	return key >> (digit * DIGIT_BITS) & (N_VALUES - 1);
}

/* The digits in which keys differ, the lowest first. Keys of one kind differ in few. */
static unsigned find_differing_digits(const uint32_t *order, size_t n, const uint64_t *keys,
				      unsigned out[N_DIGITS])
{
	uint64_t differing = 0;
	unsigned n_digits = 0;

	for (size_t i = 1; i < n; i++)
		differing |= keys[order[i]] ^ keys[order[0]];
	for (unsigned digit = 0; digit < N_DIGITS; digit++)
		if (radix_digit(differing, digit) != 0)
			out[n_digits++] = digit;
	return n_digits;
}

static void radix_count_digits(const uint32_t *order, size_t n, const uint64_t *keys,
			       const unsigned *digits, unsigned n_digits,
			       size_t counts[N_DIGITS][N_VALUES])
{
	memset(counts, 0, sizeof(*counts) * n_digits);
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < n_digits; d++)
			counts[d][radix_digit(keys[order[i]], digits[d])]++;
}

/* Turns counts of digits into the position of the first key with each digit. */
static void make_places(size_t counts[N_VALUES])
{
	size_t sum = 0;

	for (size_t value = 0; value < N_VALUES; value++) {
		size_t n = counts[value];

		counts[value] = sum;
		sum += n;
	}
}

static void sort_by_digit(uint32_t *to, const uint32_t *from, size_t n, const uint64_t *keys,
			  unsigned digit, size_t places[N_VALUES])
{
	for (size_t i = 0; i < n; i++)
		to[places[radix_digit(keys[from[i]], digit)]++] = from[i];
}

void radix_sort(uint32_t *order, size_t n, const uint64_t *keys)
{
	size_t counts[N_DIGITS][N_VALUES];
	unsigned digits[N_DIGITS];
	unsigned n_digits = find_differing_digits(order, n, keys, digits);
	uint32_t *from = order, *to = mem_alloc(n + 1, sizeof(*to));
	uint32_t *other = to;

	radix_count_digits(order, n, keys, digits, n_digits, counts);
	for (unsigned d = 0; d < n_digits; d++) {
		uint32_t *sorted = to;

		make_places(counts[d]);
		sort_by_digit(to, from, n, keys, digits[d], counts[d]);
		to = from;
		from = sorted;
	}
	if (from != order)
		memcpy(order, from, n * sizeof(*order));
	free(other);
}

static bool radix_is_sorted(const void *items, size_t n,
			    struct radix_pair (*key_of)(const void *, size_t))
{
	struct radix_pair last = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		struct radix_pair key = key_of(items, i);

		if (last.major > key.major || (last.major == key.major && last.minor > key.minor))
			return false;
		last = key;
	}
	return true;
}

uint32_t *radix_order(const void *items, size_t n,
		      struct radix_pair (*key_of)(const void *, size_t))
{
	uint32_t *order = mem_alloc(n + 1, sizeof(*order));
	uint64_t *words;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (radix_is_sorted(items, n, key_of))
		return order;
	words = mem_alloc(n, sizeof(*words));
	for (size_t i = 0; i < n; i++)
		words[i] = key_of(items, i).minor;
	radix_sort(order, n, words);
	for (size_t i = 0; i < n; i++)
		words[i] = key_of(items, i).major;
	radix_sort(order, n, words);
	free(words);
	return order;
}
