/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 2: decodes everything once, in parallel, and feeds it to analyses. */
#ifndef CYCLOPS_SCAN_SCAN_H
#define CYCLOPS_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/address_filter.h"
#include "base/address_index.h"
#include "base/text.h"
#include "scan/select.h"
#include "session/analysis.h"

/*
 * Runs the analyses over all records that `select` (NULL: all) lets through, and fills the
 * session's places, frames and attribution totals. Results are the same for any number of
 * workers. The first scan adds what it cannot read to the capture's diagnostics. Without analyses and
 * without `select` only times are looked at: no places, no frames, no totals.
 */
void scan(struct session *, const struct select *, struct analysis *analyses, size_t n);

/*
 * What the analyses need: a scan leaves out the rest. Zeroed: places, but no registers or branches.
 */
struct scan_wish {
	bool without_places; /* no places and frames, and no HAS_PLACE */
	bool with_registers; /* registers of samples */
	bool with_branches;  /* entries of branch stacks: batches of BATCH_BRANCHES */
	/* … and those that the CPU executed speculatively on a wrong path */
	bool with_wrong_path;
	bool keeps_places;		   /* place numbers of the scan before stay valid */
	const struct code_span *only_code; /* not NULL: all other code is place 0 */
	/*
	 * Not NULL: only rows whose data address may be in this filter. Other rows are dropped
	 * before anything is looked up for them.
	 */
	const struct address_filter *addresses;
	bool with_physical; /* … or whose physical address may be in it */
	bool only_memory;   /* of SPE records, only loads, stores and atomics */
	/* The analyses look at no data addresses and branch targets of SPE records, so these need not be there. */
	bool without_addresses;
	bool without_targets; /* … at branch targets of SPE records */
	bool without_translation; /* … and, with the former, at physical addresses and what translation took */
	/*
	 * With `addresses`, and not `with_physical`: where SPE records are, as an earlier scan with the same
	 * selection noted. Without: where this scan notes it. Of a shared scan: if no analysis has `addresses`.
	 */
	struct address_index *index;
};

/* The same as scan(), with a wish. */
void scan_part(struct session *, const struct select *, const struct scan_wish *,
	       struct analysis *analyses, size_t n);

/*
 * Appends the rows of a batch to texts[0] … texts[n_texts - 1]. Called by several workers at the
 * same time with the same context; `worker` is the caller's number, below pool_size().
 */
typedef void scan_render(void *context, unsigned worker, const struct batch *, struct text *texts);

/* Writes the texts of a unit. Units come in file order, one at a time. -1 stops the scan. */
typedef int scan_write(void *context, const struct text *texts);

/* Called while no job runs, so that it may use the session's pool. -1 stops the scan. */
typedef int scan_pause(void *context);

struct scan_output {
	size_t n_texts; /* streams kept side by side, for formats of several files */
	scan_render *render;
	scan_write *write;
	/* NULL, or called behind units that together have about `pause_bytes` of the capture, sooner if texts are long. */
	scan_pause *pause;
	uint64_t pause_bytes;
	void *context;	    /* of all three */
	bool without_place; /* `render` looks at no places and frames, nor at HAS_PLACE */
	bool keeps_places;  /* see struct scan_wish */
	bool with_branches; /* every entry of branch stacks, as BATCH_BRANCHES */
	bool with_chains;   /* copied stacks are unwound: rows have the whole call chain */
};

/*
 * For output that is as long as the capture: renders batches in parallel and writes the
 * texts in file order. Memory is bounded by the text of a few units. Returns -1 if `write`
 * stopped it.
 */
int scan_ordered(struct session *, const struct select *, const struct scan_output *);

#endif
