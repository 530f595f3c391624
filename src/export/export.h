/* SPDX-License-Identifier: Apache-2.0 */
/* Exports every record as a row. Rows are streamed, so memory does not grow with the capture. */
#ifndef CYCLOPS_EXPORT_EXPORT_H
#define CYCLOPS_EXPORT_EXPORT_H

#include "base/err.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/format.h"

/* A table to be exported; listed in export.c. */
struct export_table;

/* The table of that name ("spe", "samples", "branches", "counts"); NULL and an error that lists the names. */
const struct export_table *export_table_find(const char *name, struct err *);

/* The table for the most frequent kind of record; of readings of counters if there are no others. */
const struct export_table *export_table_default(const struct session *);

/* Has the capture any records of that kind? */
bool export_table_has_data(const struct export_table *, const struct session *);

/* What to say where it has none: what was not recorded, and how to. */
const char *export_table_shortage(const struct export_table *);

/* Takes the next piece of output; -1 stops the export. */
typedef int export_sink(void *context, const struct text *);

/*
 * Writes all selected records in file order. `format` must be able to stream, or be Parquet. Returns -1 if the
 * sink stopped the export.
 */
int export_run(struct session *, const struct select *, const struct export_table *,
	       const struct format *, const struct document *, export_sink *, void *context);

#endif
