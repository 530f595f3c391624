/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text is a line for each interval, then the usual answer. Csv and json are one document whose
 * first table, the counts, grows; metrics of intervals come behind it, or grow in its place if
 * --table asks for them.
 */
#include "stat/stream.h"

#include <string.h>

#include "base/alloc.h"

/* The table that grows, or NULL: none of those that --table leaves. */
static struct table *growing(struct stat_stream *s)
{
	const char *asked = s->output->table;

	if (!s->printer.format->can_stream)
		return asked == NULL ? &s->ticks.lines : NULL;
	if (asked == NULL || strcmp(asked, s->ticks.counts.name) == 0)
		return &s->ticks.counts;
	return strcmp(asked, s->ticks.intervals.name) == 0 ? &s->ticks.intervals : NULL;
}

static int flush(struct stat_stream *s, struct text *text, struct err *err)
{
	int rc = printer_write(&s->printer, text, err);

	text_release(text);
	if (rc == 0)
		fflush(s->printer.stream);
	return rc;
}

/* Does the table of the whole say again what has grown interval by interval? */
static bool is_told(const struct stat_stream *s, const struct table *t)
{
	const char *const names[] = { s->ticks.counts.name, s->ticks.intervals.name };

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(t->name, names[i], length) == 0 &&
		    (t->name[length] == '\0' || t->name[length] == '@'))
			return true;
	}
	return false;
}

/* All tables of the document, those that `whole` says again left out. */
static void list_tables(const struct stat_stream *s, const struct tables *whole,
			struct table *first, struct table *second, struct tables *out)
{
	*vec_add(&out->list) = first;
	if (second == NULL)
		return;
	*vec_add(&out->list) = second;
	for (size_t i = 0; i < whole->list.n; i++)
		if (!is_told(s, whole->list.items[i]))
			*vec_add(&out->list) = whole->list.items[i];
}

/* The columns of all tables are described first: those of the whole are those of an interval. */
static int begin_document(struct stat_stream *s, struct counts *counts, struct err *err)
{
	struct table *grows = growing(s);
	bool is_alone = s->output->table != NULL;
	struct stat_types whole = { 0 };
	struct tables all = { 0 };
	struct text text = { 0 };
	int rc = -1;

	s->printer.document.is_plural = !is_alone;
	if (is_alone ||
	    stat_types_make(s->catalog, s->cpu_name, counts, s->options, &whole, err) == 0) {
		list_tables(s, &whole.shown, grows, is_alone ? NULL : &s->kept, &all);
		s->printer.document.tables = &all;
		s->printer.format->begin(&s->printer.document, &text);
		s->printer.format->head(&s->printer.document, grows, true, &text);
		s->printer.document.tables = NULL;
		rc = flush(s, &text, err);
	}
	vec_release(&all.list);
	stat_types_release(&whole);
	return rc;
}

static int open_stream(struct stat_stream *s, struct counts *counts, struct err *err)
{
	if (stat_ticks_init(&s->ticks, s->catalog, s->cpu_name, counts, s->options, err) < 0 ||
	    printer_open(&s->printer, s->output, "text", s->command, NULL, err) < 0)
		return -1;
	s->is_open = true;
	if (s->printer.format->is_binary)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--format %s is written when all is counted: intervals come as "
			       "text, csv or json",
			       s->printer.format->name);
	if (printer_need_file(&s->printer, err) < 0 || printer_publish(&s->printer, err) < 0)
		return -1;
	s->kept = (struct table){ 0 };
	table_init(&s->kept, s->ticks.intervals.name, s->ticks.intervals.title,
		   s->ticks.intervals.columns, s->ticks.intervals.n_columns);
	if (!s->printer.format->can_stream || growing(s) == NULL)
		return 0;
	s->has_head = true;
	return begin_document(s, counts, err);
}

/* The names are the catalog's and the units its; those of PMUs live as long as the stream. */
static void keep_rows(struct stat_stream *s)
{
	const struct table *from = &s->ticks.intervals;

	if (!s->has_head || s->output->table != NULL)
		return;
	for (size_t i = 0; i < table_n_rows(from); i++)
		memcpy(table_add_row(&s->kept), table_cell(from, i, 0),
		       from->n_columns * sizeof(struct cell));
}

/* A whole line or row, so that whoever reads a pipe has it at once. */
static int write_rows(struct stat_stream *s, struct err *err)
{
	struct table *grows = growing(s);
	struct text text = { 0 };

	keep_rows(s);
	if (grows == NULL || table_n_rows(grows) == 0)
		return 0;
	s->printer.format->rows(&s->printer.document, grows, !s->has_rows, &text);
	s->has_rows = true;
	return flush(s, &text, err);
}

void stat_stream_begin(void *stream, const struct counts *head)
{
	struct stat_stream *s = stream;

	s->head = head;
}

int stat_stream_tick(void *stream, const struct counts *counts, struct err *err)
{
	struct stat_stream *s = stream;
	struct counts one = *counts;

	one.midr = s->head->midr;
	one.slots = s->head->slots;
	memcpy(&one.pmus, &s->head->pmus, sizeof(one.pmus));
	one.has_own_times = s->head->has_own_times;
	if (!s->is_open && open_stream(s, &one, err) < 0)
		return -1;
	stat_ticks_take(&s->ticks, &one);
	return write_rows(s, err);
}

/* The rest of a document in which a table has grown. */
static int end_document(struct stat_stream *s, const struct tables *whole, struct err *err)
{
	const struct format *format = s->printer.format;
	struct document *d = &s->printer.document;
	bool is_alone = s->output->table != NULL;
	struct table *grows = growing(s);
	struct tables all = { 0 };
	struct text text = { 0 };
	int rc;

	list_tables(s, whole, grows, is_alone ? NULL : &s->kept, &all);
	d->tables = &all;
	format->tail(d, grows, &text);
	for (size_t i = 1; i < all.list.n; i++) {
		format->head(d, all.list.items[i], false, &text);
		format->rows(d, all.list.items[i], true, &text);
		format->tail(d, all.list.items[i], &text);
	}
	format->end(d, &text);
	rc = flush(s, &text, err);
	d->tables = NULL;
	vec_release(&all.list);
	return rc;
}

int stat_stream_end(struct stat_stream *s, struct counts *all, struct err *err)
{
	struct stat_types whole = { 0 };
	struct text gap = { 0 };
	int rc = stat_types_make(s->catalog, s->cpu_name, all, s->options, &whole, err);

	if (rc == 0 && s->has_head) {
		rc = end_document(s, &whole.shown, err);
	} else if (rc == 0) {
		if (s->has_rows)
			text_char(&gap, '\n');
		rc = flush(s, &gap, err);
		if (rc == 0)
			rc = printer_tables(&s->printer, s->output, &whole.shown, err);
	}
	rc = printer_close(&s->printer, rc, err);
	s->is_open = false;
	stat_types_release(&whole);
	return rc;
}

void stat_stream_release(struct stat_stream *s)
{
	struct err ignored;

	if (s->is_open)
		printer_close(&s->printer, -1, &ignored);
	stat_ticks_release(&s->ticks);
	table_release(&s->kept);
}
