/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An analysis is an accumulator. Each worker has a partial result, to which it adds the batches it
 * decodes. Then the partials are merged. One scan of the capture feeds all analyses of a command.
 */
#ifndef CYCLOPS_SESSION_ANALYSIS_H
#define CYCLOPS_SESSION_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/session.h"

/* By frame id of a worker: the session's id. Place numbers are the same for all workers. */
struct id_map {
	const uint32_t *frames;
};

enum chains_wanted { CHAINS_OF_SAMPLES = 1, CHAINS_OF_SPE = 2 };

/* Frames that a worker may have before it forgets them: with fewer let_go() need not do anything. */
enum { MANY_FRAMES = 16384 };

/* The functions of one kind of analysis. */
struct analysis_class {
	/* An empty partial result. `options` are those of struct analysis, borrowed. */
	void *(*new)(const struct session *, const void *options);
	void (*free)(void *partial);

	/*
	 * May be NULL: none. Whose call chains it reads, with these options: bits of enum chains_wanted. Other
	 * rows have no frames, and copied stacks are unwound, which is slow, for samples only.
	 */
	unsigned (*wants_chains)(const void *options);

	/* It reads branch stacks of samples (HAS_BRANCHES): other scans leave them out. */
	bool reads_branches;

	/*
	 * Takes the rows of a batch. Frame ids in it are the worker's, place ids the session's. SPE records are those of a
	 * CPU in its order, then perhaps those of another one, of any time.
	 */
	void (*consume)(void *partial, const struct batch *);

	/*
	 * May be NULL: frames are needed to the end, if chains are wanted. Called behind each batch with the worker's frames
	 * (attribution_frames()). True: nothing in the partial refers to them any more. When that is so for
	 * all partials of the worker, it forgets its frames, and their ids begin anew; and equal frames may have several
	 * ids from then on. That is why a partial that let go once is asked again behind the last batch, and `must`.
	 */
	bool (*let_go)(void *partial, const struct tuples *frames, bool must);

	/*
	 * May be NULL: it keeps nothing outside of partials. The scan is done again: forgets all that is kept elsewhere. All
	 * partials were freed.
	 */
	void (*restart)(const void *options);

	/* May be NULL. Called once after the last batch; for several partials at the same time. */
	void (*finish)(void *partial);

	/*
	 * Adds partial `from` to `into`. Frame ids of `from` are a worker's: `map` translates them.
	 */
	void (*merge)(void *into, const void *from, const struct id_map *map);

	/*
	 * May be NULL. Parallel rest of merge(), after that was called for all partials: adds part
	 * `part` of `n_parts` of `from`. Workers add different parts at the same time, so a part
	 * must be the same piece of `into` for each `from`.
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
