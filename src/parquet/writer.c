/* SPDX-License-Identifier: Apache-2.0 */
/* Rows become row groups, whose columns are encoded in parallel. */
#include "parquet/parquet.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "parquet/chunk.h"
#include "parquet/footer.h"

enum {
	/* With so many bytes of values a row group ends. */
	GROUP_BYTES = 5 << 20,
	SHARED_GROUP_BYTES = GROUP_BYTES / 2, /* of writers that share memory */
	/* Workers who encode at a time, each in some MiB of its own: more have little to do for one large column. */
	MAX_ENCODERS = 6,
};

/* A page that was left to whoever has time. */
struct page_left {
	struct chunk *chunk;
	size_t page;
};

struct parquet_writer {
	struct parquet_column *columns;
	size_t n_columns;
	struct parquet_values *values; /* by column */
	struct chunk *chunks;	       /* by column, of the row group that is being written */
	size_t *used;		       /* by column: bytes of values that are written already */
	size_t n_used;		       /* rows */
	VEC_OF(size_t) ends;	       /* rows where row groups end, ascending */
	size_t end_bytes;	       /* of values before the last of these */
	size_t n_group;		       /* rows of that row group */
	struct pool *pool;
	struct encoder **encoders; /* NULL: it had nothing to do */
	unsigned n_encoders;
	VEC_OF(struct page_left) left; /* of the row group, when all columns are looked at */
	atomic_size_t
		n_taken;   /* columns, then pages of the row group that some encoder has taken */
	bool is_borrowing; /* … of another writer */
	size_t group_bytes;
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
	w->group_bytes = GROUP_BYTES;
	w->n_encoders = pool == NULL			 ? 1
			: pool_size(pool) < MAX_ENCODERS ? pool_size(pool)
							 : MAX_ENCODERS;
	w->encoders = mem_zalloc(w->n_encoders, sizeof(*w->encoders));
	w->footer.columns = w->columns;
	w->footer.n_columns = n;
	w->sink = sink;
	w->context = context;
	return w;
}

static void free_encoders(struct parquet_writer *w)
{
	for (unsigned i = 0; i < w->n_encoders; i++)
		encoder_free(w->encoders[i]);
	free(w->encoders);
}

void parquet_share_memory(struct parquet_writer *w, struct parquet_writer *with)
{
	assert(w->pool == with->pool && w->offset == 0);
	free_encoders(w);
	w->encoders = with->encoders;
	w->is_borrowing = true;
	w->group_bytes = with->group_bytes = SHARED_GROUP_BYTES;
}

void parquet_free(struct parquet_writer *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->n_columns; i++) {
		parquet_values_release(&w->values[i]);
		chunk_release(&w->chunks[i]);
	}
	if (!w->is_borrowing)
		free_encoders(w);
	parquet_footer_release(&w->footer);
	vec_release(&w->ends);
	vec_release(&w->left);
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

/* The bytes from an offset on, of a text that may be empty. */
static const char *bytes_from(const struct text *text, size_t offset)
{
	return text->n > 0 ? text->bytes + offset : "";
}

static void encode_column(struct parquet_writer *w, struct encoder *e, size_t column)
{
	const struct parquet_values *v = &w->values[column];
	size_t width = parquet_width(&w->columns[column]);
	bool is_full = v->values.n - w->used[column] == (v->present.n - w->n_used) * width;

	w->used[column] +=
		chunk_encode(&w->chunks[column], e, &w->columns[column],
			     is_full && width > 0 ? NULL : bytes_from(&v->present, w->n_used),
			     bytes_from(&v->values, w->used[column]), w->n_group);
}

static struct encoder *get_encoder(struct parquet_writer *w, size_t i)
{
	if (w->encoders[i] == NULL)
		w->encoders[i] = encoder_new();
	return w->encoders[i];
}

/* Encodes columns until all are taken. */
static void encode_columns(void *context, size_t encoder, unsigned worker)
{
	struct parquet_writer *w = context;
	struct encoder *e = get_encoder(w, encoder);

	(void)worker;
	for (size_t i; (i = atomic_fetch_add(&w->n_taken, 1)) < w->n_columns;)
		encode_column(w, e, i);
}

/* The same with pages. */
static void encode_pages(void *context, size_t encoder, unsigned worker)
{
	struct parquet_writer *w = context;
	struct encoder *e = get_encoder(w, encoder);

	(void)worker;
	for (size_t i; (i = atomic_fetch_add(&w->n_taken, 1)) < w->left.n;)
		chunk_encode_page(w->left.items[i].chunk, e, w->left.items[i].page);
}

