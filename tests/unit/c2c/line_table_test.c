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
static struct c2c_access_row row_of(uint32_t i)
{
	uint32_t number = i % 2 == 0 ? 0 : i * 2654435761u % N_LINES;
	uint32_t mask = C2C_BIT(RECORDS) | (i % 3 == 0 ? C2C_BIT(STORES) : C2C_BIT(LOADS)) |
			(i % 5 == 0 ? C2C_BIT(NO_ACCESS) : 0) |
			/* more sets of counters than there are numbers for */
			(i % 16 == 7 ? i / 16 % 512 << C2C_REMOTE_PEER : 0);

	return (struct c2c_access_row){
		.line = (uint64_t)number / 2 * LINE_BYTES, /* two spaces have the same addresses */
		.space = number % 2,
		.cycles = (uint16_t)(i % 1000),
		.tid = number % 7 == 0 ? 1 + i % 11 : 5,
		.mask = mask | (i % 3 == 1 ? C2C_ROW_TIMED : 0) | (i % 6 == 2 ? C2C_ROW_RELOAD : 0),
		.is_write = i % 3 == 0 && number % 4 == 0,
	};
}

struct expected {
	uint64_t counts[C2C_N_COUNTS];
	uint64_t cycles, n_timed, reload_cycles, n_reloads;
	uint32_t first_tid;
	bool has_threads, is_written;
};

static void add_expected(struct expected *e, const struct c2c_access_row *row)
{
	for (int i = 0; i < C2C_N_COUNTS; i++)
		e->counts[i] += row->mask >> i & 1;
	e->cycles += row->mask & C2C_ROW_TIMED ? row->cycles : 0;
	e->n_timed += (row->mask & C2C_ROW_TIMED) != 0;
	e->reload_cycles += row->mask & C2C_ROW_RELOAD ? row->cycles : 0;
	e->n_reloads += (row->mask & C2C_ROW_RELOAD) != 0;
	e->has_threads |= e->first_tid != 0 && e->first_tid != row->tid;
	e->first_tid = row->tid;
	e->is_written |= row->is_write;
}

static void fill(void *context, size_t job, unsigned worker)
{
	struct c2c_access_row *rows = mem_alloc(N_ROWS / N_JOBS, sizeof(*rows));

	(void)worker;
	for (uint32_t i = 0; i < N_ROWS / N_JOBS; i++)
		rows[i] = row_of((uint32_t)job + i * N_JOBS);
	c2c_table_add(context, rows, N_ROWS / N_JOBS);
	free(rows);
}

struct check {
	const struct expected *expected;
	size_t n_seen;
};

static void check_line(void *context, const struct c2c_line *line)
{
	struct check *c = context;
	const struct expected *e = &c->expected[line->address / LINE_BYTES * 2 + line->space];
	struct c2c_counts counts = { 0 };

	c2c_line_add(line, &counts);
	for (int i = 0; i < C2C_N_COUNTS; i++) {
		assert_int_equal(line->any >> i & 1, e->counts[i] > 0);
		assert_int_equal(counts.n[i], e->counts[i]);
		assert_int_equal(c2c_line_sum(line, UINT32_C(1) << i), e->counts[i]);
	}
	assert_int_equal(c2c_line_sum(line, C2C_BIT(LOADS) | C2C_BIT(STORES)),
			 e->counts[C2C_LOADS] + e->counts[C2C_STORES]);
	assert_int_equal(line->cycles, e->cycles);
	assert_int_equal(line->n_timed, e->n_timed);
	assert_int_equal(line->reload_cycles, e->reload_cycles);
	assert_int_equal(line->n_reloads, e->n_reloads);
	assert_int_equal(line->has_threads, e->has_threads);
	assert_int_equal(line->is_written, e->is_written);
	c->n_seen++;
}

/* Those that there are, and no others. */
static void check_find(const struct c2c_table *table, const struct expected *expected)
{
	for (uint32_t i = 0; i < N_LINES; i++) {
		uint64_t address = (uint64_t)i / 2 * LINE_BYTES;
		struct c2c_line line;
		bool is_there = c2c_table_find(table, i % 2, address, &line);

		assert_int_equal(is_there, expected[i].counts[C2C_RECORDS] > 0);
		if (!is_there)
			continue;
		assert_int_equal(line.address, address);
		assert_int_equal(line.space, i % 2);
		assert_int_equal(c2c_line_sum(&line, C2C_BIT(RECORDS)),
				 expected[i].counts[C2C_RECORDS]);
	}
}

