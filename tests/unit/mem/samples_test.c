/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "access/data_src.h"
#include "access/samples.h"
#include "base/alloc.h"
#include "mem/mem.h"
#include "spe/packet.h"

#define LEVEL(bits) ((uint64_t)(bits) << 5)
#define SNOOP(bits) ((uint64_t)(bits) << 19)
#define LOCK(bits) ((uint64_t)(bits) << 24)
#define TLB(bits) ((uint64_t)(bits) << 26)
#define NUMBER(value) ((uint64_t)(value) << 33)
#define REMOTE ((uint64_t)1 << 37)
#define SNOOPX(bits) ((uint64_t)(bits) << 38)
#define BLOCKED(bits) ((uint64_t)(bits) << 40)
#define WALK ((uint64_t)1 << SPE_EV_TLB_WALK)
#define TOLD ((uint64_t)1 << SPE_EV_TLB_ACCESS)

static void sources(void **state)
{
	static const struct {
		uint64_t data_src;
		const char *name; /* NULL: none */
		enum source_level level;
	} cases[] = {
		{ 0, NULL, SOURCE_UNKNOWN },
		{ LEVEL(1), NULL, SOURCE_UNKNOWN },
		{ LEVEL(2), NULL, SOURCE_UNKNOWN },    /* a hit somewhere */
		{ LEVEL(0x08), NULL, SOURCE_UNKNOWN }, /* L1, but neither hit nor miss */
		{ LEVEL(0x08) | NUMBER(1), "L1", SOURCE_L1 },
		{ LEVEL(0x400) | NUMBER(0xb) | REMOTE, "remote-cache",
		  SOURCE_REMOTE }, /* perf inject */
		{ LEVEL(0x0a), "L1", SOURCE_L1 },
		{ LEVEL(0x0c), "L1-miss", SOURCE_UNKNOWN },
		{ LEVEL(0x12), "LFB", SOURCE_L1 },
		{ LEVEL(0x2a), "L1", SOURCE_L1 }, /* L1 or L2: the nearest */
		{ LEVEL(0x42), "L3", SOURCE_SYSTEM_CACHE },
		{ LEVEL(0x44), "L3-miss", SOURCE_UNKNOWN },
		{ LEVEL(0x82), "DRAM", SOURCE_DRAM },
		{ LEVEL(0x102), "remote-DRAM", SOURCE_REMOTE_DRAM },
		{ LEVEL(0x202), "remote-DRAM-2hops", SOURCE_REMOTE_DRAM },
		{ LEVEL(0x402), "remote-cache", SOURCE_REMOTE },
		{ LEVEL(0x802), "remote-cache-2hops", SOURCE_REMOTE },
		{ LEVEL(0x1002), "IO", SOURCE_DEVICE },
		{ LEVEL(0x2002), "uncached", SOURCE_DEVICE },
		{ LEVEL(0x42) | NUMBER(0xd), "L3", SOURCE_SYSTEM_CACHE }, /* the level counts */
		{ NUMBER(1), "L1", SOURCE_L1 },
		{ LEVEL(1) | NUMBER(0xd), "DRAM", SOURCE_DRAM },
		{ LEVEL(2) | NUMBER(0xe), "PMEM", SOURCE_DRAM },
		{ LEVEL(4) | NUMBER(2), NULL, SOURCE_UNKNOWN }, /* missed, and nothing more */
		{ NUMBER(0xd) | REMOTE, "remote-DRAM", SOURCE_REMOTE_DRAM },
		{ NUMBER(0xb) | REMOTE, "remote-cache", SOURCE_REMOTE },
		{ NUMBER(9), "CXL", SOURCE_DRAM },
		{ NUMBER(0xf), NULL, SOURCE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu_source *source = data_src_source(cases[i].data_src);

		if (cases[i].name == NULL)
			assert_null(source);
		else
			assert_string_equal(source->name, cases[i].name);
		assert_int_equal(data_src_level(cases[i].data_src), cases[i].level);
		if (cases[i].name != NULL)
			assert_true(data_src_is_name(cases[i].name));
	}
	/* One source, however it is told. */
	assert_ptr_equal(data_src_source(LEVEL(0x0a)), data_src_source(NUMBER(1)));
	assert_true(data_src_is_name("lfb"));
	assert_false(data_src_is_name("LF"));
}

static void facts(void **state)
{
	static const struct {
		uint64_t data_src, bits; /* of translation */
		const char *text;
	} cases[] = {
		{ 0, 0, "" },
		{ TLB(1) | SNOOP(1) | LOCK(1) | BLOCKED(1), 0, "" },
		{ TLB(0x1a), TOLD, "TLB-L1:TLB-L2:TLB-HIT" },
		{ TLB(0x14), TOLD | WALK, "TLB-L2:TLB-MISS" },
		{ TLB(0x0c), TOLD, "TLB-L1:TLB-MISS" },	   /* the second one may have had it */
		{ TLB(0x22), TOLD, "TLB-WALKER:TLB-HIT" }, /* of SPE records, of perf inject */
		{ TLB(0x24), TOLD | WALK, "TLB-WALKER:TLB-MISS" },
		{ TLB(0x42), TOLD | WALK, "TLB-FAULT:TLB-HIT" },
		{ TLB(0x10), 0, "TLB-L2" },
		{ SNOOP(2), 0, "NO-SNOOP" },
		{ SNOOP(0x10) | LOCK(2), 0, "HITM:LOCKED" },
		{ SNOOPX(3) | BLOCKED(6), 0, "FORWARDED:PEER:BLOCKED-DATA:BLOCKED-ADDRESS" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		/* What it accesses and where it hit is no part of it. */
		uint64_t told = data_src_facts(cases[i].data_src | 2 | LEVEL(0x0a) | NUMBER(1));
		struct text text = { 0 };

		assert_int_equal(told & (TOLD | WALK), cases[i].bits);
		data_src_facts_text(told, ':', &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, cases[i].text);
		text_release(&text);
	}
}

static void kinds(void **state)
{
	static const struct {
		uint64_t data_src;
		enum memory_kind kind;
	} cases[] = {
		{ 0, MEMORY_NONE },
		{ 1, MEMORY_NONE },
		{ 2, MEMORY_LOAD },
		{ 4, MEMORY_STORE },
		{ 6, MEMORY_STORE },
		{ 8, MEMORY_NONE },
		{ 0x10, MEMORY_NONE },
		{ 2 | LOCK(2), MEMORY_ATOMIC },
		{ 4 | LOCK(2), MEMORY_ATOMIC },
		{ LOCK(2), MEMORY_NONE },
		{ 2 | LOCK(1), MEMORY_LOAD },
	};
	struct batch *b = batch_new();

	(void)state;
	batch_reset(b, BATCH_SAMPLES);
	for (size_t i = 0; i < COUNT(cases); i++) {
		b->has[0] = HAS_DATA_SRC;
		b->data_src[0] = cases[i].data_src;
		assert_int_equal(sample_memory_kind(b, 0), cases[i].kind);
		b->has[0] = 0;
		assert_int_equal(sample_memory_kind(b, 0), MEMORY_NONE);
	}
	batch_free(b);
}

static const struct access_sampling pmu = { .event = -1 };

static void weights(void **state)
{
	static const struct {
		uint32_t has;
		uint64_t weight;
		enum latency_state state;
		uint32_t cycles;
	} cases[] = {
		{ 0, 7, LATENCY_ABSENT, 0 },
		{ HAS_WEIGHT, 0, LATENCY_ABSENT, 0 },
		{ HAS_WEIGHT, 1, LATENCY_USABLE, 1 },
		{ HAS_WEIGHT, 4095, LATENCY_USABLE, 4095 }, /* full only in counters of SPE */
		{ HAS_WEIGHT, 65535, LATENCY_FULL, 65535 },
		{ HAS_WEIGHT, 65536, LATENCY_USABLE, 65536 },
		{ HAS_WEIGHT, INT32_MAX, LATENCY_USABLE, INT32_MAX },
		{ HAS_WEIGHT, UINT64_MAX, LATENCY_FULL, UINT32_C(1) << 31 },
	};
	struct mem_histograms h = { 0 };
	struct batch *b = batch_new();
	struct mem_cost cost = { 0 };
	double largest;
	bool is_full;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sample_latencies l;

		b->has[0] = cases[i].has;
		b->weight[0] = cases[i].weight;
		l = sample_latencies_of(&pmu, b, 0);
		assert_int_equal(l.state[LATENCY_TOTAL], cases[i].state);
		if (cases[i].state != LATENCY_ABSENT)
			assert_int_equal(l.cycles[LATENCY_TOTAL], cases[i].cycles);
		assert_int_equal(l.state[LATENCY_ISSUE], LATENCY_ABSENT);
		assert_int_equal(l.state[LATENCY_INSTRUCTION], LATENCY_ABSENT);
		mem_cost_add_sample(&cost, &l);
		mem_histograms_add_sample(&h, &l);
	}
	assert_int_equal(cost.sums[LATENCY_TOTAL].n, 4);
	assert_int_equal(cost.sums[LATENCY_TOTAL].n_full, 2);
	assert_int_equal(cost.sums[LATENCY_TOTAL].cycles, 1 + 4095 + 65536ull + INT32_MAX);
	assert_int_equal(cost.full_cycles, 65535 + (UINT64_C(1) << 31));
	/* Wide values have their buckets, too. */
	largest = histogram_quantile(&h.of[LATENCY_TOTAL], 4.0 / 6, &is_full);
	assert_true(fabs(largest - INT32_MAX) <= INT32_MAX * 0.002);
	assert_false(is_full);
	histogram_quantile(&h.of[LATENCY_TOTAL], 1, &is_full);
	assert_true(is_full);
	mem_histograms_release(&h);
	batch_free(b);
}

static void parts_of_weights(void **state)
{
	struct batch *b = batch_new();
	struct sample_latencies l;

	(void)state;
	b->has[0] = HAS_WEIGHT | HAS_WEIGHT_PARTS;
	b->weight[0] = 40;
	b->weight2[0] = 65535;
	b->weight3[0] = 0;
	l = sample_latencies_of(&pmu, b, 0);
	assert_int_equal(l.cycles[LATENCY_TOTAL], 40);
	assert_int_equal(l.state[LATENCY_INSTRUCTION], LATENCY_FULL);
	assert_int_equal(l.state[LATENCY_STAGE], LATENCY_ABSENT);
	batch_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources),
		cmocka_unit_test(facts),
		cmocka_unit_test(kinds),
		cmocka_unit_test(weights),
		cmocka_unit_test(parts_of_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
