/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/result.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Reads an answer, value by value. */
struct reader {
	const struct engine *engine;
	const char *at, *end;
	struct text value; /* the last one, NUL-terminated */
	bool was_quoted;
};

/* Takes the next value of a line; false at the line's end, which is taken, too. */
static bool next_value(struct reader *r, bool is_first)
{
	char separator = r->engine->separates_by_tabs ? '\t' : ',';

	text_reset(&r->value);
	r->was_quoted = false;
	if (!is_first) {
		if (r->at < r->end && *r->at == '\r')
			r->at++;
		if (r->at >= r->end || *r->at == '\n') {
			r->at += r->at < r->end;
			return false;
		}
		r->at++; /* the separator */
	}
	if (!r->engine->separates_by_tabs && r->at < r->end && *r->at == '"') {
		r->was_quoted = true;
		for (r->at++; r->at < r->end; r->at++) {
			if (*r->at == '"' && (r->at + 1 >= r->end || r->at[1] != '"')) {
				r->at++;
				break;
			}
			r->at += *r->at == '"';
			text_char(&r->value, *r->at);
		}
	}
	while (r->at < r->end && *r->at != separator && *r->at != '\n' && *r->at != '\r')
		text_char(&r->value, *r->at++);
	text_char(&r->value, '\0');
	return true;
}

static bool is_absent(const struct reader *r)
{
	return !r->was_quoted && strcmp(r->value.bytes, r->engine->absent) == 0;
}

static int unexpected(const struct reader *r, const char *column, const char *wanted,
		      struct err *err)
{
	return err_set(err, ERR_FORMAT, ERR_NOWHERE,
		       "%s answered '%.60s' in the column %s, wanted %s", r->engine->name,
		       r->value.n > 0 ? r->value.bytes : "", column, wanted);
}

/* Whole numbers may come as 12, 12.0 or 1.2E1. */
static bool read_count(const char *text, uint64_t *out)
{
	char *end;
	double number;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (end != text && *end == '\0' && errno == 0 && text[0] != '-')
		return true;
	number = strtod(text, &end);
	if (end == text || *end != '\0' || !(number >= 0) || number >= 0x1p64)
		return false;
	*out = (uint64_t)number;
	return true;
}