static void fill_and_check(const struct expected *expected, size_t n_lines, unsigned n_workers)
{
	struct pool *pool = pool_new(n_workers);
	struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
	struct check check = { .expected = expected };

	pool_run(pool, N_JOBS, fill, table);
	c2c_table_empty(table);
	assert_int_equal(c2c_table_n_lines(table), 0);
	pool_run(pool, N_JOBS, fill, table);
	assert_int_equal(c2c_table_n_lines(table), n_lines);
	for (size_t i = 0; i < C2C_SHARDS; i++)
		c2c_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, n_lines);
	check_find(table, expected);
	c2c_table_free(table);
	pool_free(pool);
}

static void test_sums(void **state)
{
	struct expected *expected = mem_zalloc(N_LINES, sizeof(*expected));
	size_t n_lines = 0;

	(void)state;
	for (uint32_t i = 0; i < N_ROWS; i++) {
		struct c2c_access_row row = row_of(i);

		add_expected(&expected[row.line / LINE_BYTES * 2 + row.space], &row);
	}
	for (size_t i = 0; i < N_LINES; i++)
		n_lines += expected[i].counts[C2C_RECORDS] > 0;
	fill_and_check(expected, n_lines, 1);
	fill_and_check(expected, n_lines, 4);
	free(expected);
}

/* So many that slots grow in each way that they can: line i is accessed 1 + i % 3 times. */
static void test_many_lines(void **state)
{
	enum { MANY = 900000, TURNS = 3 };
	struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
	struct c2c_access_row *rows = mem_alloc(C2C_ROWS_MAX, sizeof(*rows));
	struct c2c_line line;
	size_t n = 0;

	(void)state;
	for (uint32_t turn = 0; turn < TURNS; turn++)
		for (uint32_t i = 0; i < MANY; i++) {
			if (i % TURNS < turn)
				continue;
			rows[n++] = (struct c2c_access_row){
				.line = (uint64_t)i * LINE_BYTES,
				.space = i % 5,
				.mask = C2C_BIT(RECORDS),
				.tid = 1,
			};
			if (n < C2C_ROWS_MAX)
				continue;
			c2c_table_add(table, rows, n);
			n = 0;
		}
	c2c_table_add(table, rows, n);
	free(rows);
	assert_int_equal(c2c_table_n_lines(table), MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t address = (uint64_t)i * LINE_BYTES;

		assert_true(c2c_table_find(table, i % 5, address, &line));
		assert_int_equal(c2c_line_sum(&line, C2C_BIT(RECORDS)), 1 + i % TURNS);
		assert_false(c2c_table_find(table, i % 5 + 1, address, &line));
	}
	c2c_table_free(table);
}

/* Adds so many accesses of one kind to line 0, and to what is expected of it. */
static void add_alike(struct c2c_table *table, struct expected *expected, uint32_t mask,
		      uint16_t cycles, size_t n)
{
	struct c2c_access_row *rows = mem_alloc(C2C_ROWS_MAX, sizeof(*rows));

	for (size_t left = n, i; left > 0; left -= i) {
		for (i = 0; i < left && i < C2C_ROWS_MAX; i++) {
			rows[i] = (struct c2c_access_row){
				.mask = mask,
				.cycles = cycles,
				.tid = 1,
			};
			add_expected(expected, &rows[i]);
		}
		c2c_table_add(table, rows, i);
	}
	free(rows);
}

