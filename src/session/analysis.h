/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an analysis is: an accumulator. Each worker fills a partial result of its own from
 * the batches it decodes; partials are merged, and the whole yields tables. One pass over
 * the capture feeds every analysis that a command asked for.
 */
#ifndef CYCLOPS_SESSION_ANALYSIS_H
#define CYCLOPS_SESSION_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/session.h"

/* A worker's frame ids in those of the session. Places have the same ids everywhere. */
struct id_map {
	const uint32_t *frames;
};

/* The functions of one kind of analysis. */
struct analysis_class {
	/* An empty partial; `options` are the analysis's own, borrowed. */
	void *(*new)(const struct session *, const void *options);
	void (*free)(void *partial);

	/*
	 * May be NULL. Does it look at call chains, with these options? Only then those of copied
	 * stacks are made, which takes its time.
	 */
	bool (*wants_chains)(const void *options);

	/* Takes the rows of a batch. Frame ids in it are the worker's, place ids the session's. */
	void (*consume)(void *partial, const struct batch *);

	/* May be NULL. Called once after the last batch. */
	void (*finish)(void *partial);

	/* Adds what `from` counted; `into` holds the session's ids, `from` those of `map`. */
	void (*merge)(void *into, const void *from, const struct id_map *map);

	/*
	 * May be NULL. Once all partials went through merge(), adds what that left: of each of
	 * them, what falls into one part of many. Several workers add different parts at once, so
	 * a part must be the same piece of `into` whichever partial is added.
	 */
	void (*merge_part)(void *into, const void *from, size_t part, size_t n_parts);
};

/* An analysis to run: class and options in, the whole result out. */
struct analysis {
	const struct analysis_class *class;
	const void *options;
	void *result; /* made by scan(); free it with class->free */
};

#endif
