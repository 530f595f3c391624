/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole streams, sound and damaged. Rows and counts must not depend on how the bytes are split, nor
 * on whether layouts are learned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "rows.h"
#include "spe/decode.h"
#include "spe/generate.h"

struct stream {
	VEC_OF(uint8_t) bytes;
	size_t n_records; /* written whole; damage comes later */
};

struct result {
	VEC_OF(struct row) rows;
	struct spe_damage damage;
	size_t n_delivered;
};

/* How the bytes are passed to the decoder. */
struct feeding {
	bool use_shapes;
	size_t max_piece; /* pieces of 0 to so many bytes; 0: all at once */
	struct spe_wanted wanted;
};

static void add_record(struct stream *s, const struct spe_record *r,
		       const struct spe_layout *layout)
{
	vec_reserve(&s->bytes, SPE_RECORD_MAX);
	s->bytes.n += spe_encode(r, layout, s->bytes.items + s->bytes.n);
	s->n_records++;
}

/* A layout with some packets left out, in some order. */
static struct spe_layout some_layout(struct spe_random *r, uint8_t *order)
{
	struct spe_layout layout = { .order = order, .events_size = 2, .source_size = 1 };

	for (unsigned slot = 0; slot < SPE_N_SLOTS; slot++)
		if (slot == SPE_SLOT_PC || spe_random_chance(r, 700))
			order[layout.n_order++] = (uint8_t)slot;
	layout.record_size = spe_random_chance(r, 500) ? 64 : 1;
	layout.extended = spe_random_chance(r, 100);
	return layout;
}

/* Records in `n_layouts` layouts, or that of Neoverse N1 if it is 0. */
static struct stream make_stream(uint64_t seed, size_t n_records, unsigned n_layouts)
{
	struct spe_generate_options options = spe_generate_defaults;
	struct spe_random random = { seed };
	uint8_t orders[32][SPE_N_SLOTS];
	struct spe_layout layouts[32] = { spe_layout_n1 };
	struct spe_generator g;
	struct stream s = { 0 };

	for (unsigned i = 0; i < n_layouts; i++)
		layouts[i] = some_layout(&random, orders[i]);
	options.seed = seed;
	options.with_newer_ops = options.with_tags = seed % 2 == 0;
	options.with_ticks = seed % 3 != 0;
	spe_generator_init(&g, &options);
	for (size_t i = 0; i < n_records; i++) {
		struct spe_record r;

		spe_generator_next(&g, &r);
		add_record(&s, &r,
			   &layouts[n_layouts > 0 ? spe_random_below(&random, n_layouts) : 0]);
	}
	return s;
}

/* Changes bytes, and takes out pieces. */
static void damage_stream(struct stream *s, uint64_t seed, unsigned n_places)
{
	struct spe_random random = { seed };

	for (unsigned i = 0; i < n_places; i++) {
		size_t at = spe_random_below(&random, s->bytes.n - 100);
		size_t n = spe_random_below(&random, 100);
		uint8_t *place = s->bytes.items + at;

		switch (spe_random_below(&random, 3)) {
		case 0:
			*place = (uint8_t)spe_random_next(&random);
			break;
		case 1:
			for (size_t k = 0; k < n; k++)
				place[k] = (uint8_t)spe_random_next(&random);
			break;
		default:
			memmove(place, place + n, s->bytes.n - at - n);
			s->bytes.n -= n;
		}
	}
}

static struct stream random_stream(uint64_t seed, size_t size)
{
	struct spe_random random = { seed };
	struct stream s = { 0 };

	vec_reserve(&s.bytes, size);
	for (; s.bytes.n < size; s.bytes.n++)
		s.bytes.items[s.bytes.n] = (uint8_t)spe_random_next(&random);
	return s;
}

/* Only bytes that begin or make up packets: many records, repeated and reserved things. */
static struct stream header_stream(uint64_t seed, size_t size)
{
	static const uint8_t headers[] = { 0x00, 0x00, 0x00, 0x01, 0x20, 0x21, 0x22, 0x23, 0x42,
					   0x43, 0x48, 0x49, 0x4a, 0x4b, 0x52, 0x53, 0x62, 0x63,
					   0x64, 0x65, 0x67, 0x71, 0x72, 0x73, 0x98, 0x99, 0x9a,
					   0x9f, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb7, 0x00 };
	struct stream s = random_stream(seed, size);

	for (size_t i = 0; i < size; i++)
		s.bytes.items[i] = headers[s.bytes.items[i] % COUNT(headers)];
	return s;
}

