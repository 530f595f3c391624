/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "capture/format/sample.h"
#include "image.h"
#include "spe/encode.h"

#define LEAN (BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP))
#define RICH                                                                                       \
	(LEAN | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_ADDR) | BIT(SAMPLE_CPU) |          \
	 BIT(SAMPLE_PERIOD) | BIT(SAMPLE_CALLCHAIN) | BIT(SAMPLE_BRANCH_STACK) |                   \
	 BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_PHYS_ADDR))

enum { LEAN_ID = 50, RICH_ID = 51, PERIOD = 4000 };

static const struct attr lean = { .size = ATTR_SIZE_MIN,
				  .sample_period = PERIOD,
				  .sample_type = LEAN };
static const struct attr rich = { .size = ATTR_SIZE_MIN, .sample_period = 1, .sample_type = RICH };

static void put_start(struct text *t)
{
	put_stream_header(t);
	put_attr(t, &lean, (uint64_t[]){ LEAN_ID }, 1);
	put_attr(t, &rich, (uint64_t[]){ RICH_ID }, 1);
}

static void put_lean(struct text *t, uint64_t ip)
{
	put_record(t, RECORD_SAMPLE, 1, (uint64_t[]){ LEAN_ID, ip }, 2);
}

static void put_rich(struct text *t, uint64_t phys_addr)
{
	const uint64_t words[] = {
		RICH_ID, 0x400000, 21 | 22ull << 32,
		23,	 24,	   25,
		26,			/* … period */
		2,	 101,	   102, /* call chain */
		1,	 201,	   202,
		203, /* branches */
		31,	 32,	   phys_addr,
	};

	put_record(t, RECORD_SAMPLE, 2, words, COUNT(words));
}

/* All rows of a capture, at most one batch. */
static struct batch *read_all(const struct capture *c, struct unit_reader *r)
{
	struct batch *b = batch_new();

	assert_int_equal(capture_n_units(c), 1);
	unit_reader_start(r, 0);
	assert_true(unit_reader_next(r, b));
	return b;
}

static void check_rich(const struct batch *b, size_t row)
{
	const struct batch_slice stack = b->stack[row], branches = b->branches[row];

	assert_int_equal(b->has[row], HAS_PC | HAS_PID | HAS_TID | HAS_TIME | HAS_VA | HAS_CPU |
					      HAS_PERIOD | HAS_STACK | HAS_BRANCHES | HAS_WEIGHT |
					      HAS_DATA_SRC | HAS_PA);
	assert_int_equal(b->event[row], 1);
	assert_int_equal(b->mode[row], 2);
	assert_int_equal(b->pc[row], 0x400000);
	assert_int_equal(b->pid[row], 21);
	assert_int_equal(b->tid[row], 22);
	assert_int_equal(b->time_ns[row], 23);
	assert_int_equal(b->va[row], 24);
	assert_int_equal(b->cpu[row], 25);
	assert_int_equal(b->period[row], 26);
	assert_int_equal(b->weight[row], 31);
	assert_int_equal(b->data_src[row], 32);
	assert_int_equal(b->pa[row], 33);
	assert_int_equal(stack.n, 2);
	assert_int_equal(b->words.items[stack.first], 101);
	assert_int_equal(b->words.items[stack.first + 1], 102);
	assert_int_equal(branches.n, 3);
	assert_int_equal(b->words.items[branches.first], 201);
	assert_int_equal(b->words.items[branches.first + 2], 203);
}

