/* SPDX-License-Identifier: Apache-2.0 */
/* The data caches of a CPU, as the kernel says: names for levels. */
#ifndef CYCLOPS_LATENCY_CACHES_H
#define CYCLOPS_LATENCY_CACHES_H

#include <stdint.h>

enum { CACHES_MAX = 5 };

struct caches {
	unsigned n; /* 0: not known */
	struct {
		unsigned level;
		uint64_t bytes;
	} items[CACHES_MAX]; /* ascending */
};

void caches_read(struct caches *, const char *root, unsigned cpu);

/* The last-level cache in bytes; 0: not known. */
uint64_t caches_last(const struct caches *);

/* What holds so many bytes: "L1D", "L2", "L3", "DRAM"; NULL: not known. */
const char *caches_name(const struct caches *, double bytes);

#endif
