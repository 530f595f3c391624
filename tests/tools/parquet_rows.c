/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a Parquet file as csv, for comparison with cyclops' own: absent values are empty, truth values words, texts
 * quoted where they need it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "parquet_reader.h"

enum { P_BOOLEAN = 0, P_INT32 = 1, P_DOUBLE = 5, P_BYTES = 6, L_INTEGER = 10 };

/* Where a column stands. */
struct place {
	size_t value, list;
};

static void put_quoted(struct text *out, const char *bytes, size_t n)
{
	text_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '"')
			text_char(out, '"');
		text_char(out, bytes[i]);
	}
	text_char(out, '"');
}

static void put_text_value(struct text *out, const struct reader_values *v, size_t i)
{
	const char *bytes;
	bool is_plain;

	if (v->sizes.items[i] == 0)
		return;
	bytes = v->texts.bytes + v->numbers.items[i];
	is_plain = bytes[0] != '#';
	for (size_t k = 0; k < v->sizes.items[i]; k++)
		is_plain &= strchr("\",\n\r", bytes[k]) == NULL || bytes[k] == '\0';
	if (is_plain)
		text_add(out, bytes, v->sizes.items[i]);
	else
		put_quoted(out, bytes, v->sizes.items[i]);
}

static void put_value(struct text *out, const struct reader_column *c,
		      const struct reader_values *v, size_t i)
{
	uint64_t bits = v->numbers.items[i];
	double number;

	if (c->physical == P_BYTES) {
		put_text_value(out, v, i);
	} else if (c->physical == P_BOOLEAN) {
		text_str(out, bits != 0 ? "true" : "false");
	} else if (c->physical == P_DOUBLE) {
		memcpy(&number, &bits, sizeof(number));
		text_f64(out, number);
	} else if (c->logical == L_INTEGER && !c->is_signed) {
		text_u64(out, bits);
	} else {
		text_i64(out, c->physical == P_INT32 ? (int32_t)bits : (int64_t)bits);
	}
}

/* How many columns from the one on are the fields of one list of structs: 1 if it is none. */
static size_t n_parts_of(const struct reader_file *file, size_t first)
{
	const struct reader_column *c = &file->columns.items[first];
	size_t n = 1;

	while (c->part != NULL && first + n < file->columns.n && c[n].part != NULL &&
	       strcmp(c[n].name, c->name) == 0)
		n++;
	return n;
}

/* Elements of a list are separated by ";", fields of a struct by "/". */
static void put_column(struct text *out, const struct reader_column *c,
		       const struct reader_values *values, struct place *places, size_t n_parts,
		       size_t row)
{
	uint32_t n = values->present.items[row];

	for (size_t i = 0; i < n_parts && c->is_list && values->present.items[row]; i++)
		n = values[i].lengths.items[places[i].list++];
	for (uint32_t k = 0; k < n; k++) {
		text_str(out, k > 0 ? ";" : "");
		for (size_t i = 0; i < n_parts; i++) {
			text_str(out, i > 0 ? "/" : "");
			put_value(out, &c[i], &values[i], places[i].value++);
		}
	}
}

static void put_row(struct text *out, const struct reader_file *file,
		    const struct reader_values *values, struct place *places, size_t row)
{
	for (size_t i = 0, n; i < file->columns.n; i += n) {
		n = n_parts_of(file, i);
		text_str(out, i > 0 ? "," : "");
		put_column(out, &file->columns.items[i], &values[i], &places[i], n, row);
	}
	text_char(out, '\n');
}

/* Fields of a struct are there in the same rows, and have lists of the same length. */
static int check_parts(const struct reader_file *file, const struct reader_values *values,
		       struct err *err)
{
	for (size_t i = 1; i < file->columns.n; i++) {
		const struct reader_values *a = &values[i - 1], *b = &values[i];

		if (n_parts_of(file, i - 1) == 1)
			continue;
		if (a->lengths.n != b->lengths.n ||
		    memcmp(a->present.items, b->present.items, a->present.n) != 0 ||
		    memcmp(a->lengths.items, b->lengths.items,
			   a->lengths.n * sizeof(*a->lengths.items)) != 0)
			return err_set(err, ERR_FORMAT, ERR_NOWHERE, "fields of different lists");
	}
	return 0;
}

static int print_file(const struct reader_file *file, struct err *err)
{
	struct reader_values *values = mem_zalloc(file->columns.n, sizeof(*values));
	struct place *places = mem_zalloc(file->columns.n, sizeof(*places));
	struct text out = { 0 };
	int rc = 0;

	for (size_t i = 0; i < file->columns.n && rc == 0; i++) {
		if (i == 0 || n_parts_of(file, i - 1) == 1)
			text_format(&out, "%s%s", i > 0 ? "," : "", file->columns.items[i].name);
		rc = reader_read(file, i, &values[i], err);
	}
	text_char(&out, '\n');
	if (rc == 0)
		rc = check_parts(file, values, err);
	for (size_t row = 0; row < file->n_rows && rc == 0; row++)
		put_row(&out, file, values, places, row);
	if (rc == 0)
		fwrite(out.bytes, 1, out.n, stdout);
	for (size_t i = 0; i < file->columns.n; i++)
		reader_values_release(&values[i]);
	text_release(&out);
	free(values);
	free(places);
	return rc;
}

static int print_metas(const struct reader_file *file)
{
	for (size_t i = 0; i + 1 < file->metas.n; i += 2)
		printf("%s=%s\n", file->metas.items[i], file->metas.items[i + 1]);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_meta = argc > 1 && strcmp(argv[1], "--meta") == 0;
	struct reader_file file = { 0 };
	struct mapped mapped = { 0 };
	struct err err;
	int rc;

	if (argc != 2 + is_meta) {
		fprintf(stderr, "usage: parquet-rows [--meta] FILE\n");
		return 2;
	}
	rc = mapped_open(&mapped, argv[argc - 1], &err);
	if (rc == 0)
		rc = reader_open(mapped.bytes, mapped.size, &file, &err);
	if (rc == 0)
		rc = is_meta ? print_metas(&file) : print_file(&file, &err);
	if (rc < 0)
		fprintf(stderr, "parquet-rows: %s\n", err.text);
	reader_close(&file);
	mapped_release(&mapped);
	return rc < 0;
}
