/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, read by the tests' own reader, which compares bounds and counts with the values, too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/xxhash64.h"
#include "parquet/parquet.h"
#include "parquet_reader.h"

static int take(void *out, const struct text *bytes)
{
	text_add(out, bytes->bytes, bytes->n);
	return 0;
}

static void spell_pair(const void *context, uint64_t code, struct text *out)
{
	text_format(out, "%s%d", (const char *)context, (int)(code / 2));
}

enum {
	BOOL,
	INT32,
	UINT32,
	INT64,
	UINT64,
	DOUBLE,
	TEXT,
	LIST,
	NUMBERS,
	FROM, /* … to: fields of a list of structs */
	TO,
	TIME_US,
	TIME_NS,
	CODE,
	NARROW,
	N_COLUMNS
};

static const struct parquet_column columns[N_COLUMNS] = {
	[BOOL] = { .name = "bool", .type = PARQUET_BOOL },
	[INT32] = { .name = "int32", .type = PARQUET_INT32 },
	[UINT32] = { .name = "uint32", .type = PARQUET_UINT32 },
	[INT64] = { .name = "int64", .type = PARQUET_INT64 },
	[UINT64] = { .name = "uint64", .type = PARQUET_UINT64, .has_bloom = true },
	[DOUBLE] = { .name = "double", .type = PARQUET_DOUBLE },
	[TEXT] = { .name = "text", .type = PARQUET_TEXT, .has_bloom = true },
	[LIST] = { .name = "list", .type = PARQUET_TEXT_LIST },
	[NUMBERS] = { .name = "numbers", .type = PARQUET_UINT64_LIST, .has_bloom = true },
	[FROM] = { .name = "structs", .type = PARQUET_UINT64_LIST, .part = "from" },
	[TO] = { .name = "structs", .type = PARQUET_UINT64_LIST, .part = "to" },
	[TIME_US] = { .name = "us", .type = PARQUET_TIME_US },
	[TIME_NS] = { .name = "ns", .type = PARQUET_TIME_NS },
	[CODE] = { .name = "code", .type = PARQUET_TEXT, .spell = spell_pair, .context = "pair " },
	[NARROW] = { .name = "narrow", .type = PARQUET_INT32, .width = 2 },
};

static uint64_t scramble(uint64_t i)
{
	i = (i ^ i >> 31) * 0x9e3779b97f4a7c15u;
	return i ^ i >> 29;
}

/* How the values of a file are spread. */
enum kind { RANDOM, FEW, RISING, N_KINDS };

static uint64_t number_of(enum kind kind, size_t row, unsigned column)
{
	uint64_t random = scramble(row * N_COLUMNS + column);

	switch (kind) {
	case FEW:
		return random % 7 * 0x1111111111111111u;
	case RISING:
		return (uint64_t)row * 1000 + random % 100;
	default:
		return random;
	}
}

/* The number as the type of a column holds it. */
static uint64_t value_of(uint64_t number, unsigned column)
{
	return column == BOOL	  ? number & 1
	       : column == INT32  ? (uint64_t)(int32_t)number
	       : column == UINT32 ? (uint32_t)number
				  : number;
}

static size_t text_of(enum kind kind, size_t row, char out[64])
{
	return (size_t)snprintf(out, 64, "text %llu",
				(unsigned long long)number_of(kind, row, TEXT));
}

/* Which rows have no value: none, all, or some. */
enum absence { NONE_ABSENT, ALL_ABSENT, SOME_ABSENT, N_ABSENCES };

static bool is_absent(enum absence absence, size_t row)
{
	return absence == ALL_ABSENT || (absence == SOME_ABSENT && scramble(row / 5) % 3 == 0);
}

enum { MAX_LISTED = 3, STEP = 2 };

/* The list of a row: `out` has each of its numbers, and something between them. Returns how many there are. */
static uint32_t list_of(enum kind kind, size_t row, unsigned column,
			uint64_t out[MAX_LISTED * STEP])
{
	uint64_t first = number_of(kind, row, column);

	for (uint64_t i = 0; i < MAX_LISTED; i++) {
		out[i * STEP] = first + i * i;
		out[i * STEP + 1] = ~first;
	}
	/* The lists of a struct have the same length. */
	return (uint32_t)(number_of(kind, row, column == TO ? FROM : column) % (MAX_LISTED + 1));
}

