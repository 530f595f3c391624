/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in any file that has some. */
#ifndef CYCLOPS_ESTIMATE_STAT_RECORD_H
#define CYCLOPS_ESTIMATE_STAT_RECORD_H

#include <stddef.h>

#include "base/err.h"
#include "count/counts.h"

/*
 * As counts_import(), and reads also what `perf stat record` writes: perf.data with STAT records. Its
 * counts are those of `perf stat report`: summed over CPUs and threads, unless perf was asked to
 * keep these apart, then by CPU or by thread. Fails for perf.data without such records.
 */
int counts_read(const void *bytes, size_t size, const char *path, struct counts *out, struct err *);

#endif
