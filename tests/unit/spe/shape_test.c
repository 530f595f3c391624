/* SPDX-License-Identifier: Apache-2.0 */
/* Which records have a shape, and which are left to the parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "hex.h"
#include "rows.h"
#include "spe/shape.h"

enum { ROOM = 1024, SLACK = SPE_SHAPE_SIZE + 8 };

#define PC "b0 00 b6 a9 e4 aa aa 00 80 "
#define TS "71 01 00 00 00 00 00 00 00 "

static const struct spe_wanted all;

static const struct {
	const char *learned, *met;
	bool is_known;
} cases[] = {
	{ PC "48 00 01", PC "48 01 01", true },
	{ PC "48 00 01", "b0 01 02 03 04 05 06 07 08 48 ff 01", true },
	{ PC "48 00 00 00 " TS, PC "48 00 00 00 " TS, true },
	{ "20 b0 00 b6 a9 e4 aa aa 00 80 01", "20 b0 01 02 03 04 05 06 07 08 01", true },
	/* What has no column may stand in the record. */
	{ PC "b5 00 00 00 00 00 00 00 00 01", PC "b5 01 02 03 04 05 06 07 08 01", true },
	/* Another class, order, size, padding, level or end is another shape. */
	{ PC "48 00 01", PC "49 00 01", false },
	{ PC "48 00 01", "48 00 " PC "01", false },
	{ PC "42 00 01", PC "52 00 01 01", false },
	{ PC "48 00 00 01", PC "48 00 01", false },
	{ PC "48 00 01", PC "48 00 00 01", false },
	{ "64 01 00 00 00 01", "65 01 00 00 00 01", false },
	{ PC "01", PC TS, false },
	{ PC "01", PC "02", false },
	/* No shape: the layout depends on more than these bytes. */
	{ PC "42 00 42 01 01", PC "42 00 42 01 01", false },
	{ PC "21 00 00 00 01", PC "21 00 00 00 01", false },
	{ PC
	  "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
	  "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01",
	  PC
	  "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
	  "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01",
	  false },
};

static void test_known(void **state)
{
	struct batch *b = batch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spe_shapes shapes = { 0 };
		uint8_t learned[ROOM], met[ROOM] = { 0 };
		size_t n_learned = hex_bytes(cases[i].learned, learned, sizeof(learned));
		size_t n_met = hex_bytes(cases[i].met, met, sizeof(met));
		uint64_t padding = 0;
		size_t n;

		batch_reset(b, BATCH_SPE);
		spe_shapes_learn(&shapes, learned, n_learned);
		met[n_met] = 0xff; /* no padding */
		n = spe_shapes_decode(&shapes, met, n_met + SLACK, 5, &all, b, &padding);
		assert_int_equal(n, cases[i].is_known ? n_met : 0);
		assert_int_equal(b->n, cases[i].is_known);
		if (b->n > 0)
			assert_int_equal(b->position[0], 5);
	}
	batch_free(b);
}

/* More layouts than there is room for: the last ones are kept. */
static void test_rarest_gives_way(void **state)
{
	enum { N_LAYOUTS = 40 };
	struct batch *b = batch_new();
	struct spe_shapes shapes = { 0 };
	uint8_t bytes[ROOM] = { 0 };

	(void)state;
	for (unsigned n_pads = 0; n_pads < N_LAYOUTS; n_pads++) {
		uint64_t padding = 0;

		memset(bytes, 0, sizeof(bytes));
		bytes[0] = 0x48;
		bytes[2 + n_pads] = 0x01;
		bytes[3 + n_pads] = 0xff;
		shapes.next_lesson = 0; /* without its patience */
		spe_shapes_learn(&shapes, bytes, 3 + n_pads);
		batch_reset(b, BATCH_SPE);
		assert_int_equal(
			spe_shapes_decode(&shapes, bytes, sizeof(bytes), 0, &all, b, &padding),
			3 + n_pads);
		assert_int_equal(padding, n_pads);
	}
	assert_int_equal(shapes.n, SPE_N_SHAPES);
	batch_free(b);
}

