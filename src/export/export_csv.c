/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of csv, written from the columns of a batch without cells in between: the same bytes as table/format_csv.c,
 * which is asked for texts and for all but the rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "export/export_tables.h"
#include "table/format_csv.h"

enum {
	NUMBER_ROOM = 24,
	TEXT_ROOM = 64, /* a longer text is copied apart; any number is shorter */
	N_SHORT = 1000, /* numbers whose digits are kept */
	N_SPELLED = 256,
};

/* The text of a code, as csv has it, in struct csv_column.texts. */
struct spelled {
	uint64_t code;
	uint32_t at, size;
	bool is_there;
};

/* A column: where its value is in a batch, or, of other columns, what the table put. */
struct csv_column {
	enum cell_type type;
	uint32_t has; /* of a field; else 0 */
	size_t offset, width;
	const struct export_code *code;

	/* The number before: many repeat. It is kept as written when it does so first; until then the size is 0. */
	uint64_t last;
	size_t last_size;
	char last_digits[NUMBER_ROOM];

	/* By row, of columns that are no fields. */
	uint64_t *values; /* numbers, codes, or where texts end in `texts` */
	uint8_t *shown;
	size_t n_texts;
	struct text texts;
	struct spelled *spelled; /* N_SPELLED, by hash */
};

struct csv_rows {
	const struct export_table *class;
	size_t n_columns;
	bool is_modelled;
	size_t row_room; /* of a row whose texts are short, and of what is copied behind them */
	struct csv_column *columns;
	struct text word; /* that is spelled */
	char digits[N_SHORT][4];
};

struct csv_rows *csv_rows_new(const struct export_table *t, bool is_modelled)
{
	struct csv_rows *rows = mem_zalloc(1, sizeof(*rows));

	rows->class = t;
	rows->n_columns = t->n_columns;
	rows->is_modelled = is_modelled;
	rows->row_room = (t->n_columns + 1) * (TEXT_ROOM + 1);
	rows->columns = mem_zalloc(t->n_columns, sizeof(*rows->columns));
	for (size_t i = 0; i < t->n_columns; i++)
		rows->columns[i].type = t->columns[i].type;
	for (uint64_t i = 0; i < N_SHORT; i++) {
		char digits[NUMBER_ROOM];

		put_u64(digits, i);
		memcpy(rows->digits[i], digits, sizeof(rows->digits[i]));
	}
	for (size_t i = 0; i < t->n_fields; i++) {
		struct csv_column *c = &rows->columns[t->fields[i].column];

		c->has = t->fields[i].has;
		c->offset = t->fields[i].offset;
		c->width = t->fields[i].size;
	}
	for (size_t i = 0; i < t->n_codes; i++) {
		struct csv_column *c = &rows->columns[t->codes[i].column];

		c->code = &t->codes[i];
		c->values = mem_alloc(BATCH_ROWS, sizeof(*c->values));
		c->shown = mem_alloc(BATCH_ROWS, sizeof(*c->shown));
		if (c->code->spell != NULL)
			c->spelled = mem_zalloc(N_SPELLED, sizeof(*c->spelled));
	}
	return rows;
}

void csv_rows_free(struct csv_rows *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->n_columns; i++) {
		free(rows->columns[i].values);
		free(rows->columns[i].shown);
		free(rows->columns[i].spelled);
		text_release(&rows->columns[i].texts);
	}
	free(rows->columns);
	text_release(&rows->word);
	free(rows);
}

static void put_rows_in_csv(void *to, size_t column, const void *first, unsigned width,
			    const uint32_t *has, uint32_t bits, size_t n)
{
	struct csv_column *c = (struct csv_column *)to + column;

	for (size_t row = 0; row < n; row++) {
		c->values[row] = export_value_at((const char *)first + row * width, width);
		c->shown[row] = (has[row] & bits) != 0;
	}
}

static void put_text_in_csv(void *to, size_t column, const struct text *text)
{
	struct csv_column *c = (struct csv_column *)to + column;

	text_add(&c->texts, text->bytes, text->n);
	text_char(&c->texts, '\0');
	c->values[c->n_texts] = c->texts.n;
	c->shown[c->n_texts++] = text->n > 0;
}

/* Spells a code as csv. */
static void spell(struct csv_rows *rows, struct csv_column *c, const struct export_context *context,
		  uint64_t code, struct spelled *out)
{
	text_reset(&rows->word);
	c->code->spell(context, code, &rows->word);
	text_char(&rows->word, '\0');
	*out = (struct spelled){ .code = code, .at = (uint32_t)c->texts.n, .is_there = true };
	csv_put_text(&c->texts, rows->word.bytes);
	out->size = (uint32_t)c->texts.n - out->at;
	memset(text_room(&c->texts, TEXT_ROOM), 0, TEXT_ROOM); /* may be read behind it */
}

