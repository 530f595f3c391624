/* SPDX-License-Identifier: Apache-2.0 */
/* The table shared_lines: a row for each cause of contention that c2c finds in a capture, with what it costs there. */
#ifndef CYCLOPS_COLLECT_SHARED_LINES_H
#define CYCLOPS_COLLECT_SHARED_LINES_H

#include <stdint.h>

#include "collect/identity.h"

/* All sampled loads with an address: what costs are parts of. */
struct loads_total {
	uint64_t cycles; /* their latency; 0: none has one */
	double interval; /* operations or events that a record stands for; 0: not known */
};

/*
 * Scans the session and writes its rows; without any there is no file. The session's places are others
 * afterwards.
 */
int shared_lines_write(struct session *, const char *root, const struct identity *,
		       struct loads_total *, struct err *);

#endif
