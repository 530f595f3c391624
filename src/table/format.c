/* SPDX-License-Identifier: Apache-2.0 */
#include "table/format.h"

#include <string.h>

#include "base/alloc.h"

static const struct format *const formats[] = { &format_text, &format_csv, &format_json,
						&format_parquet, &format_markdown };

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

bool document_begins_with_answer(const struct document *d)
{
	return d->tables != NULL && d->tables->list.n > 0 &&
	       d->tables->list.items[0]->style == TABLE_ANSWER;
}

const char *format_names(void)
{
	return "text, csv, json, parquet, markdown";
}

static bool format_has(const struct format *format, const struct table *t)
{
	if (t->readers != TABLE_FOR_ALL)
		return format->is_for_people == (t->readers == TABLE_FOR_PEOPLE);
	return t->style != TABLE_ANSWER || (format->is_for_people && table_n_rows(t) > 0);
}

struct tables format_tables(const struct format *format, const struct tables *tables)
{
	struct tables shown = { 0 };

	for (size_t i = 0; i < tables->list.n; i++) {
		struct table *t = tables->list.items[i];

		if (format_has(format, t))
			*vec_add(&shown.list) = t;
	}
	return shown;
}

/* Behind an answer, which says so, an empty table without a title or a note says nothing more to people. */
static bool is_said_by_answer(const struct format *format, const struct document *d,
			      const struct table *t)
{
	return format->is_for_people && document_begins_with_answer(d) && table_n_rows(t) == 0 &&
	       t->title == NULL && t->notes.n == 0;
}

void format_document(const struct format *format, const struct document *document,
		     const struct tables *tables, struct text *out)
{
	struct tables shown = format_tables(format, tables);
	struct document whole = *document;
	unsigned explained = 0;

	whole.explained = &explained;
	whole.tables = &shown;
	format->begin(&whole, out);
	for (size_t i = 0; i < shown.list.n; i++) {
		const struct table *t = shown.list.items[i];

		if (is_said_by_answer(format, &whole, t))
			continue;
		format->head(&whole, t, i == 0, out);
		format->rows(&whole, t, true, out);
		format->tail(&whole, t, out);
	}
	format->end(&whole, out);
	vec_release(&shown.list);
}
