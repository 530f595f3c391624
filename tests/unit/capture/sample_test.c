/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "image.h"

#define ALL_BITS (BIT(SAMPLE_WEIGHT_STRUCT + 1) - 1)

enum {
	READ_FORMAT_TIMES = 3,
	READ_FORMAT_ID = 4,
	READ_FORMAT_GROUP = 8,
	READ_FORMAT_LOST = 16,
	BRANCH_TYPE_HW_INDEX = 1 << 17,
	BRANCH_TYPE_COUNTERS = 1 << 19,
};

static struct record sample_of(const struct text *body)
{
	return (struct record){
		.type = RECORD_SAMPLE,
		.size = body->n + 8,
		.position = 0x1234,
		.body = cur_of(body->bytes, body->n),
	};
}

/* All fields but WEIGHT, which excludes WEIGHT_STRUCT. Returns the attr that fits. */
static struct attr put_everything(struct text *t)
{
	put_u64s(t, (uint64_t[]){ 901, 902 }, 2); /* identifier, ip */
	put_u32(t, 903);			  /* pid, tid */
	put_u32(t, 904);
	put_u64s(t, (uint64_t[]){ 905, 906, 907, 908 }, 4); /* time, addr, id, stream */
	put_u32(t, 909);				    /* cpu */
	put_u32(t, 0);
	put_word(t, 910);						   /* period */
	put_u64s(t, (uint64_t[]){ 2, 20, 21, 30, 31, 32, 40, 41, 42 }, 9); /* read */
	put_u64s(t, (uint64_t[]){ 3, (uint64_t)-128, 50, 51 }, 4);	   /* call chain */
	put_u32(t, 5);							   /* raw */
	text_add(t, "abcde", 5);
	put_zeros(t, 7);
	put_u64s(t, (uint64_t[]){ 2, 60, 61, 62, 63, 64, 65, 66, 1, 2 }, 10); /* branches */
	put_u64s(t, (uint64_t[]){ 2, 70, 71 }, 3);			      /* user registers */
	put_u64s(t, (uint64_t[]){ 16, 80, 81, 9 }, 4);			      /* user stack */
	put_u32(t, 911);						      /* weight struct */
	put_u16(t, 912);
	put_u16(t, 913);
	put_u64s(t, (uint64_t[]){ 914, 915 }, 2);	    /* data_src, transaction */
	put_u64s(t, (uint64_t[]){ 0 }, 1);		    /* no interrupt registers */
	put_u64s(t, (uint64_t[]){ 916, 917, 918, 919 }, 4); /* phys, cgroup, page sizes */
	put_u64s(t, (uint64_t[]){ 8, 90 }, 2);		    /* aux */
	return (struct attr){
		.sample_type = ALL_BITS & ~BIT(SAMPLE_WEIGHT),
		.read_format =
			READ_FORMAT_TIMES | READ_FORMAT_ID | READ_FORMAT_GROUP | READ_FORMAT_LOST,
		.branch_sample_type = BRANCH_TYPE_HW_INDEX | BRANCH_TYPE_COUNTERS,
		.sample_regs_user = 0x8001,
		.sample_regs_intr = 0xff,
	};
}

static uint64_t word(const struct sample_words *w, size_t i)
{
	return load_u64(w->bytes + 8 * i);
}