static void encode_by_all(struct parquet_writer *w, pool_job *encode)
{
	atomic_store(&w->n_taken, 0);
	if (w->pool != NULL)
		pool_run(w->pool, w->n_encoders, encode, w);
	else
		encode(w, 0, 0);
}

/* A column of long texts may have most of a row group: its pages are spread, too. */
static void encode_group(struct parquet_writer *w)
{
	encode_by_all(w, encode_columns);
	w->left.n = 0;
	for (size_t i = 0; i < w->n_columns; i++)
		for (size_t page = w->chunks[i].n_encoded; page < w->chunks[i].n_text_pages; page++)
			*vec_add(&w->left) = (struct page_left){ &w->chunks[i], page };
	if (w->left.n > 0)
		encode_by_all(w, encode_pages);
	for (size_t i = 0; i < w->n_columns; i++)
		chunk_join(&w->chunks[i]);
}

/* Writes the next `n` rows as a row group. */
static int write_group(struct parquet_writer *w, size_t n)
{
	int rc = parquet_begin_file(w);

	w->n_group = n;
	encode_group(w);
	parquet_footer_add_group(&w->footer, w->chunks, n, w->offset);
	for (size_t i = 0; i < w->n_columns && rc == 0; i++)
		rc = write_out(w, &w->chunks[i].pages);
	for (size_t i = 0; i < w->n_columns && rc == 0; i++)
		rc = write_out(w, &w->chunks[i].bloom);
	w->n_used += n;
	return rc;
}

static size_t n_rows_of(const struct parquet_writer *w)
{
	return w->values[0].present.n;
}

static size_t n_bytes_of(const struct parquet_writer *w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w->n_columns; i++)
		sum += w->values[i].values.n;
	return sum;
}

/*
 * Ends a row group here if it is large enough. Where that is depends on the rows alone, not on when they are
 * written.
 */
static void end_large_group(struct parquet_writer *w)
{
	size_t first = w->ends.n > 0 ? w->ends.items[w->ends.n - 1] : 0;
	size_t n_bytes = n_bytes_of(w);

	if (n_rows_of(w) - first < GROUP_ROWS && n_bytes - w->end_bytes < w->group_bytes)
		return;
	*vec_add(&w->ends) = n_rows_of(w);
	w->end_bytes = n_bytes;
}

/* Writes the rows up to `end`: a row group, or several. */
static int write_until(struct parquet_writer *w, size_t end)
{
	int rc = 0;

	while (rc == 0 && w->n_used < end)
		rc = write_group(w, end - w->n_used < GROUP_ROWS ? end - w->n_used : GROUP_ROWS);
	return rc;
}

/* Forgets what is written: moves the rest to the front. */
static void drop_used(struct parquet_writer *w)
{
	size_t n_rows = n_rows_of(w), n_left = n_rows - w->n_used;

	for (size_t i = 0; i < w->n_columns && w->n_used > 0; i++) {
		struct text *present = &w->values[i].present, *values = &w->values[i].values;

		assert(present->n == n_rows); /* each column has got one value a row */
		memmove(present->bytes, present->bytes + w->n_used, n_left);
		if (values->n > w->used[i])
			memmove(values->bytes, values->bytes + w->used[i], values->n - w->used[i]);
		present->n = n_left;
		values->n -= w->used[i];
		w->used[i] = 0;
	}
	w->n_used = 0;
	w->ends.n = 0;
	w->end_bytes = 0;
}

int parquet_write_full(struct parquet_writer *w)
{
	int rc = w->ends.n > 0 ? write_until(w, w->ends.items[0]) : 0;

	for (size_t i = 1; i < w->ends.n && rc == 0; i++)
		rc = write_until(w, w->ends.items[i]);
	if (w->ends.n > 0)
		drop_used(w);
	return rc;
}

int parquet_end_row(struct parquet_writer *w)
{
	end_large_group(w);
	return parquet_write_full(w);
}

void parquet_append(struct parquet_writer *w, const struct parquet_values *pieces)
{
	for (size_t i = 0; i < w->n_columns; i++) {
		text_add(&w->values[i].present, pieces[i].present.bytes, pieces[i].present.n);
		text_add(&w->values[i].values, pieces[i].values.bytes, pieces[i].values.n);
	}
	end_large_group(w);
}

int parquet_finish(struct parquet_writer *w)
{
	struct text footer = { 0 };
	int rc = parquet_begin_file(w);

	if (rc == 0)
		rc = parquet_write_full(w);
	if (rc == 0)
		rc = write_until(w, n_rows_of(w));
	parquet_footer_put(&w->footer, &footer);
	if (rc == 0)
		rc = write_out(w, &footer);
	text_release(&footer);
	return rc;
}
