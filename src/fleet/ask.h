/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a dataset a question by an engine. */
#ifndef CYCLOPS_FLEET_ASK_H
#define CYCLOPS_FLEET_ASK_H

#include "fleet/query.h"
#include "fleet/result.h"

/* Who answers, and where. */
struct fleet_engine_options {
	const char *engine, *program, *master;
	const char *setup; /* a file with statements that come first; NULL: none */
};

struct fleet_question {
	const struct fleet_query *query;
	const char *dataset; /* a folder, or a place that the engine knows: s3://… */
	struct fleet_scope scope;
	struct fleet_engine_options by;
};

/* Is it in a store, which engines read over a network? */
bool fleet_is_store(const char *dataset);

/* Appends the statements that come first: those of the file; NULL: none. */
int fleet_setup(const char *path, struct text *out, struct err *);

/* Appends the SQL of the question. */
int fleet_script(const struct fleet_question *, struct text *out, struct err *);

/*
 * Fills the table, which table_init() made with the columns of the question. Fails with ERR_NO_DATA if the dataset has
 * no such tables, or no captures that count.
 */
int fleet_ask(const struct fleet_question *, struct fleet_facts *, struct table *, struct err *);

#endif
