/* SPDX-License-Identifier: Apache-2.0 */
/* Rows become row groups, whose columns are encoded in parallel. */
#include "parquet/parquet.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "parquet/chunk.h"
#include "parquet/footer.h"

enum {
	/* Values of a row group in memory, unless a single row has more. */
	GROUP_BYTES = 12 << 20,
	/* How often parquet_end_row() looks at the bytes. */
	LOOK_ROWS = 256,
};

struct parquet_writer {
	struct parquet_column *columns;
	size_t n_columns;
	struct parquet_values *values; /* by column */
	struct chunk *chunks;	       /* by column, of the row group that is being written */
	size_t *used;		       /* by column: bytes of values that are written already */
	size_t n_used;		       /* rows */
	size_t n_group;		       /* rows of that row group */
	struct pool *pool;
	struct encoder **encoders; /* by worker; NULL: it had nothing to do */
	unsigned n_encoders;
	struct parquet_footer footer;
	parquet_sink *sink;
	void *context;
	uint64_t offset; /* bytes written */
};

struct parquet_writer *parquet_new(const struct parquet_column *columns, size_t n,
				   struct pool *pool, parquet_sink *sink, void *context)
{
	struct parquet_writer *w = mem_zalloc(1, sizeof(*w));

	assert(n > 0);
	w->columns = mem_alloc(n, sizeof(*columns));
	memcpy(w->columns, columns, n * sizeof(*columns));
	w->n_columns = n;
	w->values = mem_zalloc(n, sizeof(*w->values));
	w->chunks = mem_zalloc(n, sizeof(*w->chunks));
	w->used = mem_zalloc(n, sizeof(*w->used));
	w->pool = pool;
	w->n_encoders = pool != NULL ? pool_size(pool) : 1;
	w->encoders = mem_zalloc(w->n_encoders, sizeof(*w->encoders));
	w->footer.columns = w->columns;
	w->footer.n_columns = n;
	w->sink = sink;
	w->context = context;
	return w;
}

void parquet_free(struct parquet_writer *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->n_columns; i++) {
		parquet_values_release(&w->values[i]);
		chunk_release(&w->chunks[i]);
	}
	for (unsigned i = 0; i < w->n_encoders; i++)
		encoder_free(w->encoders[i]);
	parquet_footer_release(&w->footer);
	free(w->encoders);
	free(w->used);
	free(w->chunks);
	free(w->values);
	free(w->columns);
	free(w);
}

struct parquet_values *parquet_values(struct parquet_writer *w)
{
	return w->values;
}

void parquet_set_meta(struct parquet_writer *w, const char *key, const char *value)
{
	struct parquet_meta *m = vec_add(&w->footer.metas);

	m->key = mem_strndup(key, strlen(key));
	m->value = mem_strndup(value, strlen(value));
}

static int write_out(struct parquet_writer *w, const struct text *text)
{
	w->offset += text->n;
	return text->n > 0 ? w->sink(w->context, text) : 0;
}

/* Writes the mark that a file begins with. */
static int parquet_begin_file(struct parquet_writer *w)
{
	struct text mark = { 0 };
	int rc;

	if (w->offset > 0)
		return 0;
	text_str(&mark, parquet_mark);
	rc = write_out(w, &mark);
	text_release(&mark);
	return rc;
}

static void encode_column(void *context, size_t column, unsigned worker)
{
	struct parquet_writer *w = context;
	const struct parquet_values *v = &w->values[column];

	if (w->encoders[worker] == NULL)
		w->encoders[worker] = encoder_new();
	w->used[column] += chunk_encode(&w->chunks[column], w->encoders[worker],
					&w->columns[column], v->present.bytes + w->n_used,
					v->values.bytes + w->used[column], w->n_group);
}

static void encode_columns(struct parquet_writer *w)
{
	if (w->pool != NULL)
		pool_run(w->pool, w->n_columns, encode_column, w);
	else
		for (size_t i = 0; i < w->n_columns; i++)
			encode_column(w, i, 0);
}

/* Writes the next `n` rows as a row group. */
static int write_group(struct parquet_writer *w, size_t n)
{
	int rc = parquet_begin_file(w);

	w->n_group = n;
	encode_columns(w);
	parquet_footer_add_group(&w->footer, w->chunks, n, w->offset);
	for (size_t i = 0; i < w->n_columns && rc == 0; i++)
		rc = write_out(w, &w->chunks[i].pages);
	for (size_t i = 0; i < w->n_columns && rc == 0; i++)
		rc = write_out(w, &w->chunks[i].bloom);
	w->n_used += n;
	return rc;
}

static size_t n_rows_left(const struct parquet_writer *w)
{
	return w->values[0].present.n - w->n_used;
}

static size_t n_bytes_left(const struct parquet_writer *w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w->n_columns; i++)
		sum += w->values[i].values.n - w->used[i];
	return sum;
}

/* Forgets what is written: moves the rest to the front. */
static void drop_used(struct parquet_writer *w)
{
	size_t n_rows = w->values[0].present.n, n_left = n_rows_left(w);

	for (size_t i = 0; i < w->n_columns && w->n_used > 0; i++) {
		struct text *present = &w->values[i].present, *values = &w->values[i].values;

		assert(present->n == n_rows); /* each column has got one value a row */
		memmove(present->bytes, present->bytes + w->n_used, n_left);
		memmove(values->bytes, values->bytes + w->used[i], values->n - w->used[i]);
		present->n = n_left;
		values->n -= w->used[i];
		w->used[i] = 0;
	}
	w->n_used = 0;
}

/* How many rows the next row group gets, of as many as there are. */
static size_t rows_of_group(const struct parquet_writer *w)
{
	size_t n = n_rows_left(w), n_bytes = n_bytes_left(w);
	size_t most =
		n_bytes > GROUP_BYTES ? (size_t)((double)n * GROUP_BYTES / (double)n_bytes) + 1 : n;

	most = most < GROUP_ROWS ? most : GROUP_ROWS;
	return n < most ? n : most;
}

int parquet_write_full(struct parquet_writer *w)
{
	int rc = 0;

	while (rc == 0 && (n_rows_left(w) >= GROUP_ROWS || n_bytes_left(w) > GROUP_BYTES))
		rc = write_group(w, rows_of_group(w));
	drop_used(w);
	return rc;
}

int parquet_end_row(struct parquet_writer *w)
{
	size_t n = w->values[0].present.n;

	return n % LOOK_ROWS != 0 ? 0 : parquet_write_full(w);
}

void parquet_append(struct parquet_writer *w, const struct parquet_values *pieces)
{
	for (size_t i = 0; i < w->n_columns; i++) {
		text_add(&w->values[i].present, pieces[i].present.bytes, pieces[i].present.n);
		text_add(&w->values[i].values, pieces[i].values.bytes, pieces[i].values.n);
	}
}

int parquet_finish(struct parquet_writer *w)
{
	struct text footer = { 0 };
	int rc = parquet_begin_file(w);

	while (rc == 0 && n_rows_left(w) > 0)
		rc = write_group(w, rows_of_group(w));
	parquet_footer_put(&w->footer, &footer);
	if (rc == 0)
		rc = write_out(w, &footer);
	text_release(&footer);
	return rc;
}
