/* SPDX-License-Identifier: Apache-2.0 */
/* The questions to a dataset: their texts in share/cyclops/sql/, what they need, and the columns of their answers. */
#ifndef CYCLOPS_FLEET_QUERY_H
#define CYCLOPS_FLEET_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/embedded.h"
#include "base/err.h"
#include "table/table.h"

/* What questions may be about; NULL: not given, and then everything. */
struct fleet_scope {
	const char *event, *function, *module, *machine, *host;
	const char *first_day, *last_day;
	const char *from, *to; /* days or build-ids */
	const char *by;	       /* of counts: "host" or "day" */
	bool with_true_sharing;
	size_t top; /* rows of an event; 0: all */
};

/* Tables of a dataset. */
enum dataset_table {
	DATASET_CAPTURES,
	DATASET_SAMPLES,
	DATASET_SYMBOLS,
	DATASET_SHARED_LINES,
	DATASET_COUNTS,
	N_DATASET_TABLES,
};

extern const char *const dataset_table_names[N_DATASET_TABLES];

struct fleet_query {
	const char *name; /* also that of its table, and of its file, with ".sql" */
	unsigned tables;  /* bit n: it reads enum dataset_table n; captures always */
	bool needs_function, needs_sides;
	const struct column *columns;
	size_t n_columns;
	bool is_cut_here; /* it answers with all rows, whatever scope.top says */
	/* What an answer without rows says is not there; NULL: it is an answer, nothing stands out. */
	const char *none;
	/* Says the answer's first sentence; the table has at least one row. NULL: there is none. */
	void (*say)(const struct table *, struct table *answer);
	void (*mark)(struct table *); /* marks what is not exact; NULL: nothing */
};

extern const struct fleet_query fleet_queries[];

/* The question of that name, or an error that lists all. */
const struct fleet_query *fleet_query_find(const char *name, struct err *);

/* Fails if it needs what the scope lacks. */
int fleet_query_check(const struct fleet_query *, const struct fleet_scope *, struct err *);

/* The texts, embedded by the build. */
extern const struct embedded_file fleet_sql_files[];

#endif