static void test_samples(void **state)
{
	struct text t = { 0 };

	(void)state;
	put_start(&t);
	uint64_t at = t.n;
	put_lean(&t, 7);
	put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
	put_rich(&t, 33);
	put_rich(&t, 33);
	put_rich(&t, 0);
	struct capture *c = open_image(&t);
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b;

	unit_reader_want_branches(r);
	b = read_all(c, r);
	assert_int_equal(b->kind, BATCH_SAMPLES);
	assert_int_equal(b->n, 4);
	assert_int_equal(b->has[0], HAS_PC | HAS_PERIOD);
	assert_int_equal(b->position[0], at);
	assert_int_equal(b->position[1], at + 24 + 8);
	assert_int_equal(b->pc[0], 7);
	assert_int_equal(b->event[0], 0);
	assert_int_equal(b->mode[0], 1);
	assert_int_equal(b->period[0], PERIOD); /* of the attr, because none is recorded */
	check_rich(b, 1);
	check_rich(b, 2);
	assert_false(b->has[3] & HAS_PA);
	assert_false(unit_reader_next(r, b));
	assert_false(unit_reader_next(r, b));
	assert_int_equal(unit_reader_diags(r)->list.n, 0);
	batch_free(b);
	unit_reader_free(r);
	capture_free(c);
	text_release(&t);
}

/* Samples of words, between two of which is one with more fields; then one that is too long. */
static void test_samples_of_words(void **state)
{
	const struct attr memory = {
		.size = ATTR_SIZE_MIN,
		.sample_period = PERIOD,
		.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TID) |
			       BIT(SAMPLE_TIME) | BIT(SAMPLE_ADDR) | BIT(SAMPLE_CPU) |
			       BIT(SAMPLE_PERIOD) | BIT(SAMPLE_DATA_SRC) |
			       BIT(SAMPLE_WEIGHT_STRUCT) | BIT(SAMPLE_PHYS_ADDR),
	};
	const uint64_t words[] = {
		52, 0x400000, 21 | 22ull << 32, 23, 24, 25, 26, 31 | 40ull << 32 | 50ull << 48, 32,
		33, 0,
	};
	struct text t = { 0 };

	(void)state;
	put_start(&t);
	put_attr(&t, &memory, (uint64_t[]){ 52 }, 1);
	uint64_t at = t.n;
	put_record(&t, RECORD_SAMPLE, 2, words, 10);
	put_rich(&t, 33);
	put_lean(&t, 7);
	put_record(&t, RECORD_SAMPLE, 2, words, 11);
	put_record(&t, RECORD_SAMPLE, 1, words, 10);
	struct capture *c = open_image(&t);
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b;

	unit_reader_want_branches(r);
	b = read_all(c, r);
	assert_int_equal(b->n, 4);
	for (size_t row = 0; row < 4; row += 3) {
		assert_int_equal(b->has[row], HAS_PC | HAS_PID | HAS_TID | HAS_TIME | HAS_VA |
						      HAS_CPU | HAS_PERIOD | HAS_WEIGHT |
						      HAS_WEIGHT_PARTS | HAS_DATA_SRC | HAS_PA);
		assert_int_equal(b->event[row], 2);
		assert_int_equal(b->pc[row], 0x400000);
		assert_int_equal(b->pid[row], 21);
		assert_int_equal(b->tid[row], 22);
		assert_int_equal(b->time_ns[row], 23);
		assert_int_equal(b->va[row], 24);
		assert_int_equal(b->cpu[row], 25);
		assert_int_equal(b->period[row], 26);
		assert_int_equal(b->weight[row], 31);
		assert_int_equal(b->weight2[row], 40);
		assert_int_equal(b->weight3[row], 50);
		assert_int_equal(b->data_src[row], 32);
		assert_int_equal(b->pa[row], 33);
	}
	assert_int_equal(b->position[0], at);
	assert_int_equal(b->mode[0], 2);
	assert_int_equal(b->mode[3], 1);
	check_rich(b, 1);
	assert_int_equal(b->event[2], 0);
	assert_int_equal(b->period[2], PERIOD);
	assert_false(unit_reader_next(r, b));
	assert_non_null(find_diag(unit_reader_diags(r), "layout of their event"));
	batch_free(b);
	unit_reader_free(r);
	capture_free(c);
	text_release(&t);
}

