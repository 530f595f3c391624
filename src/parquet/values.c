/* SPDX-License-Identifier: Apache-2.0 */
/* Values in memory, before they are encoded. */
#include "parquet/parquet.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8_decode.h"

/*
 * Copies the values of the rows that are present. Each is stored, and the next one over it if it was absent: there
 * is nothing to mispredict.
 */
#define PUT_ROWS(type)                                                                             \
	static size_t put_rows_##type(char *present, char *out, const type *values,                \
				      const uint32_t *has, uint32_t bits, size_t n)                \
	{                                                                                          \
		size_t n_present = 0;                                                              \
                                                                                                   \
		for (size_t i = 0; i < n; i++) {                                                   \
			present[i] = (has[i] & bits) != 0;                                         \
			memcpy(out + n_present * sizeof(type), &values[i], sizeof(type));          \
			n_present += (size_t)present[i];                                           \
		}                                                                                  \
		return n_present * sizeof(type);                                                   \
	}

/* The bits that all rows have, and those that any has. */
static void survey(const uint32_t *has, size_t n, uint32_t *out_all, uint32_t *out_any)
{
	uint64_t all = UINT64_MAX, any = 0;
	size_t i = 0;

	for (uint64_t two; n - i >= 2; i += 2) {
		memcpy(&two, &has[i], sizeof(two));
		all &= two;
		any |= two;
	}
	*out_all = (uint32_t)(all & all >> 32);
	*out_any = (uint32_t)(any | any >> 32);
	if (i < n) {
		*out_all &= has[i];
		*out_any |= has[i];
	}
}

PUT_ROWS(uint8_t)
PUT_ROWS(uint16_t)
PUT_ROWS(uint32_t)
PUT_ROWS(uint64_t)

void parquet_put_rows(struct parquet_values *v, const void *first, unsigned width,
		      const uint32_t *has, uint32_t bits, size_t n)
{
	char *present = text_room(&v->present, n);
	uint32_t all, any;
	char *out;

	survey(has, n, &all, &any);
	v->present.n += n;
	if ((all & bits) != 0 || (any & bits) == 0) {
		memset(present, (all & bits) != 0, n);
		if ((all & bits) != 0)
			text_add(&v->values, first, n * width);
		return;
	}
	out = text_room(&v->values, (n + 1) * width);
	if (width == 1)
		v->values.n += put_rows_uint8_t(present, out, first, has, bits, n);
	else if (width == 2)
		v->values.n += put_rows_uint16_t(present, out, first, has, bits, n);
	else if (width == 4)
		v->values.n += put_rows_uint32_t(present, out, first, has, bits, n);
	else
		v->values.n += put_rows_uint64_t(present, out, first, has, bits, n);
}

static bool is_ascii(const char *bytes, size_t size)
{
	uint64_t all = 0, some = 0;
	size_t i = 0;

	for (; size - i >= 2 * sizeof(some); i += 2 * sizeof(some)) {
		uint64_t two[2];

		memcpy(two, bytes + i, sizeof(two));
		all |= two[0];
		some |= two[1];
	}
	for (; i < size; i++)
		all |= (unsigned char)bytes[i];
	return ((all | some) & 0x8080808080808080u) == 0;
}

/* Appends a text that is not ASCII, of a copy with a NUL behind it. */
static void put_valid(struct text *out, const char *text, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

	for (const char *at = text, *end = text + size; at < end;) {
		uint32_t code;
		size_t n = utf8_decode(at, &code);

		if (n > 0)
			text_add(out, at, n);
		else
			text_str(out, replacement);
		at += n > 0 ? n : 1;
	}
}

/* A text is its size in four bytes, then its bytes: as Parquet's plain encoding has it. */
void parquet_put_item(struct parquet_values *v, const char *bytes, size_t size)
{
	size_t at = v->values.n;
	uint32_t size_put = (uint32_t)size;

	assert(size <= UINT32_MAX / 4);
	text_add(&v->values, (const char *)&size_put, sizeof(size_put));
	if (is_ascii(bytes, size)) {
		text_add(&v->values, bytes, size);
		return;
	}

	char *copy = mem_strndup(bytes, size);

	put_valid(&v->values, copy, size);
	free(copy);
	size_put = (uint32_t)(v->values.n - at - sizeof(size_put));
	memcpy(v->values.bytes + at, &size_put, sizeof(size_put));
}

void parquet_put_text(struct parquet_values *v, const char *bytes, size_t size)
{
	text_char(&v->present, 1);
	parquet_put_item(v, bytes, size);
}

/* A list is its length in four bytes, then its elements. */
void parquet_put_list(struct parquet_values *v, uint32_t n)
{
	text_char(&v->present, 1);
	text_add(&v->values, (const char *)&n, sizeof(n));
}

void parquet_put_numbers(struct parquet_values *v, const uint64_t *first, uint32_t n, size_t step)
{
	char *at;

	parquet_put_list(v, n);
	at = text_room(&v->values, n * sizeof(*first));
	for (uint32_t i = 0; i < n; i++)
		memcpy(at + i * sizeof(*first), &first[i * step], sizeof(*first));
	v->values.n += n * sizeof(*first);
}

void parquet_values_release(struct parquet_values *v)
{
	text_release(&v->present);
	text_release(&v->values);
}