static void test_everything(void **state)
{
	struct text t = { 0 };
	struct attr attr = put_everything(&t);
	struct record r = sample_of(&t);
	struct sample s;
	struct err err = { 0 };

	(void)state;
	if (sample_read(&r, &attr, &s, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.id, 907); /* ID comes behind IDENTIFIER and says the same */
	assert_int_equal(s.ip, 902);
	assert_int_equal(s.pid, 903);
	assert_int_equal(s.tid, 904);
	assert_int_equal(s.time_ns, 905);
	assert_int_equal(s.addr, 906);
	assert_int_equal(s.stream_id, 908);
	assert_int_equal(s.cpu, 909);
	assert_int_equal(s.period, 910);
	assert_int_equal(s.read.n, 9);
	assert_int_equal(word(&s.read, 3), 30);
	assert_int_equal(s.callchain.n, 3);
	assert_int_equal(word(&s.callchain, 2), 51);
	assert_int_equal(s.raw_size, 5);
	assert_memory_equal(s.raw, "abcde", 5);
	assert_int_equal(s.branch_hw_index, 60);
	assert_int_equal(s.branches.n, 2);
	assert_int_equal(word(&s.branches, 5), 66);
	assert_int_equal(s.user_regs_abi, 2);
	assert_int_equal(s.user_regs.n, 2);
	assert_int_equal(word(&s.user_regs, 1), 71);
	assert_int_equal(s.user_stack_size, 16);
	assert_int_equal(load_u64(s.user_stack + 8), 81);
	assert_int_equal(s.user_stack_used, 9);
	assert_int_equal(s.weight, 911);
	assert_int_equal(s.weight2, 912);
	assert_int_equal(s.weight3, 913);
	assert_int_equal(s.data_src, 914);
	assert_int_equal(s.transaction, 915);
	assert_int_equal(s.intr_regs_abi, 0);
	assert_null(s.intr_regs.bytes);
	assert_int_equal(s.phys_addr, 916);
	assert_int_equal(s.cgroup, 917);
	assert_int_equal(s.data_page_size, 918);
	assert_int_equal(s.code_page_size, 919);
	assert_int_equal(s.aux_size, 8);
	assert_int_equal(load_u64(s.aux), 90);
	text_release(&t);
}

/* Too short at each byte, and too long by some. */
static void test_wrong_length(void **state)
{
	struct text t = { 0 };
	struct attr attr = put_everything(&t);
	struct sample s;
	struct err err;

	(void)state;
	for (size_t n = 0; n < t.n; n++) {
		struct record r = sample_of(&t);
		uint8_t *copy = mem_alloc(n, 1); /* so that a sanitizer sees where it ends */

		memcpy(copy, t.bytes, n);
		r.body = cur_of(copy, n);
		assert_int_equal(sample_read(&r, &attr, &s, &err), -1);
		assert_int_equal(err.at, 0x1234);
		free(copy);
	}
	put_zeros(&t, 8);
	struct record r = sample_of(&t);
	assert_int_equal(sample_read(&r, &attr, &s, &err), -1);
	assert_non_null(strstr(err.text, "8 bytes left over"));
	attr.sample_type |= BIT(SAMPLE_BITS_END); /* a newer kernel's field */
	assert_int_equal(sample_read(&r, &attr, &s, &err), 0);
	assert_int_equal(load_u64(s.aux), 90);
	text_release(&t);
}

/* A single field: its bit, its words, how many there are. */
static const struct {
	unsigned bit;
	uint64_t read_format, branch_type;
	size_t n;
	uint64_t words[8];
	int wanted;
} fields[] = {
	{ SAMPLE_READ, 0, 0, 1, { 7 }, 0 },
	{ SAMPLE_READ, 0, 0, 2, { 7, 8 }, -1 },
	{ SAMPLE_READ, READ_FORMAT_TIMES, 0, 3, { 7, 8, 9 }, 0 },
	{ SAMPLE_READ, READ_FORMAT_ID | READ_FORMAT_LOST, 0, 3, { 7, 8, 9 }, 0 },
	{ SAMPLE_READ, READ_FORMAT_GROUP, 0, 1, { 0 }, 0 },
	{ SAMPLE_READ, READ_FORMAT_GROUP, 0, 3, { 2, 8, 9 }, 0 },
	{ SAMPLE_READ, READ_FORMAT_GROUP | READ_FORMAT_ID, 0, 5, { 2, 6, 7, 8, 9 }, 0 },
	{ SAMPLE_READ, READ_FORMAT_GROUP, 0, 3, { 3, 8, 9 }, -1 },
	{ SAMPLE_READ, READ_FORMAT_GROUP, 0, 2, { UINT64_MAX, 8 }, -1 },
	{ SAMPLE_READ, READ_FORMAT_GROUP | READ_FORMAT_ID, 0, 2, { BIT(63), 8 }, -1 },
	{ SAMPLE_CALLCHAIN, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_CALLCHAIN, 0, 0, 3, { 2, 1, 2 }, 0 },
	{ SAMPLE_CALLCHAIN, 0, 0, 3, { 3, 1, 2 }, -1 },
	{ SAMPLE_CALLCHAIN, 0, 0, 3, { BIT(61), 1, 2 }, -1 },
	{ SAMPLE_RAW, 0, 0, 1, { 4 }, 0 },
	{ SAMPLE_RAW, 0, 0, 2, { 12 }, 0 },
	{ SAMPLE_RAW, 0, 0, 2, { 5 }, 0 },
	{ SAMPLE_RAW, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_RAW, 0, 0, 1, { 5 }, -1 },
	{ SAMPLE_RAW, 0, 0, 2, { UINT32_MAX }, -1 },
	{ SAMPLE_BRANCH_STACK, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_BRANCH_STACK, 0, 0, 4, { 1, 2, 3, 4 }, 0 },
	{ SAMPLE_BRANCH_STACK, 0, BRANCH_TYPE_HW_INDEX, 5, { 1, 2, 3, 4, 5 }, 0 },
	{ SAMPLE_BRANCH_STACK, 0, BRANCH_TYPE_COUNTERS, 5, { 1, 2, 3, 4, 5 }, 0 },
	{ SAMPLE_BRANCH_STACK, 0, 0, 4, { 2, 2, 3, 4 }, -1 },
	{ SAMPLE_BRANCH_STACK, 0, 0, 4, { UINT64_MAX / 8, 2, 3, 4 }, -1 },
	{ SAMPLE_STACK_USER, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_STACK_USER, 0, 0, 3, { 8, 1, 8 }, 0 },
	{ SAMPLE_STACK_USER, 0, 0, 2, { 8, 1 }, -1 },
	{ SAMPLE_STACK_USER, 0, 0, 3, { UINT64_MAX, 1, 2 }, -1 },
	{ SAMPLE_REGS_USER, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_REGS_USER, 0, 0, 2, { 1, 5 }, 0 },
	{ SAMPLE_REGS_USER, 0, 0, 1, { 1 }, -1 },
	{ SAMPLE_WEIGHT, 0, 0, 1, { 7 }, 0 },
	{ SAMPLE_AUX, 0, 0, 1, { 0 }, 0 },
	{ SAMPLE_AUX, 0, 0, 2, { 8, 1 }, 0 },
	{ SAMPLE_AUX, 0, 0, 2, { 16, 1 }, -1 },
	{ SAMPLE_AUX, 0, 0, 2, { UINT64_MAX, 1 }, -1 },
};

static void test_single_fields(void **state)
{
	struct sample s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(fields); i++) {
		struct attr attr = {
			.sample_type = BIT(fields[i].bit),
			.read_format = fields[i].read_format,
			.branch_sample_type = fields[i].branch_type,
			.sample_regs_user = 0x10,
		};
		struct record r = {
			.type = RECORD_SAMPLE,
			.body = cur_of(fields[i].words, fields[i].n * 8),
		};

		if (sample_read(&r, &attr, &s, &err) != fields[i].wanted)
			fail_msg("row %zu", i);
	}
}

