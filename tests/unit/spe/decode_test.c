/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes into rows: single records with known answers, damage, and streams cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "hex.h"
#include "rows.h"
#include "spe/decode.h"
#include "spe/encode.h"
#include "spe/packet.h"

enum { ROOM = 1024, AT = 0x1000 };

/* Complete records of real machines, and what they say. */
static const char kernel_load[] =
	"b0 d0 c2 a1 ed 66 ba ff c0 00 00 00 00 00 65 80 5f 00 00 49 00 "
	"52 16 00 99 04 00 98 0c 00 b2 28 6b 09 03 37 0e ff 00 9a 01 00 "
	"00 00 00 00 00 00 00 00 00 43 00 00 00 71 2e 65 2f 6a 0a 00 00 00";
static const char not_taken[] = "b0 e0 b0 ef ed 66 ba ff c0 00 00 00 00 00 65 0e 00 00 00 4a 01 "
				"52 42 00 99 10 00 98 11 00 b1 e4 b0 ef ed 66 ba ff c0 "
				"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
				"71 8d 65 2f 6a 0a 00 00 00";
static const char without_time[] = "b0 e0 43 21 bf fd 7f 00 80 00 00 00 00 00 00 00 00 00 00 4a 01 "
				   "52 02 00 99 27 00 98 28 00 b1 08 44 21 bf fd 7f 00 80 "
				   "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
				   "00 00 00 01";
static const char peer_cluster[] = "b0 88 b6 cb 8f 22 d4 ff c0 49 00 52 1e 03 99 51 01 98 f5 01 "
				   "b2 50 9e d7 f1 3e 40 ff 00 9a 01 00 b3 50 9e d7 71 3f 40 00 80 "
				   "43 0c 00 00 71 b3 9a e9 bd 3e 07 00 00";
static const char guest_kernel[] = "b0 f4 d3 29 10 00 80 ff a0 99 0b 00 98 0d 00 52 16 00 49 00 "
				   "b2 d0 40 d8 70 00 00 ff 00 9a 01 00 00 00 00 "
				   "71 a5 1f b3 20 14 00 00 00";
static const char old_model[] = "49 00 b2 c0 3b 29 0f 00 00 ff ff b3 c0 eb 24 fb 00 00 00 80 "
				"9a 00 00 42 16 b0 00 c4 15 08 00 00 ff ff 98 00 00 "
				"71 36 6c 21 2c 09 00 00 00";

