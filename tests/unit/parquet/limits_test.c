/* SPDX-License-Identifier: Apache-2.0 */
/* Values at the ends of their types, more distinct texts than dictionaries have, much text, files that are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "parquet/parquet.h"
#include "parquet_reader.h"

enum { N_TEXTS = (1 << 16) + 1 };

static int keep_bytes(void *out, const struct text *bytes)
{
	text_add(out, bytes->bytes, bytes->n);
	return 0;
}

/* Ends a file of one column and reads it. */
static void finish_and_read(struct parquet_writer *w, struct text *bytes, struct reader_file *file,
			    struct reader_values *out)
{
	struct err err = { .text = "" };

	assert_int_equal(parquet_finish(w), 0);
	parquet_free(w);
	if (reader_open(bytes->bytes, bytes->n, file, &err) < 0 ||
	    reader_read(file, 0, out, &err) < 0)
		fail_msg("%s", err.text);
}

static void release_read(struct text *bytes, struct reader_file *file, struct reader_values *v)
{
	reader_values_release(v);
	reader_close(file);
	text_release(bytes);
}

/* Each alone, and all of them again and again: in one file plain, in one with a dictionary. */
static void test_ends_of_types(void **state)
{
	static const uint64_t ends[] = { 0,
					 1,
					 UINT64_MAX,
					 INT64_MAX,
					 (uint64_t)INT64_MIN,
					 INT32_MAX,
					 (uint64_t)INT32_MIN,
					 UINT32_MAX,
					 UINT64_C(1) << 32 };
	static const enum parquet_type types[] = {
		PARQUET_INT32,	PARQUET_UINT32,	 PARQUET_INT64,
		PARQUET_UINT64, PARQUET_TIME_US, PARQUET_TIME_NS
	};

	(void)state;
	for (size_t type = 0; type < COUNT(types); type++)
		for (size_t n = 1; n <= 1000; n += n < COUNT(ends) ? 1 : 991) {
			const struct parquet_column column = { .name = "c", .type = types[type] };
			struct text bytes = { 0 };
			struct parquet_writer *w =
				parquet_new(&column, 1, NULL, keep_bytes, &bytes);
			bool is_narrow = types[type] <= PARQUET_UINT32;
			struct reader_file file;
			struct reader_values v;

			for (size_t i = 0; i < n; i++) {
				uint64_t end = ends[i % COUNT(ends)];

				parquet_put(parquet_values(w),
					    types[type] == PARQUET_INT32    ? (uint64_t)(int32_t)end
					    : types[type] == PARQUET_UINT32 ? (uint32_t)end
									    : end);
				assert_int_equal(parquet_end_row(w), 0);
			}
			finish_and_read(w, &bytes, &file, &v);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(v.numbers.items[i],
						 is_narrow ? (uint32_t)ends[i % COUNT(ends)]
							   : ends[i % COUNT(ends)]);
			release_read(&bytes, &file, &v);
		}
}

static void spell_number(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_u64(out, code);
}

/* More than dictionaries have: as texts, and as codes, each of them twice. */
static void test_many_texts(void **state)
{
	static const struct parquet_column columns[] = {
		{ .name = "texts", .type = PARQUET_TEXT },
		{ .name = "codes", .type = PARQUET_TEXT, .spell = spell_number },
	};

	(void)state;
	for (size_t kind = 0; kind < COUNT(columns); kind++) {
		struct text bytes = { 0 };
		struct parquet_writer *w = parquet_new(&columns[kind], 1, NULL, keep_bytes, &bytes);
		struct reader_file file;
		struct reader_values v;
		char digits[24];

		for (size_t row = 0; row < 2 * N_TEXTS; row++) {
			if (kind == 1)
				parquet_put(parquet_values(w), row / 2);
			else
				parquet_put_text(parquet_values(w), digits,
						 put_u64(digits, row / 2));
			assert_int_equal(parquet_end_row(w), 0);
		}
		finish_and_read(w, &bytes, &file, &v);
		assert_int_equal(v.sizes.n, 2 * N_TEXTS);
		for (size_t row = 0; row < 2 * N_TEXTS; row++) {
			assert_int_equal(v.sizes.items[row], put_u64(digits, row / 2));
			assert_memory_equal(v.texts.bytes + v.numbers.items[row], digits,
					    v.sizes.items[row]);
		}
		release_read(&bytes, &file, &v);
	}
}

