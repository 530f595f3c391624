/* SPDX-License-Identifier: Apache-2.0 */
/* SQL as an engine speaks it: one text for all, in which a few words are replaced. */
#ifndef CYCLOPS_FLEET_DIALECT_H
#define CYCLOPS_FLEET_DIALECT_H

#include "base/err.h"
#include "base/text.h"
#include "fleet/query.h"

enum { DIALECT_WORDS = 3 };

struct dialect {
	const char *name;

	/* What precedes everything: settings. */
	const char *settings;

	/*
	 * The view of a table: each %s is one of its name, the pattern of its files, and its folder, in this
	 * order. Names of hosts that look like numbers stay texts, and columns that only some files have are
	 * NULL in others. No columns come out of paths, where hosts have other names, …
	 */
	const char *view;
	const char *view_of_samples; /* … but the day of samples */
	const char *store_view,
		*store_view_of_samples; /* the same for stores; NULL: as for folders */

	/* What stands there for the words of dialect.c. */
	const char *words[DIALECT_WORDS];

	bool escapes_backslash; /* in texts: \ is \\, and ' is \'; else ' is '' */
};

extern const struct dialect dialect_duckdb, dialect_spark, dialect_clickhouse;

/* Appends a text as a literal; NULL as an empty one. */
void dialect_literal(const struct dialect *, const char *text, struct text *out);

/* Appends all statements of a question: the last two answer. The first of these has a row of facts (result.h). */
void dialect_script(const struct dialect *, const struct fleet_query *, const struct fleet_scope *,
		    const char *dataset, struct text *out);

#endif
