/* SPDX-License-Identifier: Apache-2.0 */
/* For the tables of export.h only: columns, and how a row is filled. */
#ifndef CYCLOPS_EXPORT_EXPORT_TABLES_H
#define CYCLOPS_EXPORT_EXPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/names.h"
#include "session/session.h"
#include "table/table.h"

/* What rows are made from. */
struct export_context {
	const struct session *session;
	const struct names *names; /* names of the session's places; NULL: the table needs none */
	struct text *scratch;	   /* a buffer of the worker */
};

struct export_table {
	const char *name;
	const char *shortage; /* see export_table_shortage() */
	enum batch_kind kind;
	bool wants_names;
	const struct column *columns;
	size_t n_columns;
	void (*row)(const struct export_context *, const struct batch *, size_t row, struct table *,
		    struct cell *cells);
};

extern const struct export_table export_spe, export_samples, export_branches;

/* A column of the batch that is copied to a column of the table, where it was recorded. */
struct export_field {
	size_t column;
	uint32_t has;	     /* bit of batch.has */
	size_t offset, size; /* offset in struct batch of the first row's value */
	struct cell (*make)(uint64_t);
};

#define EXPORT_FIELD(column, has, name, make)                                                      \
	{                                                                                          \
		column, has, offsetof(struct batch, name),                                         \
			sizeof(((struct batch *)NULL)->name[0]), make                              \
	}

/* Fills the cells of these fields. */
void export_fields(const struct export_field *, size_t n, const struct batch *, size_t row,
		   struct cell *cells);

/* A process or thread id. They are signed: -1 is the kernel's "none". */
struct cell export_id(uint64_t id);

/* The text in context->scratch as a cell; absent if it is empty. */
struct cell export_scratch_cell(const struct export_context *, struct table *);

#endif