static const struct {
	const char *hex;
	struct row row;
} records[] = {
	{ kernel_load,
	  { .has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_VA |
		   HAS_XLAT | HAS_SOURCE | HAS_TICKS,
	    .pc = 0xffffba66eda1c2d0,
	    .va = 0xffff0e3703096b28,
	    .ticks = 44731163950,
	    .events = 0x16,
	    .context = 24448,
	    .total = 12,
	    .issue = 4,
	    .xlat = 1,
	    .op_class = 1,
	    .level = 2 | 2 << 6 } },
	{ not_taken,
	  { .has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_TARGET |
		   HAS_TICKS,
	    .pc = 0xffffba66edefb0e0,
	    .target = 0xffffba66edefb0e4,
	    .ticks = 44731164045,
	    .events = 0x42,
	    .context = 14,
	    .total = 17,
	    .issue = 16,
	    .op_class = 2,
	    .op = 1,
	    .level = 2 | 2 << 2 | 2 << 6 } },
	{ without_time,
	  { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_TARGET,
	    .pc = 0x7ffdbf2143e0,
	    .target = 0x7ffdbf214408,
	    .events = 0x2,
	    .total = 40,
	    .issue = 39,
	    .op_class = 2,
	    .op = 1 } },
	{ peer_cluster,
	  { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_VA | HAS_XLAT |
		   HAS_PA | HAS_SOURCE | HAS_TICKS,
	    .pc = 0xffffd4228fcbb688,
	    .va = 0xffff403ef1d79e50,
	    .pa = 0x403f71d79e50,
	    .ticks = 7966055570099,
	    .events = 0x31e,
	    .total = 501,
	    .issue = 337,
	    .xlat = 1,
	    .source = 12,
	    .op_class = 1,
	    .level = 2 } },
	{ guest_kernel,
	  { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_VA | HAS_XLAT |
		   HAS_TICKS,
	    .pc = 0xffff80001029d3f4,
	    .va = 0xffff000070d840d0,
	    .ticks = 86447955877,
	    .events = 0x16,
	    .total = 13,
	    .issue = 11,
	    .xlat = 1,
	    .op_class = 1,
	    .level = 1 } },
	{ old_model,
	  { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_TOTAL | HAS_VA | HAS_XLAT | HAS_PA |
		   HAS_TICKS,
	    .pc = 0xff00000815c400,
	    .va = 0xffff00000f293bc0,
	    .pa = 0xfb24ebc0,
	    .ticks = 39395093558,
	    .events = 0x16,
	    .op_class = 1,
	    .level = 3,
	    .va_tag = 0xff } },
	/* Addresses: the level decides for code, the bits below the tag for data. */
	{ "b0 11 22 33 44 55 66 77 a0 b1 01 00 00 00 00 00 f0 c0 b4 02 00 00 00 00 00 f0 e0 "
	  "b2 01 00 00 00 00 00 ef 5a b3 01 02 03 04 05 06 07 df 01",
	  { .has = HAS_PC | HAS_TARGET | HAS_PREV_TARGET | HAS_VA | HAS_PA,
	    .pc = 0xff77665544332211,
	    .target = 0xfff0000000000001,
	    .prev_target = 0x00f0000000000002,
	    .va = 0x00ef000000000001,
	    .pa = 0x0007060504030201,
	    .level = 1 | 2 << 2 | 3 << 4,
	    .va_tag = 0x5a } },
	/* Secure state: no kernel of ours. */
	{ "b0 11 22 33 44 55 66 77 40 b2 01 00 00 00 00 00 f0 00 01",
	  { .has = HAS_PC | HAS_VA,
	    .pc = 0x0077665544332211,
	    .va = 0xfff0000000000001,
	    .level = 2 } },
	/* All sizes of events and sources; extended headers. */
	{ "42 81 43 ff 01", { .has = HAS_EVENTS | HAS_SOURCE, .events = 0x81, .source = 0xff } },
	{ "52 81 82 53 ff 01 01",
	  { .has = HAS_EVENTS | HAS_SOURCE, .events = 0x8281, .source = 0x1ff } },
	{ "62 81 82 83 84 63 ff 01 02 03 01",
	  { .has = HAS_EVENTS | HAS_SOURCE, .events = 0x84838281, .source = 0x1ff } },
	{ "72 81 82 83 84 85 86 87 88 73 ff 01 02 03 04 05 06 07 01",
	  { .has = HAS_EVENTS | HAS_SOURCE, .events = 0x8887868584838281, .source = 0x1ff } },
	{ "20 b0 00 b6 a9 e4 aa aa 00 80 20 98 07 00 20 99 06 00 20 9a 05 00 01",
	  { .has = HAS_PC | HAS_TOTAL | HAS_ISSUE | HAS_XLAT,
	    .pc = 0xaaaae4a9b600,
	    .total = 7,
	    .issue = 6,
	    .xlat = 5 } },
	/* Fields without a column are ignored. */
	{ "b5 01 02 03 04 05 06 07 08 21 b0 01 02 03 04 05 06 07 08 9b 01 00 21 98 02 00 48 00 01",
	  { .has = HAS_OP } },
	/* Alignment packets and padding between packets. */
	{ "48 01 21 00 00 00 00 98 01 00 23 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01",
	  { .has = HAS_OP | HAS_TOTAL, .op = 1, .total = 1 } },
	/* Repeated fields: the last one counts; events, and operations of one class, are ORed. */
	{ "98 05 00 98 07 00 43 01 43 02 64 01 00 00 00 65 02 00 00 00 42 02 52 00 01 49 02 49 15 "
	  "b0 01 00 00 00 00 00 00 a0 b0 02 00 00 00 00 00 00 80 71 01 00 00 00 00 00 00 00",
	  { .has = HAS_TOTAL | HAS_SOURCE | HAS_CONTEXT | HAS_EVENTS | HAS_OP | HAS_PC | HAS_TICKS,
	    .total = 7,
	    .source = 2,
	    .context = 2,
	    .events = 0x102,
	    .op_class = 1,
	    .op = 0x17,
	    .pc = 2,
	    .ticks = 1,
	    .level = 2 << 6 } },
	{ "49 01 4a 02 01", { .has = HAS_OP, .op_class = 2, .op = 2 } },
	{ "4b aa 01", { .has = HAS_OP, .op_class = 3, .op = 0xaa } },
	{ "64 d2 04 00 00 01", { .has = HAS_CONTEXT, .context = 1234, .level = 1 << 6 } },
	{ "64 00 00 00 00 01", { .has = HAS_CONTEXT, .level = 1 << 6 } },
	{ "01", { .has = 0 } },
};

static void check_row(const struct batch *b, size_t i, const struct row *wanted)
{
	struct row got = row_of(b, i);

	assert_int_equal(got.position, AT);
	got.position = 0;
	assert_memory_equal(&got, wanted, sizeof(got));
}

static uint64_t accounted(const struct spe_damage *d)
{
	return d->bad_bytes + d->dropped_bytes + d->record_bytes + d->padding_bytes;
}

