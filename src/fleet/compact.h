/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the small files of a dataset: of each day, the parts of all captures become one file in each table (docs/fleet.md,
 * Merging). Parts get new numbers, and questions count a capture once, so whoever asks meanwhile gets the same answer. Days that
 * grow get a merged file each time; when there are eight of them, these become one.
 */
#ifndef CYCLOPS_FLEET_COMPACT_H
#define CYCLOPS_FLEET_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* What became of a day. */
struct compacted {
	char day[sizeof("2026-11-26")];
	uint64_t n_merged;  /* captures that are in a merged file now */
	uint64_t n_again;   /* merged files that were merged once more */
	uint64_t n_removed; /* files that were in the way still */
};

struct compaction {
	const char *dataset; /* a folder */
	const char *program; /* of DuckDB; NULL: found by PATH */
	unsigned keep_s;     /* how long files that were merged stay for those who read them */
	VEC_OF(struct compacted) days;
};

/*
 * Merges what is not merged yet, waits for keep_s, and removes what was merged. It may be killed at any time: the next one goes
 * on. Only one runs at a time, nor beside a push; another one fails.
 */
int compact(struct compaction *, struct err *);
void compaction_release(struct compaction *);

#endif
