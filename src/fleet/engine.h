/* SPDX-License-Identifier: Apache-2.0 */
/* Engines that answer SQL: programs of others, which are run for each question. */
#ifndef CYCLOPS_FLEET_ENGINE_H
#define CYCLOPS_FLEET_ENGINE_H

#include "base/err.h"
#include "base/text.h"
#include "fleet/dialect.h"

/* How to run one. */
struct engine {
	const char *name; /* for --engine */
	const char *program;
	const struct dialect *dialect;
	/* Its arguments; NULL ends them. "@SCRIPT@": the path of the script, which else is its input; "@MASTER@" */
	const char *const *arguments;
	bool separates_by_tabs; /* its answer, which has no quotes then */
	const char *absent;	/* the text for what is absent */
	const char
		*no_answer; /* a line that it prints for statements without an answer; NULL: none */
	const char *remedy; /* how to get it */
};

/* The engine of that name (NULL: the default), or an error that lists all. */
const struct engine *engine_find(const char *name, struct err *);

/* Names, for the help. */
#define ENGINE_NAMES "duckdb (the default), spark or clickhouse"

/* The most that is read of an answer. */
enum { ENGINE_MOST_BYTES = 256 << 20 };

/*
 * Runs the engine's program (`program` NULL: found by PATH) with the script and appends its standard output. Fails if
 * there is no such program, if it fails, or if it answers too much.
 */
int engine_run(const struct engine *, const char *program, const char *master,
	       const struct text *script, struct text *out, struct err *);

#endif
