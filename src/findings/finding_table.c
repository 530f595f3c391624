/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/finding_table.h"

#include <string.h>

#define PROSE(name, title, meaning)                                                                \
	{                                                                                          \
		name, title, "", CELL_TEXT, COLUMN_GROW, meaning                                   \
	}
#define FACT(name, type, meaning)                                                                  \
	{                                                                                          \
		name, NULL, "", type, COLUMN_MACHINE_ONLY, meaning                                 \
	}

static const struct column columns[FINDING_N_COLUMNS] = {
	[FINDING_CLAIM] = PROSE("claim", NULL, "what stands out"),
	[FINDING_SIZE] = { "size", NULL, "", CELL_TEXT, 0, "how much of the whole it concerns" },
	[FINDING_EVIDENCE] = PROSE("evidence", "", "what says so"),
	[FINDING_WHERE] = PROSE("where", NULL, "its heaviest place"),
	[FINDING_TRY] = PROSE("try", NULL, "what might change it"),
	[FINDING_NEXT] = { "next", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_COMMAND,
			   "what would tell more" },
	[FINDING_SURE] = PROSE("sure", NULL, "how certain it is"),
	[FINDING_KIND] =
		FACT("kind", CELL_TEXT, "kind of finding, or the metric that passes its threshold"),
	[FINDING_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_TRUST,
			    "the size, as a share of the whole" },
	[FINDING_FROM] = FACT("from", CELL_TEXT, "samples or counts"),
	[FINDING_FUNCTION] = FACT("function", CELL_TEXT, "that its heaviest place is in"),
	[FINDING_MODULE] = FACT("module", CELL_TEXT, "that the function is in"),
	[FINDING_WRITER] = FACT("writer", CELL_TEXT, "of sharing: the function that writes most"),
};

void finding_table_init(struct table *t)
{
	table_init(t, "findings", "Findings", columns, FINDING_N_COLUMNS);
	t->style = TABLE_FINDINGS;
}

const char *finding_text(const struct table *t, size_t row, enum finding_column column)
{
	const struct cell *c = table_cell(t, row, column);

	return c->type == CELL_TEXT ? c->text : NULL;
}

static bool are_equal(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool finding_is_in(const struct table *t, size_t row, const char *function, const char *module)
{
	return are_equal(finding_text(t, row, FINDING_MODULE), module) &&
	       (are_equal(finding_text(t, row, FINDING_FUNCTION), function) ||
		are_equal(finding_text(t, row, FINDING_WRITER), function));
}

void finding_append(struct table *t, size_t row, enum finding_column column, const char *more)
{
	const char *first = finding_text(t, row, column);

	t->cells.items[row * t->n_columns + column] = cell_text(
		first == NULL ? table_text(t, more) : table_format(t, "%s; %s", first, more));
}