static void put_test_row(struct parquet_values *values, enum kind kind, enum absence absence,
			 size_t row)
{
	uint64_t n = number_of(kind, row, LIST) % 4;
	char text[64];
	size_t size = text_of(kind, row, text);

	for (unsigned i = 0; i < N_COLUMNS && is_absent(absence, row); i++)
		parquet_put_null(&values[i]);
	if (is_absent(absence, row))
		return;
	for (unsigned i = 0; i < N_COLUMNS; i++) {
		uint64_t number = number_of(kind, row, i);
		int16_t narrow = (int16_t)number;
		uint64_t listed[MAX_LISTED * STEP];
		uint32_t has = 1;

		if (i == TEXT)
			parquet_put_text(&values[i], text, size);
		else if (i == LIST)
			parquet_put_list(&values[i], (uint32_t)n);
		else if (i == NUMBERS || i == FROM || i == TO)
			parquet_put_numbers(&values[i], listed, list_of(kind, row, i, listed),
					    STEP);
		else if (i == NARROW)
			parquet_put_rows(&values[i], &narrow, sizeof(narrow), &has, 1, 1);
		else if (i == DOUBLE)
			parquet_put_double(&values[i], (double)(int64_t)number / 8);
		else
			parquet_put(&values[i], i == CODE ? number % 100 : value_of(number, i));
	}
	for (uint64_t i = 0; i < n; i++)
		parquet_put_item(&values[LIST], text + i, size - i);
}

static void write_file(struct text *out, enum kind kind, enum absence absence, size_t n_rows,
		       unsigned n_workers)
{
	struct pool *pool = n_workers > 0 ? pool_new(n_workers) : NULL;
	struct parquet_writer *w = parquet_new(columns, N_COLUMNS, pool, take, out);

	for (size_t row = 0; row < n_rows; row++) {
		put_test_row(parquet_values(w), kind, absence, row);
		assert_int_equal(parquet_end_row(w), 0);
	}
	parquet_set_meta(w, "a key", "a value");
	assert_int_equal(parquet_finish(w), 0);
	parquet_free(w);
	pool_free(pool);
}

static void open_file(const struct text *bytes, struct reader_file *file)
{
	struct err err = { .text = "" };

	if (reader_open(bytes->bytes, bytes->n, file, &err) < 0)
		fail_msg("%s", err.text);
}

static void read_column(const struct reader_file *file, size_t column, struct reader_values *out)
{
	struct err err = { .text = "" };

	if (reader_read(file, column, out, &err) < 0)
		fail_msg("%s: %s", file->columns.items[column].name, err.text);
	assert_int_equal(out->present.n, file->n_rows);
}

static void expect_text(const struct reader_values *v, size_t i, const char *text, size_t size)
{
	assert_int_equal(v->sizes.items[i], size);
	assert_memory_equal(v->texts.bytes + v->numbers.items[i], text, size);
}

static uint64_t expected_number(enum kind kind, size_t row, unsigned column)
{
	uint64_t number = number_of(kind, row, column);
	double value = (double)(int64_t)number / 8;

	switch (column) {
	case BOOL:
		return number & 1;
	case INT32:
	case UINT32:
		return (uint32_t)number;
	case NARROW:
		return (uint32_t)(int16_t)number;
	case DOUBLE:
		memcpy(&number, &value, sizeof(number));
		return number;
	default:
		return number;
	}
}

static void expect_column(const struct reader_file *file, unsigned column, enum kind kind,
			  enum absence absence)
{
	size_t at = 0, n_lists = 0;
	uint64_t listed[MAX_LISTED * STEP];
	struct reader_values v;
	char text[64], pair[32];

	read_column(file, column, &v);
	for (size_t row = 0; row < file->n_rows; row++) {
		size_t size = text_of(kind, row, text);

		assert_int_equal(v.present.items[row], !is_absent(absence, row));
		if (is_absent(absence, row))
			continue;
		if (column == TEXT) {
			expect_text(&v, at++, text, size);
		} else if (column == CODE) {
			size = (size_t)snprintf(pair, sizeof(pair), "pair %d",
						(int)(number_of(kind, row, CODE) % 100 / 2));
			expect_text(&v, at++, pair, size);
		} else if (column == LIST) {
			assert_int_equal(v.lengths.items[n_lists], number_of(kind, row, LIST) % 4);
			for (uint32_t i = 0; i < v.lengths.items[n_lists]; i++)
				expect_text(&v, at++, text + i, size - i);
			n_lists++;
		} else if (column == NUMBERS || column == FROM || column == TO) {
			uint32_t n = list_of(kind, row, column, listed);

			assert_int_equal(v.lengths.items[n_lists++], n);
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(v.numbers.items[at++], listed[i * STEP]);
		} else {
			assert_int_equal(v.numbers.items[at++], expected_number(kind, row, column));
		}
	}
	assert_int_equal(at, v.numbers.n);
	reader_values_release(&v);
}

