/* SPDX-License-Identifier: Apache-2.0 */
/* For the tables of export.h only: columns, and how rows are filled: cells for text formats, columns for Parquet. */
#ifndef CYCLOPS_EXPORT_EXPORT_TABLES_H
#define CYCLOPS_EXPORT_EXPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "parquet/parquet.h"
#include "scan/scan.h"
#include "scan/select.h"
#include "export/export.h"
#include "session/function_names.h"
#include "session/session.h"
#include "table/table.h"

/* What rows are made from. */
struct export_context {
	const struct session *session;
	struct function_names *names; /* of the session's places; NULL: the table needs none */
	struct text *scratch;	      /* buffers of the worker: for texts */
	struct text *numbers;	      /* … for the numbers of lists */
};

/* A list that a record has: `n` entries of `n_parts` numbers each. */
struct export_list {
	const uint64_t *numbers;
	uint32_t n;
	unsigned n_parts;
	bool is_there;
};

/* A column of the batch that is copied to a column of the table, where it was recorded. */
struct export_field {
	size_t column;
	uint32_t has;	     /* bit of batch.has */
	size_t offset, size; /* of the first row's value, from the batch on */
	struct cell (*make)(uint64_t);
};

/* Takes the columns that are no fields, of the rows of a batch. */
struct export_put {
	/* All rows: those whose `has` has one of the `bits` show their value of the array at `first`. */
	void (*rows)(void *to, size_t column, const void *first, unsigned width,
		     const uint32_t *has, uint32_t bits, size_t n);
	/* The next row of a column of lists. */
	void (*list)(void *to, size_t column, const struct export_list *);
	/* All rows of a column are absent. */
	void (*absent)(void *to, size_t column, size_t n);
	void *to;
};

/* Another column, for Parquet and csv: `spell` makes a text of a code, whose context is struct export_context. */
struct export_code {
	size_t column;
	enum parquet_type type;
	unsigned width; /* 0: lists, not codes */
	void (*spell)(const void *context, uint64_t code, struct text *out);
	const char *const
		*parts; /* of lists whose entries have several numbers: their names; NULL: one */
	size_t n_parts;
};

struct export_table {
	const char *name;
	const char *shortage; /* see export_table_shortage() */
	enum batch_kind kind;
	bool wants_names;
	const struct column *columns;
	size_t n_columns;
	const struct export_field *fields;
	size_t n_fields;
	/* Fills the cells that are no fields, for json. */
	void (*row)(const struct export_context *, const struct batch *, size_t row, struct table *,
		    struct cell *cells);
	const struct export_code *codes; /* all columns that are no fields */
	size_t n_codes;
	/* Puts the rows of the batch to the columns that are no fields. */
	void (*put)(const struct export_context *, const struct batch *, const struct export_put *);
	/* How batches are delivered; NULL: scan_ordered(). */
	int (*scan)(struct session *, const struct select *, const struct scan_output *);
};

/* Delivers the rows of a table. -1: `write` stopped it. */
int export_scan(struct session *, const struct select *, const struct export_table *,
		const struct scan_output *);

extern const struct export_table export_spe, export_samples, export_branches, export_counts;

#define EXPORT_FIELD(column, has, name, make)                                                      \
	{                                                                                          \
		column, has, offsetof(struct batch, name),                                         \
			sizeof(((struct batch *)NULL)->name[0]), make                              \
	}

/* Bytes of the capture between which row groups are written: a unit for each worker, in limits. */
uint64_t export_pause_bytes(const struct session *);

/* The texts of a unit of Parquet are its columns, two for each. */
struct parquet_values *parquet_values_in(struct text *texts);

/* export_run() for Parquet. */
int export_parquet_run(struct session *, const struct select *, const struct export_table *,
		       const struct document *, export_sink *, void *context);

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static inline uint64_t export_value_at(const void *at, size_t width)
{
	switch (width) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* A value of a batch's column. */
static inline uint64_t export_field_value(const struct export_field *f, const struct batch *b,
					  size_t row)
{
	return export_value_at((const char *)b + f->offset + row * f->size, f->size);
}

/* Of a worker: appends rows as csv. */
struct csv_rows;
struct csv_rows *csv_rows_new(const struct export_table *, bool is_modelled);
void csv_rows_free(struct csv_rows *);
void csv_rows_add(struct csv_rows *, const struct export_context *, const struct batch *,
		  struct text *out);

/* Spells the index of an event. */
void export_spell_event(const void *context, uint64_t code, struct text *out);

/* A process or thread id. They are signed: -1 is the kernel's "none". */
struct cell export_id(uint64_t id);

/* Appends a list as text formats have it: entries joined by ":", their numbers by "/", as hexadecimal digits. */
void export_list_text(struct text *, const struct export_list *);

/* The text in context->scratch as a cell; absent if it is empty. */
struct cell export_scratch_cell(const struct export_context *, struct table *);

#endif
