/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/sieve.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/prefetch.h"

enum {
	FILTER_LINES = 1 << (C2C_SIEVE_LOG - 6), /* address_filter_init(): a bit for each count */
	ROWS_AT_ONCE = 64,
};

/* Of a count: some of the accesses were reloads; and so many, or more. */
enum { RELOADS_SHIFT = 15, HAS_RELOADS = 1 << RELOADS_SHIFT, MOST = HAS_RELOADS - 1 };

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

static inline size_t count_of(const struct c2c_sieve *s, uint32_t space, uint64_t address)
{
	return address_filter_bit(&s->shape, address) ^ c2c_sieve_change(space);
}

static void sieve_add_some(struct c2c_sieve *s, const struct c2c_sieve_access *some, size_t n)
{
	for (size_t i = 0; i < n; i++)
		prefetch_to_write(&s->counts[some[i].count]);
	for (size_t i = 0; i < n; i++) {
		uint32_t count = s->counts[some[i].count];

		count += (count & MOST) < MOST;
		count |= (uint32_t)some[i].is_reload << RELOADS_SHIFT;
		s->counts[some[i].count] = (uint16_t)count;
	}
}

void c2c_sieve_add(struct c2c_sieve *s, const struct c2c_sieve_access *all, size_t n)
{
	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		sieve_add_some(s, all + i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
}

void c2c_sieve_merge(struct c2c_sieve *s, const struct c2c_sieve *from)
{
	for (size_t i = 0; i < COUNT(s->has_change); i++)
		s->has_change[i] |= from->has_change[i];
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
		for (uint32_t change = 0; change < 1u << C2C_SIEVE_SPACES_LOG; change++)
			if (s->has_change[change])
				address_filter_add_bit(out, i ^ change);
	}
	return n;
}

bool c2c_sieve_may_have(const struct c2c_sieve *s, uint32_t space, uint64_t address)
{
	return s->counts[count_of(s, space, address)] >= s->least;
}