/* Feeds `n` bytes in two calls, cut at `cut`, and finishes. The rows stay in `out`. */
static struct spe_damage decode_cut(const uint8_t *bytes, size_t n, size_t cut, struct batch *out)
{
	struct spe_decoder *d = spe_decoder_new();
	struct spe_damage damage;

	batch_reset(out, BATCH_SPE);
	assert_int_equal(spe_decode(d, bytes, cut, AT, 0, out), cut);
	assert_int_equal(spe_decode(d, bytes + cut, n - cut, AT + cut, cut, out), n - cut);
	spe_decoder_finish(d);
	damage = spe_decoder_damage(d);
	spe_decoder_free(d);
	return damage;
}

static void test_records(void **state)
{
	struct batch *b = batch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		uint8_t bytes[ROOM];
		size_t n = hex_bytes(records[i].hex, bytes, sizeof(bytes));

		for (size_t cut = 0; cut <= n; cut++) {
			struct spe_damage d = decode_cut(bytes, n, cut, b);

			assert_int_equal(b->n, 1);
			check_row(b, 0, &records[i].row);
			assert_int_equal(d.record_bytes + d.padding_bytes, n);
			assert_int_equal(d.n_dropped, 0);
			assert_int_equal(d.n_bad_runs, 0);
		}
	}
	batch_free(b);
}

/* Without its end a record is dropped and counted, wherever the end went missing. */
static void test_records_without_end(void **state)
{
	struct batch *b = batch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		uint8_t bytes[ROOM];
		size_t n = hex_bytes(records[i].hex, bytes, sizeof(bytes));

		for (size_t size = 0; size < n; size++) {
			struct spe_damage d = decode_cut(bytes, size, size / 2, b);

			assert_int_equal(b->n, 0);
			assert_int_equal(accounted(&d), size);
			assert_int_equal(d.bad_bytes, 0);
			assert_int_equal(d.n_dropped, size > 0);
			if (size > 0)
				assert_int_equal(d.first_dropped, AT);
		}
	}
	batch_free(b);
}

#define PC "b0 00 b6 a9 e4 aa aa 00 80 "
#define TS "71 01 00 00 00 00 00 00 00 "

static const struct {
	const char *hex;
	size_t n_rows;
	uint64_t bad_bytes, first_bad, n_bad_runs;
	uint64_t dropped_bytes, first_dropped, n_dropped;
} damages[] = {
	{ PC TS, 1, 0, 0, 0, 0, 0, 0 },
	/* Between records: none is lost. */
	{ PC TS "02 03 04 " PC TS, 2, 3, AT + 18, 1, 0, 0, 0 },
	{ "ff 00 ff " PC TS, 1, 2, AT, 2, 0, 0, 0 },
	/* Inside: both halves of the record go, the next one stays. */
	{ PC "48 00 02 98 01 00 " TS PC TS, 1, 1, AT + 11, 1, 23, AT, 1 },
	{ PC TS PC "02 " TS PC TS, 2, 1, AT + 27, 1, 18, AT + 18, 1 },
	{ PC "02 48 00 ff 48 00 " TS PC TS, 1, 2, AT + 9, 2, 22, AT, 1 },
	/* The end of a record goes: the next one is whole. */
	{ PC "02 02 " PC TS, 1, 2, AT + 9, 1, 9, AT, 1 },
	/* The rest of a record whose start is damaged. */
	{ "02 48 00 98 01 00 " TS PC TS, 1, 1, AT, 1, 14, AT + 1, 1 },
	{ "02 " TS "48 00 01", 1, 1, AT, 1, 9, AT + 1, 1 },
	/* Two damaged records are two. */
	{ PC "02 " TS PC "02 " TS, 0, 2, AT + 9, 2, 36, AT, 2 },
	/* No end: the packet that was cut goes with the record. */
	{ PC TS PC, 1, 0, 0, 0, 9, AT + 18, 1 },
	{ PC TS "98 01", 1, 0, 0, 0, 2, AT + 18, 1 },
	{ PC TS PC "98 01", 1, 0, 0, 0, 11, AT + 18, 1 },
	{ PC "02 " PC, 0, 1, AT + 9, 1, 18, AT, 1 },
	/* A header that may not be extended. */
	{ "20 42 16 " PC TS, 1, 1, AT, 1, 0, 0, 0 },
};

