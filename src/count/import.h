/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what other tools counted. */
#ifndef CYCLOPS_COUNT_IMPORT_H
#define CYCLOPS_COUNT_IMPORT_H

#include <stddef.h>

#include "base/err.h"
#include "count/counts.h"

/*
 * Adds the counts in a text to zeroed `out`, which the caller releases, also after an error. The
 * format is found out: `perf stat -x` with any separator, `perf stat -j`, `perf stat` for people,
 * the two kinds of CSV of topdown-tool, the counts of the machine model and of `cyclops stat`.
 * Events keep the names they have there; cpu/event_name.h gives them the catalog's. `path` is
 * where the text is from: some tools write the CPU there. NULL if there is none.
 */
int counts_import(const char *text, size_t size, const char *path, struct counts *out,
		  struct err *);

#endif
