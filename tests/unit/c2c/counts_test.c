/* SPDX-License-Identifier: Apache-2.0 */
/* What a data source counts as: rows of docs/reference, and what perf 6.1 was seen to count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "c2c/lines/counts.h"
#include "spe/packet.h"

#define BIT(count) C2C_BIT(count)
#define RECORD_OF_LOAD (BIT(RECORDS) | BIT(LOADS))
#define RECORD_OF_STORE (BIT(RECORDS) | BIT(STORES))

/* Fields of union perf_mem_data_src. */
enum { NA = 1, LOAD = 2, STORE = 4 };
#define LEVEL(bits) ((uint64_t)(bits) << 5)
#define SNOOP(bits) ((uint64_t)(bits) << 19)
#define HELD ((uint64_t)2 << 24)
#define REMOTE ((uint64_t)1 << 37)
#define PEER ((uint64_t)2 << 38)
#define BLOCKED(bits) ((uint64_t)(bits) << 40)
#define HOPS(n) ((uint64_t)(n) << 43)

enum { LEVEL_NA = 1, HIT = 2, MISS = 4, L1 = 8, LFB = 0x10, L2 = 0x20, L3 = 0x40, RAM = 0x80 };
enum { CACHE_ONE_HOP = 0x400, IO = 0x1000, UNCACHED = 0x2000, SNOOP_HIT = 4, HITM = 0x10 };

static void test_data_src(void **state)
{
	static const struct {
		uint64_t data_src;
		bool has_address;
		uint32_t mask;
	} rows[] = {
		{ LOAD | LEVEL(HIT | L1), true, RECORD_OF_LOAD | BIT(L1) },
		{ LOAD | LEVEL(HIT | L1), false, RECORD_OF_LOAD | BIT(LOAD_NO_ADDRESS) },
		{ LOAD | LEVEL(L1), true, RECORD_OF_LOAD },
		{ LOAD | LEVEL(MISS | L1), true, RECORD_OF_LOAD | BIT(MISS) },
		{ LOAD | LEVEL(HIT | LFB), true, RECORD_OF_LOAD | BIT(FILL_BUFFER) },
		{ LOAD | LEVEL(HIT | L2), true, RECORD_OF_LOAD | BIT(L2) },
		{ LOAD | LEVEL(HIT | L2) | PEER, true, RECORD_OF_LOAD | BIT(L2) | BIT(LOCAL_PEER) },
		{ LOAD | LEVEL(HIT | L3), true, RECORD_OF_LOAD | BIT(LLC) },
		{ LOAD | LEVEL(HIT | L3) | SNOOP(HITM), true, RECORD_OF_LOAD | BIT(LOCAL_HITM) },
		{ LOAD | LEVEL(HIT | L3) | PEER, true,
		  RECORD_OF_LOAD | BIT(LLC) | BIT(LOCAL_PEER) },
		{ LOAD | LEVEL(HIT | RAM), true,
		  RECORD_OF_LOAD | BIT(LOCAL_DRAM) | BIT(EXCLUSIVE) },
		{ LOAD | LEVEL(HIT | RAM) | SNOOP(SNOOP_HIT), true,
		  RECORD_OF_LOAD | BIT(LOCAL_DRAM) | BIT(SHARED) },
		{ LOAD | LEVEL(CACHE_ONE_HOP) | SNOOP(HITM), true,
		  RECORD_OF_LOAD | BIT(REMOTE_HITM) },
		{ LOAD | LEVEL(CACHE_ONE_HOP) | SNOOP(SNOOP_HIT) | PEER, true,
		  RECORD_OF_LOAD | BIT(REMOTE_HIT) },
		{ LOAD | LEVEL(LEVEL_NA) | REMOTE | PEER, true,
		  RECORD_OF_LOAD | BIT(REMOTE_HIT) | BIT(REMOTE_PEER) },
		{ LOAD | LEVEL(LEVEL_NA) | REMOTE | PEER | HOPS(1), true, RECORD_OF_LOAD },
		{ LOAD | LEVEL(HIT | IO), true, RECORD_OF_LOAD | BIT(IO) },
		{ LOAD | LEVEL(HIT | UNCACHED) | HELD, true,
		  RECORD_OF_LOAD | BIT(UNCACHED) | BIT(LOCKED) },
		{ LOAD | LEVEL(HIT | L1) | BLOCKED(6), true,
		  RECORD_OF_LOAD | BIT(L1) | BIT(BLOCKED_DATA) | BIT(BLOCKED_ADDRESS) },
		{ STORE | LEVEL(LEVEL_NA), true, RECORD_OF_STORE | BIT(STORE_ANY) },
		{ STORE | LEVEL(HIT | L1), true, RECORD_OF_STORE | BIT(STORE_L1_HIT) },
		{ STORE | LEVEL(MISS | L1), true, RECORD_OF_STORE | BIT(STORE_L1_MISS) },
		{ STORE | LEVEL(HIT | L2), true, RECORD_OF_STORE },
		{ STORE | LEVEL(LEVEL_NA), false, RECORD_OF_STORE | BIT(STORE_NO_ADDRESS) },
		{ LOAD | STORE | LEVEL(LEVEL_NA), true, RECORD_OF_LOAD },
		{ NA, true, BIT(RECORDS) | BIT(NO_ACCESS) },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t mask = c2c_classify_data_src(rows[i].data_src, rows[i].has_address);

		if (mask != rows[i].mask)
			fail_msg("row %zu: %#x, expected %#x", i, mask, rows[i].mask);
	}
}

