/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of csv, written from the columns of a batch without cells in between: the same bytes as table/format_csv.c,
 * which is asked for texts and for all but the rows.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/hash.h"
#include "export/export_tables.h"
#include "table/format_csv.h"

enum {
	NUMBER_ROOM = 24,
	TEXT_ROOM = 64, /* a longer text is copied apart; any number is shorter */
	N_SHORT = 1000, /* numbers whose digits are kept */
	N_SPELLED = 256,
	MAX_COLUMNS = 32,
};

static const char commas[MAX_COLUMNS + 1] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";

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

	/* The digits before the last eight, as written, of a number that has more: most numbers share them. */
	uint64_t high;
	size_t high_size;
	char high_digits[NUMBER_ROOM];

	/* By row of the batch. */
	const uint64_t *at; /* numbers, codes, or where texts end in `texts` */
	uint64_t *values;   /* the same, unless the batch has them in this width */
	uint8_t *shown;	    /* of columns that are no fields */
	bool is_in_some, is_in_all;
	size_t n_texts;
	struct text texts;
	struct spelled *spelled; /* N_SPELLED, by hash */
	struct spelled *recent;	 /* the last one that was wanted */
};

/* A column that some rows of the batch have, and how many commas are before it. */
struct csv_cell {
	struct csv_column *column;
	size_t n_commas;
};

struct csv_rows {
	const struct export_table *class;
	size_t n_columns;
	size_t row_room; /* of a row whose texts are short, and of what is copied behind them */
	struct csv_column *columns;
	struct text word; /* that is spelled */
	char digits[N_SHORT][4];

	/* Of the batch. */
	struct csv_cell cells[MAX_COLUMNS];
	size_t n_cells;
	char end[MAX_COLUMNS +
		 sizeof(",true\n")]; /* what is behind the last cell, always copied as a whole */
	size_t end_size;
	bool is_modelled;
};

struct csv_rows *csv_rows_new(const struct export_table *t, bool is_modelled)
{
	struct csv_rows *rows = mem_zalloc(1, sizeof(*rows));

