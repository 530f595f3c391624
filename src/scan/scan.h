/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 2: decodes everything once, in parallel, and feeds it to analyses. */
#ifndef CYCLOPS_SCAN_SCAN_H
#define CYCLOPS_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/address_filter.h"
#include "base/text.h"
#include "scan/select.h"
#include "session/analysis.h"

/*
 * Runs the analyses over all records that `select` (NULL: all) lets through, and fills the
 * session's places, frames and attribution totals. Results are the same for any number of
 * workers. The first scan adds what it cannot read to the capture's diagnostics.
 */
void scan(struct session *, const struct select *, struct analysis *analyses, size_t n);

/* What a scan may leave out because its analyses do not look at it. */
struct scan_wish {
	bool without_places; /* they look at no places and frames, nor at HAS_PLACE */
	bool with_registers; /* they look at the registers of samples */
	bool with_branches;  /* they get the entries of branch stacks, too: BATCH_BRANCHES */
	bool keeps_places;   /* the ids of places stay those of the scan before */
	/*
	 * Only rows with data addresses that this may have matter: nothing is looked up for
	 * others, and no analysis sees them. NULL: all do.
	 */
	const struct address_filter *addresses;
	bool with_physical; /* or with physical addresses that it may have */
	bool only_memory;   /* of SPE, only loads, stores and atomics matter, in the same way */
};

/* The same as scan() for a part of the rows. */
void scan_part(struct session *, const struct select *, const struct scan_wish *,
	       struct analysis *analyses, size_t n);

/*
 * Renders the rows of one batch: appends to texts[0] … texts[n_texts - 1]. Called by several
 * workers at once with the same context; `worker` tells them apart (below pool_size()).
 */
typedef void scan_render(void *context, unsigned worker, const struct batch *, struct text *texts);

/* Takes the rendered texts of a unit; units come in order, one at a time. -1 stops. */
typedef int scan_write(void *context, const struct text *texts);

struct scan_output {
	size_t n_texts; /* streams kept side by side, for formats of several files */
	scan_render *render;
	scan_write *write;
	void *context;	    /* of both */
	bool without_place; /* `render` looks at no places and frames, nor at HAS_PLACE */
	bool keeps_places;  /* see struct scan_wish */
};

/*
 * For output that is as long as the capture: renders batches in parallel and writes the
 * texts in file order. Memory is bounded by the text of a few units. Returns -1 if `write`
 * stopped it.
 */
int scan_ordered(struct session *, const struct select *, const struct scan_output *);

#endif