static void test_sums(void **state)
{
	struct c2c_counts c = { 0 };

	(void)state;
	c2c_count_in(&c, RECORD_OF_LOAD | BIT(L2) | BIT(LOCAL_PEER));
	c2c_count_in(&c, RECORD_OF_LOAD | BIT(REMOTE_HIT) | BIT(REMOTE_PEER));
	c2c_count_in(&c, RECORD_OF_LOAD | BIT(LOCAL_HITM));
	c2c_count_in(&c, RECORD_OF_LOAD | BIT(MISS));
	c2c_count_in(&c, RECORD_OF_STORE | BIT(STORE_ANY));
	assert_int_equal(c.n[C2C_RECORDS], 5);
	assert_int_equal(c2c_placed_loads(&c), 3);
	assert_int_equal(c2c_placed_stores(&c), 1);
	assert_int_equal(c2c_llc_misses(&c), 1);
	assert_int_equal(c2c_contended(&c, C2C_BY_PEER), 2);
	assert_int_equal(c2c_contended(&c, C2C_BY_HITM), 1);
	assert_int_equal(c2c_contended(&c, C2C_BY_REMOTE_HITM), 0);
}

/* A load or store of which these columns were recorded; `absent` is what stands in the others. */
static void set_access(struct batch *b, uint32_t has, uint8_t op, uint64_t absent)
{
	enum { PEER_CLUSTER = 12 };
	const uint64_t l1_hit = UINT64_C(1) << SPE_EV_L1D_ACCESS;
	size_t row = b->n++;

	b->has[row] = has | HAS_OP;
	b->op_class[row] = SPE_OP_LDST;
	b->op[row] = op;
	b->va[row] = has & HAS_VA ? 0x1000 : absent;
	b->events[row] = has & HAS_EVENTS ? l1_hit : absent;
	b->source[row] = has & HAS_SOURCE ? PEER_CLUSTER : (uint16_t)absent;
}

/* What was not recorded does not count. */
static void test_absent_columns(void **state)
{
	static const uint32_t columns[] = { HAS_VA, HAS_EVENTS, HAS_SOURCE };
	const struct spe_record record = spe_of(TEXT_START, ALPHA, SPE_OP_LDST, 0, 10, START_NS);
	struct c2c_classifier *classifier;
	struct batch *b = batch_new();
	uint32_t masks[BATCH_ROWS];
	uint16_t rows[BATCH_ROWS];
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = &record, .n_records = 1 }, 1, &s);
	classifier = c2c_classifier_new(&s);
	batch_reset(b, BATCH_SPE);
	for (unsigned i = 0; i < 1u << (COUNT(columns) + 1); i++) {
		uint32_t has = 0;

		for (unsigned k = 0; k < COUNT(columns); k++)
			has |= i >> k & 1 ? columns[k] : 0;
		set_access(b, has, (uint8_t)(i >> COUNT(columns)), 0);
		set_access(b, has, (uint8_t)(i >> COUNT(columns)), UINT64_MAX);
	}
	assert_int_equal(c2c_classify(classifier, b, rows, masks), b->n);
	for (size_t i = 0; i < b->n; i += 2)
		assert_int_equal(masks[i], masks[i + 1]);
	assert_int_equal(masks[2 * 0], RECORD_OF_LOAD | BIT(LOAD_NO_ADDRESS));
	assert_int_equal(masks[2 * 1], RECORD_OF_LOAD);
	assert_int_equal(masks[2 * 3], RECORD_OF_LOAD | BIT(L1));
	assert_int_equal(masks[2 * 5], RECORD_OF_LOAD | BIT(LLC) | BIT(LOCAL_PEER));
	assert_int_equal(masks[2 * 6], RECORD_OF_LOAD | BIT(LOAD_NO_ADDRESS));
	assert_int_equal(masks[2 * 15], RECORD_OF_STORE | BIT(STORE_ANY));
	c2c_classifier_free(classifier);
	close_fixture(&s);
	batch_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_src),
		cmocka_unit_test(test_absent_columns),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
