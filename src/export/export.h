/* SPDX-License-Identifier: Apache-2.0 */
/* Every record as a row, for other tools: streamed, so captures of any size go through. */
#ifndef CYCLOPS_EXPORT_EXPORT_H
#define CYCLOPS_EXPORT_EXPORT_H

#include "base/err.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/format.h"

/* A table that can be exported; all of them are listed in export.c. */
struct export_table;

/* The table of that name ("spe", "samples"), or an error that lists them. */
const struct export_table *export_table_find(const char *name, struct err *);

/* The table for the kind of records that the capture has most of. */
const struct export_table *export_table_default(const struct session *);

/* Takes a piece of output; -1 stops (the reader went away or the disk is full). */
typedef int export_sink(void *context, const struct text *);

/*
 * Writes all selected records in file order. `format` must be able to stream. Returns -1 if
 * the sink stopped it.
 */
int export_run(struct session *, const struct select *, const struct export_table *,
	       const struct format *, const struct document *, export_sink *, void *context);

#endif
