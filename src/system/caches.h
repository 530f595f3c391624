/* SPDX-License-Identifier: Apache-2.0 */
/* The data caches of a CPU, as the kernel says: names for levels. */
#ifndef CYCLOPS_SYSTEM_CACHES_H
#define CYCLOPS_SYSTEM_CACHES_H

#include <stdint.h>

enum { CACHES_MAX = 5 };

struct caches {
	unsigned n; /* 0: not known */
	struct {
		unsigned level;
		uint64_t bytes;
	} items[CACHES_MAX]; /* ascending */
};

/* Reads the files of sysfs below the root. Caches of instructions alone are left out. */
void caches_read(struct caches *, const char *root, unsigned cpu);

/* The size of a level, counted from 1; 0: not known. */
uint64_t caches_bytes(const struct caches *, unsigned level);

/* … of the last level. */
uint64_t caches_last(const struct caches *);

/* What holds so many bytes: "L1D", "L2", "L3", "DRAM"; NULL: not known. */
const char *caches_name(const struct caches *, double bytes);

#endif