/* All shapes are found, also where two bytes are not enough. */
static void test_all_are_found(void **state)
{
	/* Events, counters and sources in all combinations of presence. */
	static const char *const records[] = {
		PC "01",
		PC "42 02 01",
		PC "98 01 00 01",
		PC "43 01 01",
		PC "42 02 98 01 00 01",
		PC "42 02 43 01 01",
		PC "98 01 00 43 01 01",
		PC "42 02 98 01 00 43 01 01",
	};
	struct batch *b = batch_new();
	struct spe_shapes shapes = { 0 };
	uint64_t padding = 0;
	uint8_t bytes[ROOM];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		size_t size = hex_bytes(records[i], bytes, sizeof(bytes));

		spe_shapes_learn(&shapes, bytes, size);
		spe_shapes_learn(&shapes, bytes, size); /* not twice */
	}
	assert_int_equal(shapes.n, COUNT(records));
	for (size_t i = 0; i < 3 * COUNT(records); i++)
		n += hex_bytes(records[i * 5 % COUNT(records)], bytes + n, sizeof(bytes) - n);
	memset(bytes + n, 0xff, SLACK);
	assert_int_equal(spe_shapes_decode(&shapes, bytes, n + SLACK, 0, &all, b, &padding), n);
	assert_int_equal(b->n, 3 * COUNT(records));
	batch_free(b);
}

/* How many shapes a record may have by the bytes that are looked at first. */
static int n_possible(const struct spe_shapes *shapes, const uint8_t *record)
{
	uint32_t possible = (1u << SPE_N_SHAPES) - 1;

	for (size_t i = 0; i < SPE_N_PROBES; i++)
		possible &= shapes->possible[i][record[shapes->probes[i]]];
	return __builtin_popcount(possible);
}

/* Loads, stores, branches and others, with context and without: hence of some lengths. No record is compared with two shapes. */
static void test_only_one_is_possible(void **state)
{
	static const char *const records[] = {
		PC "42 02 48 00 " TS,
		PC "42 02 4a 01 " TS,
		PC "52 02 00 65 01 00 00 00 48 00 " TS,
		PC "52 02 00 65 01 00 00 00 4a 01 b1 00 b6 a9 e4 aa aa 00 80 " TS,
		PC "52 02 00 65 01 00 00 00 49 00 99 02 00 98 07 00 b2 40 00 00 00 00 00 00 00 43 "
		   "08 " TS,
		PC "52 02 00 65 01 00 00 00 49 01 99 02 00 98 07 00 b2 40 00 00 00 00 00 00 00 " TS,
	};
	struct spe_shapes shapes = { 0 };
	uint8_t bytes[ROOM];

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++)
		spe_shapes_learn(&shapes, bytes, hex_bytes(records[i], bytes, sizeof(bytes)));
	for (size_t i = 0; i < COUNT(records); i++) {
		memset(bytes + hex_bytes(records[i], bytes, sizeof(bytes)), 0xff, SLACK);
		assert_int_equal(n_possible(&shapes, bytes), 1);
	}
	memset(bytes, 0xff, SLACK);
	assert_int_equal(n_possible(&shapes, bytes), 0);
}

/* Puts the records one after the other, with slack behind them, and learns their shapes. */
static size_t learn_all(struct spe_shapes *shapes, const char *const *records, size_t n_records,
			uint8_t bytes[ROOM])
{
	size_t n = 0;

	for (size_t i = 0; i < n_records; i++) {
		size_t size = hex_bytes(records[i], bytes + n, ROOM - n);

		spe_shapes_learn(shapes, bytes + n, size);
		n += size;
	}
	memset(bytes + n, 0xff, SLACK);
	return n;
}

/* Records with other addresses, or without one, are skipped like those that are taken. */
static void test_filter(void **state)
{
	static const char *const records[] = {
		PC "b2 40 00 00 00 00 00 00 00 01", PC "b2 80 00 00 00 00 00 00 00 01", PC "01",
		PC "b2 7f 00 00 00 00 00 00 aa 01", /* with a tag */
		PC "b2 3f 00 00 00 00 00 00 00 01",
	};
	struct batch *b = batch_new();
	struct spe_shapes shapes = { 0 };
	struct address_filter addresses;
	const struct spe_wanted wanted = { .addresses = &addresses };
	uint64_t padding = 0;
	uint8_t bytes[ROOM];
	size_t n;

	(void)state;
	address_filter_init(&addresses, 64, 1);
	address_filter_add(&addresses, 0x48);
	n = learn_all(&shapes, records, COUNT(records), bytes);
	assert_int_equal(spe_shapes_decode(&shapes, bytes, n + SLACK, 0, &wanted, b, &padding), n);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->va[0], 0x40);
	assert_int_equal(b->va[1], 0x7f);
	address_filter_release(&addresses);
	batch_free(b);
}

