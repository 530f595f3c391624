/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "estimate/readings.h"
#include "export/export_tables.h"
#include "hot/branches.h"
#include "scan/scan.h"

static const struct export_table *const export_tables[] = { &export_spe, &export_samples,
							    &export_branches, &export_counts };

struct cell export_id(uint64_t id)
{
	return cell_signed((int32_t)id);
}

void export_spell_event(const void *context, uint64_t code, struct text *out)
{
	const struct export_context *c = context;

	text_str(out, capture_event_name(c->session->capture, code));
}

static void export_fields(const struct export_table *t, const struct batch *b, size_t row,
			  struct cell *cells)
{
	for (size_t i = 0; i < t->n_fields; i++) {
		const struct export_field *f = &t->fields[i];

		if (b->has[row] & f->has)
			cells[f->column] = f->make(export_field_value(f, b, row));
	}
}

void export_list_text(struct text *out, const struct export_list *list)
{
	const uint64_t *number = list->numbers;

	for (uint32_t i = 0; list->is_there && i < list->n; i++)
		for (unsigned part = 0; part < list->n_parts; part++) {
			if (i + part > 0)
				text_char(out, part > 0 ? '/' : ':');
			text_hex(out, *number++);
		}
}

struct cell export_scratch_cell(const struct export_context *c, struct table *t)
{
	if (c->scratch->n == 0)
		return (struct cell){ 0 };
	text_char(c->scratch, '\0');
	return cell_text(table_text(t, c->scratch->bytes));
}

/* The state of a worker. */
struct export_worker {
	struct table rows;
	struct text scratch, numbers;
	struct csv_rows *csv; /* of that format */
};

struct export_job {
	struct session *session;
	const struct export_table *class;
	const struct format *format;
	const struct document *document;
	struct function_names *names; /* NULL: the table wants none */
	struct export_worker *workers;
	bool has_rows; /* an earlier piece had rows */
	export_sink *sink;
	void *context;
};

static const char *export_table_name(const void *context, size_t i)
{
	(void)context;
	return i < COUNT(export_tables) ? export_tables[i]->name : NULL;
}

const struct export_table *export_table_find(const char *name, struct err *err)
{
	char names[64];

	for (size_t i = 0; i < COUNT(export_tables); i++)
		if (strcmp(export_tables[i]->name, name) == 0)
			return export_tables[i];
	err_set(err, ERR_USAGE, ERR_NOWHERE, "--table: there is no table '%s'; there are %s", name,
		list_words(export_table_name, NULL, names, sizeof(names)));
	return NULL;
}

const struct export_table *export_table_default(const struct session *s)
{
	if (capture_n_chunks(s->capture) > 0)
		return &export_spe;
	return capture_totals(s->capture)->n_samples == 0 && readings_are_there(s->capture)
		       ? &export_counts
		       : &export_samples;
}

bool export_table_has_data(const struct export_table *table, const struct session *s)
{
	if (table == &export_branches)
		return session_has_branches(s);
	if (table == &export_counts)
		return readings_are_there(s->capture);
	return table == &export_spe ? capture_n_chunks(s->capture) > 0
				    : capture_totals(s->capture)->n_samples > 0;
}

const char *export_table_shortage(const struct export_table *table)
{
	return table->shortage;
}

int export_scan(struct session *s, const struct select *select, const struct export_table *class,
		const struct scan_output *output)
{
	return class->scan != NULL ? class->scan(s, select, output)
				   : scan_ordered(s, select, output);
}

static void export_render(void *context, unsigned worker, const struct batch *b, struct text *texts)
{
	struct export_job *job = context;
	struct export_worker *w = &job->workers[worker];
	struct export_context row_context = {
		.session = job->session,
		.names = job->names,
		.scratch = &w->scratch,
		.numbers = &w->numbers,
	};

	if (b->kind != job->class->kind)
		return;
	if (w->csv != NULL) {
		csv_rows_add(w->csv, &row_context, b, &texts[0]);
		return;
	}
	table_reset(&w->rows);
	for (size_t row = 0; row < b->n; row++) {
		struct cell *cells = table_add_row(&w->rows);

		export_fields(job->class, b, row, cells);
		job->class->row(&row_context, b, row, &w->rows, cells);
	}
	job->format->rows(job->document, &w->rows, false, &texts[0]);
}

/* Writes a piece. The first piece with rows has no separator before it. */
static int export_join_piece(void *context, const struct text *texts)
{
	struct export_job *job = context;
	struct text piece = texts[0];

	if (piece.n == 0)
		return 0;
	if (!job->has_rows) {
		piece.bytes += job->format->joint;
		piece.n -= job->format->joint;
	}
	job->has_rows = true;
	return job->sink(job->context, &piece);
}

static void workers_init(struct export_job *job, unsigned n)
{
	job->workers = mem_zalloc(n, sizeof(*job->workers));
	for (unsigned i = 0; i < n; i++) {
		table_init(&job->workers[i].rows, job->class->name, NULL, job->class->columns,
			   job->class->n_columns);
		if (job->format == &format_csv)
			job->workers[i].csv = csv_rows_new(job->class, job->document->is_modelled);
	}
}

static void workers_release(struct export_job *job, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		table_release(&job->workers[i].rows);
		text_release(&job->workers[i].scratch);
		text_release(&job->workers[i].numbers);
		csv_rows_free(job->workers[i].csv);
	}
	free(job->workers);
}

/* Writes what precedes the rows. */
static int write_head(struct export_job *job, const struct table *empty)
{
	struct text text = { 0 };
	int rc;

	job->format->begin(job->document, &text);
	job->format->head(job->document, empty, true, &text);
	rc = job->sink(job->context, &text);
	text_release(&text);
	return rc;
}

static int write_tail(struct export_job *job, const struct table *empty)
{
	struct text text = { 0 };
	int rc;

	job->format->tail(job->document, empty, &text);
	job->format->end(job->document, &text);
	rc = job->sink(job->context, &text);
	text_release(&text);
	return rc;
}

int export_run(struct session *s, const struct select *select, const struct export_table *class,
	       const struct format *format, const struct document *document, export_sink *sink,
	       void *context)
{
	struct table empty;
	struct tables tables = { 0 };
	struct document described = *document; /* with descriptions of the columns */
	struct export_job job = {
		.session = s,
		.class = class,
		.format = format,
		.document = &described,
		.sink = sink,
		.context = context,
	};
	const struct scan_output output = {
		.n_texts = 1,
		.render = export_render,
		.write = export_join_piece,
		.context = &job,
		.without_place = !class->wants_names,
		.with_branches = class->kind == BATCH_BRANCHES,
	};
	unsigned n_workers = pool_size(s->pool);
	int rc;

	if (format == &format_parquet)
		return export_parquet_run(s, select, class, document, sink, context);
	table_init(&empty, class->name, NULL, class->columns, class->n_columns);
	*vec_add(&tables.list) = &empty;
	described.tables = &tables;
	if (class->wants_names)
		job.names = function_names_new(s);
	workers_init(&job, n_workers);
	rc = write_head(&job, &empty);
	if (rc == 0)
		rc = export_scan(s, select, class, &output);
	if (rc == 0)
		rc = write_tail(&job, &empty);
	workers_release(&job, n_workers);
	function_names_free(job.names);
	vec_release(&tables.list);
	table_release(&empty);
	return rc;
}