static void expect_file(enum kind kind, enum absence absence, size_t n_rows)
{
	struct text bytes = { 0 };
	struct reader_file file;

	write_file(&bytes, kind, absence, n_rows, 0);
	open_file(&bytes, &file);
	assert_int_equal(file.n_rows, n_rows);
	assert_int_equal(file.columns.n, N_COLUMNS);
	assert_string_equal(reader_meta(&file, "a key"), "a value");
	assert_null(reader_meta(&file, "another"));
	for (unsigned i = 0; i < N_COLUMNS; i++) {
		assert_string_equal(file.columns.items[i].name, columns[i].name);
		assert_int_equal(file.columns.items[i].part != NULL, columns[i].part != NULL);
		if (columns[i].part != NULL)
			assert_string_equal(file.columns.items[i].part, columns[i].part);
		expect_column(&file, i, kind, absence);
	}
	reader_close(&file);
	text_release(&bytes);
}

static void test_reads_what_was_written(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 8, 129, 3000 };

	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++)
		for (int absence = 0; absence < N_ABSENCES; absence++)
			for (size_t i = 0; i < COUNT(sizes); i++)
				expect_file((enum kind)kind, (enum absence)absence, sizes[i]);
}

/* Several row groups, and the same bytes for any number of workers. */
static void test_row_groups(void **state)
{
	enum { N = 150000 };
	struct text one = { 0 }, several = { 0 };
	struct reader_file file;

	(void)state;
	write_file(&one, FEW, SOME_ABSENT, N, 0);
	write_file(&several, FEW, SOME_ABSENT, N, 3);
	assert_int_equal(one.n, several.n);
	assert_memory_equal(one.bytes, several.bytes, one.n);
	open_file(&one, &file);
	assert_true(file.groups.n > 1);
	for (unsigned i = 0; i < N_COLUMNS; i++)
		expect_column(&file, i, FEW, SOME_ABSENT);
	reader_close(&file);
	text_release(&one);
	text_release(&several);
}

/* Pieces, as workers fill them, are rows as any others. */
static void test_pieces(void **state)
{
	struct text whole = { 0 }, joined = { 0 };
	struct parquet_writer *w = parquet_new(columns, N_COLUMNS, NULL, take, &joined);

	(void)state;
	write_file(&whole, RISING, SOME_ABSENT, 1000, 0);
	for (size_t row = 0; row < 1000;) {
		struct parquet_values pieces[N_COLUMNS] = { 0 };

		for (size_t end = row + row % 7; row <= end && row < 1000; row++)
			put_test_row(pieces, RISING, SOME_ABSENT, row);
		parquet_append(w, pieces);
		assert_int_equal(parquet_write_full(w), 0);
		for (unsigned i = 0; i < N_COLUMNS; i++)
			parquet_values_release(&pieces[i]);
	}
	parquet_set_meta(w, "a key", "a value");
	assert_int_equal(parquet_finish(w), 0);
	assert_int_equal(joined.n, whole.n);
	assert_memory_equal(joined.bytes, whole.bytes, whole.n);
	parquet_free(w);
	text_release(&whole);
	text_release(&joined);
}

/* Texts: NUL stays, what is not UTF-8 becomes U+FFFD, long ones are no bounds. */
static void test_texts(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *expected;
		size_t expected_size;
	} cases[] = {
		{ "", 0, "", 0 },
		{ "a\0b", 3, "a\0b", 3 },
		{ "\xc3\xa4", 2, "\xc3\xa4", 2 },
		{ "\xff", 1, "\xef\xbf\xbd", 3 },
		{ "x\xc3", 2, "x\xef\xbf\xbd", 4 },
		{ "\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd", 6 },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 9 },
		{ "\0\xc0\x80", 3, "\0\xef\xbf\xbd\xef\xbf\xbd", 7 },
	};
	const struct parquet_column column = { .name = "t", .type = PARQUET_TEXT };
	char long_text[1000];
	struct text bytes = { 0 };
	struct parquet_writer *w = parquet_new(&column, 1, NULL, take, &bytes);
	struct reader_file file;
	struct reader_values v;

	(void)state;
	for (size_t i = 0; i < sizeof(long_text); i += 4)
		memcpy(long_text + i, "\xf0\x9f\x98\x80", 4); /* the largest */
	for (size_t i = 0; i < COUNT(cases); i++)
		parquet_put_text(parquet_values(w), cases[i].text, cases[i].size);
	parquet_put_text(parquet_values(w), long_text, sizeof(long_text));
	assert_int_equal(parquet_finish(w), 0);
	parquet_free(w);
	open_file(&bytes, &file);
	read_column(&file, 0, &v);
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_text(&v, i, cases[i].expected, cases[i].expected_size);
	expect_text(&v, COUNT(cases), long_text, sizeof(long_text));
	assert_false(file.groups.items[0].chunks.items[0].has_bounds);
	reader_values_release(&v);
	reader_close(&file);
	text_release(&bytes);
}

