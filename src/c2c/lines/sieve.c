/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/sieve.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/prefetch.h"

/*
 * A core's own cache holds the counts, and the bits beside them. More bits than counts: lines with contended loads may be many, but
 * those that are accessed so often that their reloads count are few.
 */
enum {
	COUNTS_LOG = 18,
	BITS_PER_COUNT_LOG = 2,
	FILTER_LINES = 1 << (COUNTS_LOG + BITS_PER_COUNT_LOG - 6), /* address_filter_init() */
	ROWS_AT_ONCE = 64,
};

/* Of a count: some of the accesses were reloads. */
#define HAS_RELOADS (UINT32_C(1) << 31)

struct c2c_sieve {
	struct address_filter contended;
	uint32_t counts[1 << COUNTS_LOG]; /* of accesses, by the upper bits of the same hash */
};

struct c2c_sieve *c2c_sieve_new(uint64_t line_bytes)
{
	struct c2c_sieve *s = mem_zalloc(1, sizeof(*s));

	address_filter_init(&s->contended, line_bytes, FILTER_LINES);
	return s;
}

void c2c_sieve_free(struct c2c_sieve *s)
{
	if (s != NULL)
		address_filter_release(&s->contended);
	free(s);
}

/* Counts do not overflow: they stay what they are. */
static uint32_t sum_of_counts(uint32_t a, uint32_t b)
{
	uint32_t n_a = a & ~HAS_RELOADS, n_b = b & ~HAS_RELOADS;
	uint32_t n = n_b < ~HAS_RELOADS - n_a ? n_a + n_b : ~HAS_RELOADS;

	return n | ((a | b) & HAS_RELOADS);
}

static uint32_t *count_of(struct c2c_sieve *s, uint64_t address)
{
	return &s->counts[address_filter_bit(&s->contended, address) >> BITS_PER_COUNT_LOG];
}

static void sieve_add_some(struct c2c_sieve *s, const struct c2c_access_row *rows, size_t n,
			   uint32_t contended)
{
	for (size_t i = 0; i < n; i++)
		prefetch_to_write(count_of(s, rows[i].line));
	for (size_t i = 0; i < n; i++) {
		uint32_t *count = count_of(s, rows[i].line);
		uint32_t is_reload = rows[i].mask & C2C_ROW_RELOAD ? HAS_RELOADS : 0;

		*count = sum_of_counts(*count, 1 | is_reload);
		if (rows[i].mask & contended)
			address_filter_add(&s->contended, rows[i].line);
	}
}

void c2c_sieve_add(struct c2c_sieve *s, const struct c2c_access_row *rows, size_t n,
		   uint32_t contended)
{
	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		sieve_add_some(s, rows + i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE, contended);
}

void c2c_sieve_merge(struct c2c_sieve *s, const struct c2c_sieve *from)
{
	address_filter_merge(&s->contended, &from->contended);
	for (size_t i = 0; i < COUNT(s->counts); i++)
		s->counts[i] = sum_of_counts(s->counts[i], from->counts[i]);
}

bool c2c_sieve_lines(const struct c2c_sieve *s, bool (*is_enough)(const void *context, uint32_t n),
		     const void *context, struct address_filter *out)
{
	bool has_reloads = false;

	address_filter_init(out, ~s->contended.mask + 1, FILTER_LINES);
	address_filter_merge(out, &s->contended);
	for (size_t i = 0; i < COUNT(s->counts); i++) {
		if (!(s->counts[i] & HAS_RELOADS) ||
		    !is_enough(context, s->counts[i] & ~HAS_RELOADS))
			continue;
		has_reloads = true;
		address_filter_add_bits(out, i << BITS_PER_COUNT_LOG, 1 << BITS_PER_COUNT_LOG);
	}
	return has_reloads;
}
