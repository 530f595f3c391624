/* SPDX-License-Identifier: Apache-2.0 */
#include "table/answer.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"

static const struct column answer_columns[] = {
	{ "answer", "", "", CELL_TEXT, COLUMN_TEXT_ONLY, "what to know first" },
	{ "command", "", "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_COMMAND, "what to type next" },
};

void answer_init(struct table *t)
{
	table_init(t, "answer", NULL, answer_columns, COUNT(answer_columns));
	t->style = TABLE_ANSWER;
}

void answer_say(struct table *t, const char *format, ...)
{
	const char *words;
	va_list args;

	va_start(args, format);
	words = table_vformat(t, format, args);
	va_end(args);
	table_add_row(t)[0] = cell_text(words);
}

void answer_say_sentence(struct table *t, const char *words)
{
	size_t n = strlen(words);

	if (n > 0)
		answer_say(t, "%c%s%s", toupper((unsigned char)words[0]), words + 1,
			   words[n - 1] == '.' ? "" : ".");
}

void answer_say_of(struct table *t, const char *whole)
{
	if (t->style == TABLE_ANSWER && table_n_rows(t) > 0)
		t->cells.items[0] =
			cell_text(table_format(t, "Of %s: %s", whole, table_cell(t, 0, 0)->text));
}

void answer_next(struct table *t, const char *command)
{
	struct cell *row = table_add_row(t);

	row[0] = cell_text("Next:");
	row[1] = cell_text(command);
}
