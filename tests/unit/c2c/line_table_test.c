/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and their counters, filled by one and by several workers, against plain sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "c2c/lines/line_table.h"

enum { N_LINES = 3000, N_ROWS = 1 << 16, N_JOBS = 64, LINE_BYTES = 64 };

/* Line 0 gets as many as all others together: its counters are emptied many times. */
static struct sharing_access_row row_of(uint32_t i)
{
	uint32_t number = i % 2 == 0 ? 0 : i * 2654435761u % N_LINES;
	uint32_t mask = SHARING_BIT(RECORDS) |
			(i % 3 == 0 ? SHARING_BIT(STORES) : SHARING_BIT(LOADS)) |
			(i % 5 == 0 ? SHARING_BIT(NO_ACCESS) : 0);

	return (struct sharing_access_row){
		.line = (uint64_t)number / 2 * LINE_BYTES, /* two spaces have the same addresses */
		.space = number % 2,
		.cycles = sharing_row_cycles(i % 1000, i % 3 == 1, i % 6 == 2),
		.tid = number % 7 == 0 ? 1 + i % 11 : 5,
		.mask = mask | (i % 3 == 1 ? SHARING_ROW_TIMED : 0) |
			(i % 6 == 2 ? SHARING_ROW_RELOAD : 0),
		.is_write = i % 3 == 0 && number % 4 == 0,
	};
}

struct expected {
	uint64_t counts[SHARING_N_COUNTS];
	uint64_t cycles, n_timed, reload_cycles, n_reloads;
	uint32_t first_tid;
	bool has_threads, is_written;
};

static void add_expected(struct expected *e, const struct sharing_access_row *row)
{
	for (int i = 0; i < SHARING_N_COUNTS; i++)
		e->counts[i] += row->mask >> i & 1;
	e->cycles += (uint32_t)row->cycles;
	e->n_timed += (row->mask & SHARING_ROW_TIMED) != 0;
	e->reload_cycles += row->cycles >> 32;
	e->n_reloads += (row->mask & SHARING_ROW_RELOAD) != 0;
	e->has_threads |= e->first_tid != 0 && e->first_tid != row->tid;
	e->first_tid = row->tid;
	e->is_written |= row->is_write;
}

static void fill(void *context, size_t job, unsigned worker)
{
	struct sharing_access_row *rows = mem_alloc(N_ROWS / N_JOBS, sizeof(*rows));

	(void)worker;
	for (uint32_t i = 0; i < N_ROWS / N_JOBS; i++)
		rows[i] = row_of((uint32_t)job + i * N_JOBS);
	sharing_table_add(context, rows, N_ROWS / N_JOBS);
	free(rows);
}

struct check {
	const struct expected *expected;
	size_t n_seen;
};

static void check_line(void *context, const struct sharing_line *line)
{
	struct check *c = context;
	const struct expected *e = &c->expected[line->address / LINE_BYTES * 2 + line->space];
	struct sharing_counts counts = { 0 };

	sharing_line_add(line, &counts);
	for (int i = 0; i < SHARING_N_COUNTS; i++) {
		assert_int_equal(counts.n[i], e->counts[i]);
		assert_int_equal(sharing_line_sum(line, UINT32_C(1) << i), e->counts[i]);
	}
	assert_int_equal(sharing_line_sum(line, SHARING_BIT(LOADS) | SHARING_BIT(STORES)),
			 e->counts[SHARING_LOADS] + e->counts[SHARING_STORES]);
	assert_int_equal(line->cycles, e->cycles);
	assert_int_equal(line->n_timed, e->n_timed);
	assert_int_equal(line->reload_cycles, e->reload_cycles);
	assert_int_equal(line->n_reloads, e->n_reloads);
	assert_int_equal(line->has_threads, e->has_threads);
	assert_int_equal(line->is_written, e->is_written);
	c->n_seen++;
}

static void fill_and_check(const struct expected *expected, size_t n_lines, unsigned n_workers)
{
	struct pool *pool = pool_new(n_workers);
	struct sharing_table *table = sharing_table_new();
	struct check check = { .expected = expected };

	pool_run(pool, N_JOBS, fill, table);
	assert_int_equal(sharing_table_n_lines(table), n_lines);
	for (size_t i = 0; i < SHARING_SHARDS; i++)
		sharing_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, n_lines);
	sharing_table_free(table);
	pool_free(pool);
}

static void test_sums(void **state)
{
	struct expected *expected = mem_zalloc(N_LINES, sizeof(*expected));
	size_t n_lines = 0;

	(void)state;
	for (uint32_t i = 0; i < N_ROWS; i++) {
		struct sharing_access_row row = row_of(i);

		add_expected(&expected[row.line / LINE_BYTES * 2 + row.space], &row);
	}
	for (size_t i = 0; i < N_LINES; i++)
		n_lines += expected[i].counts[SHARING_RECORDS] > 0;
	fill_and_check(expected, n_lines, 1);
	fill_and_check(expected, n_lines, 4);
	free(expected);
}

static void test_unknown_threads(void **state)
{
	struct sharing_table *table = sharing_table_new();
	struct sharing_access_row rows[] = {
		{ .mask = SHARING_BIT(RECORDS), .tid = SHARING_NO_TID, .is_write = true },
		{ .mask = SHARING_BIT(RECORDS), .tid = 7 },
		{ .mask = SHARING_BIT(RECORDS), .tid = SHARING_NO_TID, .is_write = true },
	};
	struct expected expected = { .counts = { [SHARING_RECORDS] = COUNT(rows) } };
	struct check check = { .expected = &expected };

	(void)state;
	sharing_table_add(table, rows, COUNT(rows));
	for (size_t i = 0; i < SHARING_SHARDS; i++)
		sharing_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, 1);
	sharing_table_free(table);
}

static void test_empty(void **state)
{
	struct sharing_table *table = sharing_table_new();

	(void)state;
	sharing_table_add(table, NULL, 0);
	assert_int_equal(sharing_table_n_lines(table), 0);
	sharing_table_free(table);
	sharing_table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_unknown_threads),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