static bool is_of(const struct address_filter *filter, const struct row *row)
{
	return filter == NULL || (row->has & HAS_VA && address_filter_may_have(filter, row->va));
}

/* Decoders may deliver some that are not of the filter. */
static void take_rows(struct result *result, const struct batch *b,
		      const struct address_filter *filter)
{
	for (size_t i = 0; i < b->n; i++) {
		struct row row = row_of(b, i);

		if (is_of(filter, &row))
			*vec_add(&result->rows) = row;
	}
	result->n_delivered += b->n;
}

static struct result decode(const struct stream *s, struct feeding how)
{
	struct spe_decoder *d = spe_decoder_new();
	struct spe_random random = { 7 };
	struct batch *b = batch_new();
	struct result result = { 0 };
	size_t at = 0;

	spe_decoder_use_shapes(d, how.use_shapes);
	spe_decoder_want(d, how.wanted);
	while (at < s->bytes.n) {
		size_t left = s->bytes.n - at;
		size_t n = how.max_piece > 0 ? spe_random_below(&random, how.max_piece + 1) : left;

		batch_reset(b, BATCH_SPE);
		at += spe_decode(d, s->bytes.items + at, n < left ? n : left, at, at, b);
		take_rows(&result, b, how.wanted.addresses);
	}
	spe_decoder_finish(d);
	result.damage = spe_decoder_damage(d);
	spe_decoder_free(d);
	batch_free(b);
	return result;
}

static void check_same(const struct result *a, const struct result *b)
{
	assert_int_equal(a->rows.n, b->rows.n);
	if (a->rows.n > 0)
		assert_memory_equal(a->rows.items, b->rows.items, a->rows.n * sizeof(struct row));
	assert_memory_equal(&a->damage, &b->damage, sizeof(a->damage));
}

/* Takes these columns out of rows, and what comes with them. */
static void forget_columns(struct result *r, uint32_t columns)
{
	enum { LEVELS_OF_TARGETS = 0x3c };

	for (size_t i = 0; i < r->rows.n; i++) {
		struct row *row = &r->rows.items[i];

		row->has &= ~columns;
		row->target = row->prev_target = 0;
		row->level &= (uint8_t)~LEVELS_OF_TARGETS;
		if (columns & HAS_VA)
			row->va = row->va_tag = 0;
		if (columns & HAS_PA)
			row->pa = 0;
		if (columns & HAS_XLAT)
			row->xlat = 0;
	}
}

/* Without targets or addresses, rows are the same but for these, and no row has them. `all` is changed. */
static void check_without(const struct stream *s, struct spe_wanted wanted, uint32_t columns,
			  struct result *all)
{
	const struct feeding ways[] = {
		{ .use_shapes = true, .wanted = wanted },
		{ .use_shapes = true, .max_piece = 100, .wanted = wanted },
		{ .wanted = wanted },
	};

	forget_columns(all, columns);
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct result got = decode(s, ways[i]);

		for (size_t row = 0; row < got.rows.n; row++)
			assert_int_equal(got.rows.items[row].has & columns, 0);
		forget_columns(&got, columns);
		check_same(&got, all);
		vec_release(&got.rows);
	}
}

enum { PIECE = 64, ONE_IN = 50 };

static struct address_index *index_of(const struct result *all)
{
	struct address_index *x = address_index_new(1, PIECE, SIZE_MAX);
	struct address_list list = { 0 };

	for (size_t i = 0; i < all->rows.n; i++)
		if (all->rows.items[i].has & HAS_VA)
			address_list_add(&list, x, &all->rows.items[i].position,
					 &all->rows.items[i].va, &(uint16_t){ 0 }, 1);
	address_index_keep(x, 0, &list);
	address_list_release(&list);
	return x;
}

/* With an index, records of some addresses are the same; how many others there are is returned. */
static size_t check_index(const struct stream *s, const struct result *all)
{
	static const size_t max_pieces[] = { 0, 1000, 100, 20, 3 };
	struct address_index *x = index_of(all);
	struct address_filter filter;
	struct result wanted = { 0 };
	size_t n_others = 0;

	address_filter_init(&filter, PIECE, all->rows.n / ONE_IN + 1);
	for (size_t i = 0; i < all->rows.n; i += ONE_IN)
		if (all->rows.items[i].has & HAS_VA)
			address_filter_add(&filter, all->rows.items[i].va);
	for (size_t i = 0; i < all->rows.n; i++)
		if (is_of(&filter, &all->rows.items[i]))
			*vec_add(&wanted.rows) = all->rows.items[i];
	for (size_t i = 0; i < COUNT(max_pieces); i++) {
		struct address_cursor cursor;
		const struct feeding how = {
			.use_shapes = true,
			.max_piece = max_pieces[i],
			.wanted = { .addresses = &filter, .records = &cursor },
		};
		struct result got;

		assert_true(address_cursor_start(&cursor, x, 0, &filter));
		got = decode(s, how);
		if (i == 0)
			n_others = got.n_delivered - got.rows.n;
		wanted.damage = got.damage; /* of what is looked at */
		check_same(&got, &wanted);
		vec_release(&got.rows);
	}
	address_filter_release(&filter);
	address_index_free(x);
	vec_release(&wanted.rows);
	return n_others;
}

