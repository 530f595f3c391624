/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 1 on several threads finds what it finds on one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/state.h"
#include "image.h"
#include "spe/encode.h"

enum { ID = 50, OTHER_ID = 51, MANY = 70000, MIB = 1 << 20 };

static const struct attr timed = {
	.size = ATTR_SIZE_MIN,
	.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TIME),
};
static const struct attr other = {
	.size = ATTR_SIZE_MIN,
	.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_TIME) | BIT(SAMPLE_RAW),
};

/* What a scan found, as numbers that are compared. */
struct found {
	struct capture_totals totals;
	uint64_t visited, rows; /* sums of what was visited, and of rows, in order */
	size_t n_diags;
};

static void add_to(uint64_t *sum, uint64_t value)
{
	*sum = (*sum ^ value) * 0x9e3779b97f4a7c15u;
}

static void see(void *context, const struct record *r, const struct sample_id *id)
{
	struct found *f = context;

	add_to(&f->visited, r->type);
	add_to(&f->visited, r->position);
	add_to(&f->visited, id->time_ns);
}

static void see_rows(const struct capture *c, struct found *f)
{
	struct unit_reader *r = unit_reader_new(c);
	struct batch *b = batch_new();

	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, b))
			for (size_t row = 0; row < b->n; row++) {
				add_to(&f->rows, b->position[row]);
				add_to(&f->rows, b->has[row]);
				add_to(&f->rows, b->has[row] & HAS_TIME ? b->time_ns[row] : 0);
			}
	}
	f->n_diags = capture_diags(c)->list.n + unit_reader_diags(r)->list.n;
	batch_free(b);
	unit_reader_free(r);
}

static struct found find(const struct text *image, struct pool *pool)
{
	struct found f = { 0 };
	struct capture *c = NULL;
	struct err err = { 0 };

	assert_int_equal(capture_open_bytes("x", image->bytes, image->n, &c, &err), 0);
	capture_set_pool(c, pool);
	if (capture_scan(c, see, &f, &err) < 0)
		fail_msg("%s", err.text);
	assert_all_accounted_for(c);
	f.totals = *capture_totals(c);
	see_rows(c, &f);
	capture_free(c);
	return f;
}

static void check_same(struct text *image)
{
	struct found alone = find(image, NULL);

	assert_true(alone.totals.n_samples >= MANY);
	for (unsigned n = 1; n <= 4; n += 3) {
		struct pool *pool = pool_new(n);
		struct found f = find(image, pool);

		assert_memory_equal(&f.totals, &alone.totals, sizeof(f.totals));
		assert_int_equal(f.visited, alone.visited);
		assert_int_equal(f.rows, alone.rows);
		assert_int_equal(f.n_diags, alone.n_diags);
		pool_free(pool);
	}
	text_release(image);
}

/* Samples, with another record after each thousand. Times go backwards in between. */
static void put_samples(struct text *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t mode = i % 100 == 7 ? CPUMODE_GUEST_USER : 2;

		put_record(t, RECORD_SAMPLE, mode, (uint64_t[]){ ID, i, 1000 + i * 7919 % n }, 3);
		if (i % 1000 == 999)
			put_record(t, RECORD_LOST, 0, (uint64_t[]){ ID, 3, ID }, 3);
	}
}

static struct text stream(void)
{
	struct text t = { 0 };

	put_stream_header(&t);
	put_attr(&t, &timed, (uint64_t[]){ ID }, 1);
	return t;
}

static void test_samples(void **state)
{
	struct text t = stream();

	(void)state;
	put_samples(&t, 4 * MANY);
	check_same(&t);
}

static void test_file(void **state)
{
	struct text t = { 0 };

	(void)state;
	put_file_header(&t, &timed, (uint64_t[]){ ID }, 1);
	put_samples(&t, 4 * MANY);
	end_data(&t);
	check_same(&t);
}

