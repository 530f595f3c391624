/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan for several answers: each adds what it asks of the scan, and whoever asked for the
 * answers runs it. An answer that needs to know something of the records before it can ask for the
 * rest of them asks two, one after the other.
 */
#ifndef CYCLOPS_SCAN_SHARED_SCAN_H
#define CYCLOPS_SCAN_SHARED_SCAN_H

#include "base/vec.h"
#include "scan/scan.h"

/* Zeroed asks for nothing. */
struct shared_scan {
	VEC_OF(struct analysis *)
	analyses;	       /* borrowed until it ran, which fills in their results */
	struct scan_wish wish; /* what all of them need */
};

/*
 * Adds an analysis that needs no more than `wish` says. It may get other rows, too, if there are
 * analyses that need these, and leaves them out itself. Those with branches are not shared.
 */
void shared_scan_add(struct shared_scan *, struct analysis *, const struct scan_wish *);

/* Runs the scan, if anything asks for it. From then on it is empty. */
void shared_scan_run(struct session *, const struct select *, struct shared_scan *);

/* For one that is not run. */
void shared_scan_release(struct shared_scan *);

#endif