/* A thread that is exiting has no number any more. */
static void test_exiting_thread(void **state)
{
	static const struct {
		uint32_t pid, tid, has;
	} cases[] = {
		{ 5, 6, HAS_PID | HAS_TID },
		{ UINT32_MAX, UINT32_MAX, 0 },
		{ 5, UINT32_MAX, HAS_PID },
		{ UINT32_MAX, 6, HAS_TID },
	};
	const struct attr attr = { .size = ATTR_SIZE_MIN, .sample_type = BIT(SAMPLE_TID) };
	struct text t = { 0 };

	(void)state;
	put_stream_header(&t);
	put_attr(&t, &attr, NULL, 0);
	for (size_t i = 0; i < COUNT(cases); i++)
		put_record(&t, RECORD_SAMPLE, 2,
			   (uint64_t[]){ cases[i].pid | (uint64_t)cases[i].tid << 32 }, 1);
	struct capture *c = open_image(&t);
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b = read_all(c, r);

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(b->has[i], cases[i].has | HAS_PERIOD);
	batch_free(b);
	unit_reader_free(r);
	capture_free(c);
	text_release(&t);
}

static void test_bad_samples(void **state)
{
	struct text t = { 0 };

	(void)state;
	put_start(&t);
	put_lean(&t, 1);
	uint64_t unknown = t.n;
	put_record(&t, RECORD_SAMPLE, 1, (uint64_t[]){ 99, 2 }, 2);
	put_record(&t, RECORD_SAMPLE, 1, (uint64_t[]){ 99, 2 }, 2);
	uint64_t wrong = t.n;
	put_record(&t, RECORD_SAMPLE, 1, (uint64_t[]){ LEAN_ID, 2, 3 }, 3);
	put_record(&t, RECORD_SAMPLE, 1, NULL, 0);
	put_lean(&t, 4);
	struct capture *c = open_image(&t);
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b = read_all(c, r);
	const struct diag *no_event = find_diag(unit_reader_diags(r), "no event has");
	const struct diag *layout = find_diag(unit_reader_diags(r), "layout");

	assert_int_equal(b->n, 2);
	assert_int_equal(b->pc[1], 4);
	assert_int_equal(no_event->n, 3); /* the empty one does not even have an id */
	assert_int_equal(no_event->bytes, 2 * 24 + 8);
	assert_int_equal(no_event->first, unknown);
	assert_int_equal(no_event->level, DIAG_DAMAGE);
	assert_int_equal(layout->n, 1);
	assert_int_equal(layout->first, wrong);
	assert_int_equal(capture_event_of_id(c, 99), -1);
	batch_free(b);
	unit_reader_free(r);
	capture_free(c);
	text_release(&t);
}

/* More rows than a batch has room for, over several units; each may be read first. */
enum { MANY_SAMPLES = 100000 };

static void put_many(struct text *t)
{
	put_start(t);
	for (uint64_t i = 0; i < MANY_SAMPLES; i++)
		put_lean(t, i);
}

/* Reads all of them, the last unit first. */
static void check_many(const struct capture *c)
{
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b = batch_new();
	uint64_t n = 0, sum = 0;

	assert_int_equal(capture_n_units(c), 3);
	for (size_t unit = capture_n_units(c); unit-- > 0;) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, b)) {
			assert_true(b->n <= BATCH_ROWS);
			for (size_t row = 0; row < b->n; row++) {
				assert_int_equal(b->pc[row], b->pc[0] + row);
				sum += b->pc[row];
			}
			n += b->n;
		}
	}
	assert_int_equal(n, MANY_SAMPLES);
	assert_int_equal(sum, (uint64_t)MANY_SAMPLES * (MANY_SAMPLES - 1) / 2);
	batch_free(b);
	unit_reader_free(r);
}

static void test_many_samples(void **state)
{
	struct text t = { 0 };

	(void)state;
	put_many(&t);
	struct capture *c = open_image(&t);

	check_many(c);
	capture_free(c);
	text_release(&t);
}

