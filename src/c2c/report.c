/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that threads contend for, among the findings of a report. */
#include <string.h>

#include "base/alloc.h"
#include "c2c/tables.h"
#include "findings/finding_table.h"
#include "session/tip.h"

/* Less than this of the latency of loads is not worth a word in a report. */
static const double least_share = 0.01;

static const char *text_of(const struct table *lines, size_t row, const char *name)
{
	const struct cell *c = table_cell(lines, row, (size_t)table_column(lines, name));

	return c->type == CELL_TEXT ? c->text : NULL;
}

/* The instruction that writes most and the one that waits most: a cause has two places. */
static const char *where_of(const struct table *lines, size_t row, struct table *t)
{
	const char *writes = text_of(lines, row, "writes"), *reads = text_of(lines, row, "reads");

	if (writes != NULL && reads != NULL)
		return table_format(t, "writes %s; reads %s", writes, reads);
	return table_text(t, writes != NULL ? writes : reads != NULL ? reads : "");
}

static void add_line(const struct c2c *s, const struct table *lines, size_t line, struct table *t)
{
	static const struct {
		const char *name;
		enum finding_column column;
	} same[] = {
		{ "claim", FINDING_CLAIM },   { "size", FINDING_SIZE },
		{ "cost", FINDING_EVIDENCE }, { "fix", FINDING_TRY },
		{ "sure", FINDING_SURE },     { "kind", FINDING_KIND },
		{ "writer", FINDING_WRITER }, { "function", FINDING_FUNCTION },
		{ "module", FINDING_MODULE },
	};
	struct cell *row = table_add_row(t);

	for (size_t i = 0; i < COUNT(same); i++) {
		const char *text = text_of(lines, line, same[i].name);

		if (text != NULL)
			row[same[i].column] = cell_text(table_text(t, text));
	}
	row[FINDING_WHERE] = cell_text(where_of(lines, line, t));
	row[FINDING_NEXT] = cell_text(tip(t, s->session, "c2c"));
	row[FINDING_SHARE] = *table_cell(lines, line, (size_t)table_column(lines, "share"));
	row[FINDING_SIZE].mark = row[FINDING_SHARE].mark;
}

/* What functions that contend for a line are found to do, for no other reason. */
static bool may_be_contention(const char *kind)
{
	return kind != NULL &&
	       (strcmp(kind, "shared-data") == 0 || strcmp(kind, "slow-operations") == 0);
}

/*
 * That a function waits for other cores is what its line is about: it speaks for the finding of
 * the line, and is none of its own. Of such rows the kind is taken away.
 */
static void absorb(struct table *t, size_t line)
{
	for (size_t row = 0; row < line; row++) {
		if (!may_be_contention(finding_text(t, row, FINDING_KIND)) ||
		    !finding_is_in(t, line, finding_text(t, row, FINDING_FUNCTION),
				   finding_text(t, row, FINDING_MODULE)))
			continue;
		finding_append(t, line, FINDING_EVIDENCE,
			       table_format(t, "%s (%s)", finding_text(t, row, FINDING_CLAIM),
					    finding_text(t, row, FINDING_SIZE)));
		t->cells.items[row * t->n_columns + FINDING_KIND] = (struct cell){ 0 };
	}
}

static bool has_kind(const struct table *t, size_t row, const void *context)
{
	(void)context;
	return finding_text(t, row, FINDING_KIND) != NULL;
}

size_t c2c_add_findings(const struct c2c *s, const struct c2c_labels *labels,
			struct table *findings)
{
	struct table lines;
	size_t n = 0;

	c2c_findings_table(s, labels, &lines);
	for (size_t line = 0; line < table_n_rows(&lines); line++) {
		size_t share = (size_t)table_column(&lines, "share");

		if (table_cell(&lines, line, share)->number < least_share)
			continue;
		add_line(s, &lines, line, findings);
		absorb(findings, table_n_rows(findings) - 1);
		n++;
	}
	table_release(&lines);
	if (n == 0)
		return 0;
	table_keep(findings, has_kind, NULL);
	table_sort(findings, FINDING_SHARE, false);
	return n;
}