static void test_empty_texts(void **state)
{
	static const size_t sizes[] = { 1, 8, 40000 };
	const struct parquet_column column = { .name = "t", .type = PARQUET_TEXT };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct text bytes = { 0 };
		struct parquet_writer *w = parquet_new(&column, 1, NULL, keep_bytes, &bytes);
		struct reader_file file;
		struct reader_values v;

		for (size_t row = 0; row < sizes[i]; row++)
			parquet_put_text(parquet_values(w), "", 0);
		finish_and_read(w, &bytes, &file, &v);
		assert_int_equal(v.sizes.n, sizes[i]);
		for (size_t row = 0; row < sizes[i]; row++)
			assert_int_equal(v.sizes.items[row], 0);
		release_read(&bytes, &file, &v);
	}
}

static int count_bytes(void *sum, const struct text *bytes)
{
	*(size_t *)sum += bytes->n;
	return 0;
}

/* Long texts are written soon: what is kept does not grow with them. CYCLOPS_TEXT_MIB: how much there is. */
static void test_much_text(void **state)
{
	enum { TEXT_BYTES = 1 << 20, MOST_KEPT = 6 << 20 };
	const struct parquet_column column = { .name = "t", .type = PARQUET_TEXT };
	const char *asked = getenv("CYCLOPS_TEXT_MIB");
	size_t n = asked != NULL ? (size_t)atoi(asked) : 32, n_written = 0;
	struct parquet_writer *w = parquet_new(&column, 1, NULL, count_bytes, &n_written);
	char *long_text = mem_alloc(TEXT_BYTES, 1);
	uint64_t random = 1;

	(void)state;
	for (size_t row = 0; row < n; row++) {
		for (size_t i = 0; i < TEXT_BYTES; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			long_text[i] = (char)(' ' + (random >> 33) % 64);
		}
		parquet_put_text(parquet_values(w), long_text, TEXT_BYTES);
		assert_int_equal(parquet_end_row(w), 0);
		assert_true(parquet_values(w)->values.n <= MOST_KEPT);
	}
	assert_int_equal(parquet_finish(w), 0);
	assert_true(n_written > n * (TEXT_BYTES / 8 * 5)); /* six bits of each byte */
	parquet_free(w);
	free(long_text);
}

enum { N_LONG = 16000 }; /* rows */

/* Kinds of long texts: compressible ones, others, and both, of which the first pages are compressible. */
enum long_kind { ALIKE, RANDOM, ALIKE_THEN_RANDOM, N_LONG_KINDS };

/* The text of a row; empty if it is absent. */
static void make_long_text(struct text *out, enum long_kind kind, uint64_t row)
{
	bool is_random = kind == RANDOM || (kind == ALIKE_THEN_RANDOM && row > N_LONG / 2);
	uint64_t random = row;

	text_reset(out);
	for (size_t i = 0; row % 7 != 3 && i < 500 - row % 3; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		text_char(out, is_random || i % 64 == 0 ? (char)(' ' + (random >> 33) % 95) : 'a');
	}
}

static void write_long_texts(enum long_kind kind, unsigned n_workers, struct text *out)
{
	static const struct parquet_column column = { .name = "t", .type = PARQUET_TEXT };
	struct pool *pool = n_workers > 0 ? pool_new(n_workers) : NULL;
	struct parquet_writer *w = parquet_new(&column, 1, pool, keep_bytes, out);
	struct text text = { 0 };

	for (uint64_t row = 0; row < N_LONG; row++) {
		make_long_text(&text, kind, row);
		if (text.n > 0)
			parquet_put_text(parquet_values(w), text.bytes, text.n);
		else
			parquet_put_null(parquet_values(w));
		assert_int_equal(parquet_end_row(w), 0);
	}
	assert_int_equal(parquet_finish(w), 0);
	parquet_free(w);
	pool_free(pool);
	text_release(&text);
}