static void test_id(void **state)
{
	struct text t = { 0 };
	struct attr attr = put_everything(&t);
	struct record r = sample_of(&t);
	struct sample_id id = sample_read_id(&r, &attr);

	(void)state;
	assert_int_equal(id.has, HAS_PID | HAS_TID | HAS_TIME | HAS_CPU);
	assert_int_equal(id.pid, 903);
	assert_int_equal(id.tid, 904);
	assert_int_equal(id.time_ns, 905);
	assert_int_equal(id.cpu, 909);
	assert_int_equal(id.id, 907);
	r.body = cur_of(t.bytes, 70); /* the fixed part has 72 */
	assert_int_equal(sample_read_id(&r, &attr).has, 0);
	text_release(&t);
}

/* Samples of one-word fields: sample_word() finds what sample_read() does. */
static void test_layout(void **state)
{
	static const uint64_t types[] = {
		0,
		BIT(SAMPLE_IP),
		BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU) | BIT(SAMPLE_PERIOD),
		BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_ADDR) | BIT(SAMPLE_ID) | BIT(SAMPLE_STREAM_ID) |
			BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_TRANSACTION),
		BIT(SAMPLE_IP) | BIT(SAMPLE_PHYS_ADDR) | BIT(SAMPLE_CGROUP) |
			BIT(SAMPLE_DATA_PAGE_SIZE) | BIT(SAMPLE_CODE_PAGE_SIZE),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		const struct attr attr = { .sample_type = types[i] };
		struct sample_layout l = sample_layout_of(&attr);
		uint64_t words[32] = { 0 };
		struct record r = { .type = RECORD_SAMPLE, .size = l.size };
		const uint8_t *at = (const uint8_t *)words;
		struct sample s;
		struct err err;

		assert_int_equal(l.size, 8 + 8 * __builtin_popcountll(types[i]));
		for (size_t n = 1; n < COUNT(words); n++)
			words[n] = 0x0101010100000000 * n + 100 + n;
		r.body = cur_of(at + 8, l.size - 8);
		assert_int_equal(sample_read(&r, &attr, &s, &err), 0);
		assert_true(sample_has_layout(&l, at, l.size));
		assert_false(sample_has_layout(&l, at, l.size + 8));
		assert_int_equal(sample_word(&l, at, SAMPLE_IP), s.ip);
		assert_int_equal((uint32_t)sample_word(&l, at, SAMPLE_TID), s.pid);
		assert_int_equal(sample_word(&l, at, SAMPLE_TID) >> 32, s.tid);
		assert_int_equal(sample_word(&l, at, SAMPLE_TIME), s.time_ns);
		assert_int_equal(sample_word(&l, at, SAMPLE_ADDR), s.addr);
		assert_int_equal(sample_word(&l, at, SAMPLE_STREAM_ID), s.stream_id);
		assert_int_equal((uint32_t)sample_word(&l, at, SAMPLE_CPU), s.cpu);
		assert_int_equal(sample_word(&l, at, SAMPLE_PERIOD), s.period);
		assert_int_equal(sample_word(&l, at, SAMPLE_WEIGHT), s.weight);
		assert_int_equal(sample_word(&l, at, SAMPLE_DATA_SRC), s.data_src);
		assert_int_equal(sample_word(&l, at, SAMPLE_TRANSACTION), s.transaction);
		assert_int_equal(sample_word(&l, at, SAMPLE_PHYS_ADDR), s.phys_addr);
		assert_int_equal(sample_word(&l, at, SAMPLE_CGROUP), s.cgroup);
		assert_int_equal(sample_word(&l, at, SAMPLE_DATA_PAGE_SIZE), s.data_page_size);
		assert_int_equal(sample_word(&l, at, SAMPLE_CODE_PAGE_SIZE), s.code_page_size);
	}
}