/* What is unmapped can be read again, also while threads are at it; and bytes that are borrowed are not touched. */
static void test_dropped(void **state)
{
	char path[] = "/tmp/cyclops-dropped-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct text t = { 0 };
	struct err err = { 0 };

	(void)state;
	put_many(&t);
	assert_non_null(file);
	assert_int_equal(fwrite(t.bytes, 1, t.n, file), t.n);
	assert_int_equal(fclose(file), 0);
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++)
		for (int is_borrowed = 0; is_borrowed < 2; is_borrowed++) {
			struct pool *pool = pool_new(n_workers);
			struct capture *c;

			if (is_borrowed)
				c = open_image(&t);
			else if (capture_open(path, &c, &err) < 0 ||
				 capture_scan(c, NULL, NULL, &err) < 0)
				fail_msg("%s", err.text);
			capture_set_pool(c, pool);
			for (int again = 0; again < 2; again++) {
				capture_drop(c);
				check_many(c);
			}
			capture_drop(c);
			capture_free(c);
			pool_free(pool);
		}
	unlink(path);
	text_release(&t);
}

/* SPE records: pc 0x400000 + 4 * i, time 100 * i. */
static size_t encode_records(uint8_t *out, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		struct spe_record record = {
			.has = HAS_PC | HAS_TICKS | HAS_EVENTS | HAS_TOTAL | HAS_ISSUE | HAS_VA |
			       HAS_CONTEXT | HAS_OP,
			.pc = 0x400000 + 4 * i,
			.ticks = 100 * i,
			.events = 2,
			.total = 1, /* looks like the end of a record */
			.issue = 1,
			.va = 1,
			.context = 1,
			.op = 1,
		};
		uint8_t bytes[SPE_RECORD_MAX];
		size_t one = spe_encode(&record, &spe_layout_n1, bytes);

		memcpy(out + size, bytes, one);
		size += one;
	}
	return size;
}

static void put_spe_start(struct text *t)
{
	put_stream_header(t);
	put_record(t, RECORD_TIME_CONV, 0, (uint64_t[]){ 0, 10, 1000 }, 3);
	put_record(t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 4, 11, 1 }, 3);
}

/* Whose buffer it is, and what the rows then say. */
static const struct {
	uint32_t cpu, tid, has;
} owners[] = {
	{ 3, UINT32_MAX, HAS_CPU },
	{ UINT32_MAX, 77, HAS_TID },
	{ 3, 77, HAS_CPU | HAS_TID },
	{ UINT32_MAX, UINT32_MAX, 0 },
};

static void test_spe_rows(void **state)
{
	uint8_t bytes[5 * 64];
	size_t size = encode_records(bytes, 5);

	(void)state;
	for (size_t i = 0; i < COUNT(owners); i++) {
		struct record_auxtrace a = { .size = size,
					     .cpu = owners[i].cpu,
					     .tid = owners[i].tid };
		struct text t = { 0 };

		put_spe_start(&t);
		put_auxtrace(&t, &a, bytes, size);
		struct capture *c = open_image(&t);
		struct unit_reader *r = unit_reader_new(c);
		struct batch *b = read_all(c, r);

		assert_int_equal(b->kind, BATCH_SPE);
		assert_int_equal(b->n, 5);
		for (size_t row = 0; row < 5; row++) {
			assert_int_equal(b->has[row] & (HAS_CPU | HAS_TID), owners[i].has);
			assert_int_equal(b->pc[row], 0x400000 + 4 * row);
			assert_int_equal(b->position[row], t.n - size + 64 * row);
			assert_true(b->has[row] & HAS_TIME);
			assert_int_equal(b->time_ns[row], 1000 + 1000 * row);
			if (owners[i].has & HAS_CPU)
				assert_int_equal(b->cpu[row], 3);
			if (owners[i].has & HAS_TID)
				assert_int_equal(b->tid[row], 77);
		}
		batch_free(b);
		unit_reader_free(r);
		capture_free(c);
		text_release(&t);
	}
}

/* Three records, cut into two chunks at each byte: no record is lost, wherever it is cut. */
static void test_record_in_two_chunks(void **state)
{
	uint8_t bytes[3 * 64];
	size_t size = encode_records(bytes, 3);
	struct batch *b = batch_new();

	(void)state;
	for (size_t cut = 1; cut < size; cut++) {
		struct record_auxtrace first = { .size = cut, .offset = 4096 };
		struct record_auxtrace second = { .size = size - cut, .offset = 4096 + cut };
		struct text t = { 0 };
		size_t n = 0;

		put_spe_start(&t);
		put_auxtrace(&t, &first, bytes, cut);
		put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
		put_auxtrace(&t, &second, bytes + cut, size - cut);
		struct capture *c = open_image(&t);
		struct unit_reader *r = unit_reader_new(c);

		for (size_t unit = 0; unit < capture_n_units(c); unit++) {
			unit_reader_start(r, unit);
			while (unit_reader_next(r, b))
				n += b->n;
		}
		if (n != 3 || unit_reader_diags(r)->list.n != 0)
			fail_msg("cut at %zu: %zu records", cut, n);
		unit_reader_free(r);
		capture_free(c);
		text_release(&t);
	}
	batch_free(b);
}

