/* SPDX-License-Identifier: Apache-2.0 */
/* Format: docs/reference/parquet.md section 3. */
#include "parquet/footer.h"

#include <stdlib.h>
#include <string.h>

#include "parquet/thrift.h"

const char parquet_mark[5] = "PAR1";

enum { VERSION = 2 }; /* of the format; 1 does not know delta encoding */

enum { REPETITION_OPTIONAL = 1, REPETITION_REPEATED = 2, REPETITION_REQUIRED = 0 };

/* Converted types, which older readers look at, and the field of the logical type. */
enum { LOGICAL_TEXT = 1, LOGICAL_LIST = 3, LOGICAL_TIME = 8, LOGICAL_INTEGER = 10 };
enum { CONVERTED_TEXT = 0, CONVERTED_LIST = 3, CONVERTED_TIME_US = 10, CONVERTED_NONE = -1 };

/* By type; converted types only where there is a logical one. */
static const struct {
	int logical, converted;
	int8_t bits; /* of integers */
	bool is_signed;
} logical_types[] = {
	[PARQUET_INT32] = { LOGICAL_INTEGER, 17, 32, true },
	[PARQUET_UINT32] = { LOGICAL_INTEGER, 13, 32, false },
	[PARQUET_INT64] = { LOGICAL_INTEGER, 18, 64, true },
	[PARQUET_UINT64] = { LOGICAL_INTEGER, 14, 64, false },
	[PARQUET_TEXT] = { LOGICAL_TEXT, CONVERTED_TEXT, 0, false },
	[PARQUET_TEXT_LIST] = { LOGICAL_LIST, CONVERTED_LIST, 0, false },
	[PARQUET_UINT64_LIST] = { LOGICAL_LIST, CONVERTED_LIST, 0, false },
	[PARQUET_TIME_US] = { LOGICAL_TIME, CONVERTED_TIME_US, 0, false },
	[PARQUET_TIME_NS] = { LOGICAL_TIME, CONVERTED_NONE, 0, false },
};

/* Units of time. */
enum { UNIT_US = 2, UNIT_NS = 3 };

void parquet_footer_release(struct parquet_footer *f)
{
	for (size_t i = 0; i < f->metas.n; i++) {
		free(f->metas.items[i].key);
		free(f->metas.items[i].value);
	}
	vec_release(&f->metas);
	text_release(&f->groups);
}

static void put_unit(struct thrift *t, enum parquet_type type)
{
	thrift_bool(t, 1, true); /* in UTC */
	thrift_struct(t, 2);
	thrift_struct(t, type == PARQUET_TIME_US ? UNIT_US : UNIT_NS);
	thrift_end(t);
	thrift_end(t);
}

static void put_logical_type(struct thrift *t, enum parquet_type type)
{
	int logical = logical_types[type].logical;

	if (logical == 0)
		return;
	if (logical_types[type].converted != CONVERTED_NONE)
		thrift_int(t, 6, logical_types[type].converted);
	thrift_struct(t, 10);
	thrift_struct(t, logical);
	if (logical == LOGICAL_INTEGER) {
		thrift_i8(t, 1, logical_types[type].bits);
		thrift_bool(t, 2, logical_types[type].is_signed);
	} else if (logical == LOGICAL_TIME) {
		put_unit(t, type);
	}
	thrift_end(t);
	thrift_end(t);
}

static void put_leaf(struct thrift *t, const char *name, enum parquet_type type, int repetition)
{
	thrift_element(t);
	thrift_int(t, 1, parquet_physical(type));
	thrift_int(t, 3, repetition);
	thrift_string(t, 4, name);
	put_logical_type(t, type);
	thrift_end(t);
}

/* A group of columns; a column of the file has a type, too. */
static void put_group(struct thrift *t, const char *name, int repetition, size_t n_children,
		      const enum parquet_type *type)
{
	thrift_element(t);
	thrift_int(t, 3, repetition);
	thrift_string(t, 4, name);
	thrift_int(t, 5, (int32_t)n_children);
	if (type != NULL)
		put_logical_type(t, *type);
	thrift_end(t);
}

/* How many columns from the one on are one for readers: the fields of a list of structs are. */
static size_t n_together(const struct parquet_footer *f, size_t first)
{
	const struct parquet_column *c = &f->columns[first];
	size_t n = 1;

	while (c->part != NULL && first + n < f->n_columns && c[n].part != NULL &&
	       strcmp(c[n].name, c->name) == 0)
		n++;
	return n;
}

/*
 * A list: an optional group, in it a repeated group, in that the element. Of structs, that is a group of `n`
 * columns.
 */
static void put_list_schema(struct thrift *t, const struct parquet_column *c, size_t n)
{
	enum parquet_type element = parquet_element(c->type);

	put_group(t, c->name, REPETITION_OPTIONAL, 1, &c->type);
	put_group(t, "list", REPETITION_REPEATED, 1, NULL);
	if (c->part == NULL) {
		put_leaf(t, "element", element, REPETITION_REQUIRED);
		return;
	}
	put_group(t, "element", REPETITION_REQUIRED, n, NULL);
	for (size_t i = 0; i < n; i++)
		put_leaf(t, c[i].part, element, REPETITION_REQUIRED);
}

static void put_schema(struct thrift *t, const struct parquet_footer *f)
{
	size_t n_elements = 1, n_columns = 0;

	for (size_t i = 0, n; i < f->n_columns; i += n) {
		const struct parquet_column *c = &f->columns[i];

		n = n_together(f, i);
		n_columns++;
		n_elements += !parquet_is_list(c->type) ? 1 : c->part == NULL ? 3 : 3 + n;
	}
	thrift_list(t, 2, THRIFT_STRUCT, n_elements);
	thrift_element(t);
	thrift_string(t, 4, "schema");
	thrift_int(t, 5, (int32_t)n_columns);
	thrift_end(t);
	for (size_t i = 0, n; i < f->n_columns; i += n) {
		const struct parquet_column *c = &f->columns[i];

		n = n_together(f, i);
		if (parquet_is_list(c->type))
			put_list_schema(t, c, n);
		else
			put_leaf(t, c->name, c->type, REPETITION_OPTIONAL);
	}
}

