/* SPDX-License-Identifier: Apache-2.0 */
/* What the footer says of values, so that readers can skip a row group: bounds and bloom filters. */
#include <string.h>

#include "base/xxhash64.h"
#include "parquet/bloom.h"
#include "parquet/inside.h"
#include "parquet/packed.h"

/* Longer texts are no bounds. */
enum { MAX_BOUND_BYTES = 128 };

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* No bounds are of values that are no numbers. Of zeros the signs are those that hold for both. */
static void bound_doubles(struct chunk *c, const struct numbers *v)
{
	double least = 0, largest = 0;

	for (size_t i = 0; i < v->n; i++) {
		uint64_t room;
		double value = double_of(*numbers_load(v, i, 1, &room));

		if (value != value)
			continue;
		least = !c->has_bounds || value < least ? value : least;
		largest = !c->has_bounds || value > largest ? value : largest;
		c->has_bounds = true;
	}
	least = least == 0 ? -0.0 : least;
	largest = largest == 0 ? 0.0 : largest;
	text_add(&c->least, (const char *)&least, sizeof(least));
	text_add(&c->largest, (const char *)&largest, sizeof(largest));
}

/* Signed integers are compared as unsigned ones, with their sign turned. */
static void bound_numbers(struct chunk *c, enum parquet_type type, const struct numbers *v)
{
	uint64_t turn = type_is_signed(type) ? UINT64_C(1) << 63 : 0;
	uint64_t least = UINT64_MAX, largest = 0;

	if (v->n == 0)
		return;
	if (type == PARQUET_DOUBLE) {
		bound_doubles(c, v);
		return;
	}
	for (size_t first = 0, n; first < v->n; first += n) {
		uint64_t room[NUMBERS_BLOCK];
		const uint64_t *values;

		n = v->n - first < NUMBERS_BLOCK ? v->n - first : NUMBERS_BLOCK;
		values = numbers_load(v, first, n, room);
		for (size_t i = 0; i < n; i++) {
			uint64_t value = values[i] ^ turn;

			least = value < least ? value : least;
			largest = value > largest ? value : largest;
		}
	}
	plain_put(&c->least, type, least ^ turn);
	plain_put(&c->largest, type, largest ^ turn);
	c->has_bounds = true;
}

/* By bytes, as unsigned numbers; what another begins with is before it. */
static int compare_packed(const char *a, const char *b)
{
	size_t a_size = packed_size(a), b_size = packed_size(b);
	int order = memcmp(a + packed_prefix, b + packed_prefix, a_size < b_size ? a_size : b_size);

	return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static void bound_texts(struct chunk *c, const char *texts, size_t n)
{
	const char *least = texts, *largest = texts;

	for (size_t i = 0; i < n; i++, texts = packed_next(texts)) {
		if (compare_packed(texts, least) < 0)
			least = texts;
		if (compare_packed(texts, largest) > 0)
			largest = texts;
	}
	if (n == 0 || packed_size(least) > MAX_BOUND_BYTES ||
	    packed_size(largest) > MAX_BOUND_BYTES)
		return;
	text_add(&c->least, least + packed_prefix, packed_size(least));
	text_add(&c->largest, largest + packed_prefix, packed_size(largest));
	c->has_bounds = true;
}

static void filter_numbers(struct chunk *c, enum parquet_type type, const struct numbers *v)
{
	size_t first = bloom_begin(&c->bloom, v->n);
	struct text plain = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		text_reset(&plain);
		plain_put_all(&plain, type, v, i, 1);
		bloom_add(&c->bloom, first, xxhash64(plain.bytes, plain.n));
	}
	text_release(&plain);
}

static void filter_texts(struct chunk *c, const char *texts, size_t n)
{
	size_t first = bloom_begin(&c->bloom, n);

	for (size_t i = 0; i < n; i++, texts = packed_next(texts))
		bloom_add(&c->bloom, first, xxhash64(texts + packed_prefix, packed_size(texts)));
}

void chunk_describe(const struct encoder *e, struct chunk *c, const struct column_values *v)
{
	const struct dictionary *d = dictionary_of(e, v);
	size_t n = v->has_dictionary ? dictionary_size(d) : v->n_values;
	const char *texts = v->has_dictionary ? d->texts.bytes : v->texts;
	struct numbers numbers = v->has_dictionary ? dictionary_numbers(d) : v->numbers;

	c->n_nulls = c->n_values - v->n_values;
	if (v->is_text)
		bound_texts(c, texts, n);
	else
		bound_numbers(c, v->column->type, &numbers);
	if (!v->column->has_bloom)
		return;
	if (v->is_text)
		filter_texts(c, texts, n);
	else
		filter_numbers(c, v->column->type, &numbers);
}