static void test_spe_damage(void **state)
{
	uint8_t bytes[4 * 64];
	size_t size = encode_records(bytes, 4);
	struct record_auxtrace a = { .size = size - 10 };
	struct text t = { 0 };

	(void)state;
	bytes[64] = 0xff; /* no packet begins so */
	put_spe_start(&t);
	put_auxtrace(&t, &a, bytes, size - 10);
	struct capture *c = open_image(&t);
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b = read_all(c, r);

	assert_int_equal(b->n, 2);
	assert_false(unit_reader_next(r, b));
	const struct diag *bad = find_diag(unit_reader_diags(r), "no packet");
	const struct diag *cut = find_diag(unit_reader_diags(r), "cut or damaged");

	assert_int_equal(bad->first, t.n - (size - 10) + 64);
	assert_int_equal(cut->n, 2);
	capture_add_diags(c, unit_reader_diags(r));
	assert_non_null(find_diag(capture_diags(c), "no packet"));
	batch_free(b);
	unit_reader_free(r);
	capture_free(c);
	text_release(&t);
}

/*
 * Two buffers' chunks are one unit and one batch, but two streams: what the first one leaves behind, at whatever byte it is
 * cut, does not become part of the second one's first record.
 */
static void test_joined_streams(void **state)
{
	enum { RECORDS = 3 };
	uint8_t bytes[RECORDS * 64];
	size_t size = encode_records(bytes, RECORDS);

	(void)state;
	for (size_t cut = 1; cut < 64; cut++) {
		struct record_auxtrace first = { .size = size - cut, .idx = 1, .cpu = 5 };
		struct record_auxtrace second = { .size = size, .idx = 2, .cpu = 6 };
		struct text t = { 0 };
		size_t n_whole = 0;

		put_spe_start(&t);
		put_auxtrace(&t, &first, bytes, size - cut);
		put_auxtrace(&t, &second, bytes, size);
		struct capture *c = open_image(&t);
		struct unit_reader *r = unit_reader_new(c);
		struct batch *b = read_all(c, r);

		assert_int_equal(count_streams(c), 2);
		for (size_t row = 0; row < b->n; row++)
			n_whole += b->cpu[row] == 5;
		/* Padding behind the last record may be cut off. */
		assert_in_range(n_whole, RECORDS - 1, RECORDS);
		assert_int_equal(b->n, n_whole + RECORDS);
		for (size_t row = 0; row < b->n; row++) {
			size_t number = row < n_whole ? row : row - n_whole;

			assert_int_equal(b->cpu[row], row < n_whole ? 5 : 6);
			assert_int_equal(b->pc[row], 0x400000 + 4 * number);
			assert_int_equal(b->time_ns[row], 1000 + 1000 * number);
		}
		assert_false(unit_reader_next(r, b));
		assert_int_equal(unit_reader_diags(r)->list.n, n_whole < RECORDS);
		if (n_whole < RECORDS)
			assert_int_equal(find_diag(unit_reader_diags(r), "cut or damaged")->n, 1);
		batch_free(b);
		unit_reader_free(r);
		capture_free(c);
		text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	       cmocka_unit_test(test_samples_of_words),
		cmocka_unit_test(test_exiting_thread), cmocka_unit_test(test_bad_samples),
		cmocka_unit_test(test_many_samples),   cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_spe_rows),       cmocka_unit_test(test_record_in_two_chunks),
		cmocka_unit_test(test_spe_damage),     cmocka_unit_test(test_joined_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
