/* SPDX-License-Identifier: Apache-2.0 */
/* Records into bytes, and back through the decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "hex.h"
#include "rows.h"
#include "spe/decode.h"
#include "spe/encode.h"
#include "spe/generate.h"

/* Records of a real machine, from what they say. */
static const struct {
	struct spe_record record;
	const char *hex;
} n1_records[] = {
	{ { .has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_VA |
		   HAS_XLAT | HAS_SOURCE | HAS_TICKS,
	    .pc = 0xffffba66eda1c2d0,
	    .pc_level = 2,
	    .va = 0x00ff0e3703096b28,
	    .ticks = 44731163950,
	    .events = 0x16,
	    .context = 24448,
	    .context_level = 2,
	    .total = 12,
	    .issue = 4,
	    .xlat = 1,
	    .op_class = 1 },
	  "b0 d0 c2 a1 ed 66 ba ff c0 00 00 00 00 00 65 80 5f 00 00 49 00 52 16 00 99 04 00 98 0c "
	  "00 "
	  "b2 28 6b 09 03 37 0e ff 00 9a 01 00 00 00 00 00 00 00 00 00 00 43 00 00 00 "
	  "71 2e 65 2f 6a 0a 00 00 00" },
	{ { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_TARGET,
	    .pc = 0x7ffdbf2143e0,
	    .target = 0x7ffdbf214408,
	    .events = 2,
	    .total = 40,
	    .issue = 39,
	    .op_class = 2,
	    .op = 1 },
	  "b0 e0 43 21 bf fd 7f 00 80 00 00 00 00 00 00 00 00 00 00 4a 01 52 02 00 99 27 00 98 28 "
	  "00 "
	  "b1 08 44 21 bf fd 7f 00 80 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
	  "00 00 00 00 00 00 00 00 00 01" },
};

static void test_n1(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(n1_records); i++) {
		uint8_t wanted[128], bytes[SPE_RECORD_MAX];
		size_t n = hex_bytes(n1_records[i].hex, wanted, sizeof(wanted));

		assert_int_equal(n, 64);
		assert_int_equal(spe_encode(&n1_records[i].record, &spe_layout_n1, bytes), n);
		assert_memory_equal(bytes, wanted, n);
	}
}

/* Any fields with any values. */
static struct spe_record random_record(struct spe_random *r)
{
	return (struct spe_record){
		.has = (uint32_t)spe_random_next(r) & ((HAS_CONTEXT << 1) - 1) &
		       ~(uint32_t)HAS_TIME,
		.pc = spe_random_next(r),
		.va = spe_random_next(r),
		.pa = spe_random_next(r),
		.target = spe_random_next(r),
		.prev_target = spe_random_next(r),
		.pc_level = (uint8_t)spe_random_below(r, 4),
		.target_level = (uint8_t)spe_random_below(r, 4),
		.prev_target_level = (uint8_t)spe_random_below(r, 4),
		.context_level = (uint8_t)(1 + spe_random_below(r, 2)),
		.ticks = spe_random_next(r),
		.events = spe_random_next(r) >> spe_random_below(r, 64),
		.context = (uint32_t)spe_random_next(r),
		.total = (uint16_t)spe_random_next(r),
		.issue = (uint16_t)spe_random_next(r),
		.xlat = (uint16_t)spe_random_next(r),
		.source = (uint16_t)(spe_random_next(r) >> spe_random_below(r, 16)),
		.op_class = (uint8_t)spe_random_below(r, 4),
		.op = (uint8_t)spe_random_next(r),
	};
}

/* Any order, padding, payload sizes and headers. `order` has room for all slots. */
static struct spe_layout random_layout(struct spe_random *r, uint8_t *order)
{
	static const size_t record_sizes[] = { 0, 1, 4, 16, 64, 128, 2048 };

	for (unsigned i = 0; i < SPE_N_SLOTS; i++) {
		unsigned k = (unsigned)spe_random_below(r, i + 1);

		order[i] = order[k];
		order[k] = (uint8_t)i;
	}
	if (spe_random_chance(r, 250))
		return spe_layout_n1;
	return (struct spe_layout){
		.order = order,
		.n_order = SPE_N_SLOTS,
		.record_size = record_sizes[spe_random_below(r, COUNT(record_sizes))],
		.events_size = (uint8_t)(1u << spe_random_below(r, 4)),
		.source_size = (uint8_t)(1u << spe_random_below(r, 2)),
		.extended = spe_random_chance(r, 500),
	};
}