/* A line that no room is left in comes out whole: of too many kinds, or of too many accesses of one kind. */
static void test_full_lines(void **state)
{
	static const struct {
		unsigned n_kinds;
		size_t n; /* of each */
	} cases[] = {
		{ 1, 1 },
		{ 1, C2C_KINDS },
		{ 1, C2C_KINDS + 1 },
		{ C2C_KINDS, 1 },
		{ C2C_KINDS, 2 },
		{ C2C_KINDS + 1, 1 },
		{ C2C_KINDS + 1, 300 },
		{ 3, UINT16_MAX },
		{ 3, UINT16_MAX + 1 },
		{ 2, 3 * UINT16_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
		struct expected expected = { 0 };
		struct check check = { .expected = &expected };

		for (unsigned kind = 0; kind < cases[i].n_kinds; kind++)
			add_alike(table, &expected,
				  C2C_BIT(RECORDS) | UINT32_C(2) << kind |
					  (kind % 3 == 1   ? C2C_ROW_TIMED
					   : kind % 3 == 2 ? C2C_ROW_RELOAD
							   : 0),
				  C2C_LATENCY_MAX, cases[i].n);
		for (size_t shard = 0; shard < C2C_SHARDS; shard++)
			c2c_table_visit(table, shard, check_line, &check);
		assert_int_equal(check.n_seen, 1);
		c2c_table_free(table);
	}
}

static void test_unknown_threads(void **state)
{
	struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
	struct c2c_access_row rows[] = {
		{ .mask = C2C_BIT(RECORDS), .tid = C2C_NO_TID, .is_write = true },
		{ .mask = C2C_BIT(RECORDS), .tid = 7 },
		{ .mask = C2C_BIT(RECORDS), .tid = C2C_NO_TID, .is_write = true },
	};
	struct expected expected = { .counts = { [C2C_RECORDS] = COUNT(rows) } };
	struct check check = { .expected = &expected };

	(void)state;
	c2c_table_add(table, rows, COUNT(rows));
	for (size_t i = 0; i < C2C_SHARDS; i++)
		c2c_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, 1);
	c2c_table_free(table);
	table = c2c_table_new(C2C_BIT(LOADS));
	c2c_table_add(table, rows, COUNT(rows));
	for (size_t i = 0; i < C2C_SHARDS; i++)
		c2c_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, 1); /* no loads, and no two threads that are known */
	c2c_table_free(table);
}

static void count_line(void *context, const struct c2c_line *line)
{
	(void)line;
	++*(size_t *)context;
}

/* How many lines are visited for counters of `mask`, of one access. */
static size_t n_visited(struct c2c_access_row row, uint32_t mask)
{
	struct c2c_table *table = c2c_table_new(mask);
	size_t n = 0;

	c2c_table_add(table, &row, 1);
	for (size_t i = 0; i < C2C_SHARDS; i++)
		c2c_table_visit(table, i, count_line, &n);
	c2c_table_free(table);
	return n;
}

/* Lines of one access are visited for the counters that it has, and for no others, whatever set of counters that is. */
static void test_visits(void **state)
{
	enum { SETS = 1500, COUNTERS = 12 };

	(void)state;
	for (uint32_t set = 0; set < SETS; set++) {
		struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
		struct c2c_access_row row = {
			.line = (uint64_t)set * LINE_BYTES,
			.mask = C2C_BIT(RECORDS) | set << 1,
			.tid = 1,
			.is_write = true,
		};
		struct c2c_line line;

		c2c_table_add(table, &row, 1);
		for (unsigned i = 0; i < COUNTERS; i++)
			assert_int_equal(n_visited(row, UINT32_C(1) << i), row.mask >> i & 1);
		assert_true(c2c_table_find(table, 0, row.line, &line));
		assert_int_equal(line.any, row.mask);
		assert_true(line.is_written);
		assert_false(line.has_threads);
		c2c_table_free(table);
	}
}

/* A line whose first access is of a set of counters that has no number, as there are too many, and one whose later ones are. */
static void test_sets_without_number(void **state)
{
	enum { SETS = 600 };
	struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));
	struct expected *expected = mem_zalloc((size_t)2 * SETS, sizeof(*expected));
	struct check check = { .expected = expected };

	(void)state;
	for (uint32_t i = 0; i < SETS; i++) {
		struct c2c_access_row rows[2];

		for (uint32_t k = 0; k < COUNT(rows); k++) {
			rows[k] = (struct c2c_access_row){
				.line = (uint64_t)i * LINE_BYTES,
				.mask = C2C_BIT(RECORDS) | (i + k * SETS / 2) << 1 | C2C_ROW_TIMED,
				.cycles = (uint16_t)i,
				.tid = 1 + k * (i % 2),
				.is_write = i % 3 == 0,
			};
			add_expected(&expected[(size_t)2 * i], &rows[k]);
		}
		c2c_table_add(table, rows, COUNT(rows));
	}
	for (size_t i = 0; i < C2C_SHARDS; i++)
		c2c_table_visit(table, i, check_line, &check);
	assert_int_equal(check.n_seen, SETS);
	c2c_table_free(table);
	free(expected);
}

static void test_empty(void **state)
{
	struct c2c_table *table = c2c_table_new(C2C_BIT(RECORDS));

	(void)state;
	c2c_table_add(table, NULL, 0);
	assert_int_equal(c2c_table_n_lines(table), 0);
	c2c_table_free(table);
	c2c_table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),	   cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_full_lines), cmocka_unit_test(test_unknown_threads),
		cmocka_unit_test(test_visits),	   cmocka_unit_test(test_sets_without_number),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
