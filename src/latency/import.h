/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of single loads that another program measured, such as those that programs on the ARM1176 write to a
 * samples.dat:
 *
 *	# cpu arm1176       the CPU, a name of the catalog; may be left out
 *	# size 64K          begins the loads in a list of this size
 *	9   49 #####        a time in cycles, and how many loads took it; the rest of the line is a drawing
 *	61                  one load
 *
 * Other lines that begin with # are comments.
 */
#ifndef CYCLOPS_LATENCY_IMPORT_H
#define CYCLOPS_LATENCY_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "latency/times.h"

struct imported_times {
	uint64_t size_bytes; /* 0: not known */
	struct times times;  /* sorted, not empty */
};

/* Zeroed is empty. */
struct imported {
	char cpu[64];			    /* "": not said */
	VEC_OF(struct imported_times) list; /* in the order of the file */
};

/* Appends what a file says. After a failure some of it may have been appended. */
int imported_read(struct imported *, const char *bytes, size_t size, struct err *);
void imported_release(struct imported *);

#endif