/* Decodes in all ways; returns how many rows there were. Releases the stream. */
static size_t check_stream(struct stream *s, bool is_sound)
{
	static const struct feeding ways[] = {
		{ .use_shapes = true },
		{ .use_shapes = true, .max_piece = 1000 },
		{ .use_shapes = true, .max_piece = 100 },
		{ .use_shapes = true, .max_piece = 20 },
		{ .use_shapes = true, .max_piece = 3 },
		{ .use_shapes = true, .max_piece = 1 },
		{ .use_shapes = false, .max_piece = 1000 },
		{ .use_shapes = false, .max_piece = 3 },
	};
	struct result wanted = decode(s, (struct feeding){ .use_shapes = false });
	const struct spe_damage *d = &wanted.damage;
	const uint32_t targets = HAS_TARGET | HAS_PREV_TARGET;
	size_t n_rows = wanted.rows.n, n_others;

	assert_int_equal(d->bad_bytes + d->dropped_bytes + d->record_bytes + d->padding_bytes,
			 s->bytes.n);
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct result got = decode(s, ways[i]);

		check_same(&got, &wanted);
		vec_release(&got.rows);
	}
	n_others = check_index(s, &wanted);
	if (is_sound)
		assert_true(n_others < n_rows / 4);
	/* These change what is wanted. */
	check_without(s, (struct spe_wanted){ .without_targets = true }, targets, &wanted);
	check_without(s, (struct spe_wanted){ .without_addresses = true },
		      targets | HAS_VA | HAS_PA, &wanted);
	vec_release(&wanted.rows);
	wanted = decode(s, (struct feeding){ .use_shapes = false });
	check_without(s,
		      (struct spe_wanted){ .without_targets = true, .without_translation = true },
		      targets | HAS_PA | HAS_XLAT, &wanted);
	vec_release(&wanted.rows);
	vec_release(&s->bytes);
	return n_rows;
}

static void test_good_streams(void **state)
{
	static const unsigned n_layouts[] = { 0, 1, 3, 10, 32 };

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		for (size_t i = 0; i < COUNT(n_layouts); i++) {
			struct stream s = make_stream(seed, 3000, n_layouts[i]);

			assert_int_equal(check_stream(&s, n_layouts[i] > 0 && n_layouts[i] < 10),
					 s.n_records);
		}
	}
}

/* Padding behind records, up to 64 bytes or less: it may be learned with these, and counts the same. */
static void test_padding_behind(void **state)
{
	enum { N = 2000 };

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct spe_random random = { seed };
		uint8_t order[SPE_N_SLOTS];
		struct spe_layout layout = some_layout(&random, order);
		struct spe_generator g;
		struct stream s = { 0 };

		spe_generator_init(&g, &spe_generate_defaults);
		layout.record_size = 1;
		for (size_t i = 0; i < N; i++) {
			size_t from = s.bytes.n, to;
			struct spe_record r;

			spe_generator_next(&g, &r);
			add_record(&s, &r, &layout);
			to = from + (spe_random_chance(&random, 900) ? 64 : 32);
			if (to > s.bytes.n)
				vec_reserve(&s.bytes, to - s.bytes.n);
			while (s.bytes.n < to)
				s.bytes.items[s.bytes.n++] = 0;
		}
		assert_int_equal(check_stream(&s, true), N);
	}
}

static void test_damaged_streams(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct stream s = make_stream(seed, 1000, seed % 4);
		size_t n_rows;

		damage_stream(&s, seed, 20);
		n_rows = check_stream(&s, false);
		assert_in_range(n_rows, s.n_records - 100, s.n_records + 100);
	}
}

static void test_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct stream noise = random_stream(seed, 20000);
		struct stream headers = header_stream(seed, 20000);

		check_stream(&noise, false);
		assert_in_range(check_stream(&headers, false), 100, 10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_streams),
		cmocka_unit_test(test_padding_behind),
		cmocka_unit_test(test_damaged_streams),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
