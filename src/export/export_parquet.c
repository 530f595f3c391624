/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of records as Parquet. Workers append the columns of batches to pieces, which are joined in file order; row
 * groups are encoded by all workers, between units.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "export/export_tables.h"
#include "scan/scan.h"
#include "table/format_parquet.h"

struct parquet_job {
	struct session *session;
	const struct export_table *class;
	bool is_modelled;
	/*
	 * By column of the table, that of modelled numbers included: its first one in the file, which has a column for
	 * each part of a list's entries; and behind the last one.
	 */
	size_t *first;
	struct function_names *names; /* NULL: the table wants none */
	struct text *numbers;	      /* by worker */
	struct export_context spelling;
	struct parquet_writer *writer;
};

uint64_t export_pause_bytes(const struct session *s)
{
	enum { UNIT_BYTES = 1 << 20, MIN_UNITS = 4, MAX_UNITS = 5 };
	uint64_t n_workers = pool_size(s->pool);

	return (n_workers < MIN_UNITS	? MIN_UNITS
		: n_workers > MAX_UNITS ? MAX_UNITS
					: n_workers) *
	       UNIT_BYTES;
}

/* The column of a field, whose type is that of its cells. */
static struct parquet_column column_of_field(const struct export_table *t,
					     const struct export_field *f)
{
	enum parquet_type type = f->make == export_id	      ? PARQUET_INT32
				 : f->make == cell_hex	      ? PARQUET_UINT64
				 : f->size > sizeof(uint32_t) ? PARQUET_UINT64
							      : PARQUET_UINT32;

	return (struct parquet_column){ .name = t->columns[f->column].name,
					.type = type,
					.width = (unsigned)f->size };
}

/* How many columns of the file a column of the table is. */
static size_t n_parts_of(const struct export_code *code)
{
	return code->parts != NULL ? code->n_parts : 1;
}

/* Numbers the columns of the file. To be freed. */
static size_t *number_columns(const struct export_table *t)
{
	size_t *first = mem_alloc(t->n_columns + 2, sizeof(*first));
	size_t n = 0;

	for (size_t i = 0; i <= t->n_columns; i++) {
		first[i] = n++;
		for (size_t k = 0; k < t->n_codes; k++)
			if (t->codes[k].column == i)
				n += n_parts_of(&t->codes[k]) - 1;
	}
	first[t->n_columns + 1] = n;
	return first;
}

static size_t n_columns_of(const struct parquet_job *job)
{
	return job->first[job->class->n_columns + job->is_modelled];
}

static void set_code_columns(const struct parquet_job *job, const struct export_code *code,
			     struct parquet_column *out)
{
	for (size_t i = 0; i < n_parts_of(code); i++)
		out[i] = (struct parquet_column){
			.name = job->class->columns[code->column].name,
			.type = code->type,
			.width = code->width,
			.part = code->parts != NULL ? code->parts[i] : NULL,
			.spell = code->spell,
			.context = &job->spelling,
		};
}

/* All columns of the table, and that of modelled numbers. To be freed. */
static struct parquet_column *columns_of_table(const struct parquet_job *job)
{
	const struct export_table *t = job->class;
	struct parquet_column *columns = mem_zalloc(job->first[t->n_columns + 1], sizeof(*columns));

	assert(t->n_fields + t->n_codes == t->n_columns);
	for (size_t i = 0; i < t->n_fields; i++)
		columns[job->first[t->fields[i].column]] = column_of_field(t, &t->fields[i]);
	for (size_t i = 0; i < t->n_codes; i++)
		set_code_columns(job, &t->codes[i], &columns[job->first[t->codes[i].column]]);
	columns[job->first[t->n_columns]] =
		(struct parquet_column){ .name = "modelled", .type = PARQUET_BOOL, .width = 1 };
	return columns;
}

static void put_modelled(struct parquet_values *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_char(&v->present, 1);
		text_char(&v->values, 1);
	}
}

struct parquet_values *parquet_values_in(struct text *texts)
{
	static_assert(sizeof(struct parquet_values) == 2 * sizeof(struct text),
		      "values are two texts");
	return (struct parquet_values *)texts;
}

