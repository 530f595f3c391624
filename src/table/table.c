/* SPDX-License-Identifier: Apache-2.0 */
#include "table/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "table/human.h"

void table_init(struct table *t, const char *name, const char *title, const struct column *columns,
		size_t n_columns)
{
	assert(n_columns > 0);
	*t = (struct table){
		.name = name,
		.title = title,
		.columns = columns,
		.n_columns = n_columns,
	};
}

struct column *table_own_columns(struct table *t, size_t n_more)
{
	struct column *own = arena_alloc(&t->memory, (t->n_columns + n_more) * sizeof(*own));

	assert(table_n_rows(t) == 0);
	memcpy(own, t->columns, t->n_columns * sizeof(*own));
	t->columns = own;
	return own;
}

size_t columns_add(struct column *list, size_t n, const struct column *column)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, column->name) == 0)
			return n;
	list[n] = *column;
	return n + 1;
}

void table_release(struct table *t)
{
	vec_release(&t->cells);
	vec_release(&t->parents);
	vec_release(&t->notes);
	vec_release(&t->nested);
	arena_release(&t->memory);
}

void table_reset(struct table *t)
{
	t->cells.n = 0;
	t->parents.n = 0;
	t->notes.n = 0;
	arena_reset(&t->memory);
}

void table_nest(struct table *outer, struct table *inner)
{
	assert(outer != inner && inner->nested.n == 0);
	*vec_add(&outer->nested) = inner;
}

size_t table_n_rows(const struct table *t)
{
	return t->parents.n;
}

struct cell *table_add_row(struct table *t)
{
	struct cell *row;

	vec_reserve(&t->cells, t->n_columns);
	row = t->cells.items + t->cells.n;
	t->cells.n += t->n_columns;
	*vec_add(&t->parents) = ROW_NO_PARENT;
	return row;
}

struct cell *table_add_child(struct table *t, uint32_t parent_row)
{
	struct cell *row;

	assert(parent_row < t->parents.n);
	row = table_add_row(t);
	t->parents.items[t->parents.n - 1] = parent_row;
	return row;
}

const struct cell *table_cell(const struct table *t, size_t row, size_t column)
{
	assert(row < t->parents.n && column < t->n_columns);
	return &t->cells.items[row * t->n_columns + column];
}

int table_column(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *table_text(struct table *t, const char *text)
{
	return arena_strndup(&t->memory, text, strlen(text));
}

const char *table_take_text(struct table *t, struct text *text)
{
	const char *out = arena_strndup(&t->memory, text->bytes, text->n);

	text_release(text);
	return out;
}

struct cell table_text_cell(struct table *t, const char *text)
{
	return text == NULL ? (struct cell){ 0 } : cell_text(table_text(t, text));
}

const char *table_vformat(struct table *t, const char *format, va_list args)
{
	va_list again;
	char *text;
	int size;

	assert(format != NULL); /* gcc's sanitizer builds warn without it */
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	assert(size >= 0);
	text = arena_alloc(&t->memory, (size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, format, again);
	va_end(again);
	return text;
}

const char *table_format(struct table *t, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = table_vformat(t, format, args);
	va_end(args);
	return text;
}

void table_note(struct table *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	*vec_add(&t->notes) = table_vformat(t, format, args);
	va_end(args);
}

void table_fact(struct table *t, const char *name, struct text *value)
{
	struct cell *row;

	if (value->n == 0)
		return;
	text_char(value, '\0');
	row = table_add_row(t);
	row[0] = cell_text(name);
	row[1] = cell_text(table_text(t, value->bytes));
	text_reset(value);
}

const char *table_human(struct table *t, struct cell value, const char *unit)
{
	struct text words = { 0 };
	const char *copy;

	human_words(&words, &value, unit);
	copy = arena_strndup(&t->memory, words.bytes, words.n);
	text_release(&words);
	return copy;
}

const char *table_significant(struct table *t, double value)
{
	return table_format(t, "%10.4g", value);
}

struct table *tables_find(const struct tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->list.n; i++) {
		struct table *t = tables->list.items[i];

		if (strcmp(t->name, name) == 0)
			return t;
		for (size_t k = 0; k < t->nested.n; k++)
			if (strcmp(t->nested.items[k]->name, name) == 0)
				return t->nested.items[k];
	}
	return NULL;
}
