/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file: the tests' own reader holds. Anything else: values that are written, and read back as they were. The first
 * byte is the type of the column; of each further one the lowest two bits say whether a value is absent, is that of
 * the row before, or is made of the bytes that follow.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "parquet/parquet.h"
#include "parquet_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_file(const void *bytes, size_t size)
{
	struct reader_file file;
	struct err err;

	if (reader_open(bytes, size, &file, &err) == 0)
		for (size_t i = 0; i < file.columns.n; i++) {
			struct reader_values v;

			(void)reader_read(&file, i, &v, &err);
			reader_values_release(&v);
		}
	reader_close(&file);
}

static int fuzz_take(void *out, const struct text *bytes)
{
	text_add(out, bytes->bytes, bytes->n);
	return 0;
}

/* What was put. Of texts the bytes, which are ASCII. */
struct put {
	VEC_OF(uint64_t) numbers;
	VEC_OF(uint8_t) present;
};

static void put_value(struct parquet_values *v, enum parquet_type type, uint64_t value)
{
	char text[20];
	uint32_t n = (uint32_t)(value % 4);

	if (type == PARQUET_TEXT) {
		parquet_put_text(v, text, put_u64(text, value));
	} else if (type == PARQUET_TEXT_LIST) {
		parquet_put_list(v, n);
		for (uint32_t i = 0; i < n; i++)
			parquet_put_item(v, text, put_u64(text, value + i));
	} else if (type == PARQUET_UINT64_LIST) {
		const uint64_t numbers[3] = { value, value + 1, value + 2 };

		parquet_put_numbers(v, numbers, n, 1);
	} else {
		parquet_put(v, value);
	}
}

/* The bits of a value as the type holds it. */
static uint64_t cut_value(enum parquet_type type, uint64_t value)
{
	if (type == PARQUET_BOOL)
		return value & 1;
	if (type == PARQUET_INT32)
		return (uint64_t)(int32_t)value;
	return type == PARQUET_UINT32 ? (uint32_t)value : value;
}

static void expect_texts(const struct reader_values *v, size_t *at, uint64_t value, uint32_t n)
{
	char text[20];

	for (uint32_t i = 0; i < n; i++, (*at)++) {
		size_t size = put_u64(text, value + i);

		if (v->sizes.items[*at] != size ||
		    memcmp(v->texts.bytes + v->numbers.items[*at], text, size) != 0)
			abort();
	}
}

static void expect_values(const struct text *file_bytes, enum parquet_type type,
			  const struct put *put)
{
	struct reader_file file;
	struct reader_values v;
	struct err err;
	size_t at = 0, lists = 0;

	if (reader_open(file_bytes->bytes, file_bytes->n, &file, &err) < 0 ||
	    reader_read(&file, 0, &v, &err) < 0 || v.present.n != put->present.n)
		abort();
	for (size_t row = 0; row < put->present.n; row++) {
		uint64_t value = put->numbers.items[row];

		if (v.present.items[row] != put->present.items[row])
			abort();
		if (!put->present.items[row])
			continue;
		if (type == PARQUET_TEXT) {
			expect_texts(&v, &at, value, 1);
		} else if (type == PARQUET_TEXT_LIST) {
			if (v.lengths.items[lists++] != value % 4)
				abort();
			expect_texts(&v, &at, value, value % 4);
		} else if (type == PARQUET_UINT64_LIST) {
			if (v.lengths.items[lists++] != value % 4)
				abort();
			for (uint64_t i = 0; i < value % 4; i++)
				if (v.numbers.items[at++] != value + i)
					abort();
		} else if (v.numbers.items[at++] !=
			   (type == PARQUET_INT32 ? (uint32_t)value : value)) {
			abort();
		}
	}
	reader_values_release(&v);
	reader_close(&file);
}

static void write_and_read(const uint8_t *bytes, size_t size)
{
	struct cursor c = cur_of(bytes, size);
	enum parquet_type type = (enum parquet_type)(cur_u8(&c) % (PARQUET_TIME_NS + 1));
	const struct parquet_column column = { .name = "c",
					       .type = type,
					       .has_bloom = type != PARQUET_BOOL };
	struct text out = { 0 };
	struct parquet_writer *w = parquet_new(&column, 1, NULL, fuzz_take, &out);
	struct put put = { 0 };
	uint64_t last = 0;

	while (cur_left(&c) > 0) {
		uint8_t how = cur_u8(&c);

		if ((how & 3) == 3)
			last = cut_value(type, last + (how >> 2));
		else if ((how & 3) == 2)
			last = cut_value(type, cur_u64(&c));
		for (unsigned repeat = 0; repeat <= (how & 3 ? 0u : how >> 2); repeat++) {
			*vec_add(&put.present) = (how & 3) != 1;
			*vec_add(&put.numbers) = last;
			if ((how & 3) == 1)
				parquet_put_null(parquet_values(w));
			else
				put_value(parquet_values(w), type, last);
			if (parquet_end_row(w) < 0)
				abort();
		}
	}
	if (parquet_finish(w) < 0)
		abort();
	parquet_free(w);
	expect_values(&out, type, &put);
	vec_release(&put.numbers);
	vec_release(&put.present);
	text_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size >= 4 && memcmp(bytes, "PAR1", 4) == 0)
		read_file(bytes, size);
	else if (size > 0)
		write_and_read(bytes, size);
	return 0;
}