/* Where a batch is put. */
struct parquet_rows {
	const struct parquet_job *job;
	struct parquet_values *values; /* by column of the file */
};

static struct parquet_values *values_of(const struct parquet_rows *rows, size_t column)
{
	return &rows->values[rows->job->first[column]];
}

static void put_rows_in_parquet(void *to, size_t column, const void *first, unsigned width,
				const uint32_t *has, uint32_t bits, size_t n)
{
	parquet_put_rows(values_of(to, column), first, width, has, bits, n);
}

static void put_list_in_parquet(void *to, size_t column, const struct export_list *list)
{
	struct parquet_values *v = values_of(to, column);

	for (unsigned part = 0; part < list->n_parts; part++) {
		if (list->is_there)
			parquet_put_numbers(&v[part], list->n > 0 ? list->numbers + part : NULL,
					    list->n, list->n_parts);
		else
			parquet_put_null(&v[part]);
	}
}

static void put_absent_in_parquet(void *to, size_t column, size_t n)
{
	const struct parquet_rows *rows = to;

	for (size_t i = rows->job->first[column]; i < rows->job->first[column + 1]; i++) {
		struct parquet_values *v = &rows->values[i];

		memset(text_room(&v->present, n), 0, n);
		v->present.n += n;
	}
}

static void parquet_render(void *context, unsigned worker, const struct batch *b,
			   struct text *texts)
{
	const struct parquet_job *job = context;
	struct parquet_rows rows = { job, parquet_values_in(texts) };
	const struct export_context row_context = {
		.session = job->session,
		.names = job->names,
		.numbers = &job->numbers[worker],
	};
	const struct export_put put = { put_rows_in_parquet, put_list_in_parquet,
					put_absent_in_parquet, &rows };

	if (b->kind != job->class->kind)
		return;
	for (size_t i = 0; i < job->class->n_fields; i++) {
		const struct export_field *f = &job->class->fields[i];

		parquet_put_rows(values_of(&rows, f->column), (const char *)b + f->offset,
				 (unsigned)f->size, b->has, f->has, b->n);
	}
	job->class->put(&row_context, b, &put);
	if (job->is_modelled)
		put_modelled(values_of(&rows, job->class->n_columns), b->n);
}

static int append_unit(void *context, const struct text *texts)
{
	struct parquet_job *job = context;

	parquet_append(job->writer, (const struct parquet_values *)texts);
	return 0;
}

static int write_full(void *context)
{
	struct parquet_job *job = context;

	return parquet_write_full(job->writer);
}

static void numbers_free(struct text *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		text_release(&numbers[i]);
	free(numbers);
}

static void describe(const struct parquet_job *job, const struct document *d)
{
	struct table empty;

	table_init(&empty, job->class->name, NULL, job->class->columns, job->class->n_columns);
	format_parquet_describe(job->writer, d, &empty);
	table_release(&empty);
}

int export_parquet_run(struct session *s, const struct select *select,
		       const struct export_table *class, const struct document *document,
		       export_sink *sink, void *context)
{
	struct parquet_job job = { .session = s,
				   .class = class,
				   .is_modelled = document->is_modelled,
				   .first = number_columns(class) };
	const struct scan_output output = {
		.n_texts = 2 * n_columns_of(&job),
		.render = parquet_render,
		.write = append_unit,
		.pause = write_full,
		.pause_bytes = export_pause_bytes(s),
		.context = &job,
		.without_place = !class->wants_names,
		.with_branches = class->kind == BATCH_BRANCHES,
	};
	unsigned n_workers = pool_size(s->pool);
	struct parquet_column *columns;
	int rc;

	if (class->wants_names)
		job.names = function_names_new(s);
	job.spelling = (struct export_context){ .session = s, .names = job.names };
	job.numbers = mem_zalloc(n_workers, sizeof(*job.numbers));
	columns = columns_of_table(&job);
	job.writer = parquet_new(columns, n_columns_of(&job), s->pool, sink, context);
	describe(&job, document);
	rc = export_scan(s, select, class, &output);
	if (rc == 0)
		rc = parquet_finish(job.writer);
	parquet_free(job.writer);
	free(columns);
	numbers_free(job.numbers, n_workers);
	free(job.first);
	function_names_free(job.names);
	return rc;
}
