/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan for several answers. Each answer adds its analyses and what they need; the caller of the
 * answers runs the scan. Answers whose second scan depends on the first use two, one after the
 * other.
 */
#ifndef CYCLOPS_SCAN_SHARED_SCAN_H
#define CYCLOPS_SCAN_SHARED_SCAN_H

#include "base/vec.h"
#include "scan/scan.h"

/* Zeroed is empty. */
struct shared_scan {
	VEC_OF(struct analysis *)
	analyses;	       /* borrowed; the run fills in their results */
	struct scan_wish wish; /* the union of what they need */
};

/*
 * Adds an analysis that needs `wish`. It may get more rows than that, for other analyses, and must
 * ignore them. wish->with_branches is not possible.
 */
void shared_scan_add(struct shared_scan *, struct analysis *, const struct scan_wish *);

/* Runs the scan, unless there are no analyses, and empties it. */
void shared_scan_run(struct session *, const struct select *, struct shared_scan *);

/* Empties one that was not run. */
void shared_scan_release(struct shared_scan *);

#endif