static void expect_long_texts(const struct text *bytes, enum long_kind kind)
{
	struct err err = { .text = "" };
	struct reader_file file;
	struct reader_values v;
	struct text text = { 0 };

	if (reader_open(bytes->bytes, bytes->n, &file, &err) < 0 ||
	    reader_read(&file, 0, &v, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(file.groups.n > 1);
	for (uint64_t row = 0, i = 0; row < N_LONG; row++) {
		make_long_text(&text, kind, row);
		assert_int_equal(v.present.items[row], text.n > 0);
		if (text.n == 0)
			continue;
		assert_int_equal(v.sizes.items[i], text.n);
		assert_memory_equal(v.texts.bytes + v.numbers.items[i], text.bytes, text.n);
		i++;
	}
	text_release(&text);
	reader_values_release(&v);
	reader_close(&file);
}

/* Pages of long texts are encoded by all workers: they stand in order, and have the same bytes for any number of workers. */
static void test_pages_by_workers(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_LONG_KINDS; kind++) {
		struct text one = { 0 }, several = { 0 };

		write_long_texts((enum long_kind)kind, 0, &one);
		write_long_texts((enum long_kind)kind, 3, &several);
		expect_long_texts(&several, (enum long_kind)kind);
		assert_int_equal(one.n, several.n);
		assert_memory_equal(one.bytes, several.bytes, one.n);
		text_release(&one);
		text_release(&several);
	}
}

/* The elements of lists that fill several pages, and of one that does alone: in each encoding. */
static uint64_t listed_number(unsigned column, uint64_t i)
{
	static const uint64_t distinct = 300;

	return column == 0 ? i * 0x9e3779b97f4a7c15u : column == 1 ? i * 7 % distinct << 20 : i * 3;
}

static uint32_t listed_length(size_t row)
{
	return row == 50 ? 100000 : (uint32_t)(row * 7919 % 1500);
}

static void test_long_lists(void **state)
{
	enum { N_ROWS = 200, N_COLUMNS = 3 };
	static const struct parquet_column columns[N_COLUMNS] = {
		{ .name = "plain", .type = PARQUET_UINT64_LIST },
		{ .name = "dictionary", .type = PARQUET_UINT64_LIST },
		{ .name = "delta", .type = PARQUET_UINT64_LIST },
	};
	struct text bytes = { 0 };
	struct parquet_writer *w = parquet_new(columns, N_COLUMNS, NULL, keep_bytes, &bytes);
	uint64_t *numbers = mem_alloc(listed_length(50), sizeof(*numbers));
	uint64_t first[N_COLUMNS] = { 0 };
	struct reader_file file;
	struct err err = { .text = "" };

	(void)state;
	for (size_t row = 0; row < N_ROWS; row++) {
		for (unsigned i = 0; i < N_COLUMNS; i++) {
			for (uint32_t k = 0; k < listed_length(row); k++)
				numbers[k] = listed_number(i, first[i]++);
			parquet_put_numbers(&parquet_values(w)[i], numbers, listed_length(row), 1);
		}
		assert_int_equal(parquet_end_row(w), 0);
	}
	assert_int_equal(parquet_finish(w), 0);
	assert_int_equal(reader_open(bytes.bytes, bytes.n, &file, &err), 0);
	for (unsigned i = 0; i < N_COLUMNS; i++) {
		struct reader_values v;

		if (reader_read(&file, i, &v, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(v.lengths.n, N_ROWS);
		for (size_t row = 0; row < N_ROWS; row++)
			assert_int_equal(v.lengths.items[row], listed_length(row));
		assert_int_equal(v.numbers.n, first[i]);
		for (uint64_t k = 0; k < v.numbers.n; k++)
			assert_int_equal(v.numbers.items[k], listed_number(i, k));
		reader_values_release(&v);
	}
	reader_close(&file);
	parquet_free(w);
	free(numbers);
	text_release(&bytes);
}

/* A file that ends early is none, wherever it ends. */
static void test_cut_files(void **state)
{
	static const struct parquet_column columns[] = {
		{ .name = "n", .type = PARQUET_UINT64, .has_bloom = true },
		{ .name = "t", .type = PARQUET_TEXT },
		{ .name = "l", .type = PARQUET_TEXT_LIST },
		{ .name = "s", .type = PARQUET_UINT64_LIST, .part = "a" },
		{ .name = "s", .type = PARQUET_UINT64_LIST, .part = "b" },
	};
	struct text bytes = { 0 };
	struct parquet_writer *w = parquet_new(columns, COUNT(columns), NULL, keep_bytes, &bytes);

	(void)state;
	for (uint64_t row = 0; row < 100; row++) {
		struct parquet_values *values = parquet_values(w);

		parquet_put(&values[0], row * row);
		if (row % 3 == 0)
			parquet_put_null(&values[1]);
		else
			parquet_put_text(&values[1], "PAR1PAR1PAR1", row % 13);
		parquet_put_list(&values[2], 1);
		parquet_put_item(&values[2], "PAR1", 4);
		for (int i = 3; i < 5; i++)
			parquet_put_numbers(&values[i], &row, 1, 1);
		assert_int_equal(parquet_end_row(w), 0);
	}
	assert_int_equal(parquet_finish(w), 0);
	parquet_free(w);
	for (size_t cut = 0; cut < bytes.n; cut++) {
		char *copy = mem_alloc(cut + 1, 1); /* so that reading behind it is seen */
		struct reader_file file;
		struct err err = { .text = "" };

		memcpy(copy, bytes.bytes, cut);
		assert_int_equal(reader_open(copy, cut, &file, &err), -1);
		assert_true(err.text[0] != '\0');
		reader_close(&file);
		free(copy);
	}
	text_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_of_types),	 cmocka_unit_test(test_many_texts),
		cmocka_unit_test(test_empty_texts),	 cmocka_unit_test(test_much_text),
		cmocka_unit_test(test_pages_by_workers), cmocka_unit_test(test_cut_files),
		cmocka_unit_test(test_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
