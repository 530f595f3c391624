/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/sieve.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/prefetch.h"

/* A core's own cache holds the counts. */
enum {
	COUNTS_LOG = 18,
	FILTER_LINES = 1 << (COUNTS_LOG - 6), /* address_filter_init(): a bit for each count */
	ROWS_AT_ONCE = 64,

	/* Processes that began as one have other lines at the same addresses: they are told apart, but for so many of them. */
	SPACES_LOG = 3,
};

/* Of a count: some of the accesses were reloads; and so many, or more. */
enum { HAS_RELOADS = 1 << 15, MOST = HAS_RELOADS - 1 };

struct c2c_sieve {
	struct address_filter shape; /* of what comes out: empty */
	uint32_t changes;	     /* bit n: n is the change_of_space() of some access */
	uint16_t least;		     /* count that is let through, with HAS_RELOADS */
	uint16_t
		counts[1 << COUNTS_LOG]; /* of accesses, by bit of a filter and change_of_space() */
};

struct c2c_sieve *c2c_sieve_new(uint64_t line_bytes)
{
	struct c2c_sieve *s =
		mem_zalloc_pages(1, sizeof(*s)); /* counts are read before they are written */

	address_filter_init(&s->shape, line_bytes, FILTER_LINES);
	return s;
}

void c2c_sieve_free(struct c2c_sieve *s)
{
	if (s != NULL)
		address_filter_release(&s->shape);
	free(s);
}

/* Counts do not overflow: they stay what they are. */
static uint16_t sum_of_counts(unsigned a, unsigned b)
{
	unsigned n = (a & MOST) + (b & MOST);

	return (uint16_t)((n < MOST ? n : MOST) | ((a | b) & HAS_RELOADS));
}

/* What a space changes of an address's bit. */
static inline uint32_t change_of_space(uint32_t space)
{
	return space * 0x9e3779b9u >> (32 - SPACES_LOG);
}

static inline size_t count_of(const struct c2c_sieve *s, uint32_t space, uint64_t address)
{
	return address_filter_bit(&s->shape, address) ^ change_of_space(space);
}

static void sieve_add_some(struct c2c_sieve *s, const struct c2c_sieve_access *some, size_t n)
{
	uint16_t *counts[ROWS_AT_ONCE];
	uint32_t changes = 0;

	for (size_t i = 0; i < n; i++) {
		counts[i] = &s->counts[count_of(s, some[i].space, some[i].address)];
		prefetch_to_write(counts[i]);
		changes |= 1u << change_of_space(some[i].space);
	}
	for (size_t i = 0; i < n; i++)
		*counts[i] = sum_of_counts(*counts[i], 1 | (some[i].is_reload ? HAS_RELOADS : 0u));
	s->changes |= changes;
}

void c2c_sieve_add(struct c2c_sieve *s, const struct c2c_sieve_access *all, size_t n)
{
	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		sieve_add_some(s, all + i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
}

void c2c_sieve_merge(struct c2c_sieve *s, const struct c2c_sieve *from)
{
	s->changes |= from->changes;
	for (size_t i = 0; i < COUNT(s->counts); i++)
		s->counts[i] = sum_of_counts(s->counts[i], from->counts[i]);
}

uint64_t c2c_sieve_lines(struct c2c_sieve *s, uint32_t least, struct address_filter *out)
{
	uint64_t n = 0;

	s->least = (uint16_t)(HAS_RELOADS | (least < MOST ? least : MOST));
	address_filter_init(out, ~s->shape.mask + 1, FILTER_LINES);
	for (size_t i = 0; i < COUNT(s->counts); i++) {
		if (s->counts[i] < s->least)
			continue;
		n += s->counts[i] & MOST;
		for (uint32_t change = 0; change < 1u << SPACES_LOG; change++)
			if (s->changes >> change & 1)
				address_filter_add_bit(out, i ^ change);
	}
	return n;
}

bool c2c_sieve_may_have(const struct c2c_sieve *s, uint32_t space, uint64_t address)
{
	return s->counts[count_of(s, space, address)] >= s->least;
}