static void put_statistics(struct thrift *t, const struct chunk *c)
{
	thrift_struct(t, 12);
	thrift_long(t, 3, (int64_t)c->n_nulls);
	if (c->has_bounds) {
		thrift_bytes(t, 5, c->largest.bytes, c->largest.n);
		thrift_bytes(t, 6, c->least.bytes, c->least.n);
	}
	thrift_end(t);
}

static void put_path(struct thrift *t, const struct parquet_column *column)
{
	bool is_list = parquet_is_list(column->type);

	thrift_list(t, 3, THRIFT_BINARY, !is_list ? 1 : column->part == NULL ? 3 : 4);
	thrift_string_element(t, column->name);
	if (is_list) {
		thrift_string_element(t, "list");
		thrift_string_element(t, "element");
	}
	if (column->part != NULL)
		thrift_string_element(t, column->part);
}

static void put_encodings(struct thrift *t, const struct chunk *c)
{
	bool has_dictionary = c->encoding == ENCODING_DICTIONARY;

	thrift_list(t, 2, THRIFT_I32, has_dictionary ? 3 : 2);
	thrift_int_element(t, ENCODING_RUNS); /* levels */
	thrift_int_element(t, c->encoding);
	if (has_dictionary)
		thrift_int_element(t, ENCODING_PLAIN); /* of the dictionary */
}

/* `offset` is that of its first page, `bloom` that of its filter. */
static void put_chunk(struct thrift *t, const struct parquet_column *column, const struct chunk *c,
		      uint64_t offset, uint64_t bloom)
{
	thrift_element(t);
	thrift_long(t, 2, (int64_t)offset);
	thrift_struct(t, 3);
	thrift_int(t, 1, parquet_physical(column->type));
	put_encodings(t, c);
	put_path(t, column);
	thrift_int(t, 4, c->codec);
	thrift_long(t, 5, (int64_t)c->n_values);
	thrift_long(t, 6, (int64_t)c->uncompressed_bytes);
	thrift_long(t, 7, (int64_t)c->pages.n);
	thrift_long(t, 9, (int64_t)(offset + c->dictionary_bytes));
	if (c->dictionary_bytes > 0)
		thrift_long(t, 11, (int64_t)offset);
	put_statistics(t, c);
	if (c->bloom.n > 0) {
		thrift_long(t, 14, (int64_t)bloom);
		thrift_int(t, 15, (int32_t)c->bloom.n);
	}
	thrift_end(t);
	thrift_end(t);
}

void parquet_footer_add_group(struct parquet_footer *f, const struct chunk *chunks, uint64_t n_rows,
			      uint64_t offset)
{
	struct thrift t = thrift_begin(&f->groups);
	uint64_t at = offset, bloom = offset, n_bytes = 0;

	for (size_t i = 0; i < f->n_columns; i++) {
		bloom += chunks[i].pages.n;
		n_bytes += chunks[i].uncompressed_bytes;
	}
	thrift_list(&t, 1, THRIFT_STRUCT, f->n_columns);
	for (size_t i = 0; i < f->n_columns; i++) {
		put_chunk(&t, &f->columns[i], &chunks[i], at, bloom);
		at += chunks[i].pages.n;
		bloom += chunks[i].bloom.n;
	}
	thrift_long(&t, 2, (int64_t)n_bytes);
	thrift_long(&t, 3, (int64_t)n_rows);
	thrift_long(&t, 5, (int64_t)offset);
	thrift_long(&t, 6, (int64_t)(at - offset));
	thrift_end(&t);
	f->n_groups++;
	f->n_rows += n_rows;
}

static void put_metas(struct thrift *t, const struct parquet_footer *f)
{
	if (f->metas.n == 0)
		return;
	thrift_list(t, 5, THRIFT_STRUCT, f->metas.n);
	for (size_t i = 0; i < f->metas.n; i++) {
		thrift_element(t);
		thrift_string(t, 1, f->metas.items[i].key);
		thrift_string(t, 2, f->metas.items[i].value);
		thrift_end(t);
	}
}

/* Bounds are ordered by the types of the columns. */
static void put_orders(struct thrift *t, const struct parquet_footer *f)
{
	thrift_list(t, 7, THRIFT_STRUCT, f->n_columns);
	for (size_t i = 0; i < f->n_columns; i++) {
		thrift_element(t);
		thrift_struct(t, 1);
		thrift_end(t);
		thrift_end(t);
	}
}

void parquet_footer_put(const struct parquet_footer *f, struct text *out)
{
	struct thrift t = thrift_begin(out);
	size_t before = out->n;
	uint32_t size;

	thrift_int(&t, 1, VERSION);
	put_schema(&t, f);
	thrift_long(&t, 3, (int64_t)f->n_rows);
	thrift_list(&t, 4, THRIFT_STRUCT, f->n_groups);
	text_add(out, f->groups.bytes, f->groups.n);
	put_metas(&t, f);
	thrift_string(&t, 6, "cyclops version " CYCLOPS_VERSION " (build " CYCLOPS_VERSION ")");
	put_orders(&t, f);
	thrift_end(&t);
	size = (uint32_t)(out->n - before);
	text_add(out, (const char *)&size, sizeof(size));
	text_str(out, parquet_mark);
}
