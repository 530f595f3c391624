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
};

/* Of a count: some of the accesses were reloads; and so many, or more. */
enum { HAS_RELOADS = 1 << 15, MOST = HAS_RELOADS - 1 };

struct c2c_sieve {
	struct address_filter shape;	  /* of what comes out: empty */
	uint16_t counts[1 << COUNTS_LOG]; /* of accesses, by bit of a filter */
};

struct c2c_sieve *c2c_sieve_new(uint64_t line_bytes)
{
	struct c2c_sieve *s = mem_zalloc(1, sizeof(*s));

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

static uint16_t *count_of(struct c2c_sieve *s, uint64_t address)
{
	return &s->counts[address_filter_bit(&s->shape, address)];
}

static void sieve_add_some(struct c2c_sieve *s, const uint64_t *lines, const bool *are_reloads,
			   size_t n)
{
	uint16_t *counts[ROWS_AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		counts[i] = count_of(s, lines[i]);
		prefetch_to_write(counts[i]);
	}
	for (size_t i = 0; i < n; i++)
		*counts[i] = sum_of_counts(*counts[i], 1 | (are_reloads[i] ? HAS_RELOADS : 0u));
}

void c2c_sieve_add(struct c2c_sieve *s, const uint64_t *lines, const bool *are_reloads, size_t n)
{
	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		sieve_add_some(s, lines + i, are_reloads + i,
			       n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
}

void c2c_sieve_merge(struct c2c_sieve *s, const struct c2c_sieve *from)
{
	for (size_t i = 0; i < COUNT(s->counts); i++)
		s->counts[i] = sum_of_counts(s->counts[i], from->counts[i]);
}

bool c2c_sieve_lines(const struct c2c_sieve *s, uint32_t least, struct address_filter *out)
{
	bool has_any = false;

	address_filter_init(out, ~s->shape.mask + 1, FILTER_LINES);
	for (size_t i = 0; i < COUNT(s->counts); i++) {
		uint32_t n = s->counts[i] & MOST;

		if (!(s->counts[i] & HAS_RELOADS) || (n < least && n < MOST))
			continue;
		has_any = true;
		address_filter_add_bit(out, i);
	}
	return has_any;
}
