/* SPDX-License-Identifier: Apache-2.0 */
#include "table/format.h"

#include <string.h>

#include "base/alloc.h"

static const struct format *const formats[] = { &format_text, &format_csv, &format_json };

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const char *format_names(void)
{
	return "text, csv, json";
}

void format_document(const struct format *format, const struct document *document,
		     const struct tables *tables, struct text *out)
{
	struct document whole = *document;

	whole.tables = tables;
	format->begin(&whole, out);
	for (size_t i = 0; i < tables->list.n; i++) {
		const struct table *t = tables->list.items[i];

		format->head(&whole, t, i == 0, out);
		format->rows(&whole, t, true, out);
		format->tail(&whole, t, out);
	}
	format->end(&whole, out);
}