	rows->class = t;
	rows->n_columns = t->n_columns;
	rows->is_modelled = is_modelled;
	rows->row_room = (t->n_columns + 1) * (TEXT_ROOM + 1) + sizeof(commas) + sizeof(rows->end);
	assert(t->n_columns <= MAX_COLUMNS);
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
		if (c->width < sizeof(*c->values))
			c->values = mem_alloc(BATCH_ROWS, sizeof(*c->values));
	}
	for (size_t i = 0; i < t->n_codes; i++) {
		struct csv_column *c = &rows->columns[t->codes[i].column];

		c->code = &t->codes[i];
		c->values = mem_alloc(BATCH_ROWS, sizeof(*c->values));
		c->shown = mem_alloc(BATCH_ROWS, sizeof(*c->shown));
		if (c->code->spell != NULL)
			c->recent = c->spelled = mem_zalloc(N_SPELLED, sizeof(*c->spelled));
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

/* Copies numbers of `width` bytes. */
static void widen(const void *from, size_t width, size_t n, uint64_t *restrict out)
{
	const uint8_t *bytes = from;
	const uint16_t *halves = from;
	const uint32_t *words = from;

	switch (width) {
	case sizeof(uint8_t):
		for (size_t i = 0; i < n; i++)
			out[i] = bytes[i];
		return;
	case sizeof(uint16_t):
		for (size_t i = 0; i < n; i++)
			out[i] = halves[i];
		return;
	case sizeof(uint32_t):
		for (size_t i = 0; i < n; i++)
			out[i] = words[i];
		return;
	default:
		memcpy(out, from, n * sizeof(*out));
	}
}

static void put_rows_in_csv(void *to, size_t column, const void *first, unsigned width,
			    const uint32_t *has, uint32_t bits, size_t n)
{
	struct csv_column *c = (struct csv_column *)to + column;
	uint32_t in_some = 0, in_all = UINT32_MAX;
	uint8_t *restrict shown = c->shown;

	widen(first, width, n, c->values);
	for (size_t row = 0; row < n; row++) {
		uint32_t its = has[row] & bits;

		shown[row] = its != 0;
		in_some |= its;
		in_all &= its == 0 ? 0 : UINT32_MAX;
	}
	c->is_in_some |= in_some != 0;
	c->is_in_all &= in_all != 0;
}

static void put_list_in_csv(void *to, size_t column, const struct export_list *list)
{
	struct csv_column *c = (struct csv_column *)to + column;
	bool is_shown = list->is_there && list->n > 0;

	export_list_text(&c->texts, list);
	c->values[c->n_texts] = c->texts.n;
	c->shown[c->n_texts++] = is_shown;
	c->is_in_some |= is_shown;
	c->is_in_all &= is_shown;
}

static void put_absent_in_csv(void *to, size_t column, size_t n)
{
	(void)to;
	(void)column;
	(void)n;
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
	if (c->recent->is_there && c->recent->code == code)
		return c->recent;
	c->recent = &c->spelled[hash_mix(code, 0x9e3779b97f4a7c15u) % N_SPELLED];
	if (!c->recent->is_there || c->recent->code != code)
		spell(rows, c, context, code, c->recent);
	return c->recent;
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

static char *put_count(struct csv_column *c, uint64_t value, char *at)
{
	uint64_t rest = value - c->high * DIGITS_DECIMAL;

	if (value < DIGITS_DECIMAL)
		return at + digits_put_some(at, (uint32_t)value);
	if (c->high_size == 0 || rest >= DIGITS_DECIMAL) {
		c->high = value / DIGITS_DECIMAL;
		c->high_size = put_u64(c->high_digits, c->high);
		rest = value % DIGITS_DECIMAL;
	}
	memcpy(at, c->high_digits, sizeof(c->high_digits));
	at += c->high_size;
	digits_put_all(at, (uint32_t)rest);
	return at + 8;
}

static char *put_address(struct csv_column *c, uint64_t value, char *at)
{
	uint64_t high = value >> 32;

	if (high == 0) {
		at = mempcpy(at, "0x", 2);
		return at + digits_put_some_hex(at, (uint32_t)value);
	}
	if (c->high_size == 0 || c->high != high) {
		c->high = high;
		c->high_size = put_hex(c->high_digits, high);
	}
	memcpy(at, c->high_digits, sizeof(c->high_digits));
	at += c->high_size;
	digits_put_all_hex(at, (uint32_t)value);
	return at + 8;
}

static char *put_number_anew(struct csv_column *c, uint64_t value, char *at)
{
	switch (c->type) {
	case CELL_HEX:
		return put_address(c, value, at);
	case CELL_BOOL:
		memcpy(at, value != 0 ? "true\0" : "false", 5);
		return at + (value != 0 ? 4 : 5);
	case CELL_SIGNED: /* of 32 bits */
		*at = '-';
		at += (int32_t)value < 0;
		return put_count(c, (uint64_t)llabs((int32_t)value), at);
	default:
		return put_count(c, value, at);
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
		return put_number_anew(c, value, at);
	}
	if (c->last_size == 0)
		c->last_size = (size_t)(put_number_anew(c, value, c->last_digits) - c->last_digits);
	memcpy(at, c->last_digits, sizeof(c->last_digits));
	return at + c->last_size;
}

/* Appends a text of any length between two pieces of a row; returns where the row goes on. */
static char *put_text(struct csv_rows *rows, struct csv_column *c,
		      const struct export_context *context, size_t row, struct text *out, char *at)
{
	if (c->spelled == NULL) {
		size_t from = row > 0 ? c->at[row - 1] : 0;

		out->n = (size_t)(at - out->bytes);
		text_add(out, c->texts.bytes + from, c->at[row] - from); /* nothing to quote */
	} else {
		const struct spelled *s = find_spelled(rows, c, context, c->at[row]);

		if (s->size <= TEXT_ROOM) {
			memcpy(at, c->texts.bytes + s->at, TEXT_ROOM);
			return at + s->size;
		}
		out->n = (size_t)(at - out->bytes);
		text_add(out, c->texts.bytes + s->at, s->size);
	}
	return text_room(out, rows->row_room);
}

static bool is_shown(const struct csv_column *c, const struct batch *b, size_t row)
{
	if (c->is_in_all)
		return true;
	return c->has != 0 ? (b->has[row] & c->has) != 0 : c->shown[row];
}

/* Which columns some rows have, in the order of columns, and what is behind the last one. */
static void choose_cells(struct csv_rows *rows)
{
	size_t n_commas = 0;
	char *end;

	rows->n_cells = 0;
	for (size_t i = 0; i < rows->n_columns; i++) {
		if (rows->columns[i].is_in_some) {
			rows->cells[rows->n_cells++] =
				(struct csv_cell){ &rows->columns[i], n_commas };
			n_commas = 0;
		}
		n_commas++;
	}
	end = mempcpy(rows->end, commas, n_commas - 1);
	end = stpcpy(end, rows->is_modelled ? ",true\n" : "\n");
	rows->end_size = (size_t)(end - rows->end);
}

static void csv_rows_begin(struct csv_rows *rows, const struct export_context *context,
			   const struct batch *b)
{
	const struct export_put put = { put_rows_in_csv, put_list_in_csv, put_absent_in_csv,
					rows->columns };
	uint32_t in_some = 0, in_all = UINT32_MAX;

	for (size_t row = 0; row < b->n; row++) {
		in_some |= b->has[row];
		in_all &= b->has[row];
	}
	for (size_t i = 0; i < rows->n_columns; i++) {
		struct csv_column *c = &rows->columns[i];

		c->is_in_some = (in_some & c->has) != 0;
		c->is_in_all = c->has == 0 || (in_all & c->has) != 0;
		c->at = c->values;
		c->n_texts = 0;
		if (c->has == 0 && c->spelled != NULL)
			forget_spelled(c);
		else if (c->has == 0)
			text_reset(&c->texts);
		else if (c->width == sizeof(*c->at))
			c->at = (const void *)((const char *)b + c->offset);
		else if (c->is_in_some)
			widen((const char *)b + c->offset, c->width, b->n, c->values);
	}
	rows->class->put(context, b, &put);
	choose_cells(rows);
}

void csv_rows_add(struct csv_rows *rows, const struct export_context *context,
		  const struct batch *b, struct text *out)
{
	csv_rows_begin(rows, context, b);
	for (size_t row = 0; row < b->n; row++) {
		char *at = text_room(out, rows->row_room);

		for (size_t i = 0; i < rows->n_cells; i++) {
			struct csv_column *c = rows->cells[i].column;

			memcpy(at, commas, MAX_COLUMNS);
			at += rows->cells[i].n_commas;
			if (!is_shown(c, b, row))
				continue;
			if (c->type == CELL_TEXT)
				at = put_text(rows, c, context, row, out, at);
			else
				at = put_number(rows, c, c->at[row], at);
		}
		memcpy(at, rows->end, sizeof(rows->end));
		out->n = (size_t)(at - out->bytes) + rows->end_size;
	}
}
