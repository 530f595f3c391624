/* SPDX-License-Identifier: Apache-2.0 */
/* Format: docs/reference/parquet.md section 2. */
#include "parquet/thrift.h"

#include <assert.h>
#include <string.h>

/* Types of fields, beside those of elements. */
enum {
	TYPE_TRUE = 1,
	TYPE_FALSE = 2,
	TYPE_I8 = 3,
	TYPE_I64 = 6,
	TYPE_LIST = 9,
};

enum {
	SHORT_DELTA =
		15, /* the largest distance of field numbers, and list length less one, in four bits */
};

void varint_put(struct text *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		text_char(out, (char)(value | 0x80));
	text_char(out, (char)value);
}

void zigzag_put(struct text *out, int64_t value)
{
	varint_put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_field(struct thrift *t, int field, int type)
{
	int *last = &t->last_field[t->depth];
	int delta = field - *last;

	assert(delta > 0 && delta <= SHORT_DELTA);
	text_char(t->out, (char)(delta << 4 | type));
	*last = field;
}

void thrift_end(struct thrift *t)
{
	text_char(t->out, 0);
	if (t->depth > 0)
		t->depth--;
}

static void put_bytes(struct text *out, const void *bytes, size_t size)
{
	varint_put(out, size);
	text_add(out, bytes, size);
}

void thrift_bool(struct thrift *t, int field, bool value)
{
	put_field(t, field, value ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i8(struct thrift *t, int field, int8_t value)
{
	put_field(t, field, TYPE_I8);
	text_char(t->out, (char)value);
}

void thrift_int(struct thrift *t, int field, int32_t value)
{
	put_field(t, field, THRIFT_I32);
	zigzag_put(t->out, value);
}

void thrift_long(struct thrift *t, int field, int64_t value)
{
	put_field(t, field, TYPE_I64);
	zigzag_put(t->out, value);
}

void thrift_bytes(struct thrift *t, int field, const void *bytes, size_t size)
{
	put_field(t, field, THRIFT_BINARY);
	put_bytes(t->out, bytes, size);
}

void thrift_string(struct thrift *t, int field, const char *value)
{
	thrift_bytes(t, field, value, strlen(value));
}

void thrift_element(struct thrift *t)
{
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last_field[++t->depth] = 0;
}

void thrift_struct(struct thrift *t, int field)
{
	put_field(t, field, THRIFT_STRUCT);
	thrift_element(t);
}

void thrift_list(struct thrift *t, int field, enum thrift_type type, size_t n)
{
	put_field(t, field, TYPE_LIST);
	if (n < SHORT_DELTA) {
		text_char(t->out, (char)(n << 4 | type));
		return;
	}
	text_char(t->out, (char)(SHORT_DELTA << 4 | type));
	varint_put(t->out, n);
}

void thrift_int_element(struct thrift *t, int32_t value)
{
	zigzag_put(t->out, value);
}

void thrift_string_element(struct thrift *t, const char *value)
{
	put_bytes(t->out, value, strlen(value));
}