/* Loads and stores alone, and their neighbours all the same length of bytes. */
static void test_only_memory(void **state)
{
	static const char *const records[] = { PC "49 00 01", PC "4a 01 01", PC "49 01 01",
					       PC "48 00 01", PC "01" };
	const struct spe_wanted wanted = { .only_memory = true };
	struct batch *b = batch_new();
	struct spe_shapes shapes = { 0 };
	uint64_t padding = 0;
	uint8_t bytes[ROOM];
	size_t n;

	(void)state;
	n = learn_all(&shapes, records, COUNT(records), bytes);
	assert_int_equal(spe_shapes_decode(&shapes, bytes, n + SLACK, 0, &wanted, b, &padding), n);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->op[0], 0);
	assert_int_equal(b->op[1], 1);
	batch_free(b);
}

/* Both at once: loads and stores at some addresses. */
static void test_memory_at_addresses(void **state)
{
	static const char *const records[] = {
		PC "49 00 b2 40 00 00 00 00 00 00 00 01",
		PC "48 00 b2 40 00 00 00 00 00 00 00 01",
		PC "49 00 01",
		PC "b2 40 00 00 00 00 00 00 00 01",
		PC "49 00 b2 80 00 00 00 00 00 00 00 01",
		PC "49 01 b2 44 00 00 00 00 00 00 00 01",
	};
	struct batch *b = batch_new();
	struct spe_shapes shapes = { 0 };
	struct address_filter addresses;
	const struct spe_wanted wanted = { .addresses = &addresses, .only_memory = true };
	uint64_t padding = 0;
	uint8_t bytes[ROOM];
	size_t n;

	(void)state;
	address_filter_init(&addresses, 64, 2);
	address_filter_add(&addresses, 0x40);
	address_filter_add(&addresses, 0); /* which is no address of those without one */
	n = learn_all(&shapes, records, COUNT(records), bytes);
	assert_int_equal(spe_shapes_decode(&shapes, bytes, n + SLACK, 0, &wanted, b, &padding), n);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->va[0], 0x40);
	assert_int_equal(b->va[1], 0x44);
	address_filter_release(&addresses);
	batch_free(b);
}

/* The last record of the bytes is decoded, unless eight bytes of a payload would reach past it. */
static void test_last_record(void **state)
{
	static const struct {
		size_t at; /* of a header of events, one byte of payload */
		bool is_decoded;
	} ends[] = { { SPE_SHAPE_SIZE - 9, true }, { SPE_SHAPE_SIZE - 3, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct spe_shapes shapes = { 0 };
		struct batch *b = batch_new();
		uint8_t bytes[SPE_SHAPE_SIZE] = { 0 };
		uint64_t padding = 0;
		size_t n;

		bytes[0] = 0x48; /* an operation */
		bytes[ends[i].at] = 0x42;
		bytes[ends[i].at + 1] = 0x02;
		bytes[ends[i].at + 2] = 0x01; /* END */
		spe_shapes_learn(&shapes, bytes, sizeof(bytes));
		n = spe_shapes_decode(&shapes, bytes, sizeof(bytes), 0, &all, b, &padding);
		assert_int_equal(n, ends[i].is_decoded ? sizeof(bytes) : 0);
		assert_int_equal(b->n, ends[i].is_decoded);
		batch_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),	      cmocka_unit_test(test_rarest_gives_way),
		cmocka_unit_test(test_all_are_found), cmocka_unit_test(test_only_one_is_possible),
		cmocka_unit_test(test_filter),	      cmocka_unit_test(test_only_memory),
		cmocka_unit_test(test_last_record),   cmocka_unit_test(test_memory_at_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