static bool read_truth(const char *text, uint64_t *out)
{
	*out = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	return *out != 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static int read_cell(const struct reader *r, const struct column *column, struct table *t,
		     struct cell *out, struct err *err)
{
	const char *text = r->value.bytes;
	uint64_t count = 0;
	double number;
	char *end;

	*out = (struct cell){ 0 };
	if (is_absent(r))
		return 0;
	switch (column->type) {
	case CELL_COUNT:
		if (!read_count(text, &count))
			return unexpected(r, column->name, "a whole number", err);
		*out = cell_count(count);
		return 0;
	case CELL_BOOL:
		if (!read_truth(text, &count))
			return unexpected(r, column->name, "true or false", err);
		*out = cell_bool(count != 0);
		return 0;
	case CELL_NUMBER:
		number = strtod(text, &end);
		if (end == text || *end != '\0')
			return unexpected(r, column->name, "a number", err);
		if (isfinite(number))
			*out = cell_number(number);
		return 0;
	default:
		if (text[0] != '\0')
			*out = cell_text(table_text(t, text));
		return 0;
	}
}

/* Skips empty lines, and those of statements without an answer. */
static void skip_no_answers(struct reader *r)
{
	const char *line = r->engine->no_answer;
	size_t size = line != NULL ? strlen(line) : 0;

	for (;;) {
		if (r->at < r->end && (*r->at == '\n' || *r->at == '\r'))
			r->at++;
		else if (size > 0 && (size_t)(r->end - r->at) >= size &&
			 memcmp(r->at, line, size) == 0)
			r->at += size;
		else
			return;
	}
}

/*
 * Goes to the line with the names of the columns, where there is one: statements of --setup, such as CREATE SECRET, have
 * answers of their own.
 */
static void find_head(struct reader *r, const struct column *columns, size_t n)
{
	struct text head = { 0 };
	const char *at = r->at;

	for (size_t i = 0; i < n; i++) {
		text_str(&head, i == 0 ? "" : r->engine->separates_by_tabs ? "\t" : ",");
		text_str(&head, columns[i].name);
	}
	while (at < r->end) {
		const char *newline = memchr(at, '\n', (size_t)(r->end - at));

		if ((size_t)(r->end - at) >= head.n && memcmp(at, head.bytes, head.n) == 0) {
			r->at = at;
			break;
		}
		at = newline != NULL ? newline + 1 : r->end;
	}
	text_release(&head);
}

/* The line of names must be that of the columns. */
static int read_head(struct reader *r, const struct column *columns, size_t n, struct err *err)
{
	size_t i = 0;

	skip_no_answers(r);
	while (next_value(r, i == 0)) {
		if (i >= n || strcmp(r->value.bytes, columns[i].name) != 0)
			return unexpected(r, "names", i < n ? columns[i].name : "no more columns",
					  err);
		i++;
	}
	return i == n ? 0 : unexpected(r, "names", columns[i].name, err);
}

static int read_row(struct reader *r, struct table *t, struct err *err)
{
	size_t row = table_n_rows(t), i = 0;

	table_add_row(t);
	while (next_value(r, i == 0)) {
		if (i >= t->n_columns)
			return unexpected(r, "behind the last", "the end of the line", err);
		if (read_cell(r, &t->columns[i], t, &t->cells.items[row * t->n_columns + i], err) <
		    0)
			return -1;
		i++;
	}
	return i == t->n_columns ? 0 : unexpected(r, t->columns[i].name, "a value", err);
}

enum facts_column {
	FACT_CAPTURES,
	FACT_HOSTS,
	FACT_FIRST,
	FACT_LAST,
	FACT_RECORDS,
	FACT_MODELLED,
	FACT_LOSSES,
	FACT_UNSCALED,
	N_FACTS
};

static const struct column facts_columns[N_FACTS] = {
	[FACT_CAPTURES] = { .name = "captures", .type = CELL_COUNT },
	[FACT_HOSTS] = { .name = "hosts", .type = CELL_COUNT },
	[FACT_FIRST] = { .name = "first_day", .type = CELL_TEXT },
	[FACT_LAST] = { .name = "last_day", .type = CELL_TEXT },
	[FACT_RECORDS] = { .name = "records", .type = CELL_COUNT },
	[FACT_MODELLED] = { .name = "modelled", .type = CELL_COUNT },
	[FACT_LOSSES] = { .name = "with_losses", .type = CELL_COUNT },
	[FACT_UNSCALED] = { .name = "unscaled", .type = CELL_COUNT },
};

static void take_day(const struct cell *cell, char out[sizeof("2026-11-26")])
{
	snprintf(out, sizeof("2026-11-26"), "%.10s", cell->type == CELL_TEXT ? cell->text : "");
}

static int read_facts(struct reader *r, struct fleet_facts *out, struct err *err)
{
	struct table t;
	int rc;

	table_init(&t, "facts", NULL, facts_columns, N_FACTS);
	rc = read_head(r, facts_columns, N_FACTS, err);
	if (rc == 0)
		rc = read_row(r, &t, err);
	if (rc == 0) {
		out->captures = table_cell(&t, 0, FACT_CAPTURES)->count;
		out->hosts = table_cell(&t, 0, FACT_HOSTS)->count;
		out->records = table_cell(&t, 0, FACT_RECORDS)->count;
		out->modelled = table_cell(&t, 0, FACT_MODELLED)->count;
		out->with_losses = table_cell(&t, 0, FACT_LOSSES)->count;
		out->unscaled = table_cell(&t, 0, FACT_UNSCALED)->count;
		take_day(table_cell(&t, 0, FACT_FIRST), out->first_day);
		take_day(table_cell(&t, 0, FACT_LAST), out->last_day);
	}
	table_release(&t);
	return rc;
}

/* Opens the answer at the first line of these names. */
static int reader_open(struct reader *r, const struct engine *engine, const struct text *answer,
		       const struct column *columns, size_t n, struct err *err)
{
	*r = (struct reader){ .engine = engine };
	if (answer->n == 0)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s answered nothing", engine->name);
	r->at = answer->bytes;
	r->end = answer->bytes + answer->n;
	find_head(r, columns, n);
	return 0;
}

static int read_table(struct reader *r, struct table *t, struct err *err)
{
	/* engines say nothing, or names alone, where there are no rows */
	int rc = r->at < r->end ? read_head(r, t->columns, t->n_columns, err) : 0;

	while (rc == 0 && r->at < r->end)
		rc = read_row(r, t, err);
	return rc;
}

int result_read(const struct engine *engine, const struct text *answer, struct fleet_facts *facts,
		struct table *t, struct err *err)
{
	struct reader r;
	int rc = reader_open(&r, engine, answer, facts_columns, N_FACTS, err);

	*facts = (struct fleet_facts){ 0 };
	if (rc == 0)
		rc = read_facts(&r, facts, err);
	if (rc == 0)
		rc = read_table(&r, t, err);
	text_release(&r.value);
	return rc;
}

int result_read_rows(const struct engine *engine, const struct text *answer, struct table *t,
		     struct err *err)
{
	struct reader r;
	int rc = reader_open(&r, engine, answer, t->columns, t->n_columns, err);

	if (rc == 0)
		rc = read_table(&r, t, err);
	text_release(&r.value);
	return rc;
}