/* Fields of other sizes, fields that are not known, and a weight in two ways: to be read in general. */
static void test_no_layout(void **state)
{
	static const uint64_t types[] = {
		BIT(SAMPLE_READ),
		BIT(SAMPLE_RAW),
		BIT(SAMPLE_REGS_USER),
		BIT(SAMPLE_STACK_USER),
		BIT(SAMPLE_REGS_INTR),
		BIT(SAMPLE_AUX),
		BIT(SAMPLE_BITS_END),
		BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_WEIGHT_STRUCT),
		BIT(SAMPLE_CALLCHAIN) | BIT(SAMPLE_BRANCH_STACK),
	};
	const struct attr counters = {
		.sample_type = BIT(SAMPLE_BRANCH_STACK),
		.branch_sample_type = BIT(19), /* PERF_SAMPLE_BRANCH_COUNTERS */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		const struct attr attr = { .sample_type = types[i] | BIT(SAMPLE_IP) };

		assert_int_equal(sample_layout_of(&attr).size, 0);
	}
	assert_int_equal(sample_layout_of(&counters).size, 0);
}

/* Words around a list of `n` entries are found where sample_read() finds them; other sizes do not fit. */
static void expect_list(const struct attr *attr, uint64_t entry_words, uint64_t n)
{
	struct sample_layout l = sample_layout_of(attr);
	uint64_t words[64] = { 0 }, size = l.size + n * entry_words * 8;
	struct record r = { .type = RECORD_SAMPLE, .size = size };
	const uint8_t *at = (const uint8_t *)words, *behind = at + n * entry_words * 8;
	const struct sample_words *list;
	struct sample s;
	struct err err;

	for (size_t i = 1; i < COUNT(words); i++)
		words[i] = 0x0101010100000000 * i + 100 + i;
	words[l.list / 8] = n;
	assert_int_equal(l.entry_bytes, 8 * entry_words);
	r.body = cur_of(at + 8, size - 8);
	assert_int_equal(sample_read(&r, attr, &s, &err), 0);
	list = entry_words == 1 ? &s.callchain : &s.branches;
	assert_true(sample_has_layout(&l, at, size));
	assert_int_equal(list->n, n);
	assert_ptr_equal(list->bytes, at + l.entries);
	assert_int_equal(sample_word(&l, at, SAMPLE_IP), s.ip);
	assert_int_equal(sample_word(&l, at, SAMPLE_PERIOD), s.period);
	assert_int_equal(sample_word(&l, behind, SAMPLE_WEIGHT), s.weight);
	assert_int_equal(sample_word(&l, behind, SAMPLE_DATA_SRC), s.data_src);
	assert_int_equal(sample_word(&l, behind, SAMPLE_PHYS_ADDR), s.phys_addr);
	for (uint64_t other = 0; other < sizeof(words); other += 8)
		assert_int_equal(sample_has_layout(&l, at, other), other == size);
	words[l.list / 8] =
		UINT64_MAX / l.entry_bytes + 1 + n; /* their bytes are 2^64 more, or nearly */
	assert_false(sample_has_layout(&l, at, size));
}

static void test_layout_with_list(void **state)
{
	static const uint64_t words[] = {
		BIT(SAMPLE_IP),
		BIT(SAMPLE_IP) | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_TIME),
		BIT(SAMPLE_IP) | BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_PHYS_ADDR),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		for (uint64_t n = 0; n < 5; n++) {
			struct attr attr = { .sample_type = words[i] | BIT(SAMPLE_CALLCHAIN) };

			expect_list(&attr, 1, n);
			attr.sample_type = words[i] | BIT(SAMPLE_BRANCH_STACK);
			expect_list(&attr, 3, n);
			attr.branch_sample_type = BIT(17); /* PERF_SAMPLE_BRANCH_HW_INDEX */
			expect_list(&attr, 3, n);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),	 cmocka_unit_test(test_wrong_length),
		cmocka_unit_test(test_single_fields),	 cmocka_unit_test(test_id),
		cmocka_unit_test(test_layout),		 cmocka_unit_test(test_no_layout),
		cmocka_unit_test(test_layout_with_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