static void test_damage(void **state)
{
	struct batch *b = batch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(damages); i++) {
		uint8_t bytes[ROOM];
		size_t n = hex_bytes(damages[i].hex, bytes, sizeof(bytes));

		for (size_t cut = 0; cut <= n; cut++) {
			struct spe_damage d = decode_cut(bytes, n, cut, b);

			assert_int_equal(b->n, damages[i].n_rows);
			assert_int_equal(d.bad_bytes, damages[i].bad_bytes);
			assert_int_equal(d.first_bad, damages[i].first_bad);
			assert_int_equal(d.n_bad_runs, damages[i].n_bad_runs);
			assert_int_equal(d.dropped_bytes, damages[i].dropped_bytes);
			assert_int_equal(d.first_dropped, damages[i].first_dropped);
			assert_int_equal(d.n_dropped, damages[i].n_dropped);
			assert_int_equal(accounted(&d), n);
		}
	}
	batch_free(b);
}

/* Any order of the packets says the same. */
static void test_order(void **state)
{
	uint8_t order[SPE_N_SLOTS];
	struct spe_layout layout = { .order = order, .n_order = SPE_N_SLOTS };
	struct spe_record r = { .has = ((HAS_CONTEXT << 1) - 1) & ~(uint32_t)HAS_TIME,
				.pc = 0x1000,
				.va = 0x2000,
				.pa = 0x3000,
				.target = 0x4000,
				.prev_target = 0x5000,
				.pc_level = 1,
				.target_level = 2,
				.context_level = 1,
				.ticks = 6,
				.events = 7,
				.context = 8,
				.total = 9,
				.issue = 10,
				.xlat = 11,
				.source = 12,
				.op_class = 1,
				.op = 1 };
	struct row wanted = { .has = r.has,
			      .pc = 0xff00000000001000,
			      .va = 0x2000,
			      .pa = 0x3000,
			      .target = 0xff00000000004000,
			      .prev_target = 0x5000,
			      .ticks = 6,
			      .events = 7,
			      .context = 8,
			      .total = 9,
			      .issue = 10,
			      .xlat = 11,
			      .source = 12,
			      .op_class = 1,
			      .op = 1,
			      .level = 1 | 2 << 2 | 1 << 6 };
	struct batch *b = batch_new();

	(void)state;
	for (unsigned turn = 0; turn < 2 * SPE_N_SLOTS; turn++) {
		uint8_t bytes[SPE_RECORD_MAX];
		size_t n;

		for (unsigned i = 0; i < SPE_N_SLOTS; i++) {
			unsigned slot = (turn + i) % SPE_N_SLOTS;

			order[i] = (uint8_t)(turn < SPE_N_SLOTS ? slot : SPE_N_SLOTS - 1 - slot);
		}
		n = spe_encode(&r, &layout, bytes);
		decode_cut(bytes, n, n / 3, b);
		assert_int_equal(b->n, 1);
		check_row(b, 0, &wanted);
	}
	batch_free(b);
}

/* A full batch stops the decoder; the next call goes on where it stopped. */
static void test_full_batch(void **state)
{
	enum { N = 2 * BATCH_ROWS + 5 };
	uint8_t *bytes = mem_alloc(N, 1);
	struct spe_decoder *d = spe_decoder_new();
	struct batch *b = batch_new();
	static const size_t wanted[] = { BATCH_ROWS, BATCH_ROWS, 5 };
	size_t at = 0;

	(void)state;
	memset(bytes, 0x01, N);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		size_t n;

		batch_reset(b, BATCH_SPE);
		n = spe_decode(d, bytes + at, N - at, at, at, b);
		assert_int_equal(n, wanted[i]);
		assert_int_equal(b->n, wanted[i]);
		assert_int_equal(b->position[0], at);
		at += n;
	}
	assert_int_equal(spe_decode(d, bytes, N, 0, 0, b), BATCH_ROWS - 5);
	assert_int_equal(spe_decode(d, bytes, N, 0, 0, b), 0);
	spe_decoder_free(d);
	batch_free(b);
	free(bytes);
}

static void test_reset(void **state)
{
	struct spe_decoder *d = spe_decoder_new();
	struct batch *b = batch_new();
	static const uint8_t bytes[] = { 0x02, 0x48, 0x00, 0x98 };
	static const uint8_t end = 0x01;
	struct spe_damage damage;

	(void)state;
	spe_decode(d, bytes, sizeof(bytes), 0, 0, b);
	spe_decoder_reset(d);
	assert_int_equal(spe_decode(d, &end, 1, 9, 9, b), 1);
	damage = spe_decoder_damage(d);
	assert_int_equal(b->n, 1);
	assert_int_equal(b->has[0], 0);
	assert_int_equal(b->position[0], 9);
	assert_int_equal(damage.bad_bytes, 0);
	assert_int_equal(damage.record_bytes, 1);
	spe_decoder_free(d);
	batch_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),	   cmocka_unit_test(test_records_without_end),
		cmocka_unit_test(test_damage),	   cmocka_unit_test(test_order),
		cmocka_unit_test(test_full_batch), cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