static const struct spelled *find_spelled(struct csv_rows *rows, struct csv_column *c,
					  const struct export_context *context, uint64_t code)
{
	struct spelled *s = &c->spelled[hash_mix(code, 0x9e3779b97f4a7c15u) % N_SPELLED];

	if (!s->is_there || s->code != code)
		spell(rows, c, context, code, s);
	return s;
}

/* The texts are spelled again after so many bytes: as many as codes were seen, no more. */
static void forget_spelled(struct csv_column *c)
{
	enum { TEXTS_BYTES = 1 << 18 };

	if (c->texts.n < TEXTS_BYTES)
		return;
	memset(c->spelled, 0, N_SPELLED * sizeof(*c->spelled));
	text_reset(&c->texts);
}

static size_t put_number_anew(char *at, enum cell_type type, uint64_t value)
{
	switch (type) {
	case CELL_HEX:
		return put_hex(at, value);
	case CELL_BOOL:
		memcpy(at, value != 0 ? "true\0" : "false", 5);
		return value != 0 ? 4 : 5;
	case CELL_SIGNED: /* of 32 bits */
		*at = '-';
		at += (int32_t)value < 0;
		return ((int32_t)value < 0) + put_u64(at, (uint64_t)llabs((int32_t)value));
	default:
		return put_u64(at, value);
	}
}

/* The bits of a double. */
static char *put_double(struct csv_rows *rows, uint64_t bits, char *at)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	text_reset(&rows->word);
	text_f64(&rows->word, value);
	return mempcpy(at, rows->word.bytes, rows->word.n);
}

static char *put_number(struct csv_rows *rows, struct csv_column *c, uint64_t value, char *at)
{
	if (c->type == CELL_NUMBER)
		return put_double(rows, value, at);
	if (c->type == CELL_COUNT && value < N_SHORT) {
		memcpy(at, rows->digits[value], sizeof(rows->digits[value]));
		return at + 1 + (value >= 10) + (value >= 100);
	}
	if (c->last != value) {
		c->last = value;
		c->last_size = 0;
		return at + put_number_anew(at, c->type, value);
	}
	if (c->last_size == 0)
		c->last_size = put_number_anew(c->last_digits, c->type, value);
	memcpy(at, c->last_digits, sizeof(c->last_digits));
	return at + c->last_size;
}

/* Appends a text of any length between two pieces of a row; returns where the row goes on. */
static char *put_text(struct csv_rows *rows, struct csv_column *c,
		      const struct export_context *context, size_t row, struct text *out, char *at)
{
	if (c->spelled == NULL) {
		size_t from = row > 0 ? c->values[row - 1] : 0;

		out->n = (size_t)(at - out->bytes);
		csv_put_text(out, c->texts.bytes + from);
	} else {
		const struct spelled *s = find_spelled(rows, c, context, c->values[row]);

		if (s->size <= TEXT_ROOM) {
			memcpy(at, c->texts.bytes + s->at, TEXT_ROOM);
			return at + s->size;
		}
		out->n = (size_t)(at - out->bytes);
		text_add(out, c->texts.bytes + s->at, s->size);
	}
	return text_room(out, rows->row_room);
}

static char *put_cell(struct csv_rows *rows, struct csv_column *c,
		      const struct export_context *context, const struct batch *b, size_t row,
		      struct text *out, char *at)
{
	if (c->has != 0)
		return b->has[row] & c->has
			       ? put_number(rows, c,
					    export_value_at((const char *)b + c->offset +
								    row * c->width,
							    c->width),
					    at)
			       : at;
	if (!c->shown[row])
		return at;
	if (c->type == CELL_TEXT)
		return put_text(rows, c, context, row, out, at);
	return put_number(rows, c, c->values[row], at);
}

static void csv_rows_begin(struct csv_rows *rows, const struct export_context *context,
			   const struct batch *b)
{
	const struct export_put put = { put_rows_in_csv, put_text_in_csv, rows->columns };

	for (size_t i = 0; i < rows->n_columns; i++) {
		struct csv_column *c = &rows->columns[i];

		c->n_texts = 0;
		if (c->spelled != NULL)
			forget_spelled(c);
		else
			text_reset(&c->texts);
	}
	rows->class->put(context, b, &put);
}

void csv_rows_add(struct csv_rows *rows, const struct export_context *context,
		  const struct batch *b, struct text *out)
{
	csv_rows_begin(rows, context, b);
	for (size_t row = 0; row < b->n; row++) {
		char *at = text_room(out, rows->row_room);

		for (size_t i = 0; i < rows->n_columns; i++) {
			at = put_cell(rows, &rows->columns[i], context, b, row, out, at);
			*at++ = ',';
		}
		if (rows->is_modelled)
			at = mempcpy(at, "true\n", 5);
		else
			at[-1] = '\n';
		out->n = (size_t)(at - out->bytes);
	}
}