/* The contents of long records look like records: what begins inside of one is no stretch. */
static void test_wrong_guesses(void **state)
{
	enum { FAKES = 250 };
	struct text t = stream();

	(void)state;
	put_attr(&t, &other, (uint64_t[]){ OTHER_ID }, 1);
	put_samples(&t, MANY);
	for (size_t i = 0; i < 4 * MIB / 32 / FAKES; i++) {
		size_t begin = record_begin(&t, RECORD_SAMPLE, 2);

		put_u64s(&t, (uint64_t[]){ OTHER_ID, 1000 }, 2);
		put_u32(&t, FAKES * 32 + 4);
		put_u32(&t, 0);
		for (size_t k = 0; k < FAKES; k++)
			put_record(&t, RECORD_SAMPLE, 2, (uint64_t[]){ ID, k, 99999999 }, 3);
		record_end(&t, begin);
	}
	put_samples(&t, MANY);
	check_same(&t);
}

static void test_damage(void **state)
{
	struct text t = stream();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		put_samples(&t, MANY);
		put_zeros(&t, 8 * (1 + i * 5000));
		put_record(&t, RECORD_SAMPLE, 2, (uint64_t[]){ ID }, 1);
	}
	put_samples(&t, MANY);
	text_add(&t, "\x09\0\0\0\0\0\x40\0", 8); /* a record that is cut */
	check_same(&t);
}

/* An event that comes between samples, after which times are elsewhere. */
static void test_later_event(void **state)
{
	struct text t = stream();

	(void)state;
	put_samples(&t, 2 * MANY);
	put_attr(&t, &other, (uint64_t[]){ OTHER_ID }, 1);
	for (size_t i = 0; i < 2 * MANY; i++)
		put_record(&t, RECORD_SAMPLE, 2, (uint64_t[]){ OTHER_ID, 5 + i, 4 }, 3);
	put_samples(&t, MANY);
	check_same(&t);
}

static void test_traces(void **state)
{
	static const uint8_t zeros[MIB];
	struct text t = stream();

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		size_t size = i % 2 == 0 ? 64 : sizeof(zeros);
		const struct record_auxtrace header = { .size = size, .offset = i * MIB };

		put_samples(&t, MANY);
		put_auxtrace(&t, &header, zeros, size);
	}
	check_same(&t);
}

/* Stretches begin where the one before it ends, and have all samples; the rest of the file is too short for one. */
static void test_stretches(void **state)
{
	struct text t = stream();
	struct pool *pool = pool_new(2);
	const struct stretch *st;
	struct ahead a = { 0 };
	struct capture *c;
	uint64_t at, n = 0, n_others = 0, n_records;
	size_t first;

	(void)state;
	first = t.n;
	put_samples(&t, 4 * MANY);
	c = open_image(&t);
	capture_set_pool(c, pool);
	n_records = capture_totals(c)->n_records;
	ahead_start(&a, c, 0);
	assert_int_equal(a.due, c->segments.items[0].start + MIB);
	assert_null(ahead_take(&a, first, 0, n_records + 100)); /* there were too few records */
	assert_null(ahead_take(&a, first, 20000, n_records + 10000)); /* behind much data */
	for (at = first; (st = ahead_take(&a, at, 0, n_records + at)) != NULL; at = st->to) {
		assert_int_equal(st->from, at);
		assert_true(st->to >= at + MIB - 64 && st->to <= at + MIB + 64);
		assert_int_equal(st->units.n, 1);
		n += st->n_samples;
		n_others += st->others.n;
	}
	assert_true(t.n - at < MIB + 64);
	assert_true(n > 3 * MANY);
	assert_int_equal(n_others, n / 1000);
	ahead_release(&a);
	capture_free(c);
	pool_free(pool);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	      cmocka_unit_test(test_file),
		cmocka_unit_test(test_wrong_guesses), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_later_event),   cmocka_unit_test(test_traces),
		cmocka_unit_test(test_stretches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