static uint64_t code(uint64_t address, unsigned level)
{
	uint64_t low = address & UINT64_MAX >> 8;

	return level == 1 || level == 2 ? low | (uint64_t)0xff << 56 : low;
}

static uint64_t data(uint64_t address)
{
	bool is_high = (address & (uint64_t)0xf << 52) == (uint64_t)0xf << 52;

	return is_high ? address | (uint64_t)0xff << 56 : address & UINT64_MAX >> 8;
}

/* The row that a record must give, said in other words than the decoder's. */
static struct row wanted_row(const struct spe_record *r)
{
	struct row w = { .has = r->has };

	if (r->has & HAS_PC) {
		w.pc = code(r->pc, r->pc_level);
		w.level |= r->pc_level;
	}
	if (r->has & HAS_TARGET) {
		w.target = code(r->target, r->target_level);
		w.level |= (uint8_t)(r->target_level << 2);
	}
	if (r->has & HAS_PREV_TARGET) {
		w.prev_target = code(r->prev_target, r->prev_target_level);
		w.level |= (uint8_t)(r->prev_target_level << 4);
	}
	if (r->has & HAS_CONTEXT) {
		w.context = r->context;
		w.level |= (uint8_t)(r->context_level << 6);
	}
	if (r->has & HAS_VA) {
		w.va = data(r->va);
		w.va_tag = (uint8_t)(r->va >> 56);
	}
	w.pa = r->has & HAS_PA ? r->pa & UINT64_MAX >> 8 : 0;
	w.ticks = r->has & HAS_TICKS ? r->ticks : 0;
	w.events = r->has & HAS_EVENTS ? r->events : 0;
	w.total = r->has & HAS_TOTAL ? r->total : 0;
	w.issue = r->has & HAS_ISSUE ? r->issue : 0;
	w.xlat = r->has & HAS_XLAT ? r->xlat : 0;
	w.source = r->has & HAS_SOURCE ? r->source : 0;
	w.op_class = r->has & HAS_OP ? r->op_class : 0;
	w.op = r->has & HAS_OP ? r->op : 0;
	return w;
}

static void test_round_trip(void **state)
{
	struct spe_random random = { 42 };
	struct batch *b = batch_new();
	struct spe_decoder *d = spe_decoder_new();

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t bytes[SPE_RECORD_MAX], order[SPE_N_SLOTS];
		struct spe_layout layout = random_layout(&random, order);
		struct spe_record record = random_record(&random);
		struct row wanted = wanted_row(&record);
		size_t n = spe_encode(&record, &layout, bytes);
		struct row got;

		if (layout.record_size > 1)
			assert_int_equal(n % layout.record_size, 0);
		batch_reset(b, BATCH_SPE);
		assert_int_equal(spe_decode(d, bytes, n, 0, 0, b), n);
		assert_int_equal(b->n, 1);
		got = row_of(b, 0);
		got.position = 0;
		assert_memory_equal(&got, &wanted, sizeof(wanted));
	}
	assert_int_equal(spe_decoder_damage(d).bad_bytes, 0);
	spe_decoder_free(d);
	batch_free(b);
}

/* The payload sizes of a layout are kept, unless the value needs more. */
static void test_payload_sizes(void **state)
{
	static const struct {
		uint64_t events;
		uint16_t source;
		uint8_t events_size, source_size;
		size_t n;
	} cases[] = {
		{ 0, 0, 1, 1, 5 },	     { 0xff, 0xff, 1, 1, 5 },
		{ 0x100, 0, 1, 1, 6 },	     { 0, 0x100, 1, 1, 6 },
		{ 0, 0, 2, 2, 7 },	     { 0, 0, 4, 1, 8 },
		{ 0, 0, 8, 1, 12 },	     { 0x10000, 0, 2, 1, 8 },
		{ UINT64_MAX, 0, 0, 0, 12 }, { 0x100000000, 0, 4, 1, 12 },
	};
	static const uint8_t order[] = { SPE_SLOT_EVENTS, SPE_SLOT_SOURCE };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spe_record r = { .has = HAS_EVENTS | HAS_SOURCE,
					.events = cases[i].events,
					.source = cases[i].source };
		struct spe_layout layout = { .order = order,
					     .n_order = 2,
					     .events_size = cases[i].events_size,
					     .source_size = cases[i].source_size };
		uint8_t bytes[SPE_RECORD_MAX];

		assert_int_equal(spe_encode(&r, &layout, bytes), cases[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_n1),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_payload_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