/* Bounds of doubles: no NaN, and both zeros are within. */
static void test_bounds_of_doubles(void **state)
{
	static const struct {
		double values[3];
		bool has_bounds;
		double least, largest;
	} cases[] = {
		{ { 1, 2, -3 }, true, -3, 2 },
		{ { NAN, 5, NAN }, true, 5, 5 },
		{ { NAN, NAN, NAN }, false, 0, 0 },
		{ { 0.0, 0.0, 0.0 }, true, -0.0, 0.0 },
		{ { -0.0, -0.0, -0.0 }, true, -0.0, 0.0 },
		{ { INFINITY, 1, -INFINITY }, true, -INFINITY, INFINITY },
	};
	const struct parquet_column column = { .name = "d", .type = PARQUET_DOUBLE };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text bytes = { 0 };
		struct parquet_writer *w = parquet_new(&column, 1, NULL, take, &bytes);
		const struct reader_chunk *chunk;
		struct reader_file file;
		struct reader_values v;

		for (size_t k = 0; k < 3; k++)
			parquet_put_double(parquet_values(w), cases[i].values[k]);
		assert_int_equal(parquet_finish(w), 0);
		open_file(&bytes, &file);
		read_column(&file, 0, &v);
		assert_memory_equal(v.numbers.items, cases[i].values, sizeof(cases[i].values));
		chunk = &file.groups.items[0].chunks.items[0];
		assert_int_equal(chunk->has_bounds, cases[i].has_bounds);
		if (cases[i].has_bounds) {
			assert_memory_equal(chunk->least.bytes, &cases[i].least, sizeof(double));
			assert_memory_equal(chunk->largest.bytes, &cases[i].largest,
					    sizeof(double));
		}
		reader_values_release(&v);
		reader_close(&file);
		parquet_free(w);
		text_release(&bytes);
	}
}

/* Filters have all that is there, and little else. */
static void test_bloom_filters(void **state)
{
	enum { N = 5000 };
	struct text bytes = { 0 };
	struct reader_file file;
	struct err err;
	size_t n_wrong = 0;
	char text[64];

	(void)state;
	write_file(&bytes, RANDOM, NONE_ABSENT, N, 0);
	open_file(&bytes, &file);
	for (size_t row = 0; row < N; row++) {
		uint64_t number = number_of(RANDOM, row, UINT64);
		size_t size = text_of(RANDOM, row, text);

		assert_int_equal(reader_may_have(&file, 0, TEXT, xxhash64(text, size), &err), 1);
		assert_int_equal(
			reader_may_have(&file, 0, UINT64, xxhash64(&number, sizeof(number)), &err),
			1);
		assert_int_equal(reader_may_have(&file, 0, INT64, 0, &err), 1); /* it has none */
		size = text_of(RANDOM, row + N, text);
		n_wrong += reader_may_have(&file, 0, TEXT, xxhash64(text, size), &err) == 1;
	}
	assert_true(n_wrong < N / 20);
	reader_close(&file);
	text_release(&bytes);
}

/* Nothing crashes, whatever is missing. */
static void test_reader_of_cut_files(void **state)
{
	struct text bytes = { 0 };

	(void)state;
	write_file(&bytes, FEW, SOME_ABSENT, 20, 0);
	for (size_t cut = 0; cut < bytes.n; cut++) {
		char *copy = mem_alloc(cut + 1, 1); /* so that reading behind it is seen */
		struct reader_file file;
		struct err err;

		memcpy(copy, bytes.bytes, cut);
		if (cut > 8)
			memcpy(copy + cut - 8, bytes.bytes + bytes.n - 8,
			       8); /* a footer of other bytes */
		if (reader_open(copy, cut, &file, &err) == 0)
			for (size_t i = 0; i < file.columns.n; i++) {
				struct reader_values v;

				(void)reader_read(&file, i, &v, &err);
				reader_values_release(&v);
			}
		reader_close(&file);
		free(copy);
	}
	text_release(&bytes);
}

static int refuse(void *n_left, const struct text *bytes)
{
	(void)bytes;
	return (*(int *)n_left)-- > 0 ? 0 : -1;
}

static void test_sink_that_refuses(void **state)
{
	(void)state;
	for (int n = 0; n < 5; n++) {
		int n_left = n;
		struct parquet_writer *w = parquet_new(columns, N_COLUMNS, NULL, refuse, &n_left);

		put_test_row(parquet_values(w), FEW, NONE_ABSENT, 0);
		assert_int_equal(parquet_finish(w), -1);
		parquet_free(w);
	}
	parquet_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_was_written),
		cmocka_unit_test(test_row_groups),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_bounds_of_doubles),
		cmocka_unit_test(test_bloom_filters),
		cmocka_unit_test(test_reader_of_cut_files),
		cmocka_unit_test(test_sink_that_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
