/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the tables of export.h: columns, and how a row is made. */
#ifndef CYCLOPS_EXPORT_EXPORT_TABLES_H
#define CYCLOPS_EXPORT_EXPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/names.h"
#include "session/session.h"
#include "table/table.h"

/* What making a row may look at. */
struct export_context {
	const struct session *session;
	const struct names *names; /* of the session's places, if the table wants names */
	struct text *scratch;	   /* of the worker */
};

struct export_table {
	const char *name;
	enum batch_kind kind;
	bool wants_names;
	const struct column *columns;
	size_t n_columns;
	void (*row)(const struct export_context *, const struct batch *, size_t row, struct table *,
		    struct cell *cells);
};

extern const struct export_table export_spe, export_samples;

/* A column of the batch that becomes a column of the table as it is, where it was recorded. */
struct export_field {
	size_t column;
	uint32_t has;	     /* bit of batch.has */
	size_t offset, size; /* of the first row's value in struct batch */
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

/* Process and thread ids are signed: -1 is what the kernel calls "not a user's". */
struct cell export_id(uint64_t id);

/* A text assembled in context->scratch, as a cell; an empty one is absent. */
struct cell export_scratch_cell(const struct export_context *, struct table *);

#endif
