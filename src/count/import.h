/* SPDX-License-Identifier: Apache-2.0 */
/* Imports counts of other tools. */
#ifndef CYCLOPS_COUNT_IMPORT_H
#define CYCLOPS_COUNT_IMPORT_H

#include <stddef.h>

#include "base/err.h"
#include "count/counts.h"

/*
 * Reads counts into zeroed `out`, to be released also after an error. The format is detected: `perf
 * stat -x` with any separator, `perf stat -j`, `perf stat` for people, the two CSV files of
 * topdown-tool, rpistat, the machine model, `cyclops stat`, libcyclops. Event names stay as they are;
 * counts_name() maps them to the catalog. `path` is where the text is from (NULL: unknown): some
 * tools write the CPU there.
 */
int counts_import(const char *text, size_t size, const char *path, struct counts *out,
		  struct err *);

#endif
