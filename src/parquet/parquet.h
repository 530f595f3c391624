/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Parquet files: columns of any number of rows, in memory that does not grow with them. docs/reference/parquet.md
 * says which part of the format is written.
 *
 *	static const struct parquet_column columns[] = {
 *		{ .name = "time_ns", .type = PARQUET_UINT64 },
 *		{ .name = "event", .type = PARQUET_TEXT },
 *	};
 *	struct parquet_writer *w = parquet_new(columns, COUNT(columns), pool, sink, context);
 *	struct parquet_values *values = parquet_values(w);
 *
 *	for (…) {
 *		parquet_put(&values[0], time_ns);
 *		parquet_put_text(&values[1], name, strlen(name));
 *		rc = parquet_end_row(w);
 *	}
 *	parquet_set_meta(w, "host", host);
 *	rc = parquet_finish(w);
 *	parquet_free(w);
 *
 * The bytes depend on columns, values and metadata only, not on the number of workers.
 */
#ifndef CYCLOPS_PARQUET_PARQUET_H
#define CYCLOPS_PARQUET_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/pool.h"
#include "base/text.h"

/* How readers see a column. Every value may be absent (null). */
enum parquet_type {
	PARQUET_BOOL,
	PARQUET_INT32,
	PARQUET_UINT32,
	PARQUET_INT64,
	PARQUET_UINT64,
	PARQUET_DOUBLE,
	PARQUET_TEXT,
	PARQUET_TEXT_LIST,   /* a list of texts; an empty list is not an absent one */
	PARQUET_UINT64_LIST, /* … of numbers */
	PARQUET_TIME_US,     /* microseconds since 1970, UTC */
	/* Nanoseconds since 1970, UTC. Spark reads these only as numbers (spark.sql.legacy.parquet.nanosAsLong). */
	PARQUET_TIME_NS,
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	/*
	 * Bytes of a value in struct parquet_values: 1, 2, 4 or 8; 0: 8. Integers of signed types are
	 * sign-extended. Not for texts without `spell`, nor for lists.
	 */
	unsigned width;
	/*
	 * Not NULL: the column is a list of structs, and this is a field of these. All lists of the same name that follow
	 * each other are its fields; in each row they have the same length, or are absent.
	 */
	const char *part;
	bool has_bloom; /* with a bloom filter, so that readers can skip row groups without a value */
	/*
	 * Not NULL: values are codes, and this appends the text of one. Equal codes are spelled once for each
	 * row group. Called by several workers at the same time.
	 */
	void (*spell)(const void *context, uint64_t code, struct text *out);
	const void *context; /* of `spell` */
};

/*
 * The values of a column in memory. Zeroed is empty. Rows may be collected in several of these, by several
 * workers, and be joined in order by parquet_append(). Every put appends one row.
 */
struct parquet_values {
	struct text present; /* a byte for each row: 1 or 0 */
	struct text
		values; /* of the rows that are present: `width` bytes, or as parquet_put_text() packs */
};

static inline void parquet_put_null(struct parquet_values *v)
{
	text_char(&v->present, 0);
}

/* A number, truth value or code that the column's type holds, of width 8: signed ones as two's complement. */
static inline void parquet_put(struct parquet_values *v, uint64_t value)
{
	text_char(&v->present, 1);
	text_add(&v->values, (const char *)&value, sizeof(value));
}

/* The same for a column of `width`. */
static inline void parquet_put_narrow(struct parquet_values *v, uint64_t value, unsigned width)
{
	text_char(&v->present, 1);
	memcpy(text_room(&v->values, sizeof(value)), &value, sizeof(value));
	v->values.n += width;
}

/* The same for a double. */
static inline void parquet_put_double(struct parquet_values *v, double value)
{
	text_char(&v->present, 1);
	text_add(&v->values, (const char *)&value, sizeof(value));
}

/*
 * Appends `n` rows: those whose `has` has one of the `bits` get their value of the array at `first`, others are
 * absent. `width` is that of the column.
 */
void parquet_put_rows(struct parquet_values *, const void *first, unsigned width,
		      const uint32_t *has, uint32_t bits, size_t n);

/* A text of `size` bytes; bytes that are not UTF-8 become U+FFFD. It may contain NUL. */
void parquet_put_text(struct parquet_values *, const char *bytes, size_t size);

/* Begins a list of `n` texts: that many calls of parquet_put_item() follow. */
void parquet_put_list(struct parquet_values *, uint32_t n);
void parquet_put_item(struct parquet_values *, const char *bytes, size_t size);

/* A list of `n` numbers, each `step` behind the one before. */
void parquet_put_numbers(struct parquet_values *, const uint64_t *first, uint32_t n, size_t step);

void parquet_values_release(struct parquet_values *);

struct parquet_writer;

/* Takes the next bytes of the file, which is written from its first to its last byte; -1 stops. */
typedef int parquet_sink(void *context, const struct text *);

/*
 * A writer of a file with these columns, which are copied; names and contexts are borrowed. Row groups are encoded
 * by the workers of `pool`; NULL: by the caller. So writer functions that return int are not to be called in a job
 * of the pool. These return -1 if the sink did, and then nothing more may be written.
 */
struct parquet_writer *parquet_new(const struct parquet_column *, size_t n_columns, struct pool *,
				   parquet_sink *, void *context);
void parquet_free(struct parquet_writer *);

/*
 * Lets a writer encode in the memory of another one of the same pool, for those who write several files at a time; their
 * row groups are smaller then. The other one is to be freed last. Before the first row.
 */
void parquet_share_memory(struct parquet_writer *, struct parquet_writer *with);

/* The columns of the rows to come, to put values to. */
struct parquet_values *parquet_values(struct parquet_writer *);

/* Ends a row: each column has got one value. Writes a row group when there are enough of them. */
int parquet_end_row(struct parquet_writer *);

/*
 * Appends the rows of n_columns pieces, all of the same number of rows, which may be none. Nothing is written, so a
 * job may call it, one at a time.
 */
void parquet_append(struct parquet_writer *, const struct parquet_values *pieces);

/* Writes the row groups that are full. To be called from time to time after parquet_append(). */
int parquet_write_full(struct parquet_writer *);

/* Sets a key of the file's metadata, before the end. Both are copied. */
void parquet_set_meta(struct parquet_writer *, const char *key, const char *value);

/* Writes what is left, and the footer. */
int parquet_finish(struct parquet_writer *);

#endif
