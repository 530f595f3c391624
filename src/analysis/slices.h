/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a capture in slices of equal length: --time-slices. */
#ifndef CYCLOPS_ANALYSIS_SLICES_H
#define CYCLOPS_ANALYSIS_SLICES_H

#include <stdint.h>

#include "base/err.h"
#include "capture/capture.h"
#include "table/table.h"

enum { SLICES_MAX = 200, SLICES_DEFAULT = 20 };

struct hot_keys;
struct session;

struct slices {
	uint64_t first_ns, width_ns;
	uint32_t n; /* 0: time is not sliced */
};

/*
 * `n` slices from the first record with a time to the last one (of those that pass 1 looks
 * into: samples and side-band records, among them those of AUX buffers). Fails if the capture
 * has no times, or there are too many slices.
 */
int slices_init(const struct capture *, uint32_t n, struct slices *out, struct err *);

/*
 * Slices the session's time as --time-slices says; 0 means not at all, or into
 * SLICES_DEFAULT if time is among the keys.
 */
int slices_choose(struct session *, uint32_t n, const struct hot_keys *by, struct err *err);

/* The slice of a time; times outside belong to the first or the last one. */
uint32_t slices_find(const struct slices *, uint64_t time_ns);

/* When a slice begins, counted from the first. */
uint64_t slices_start_ns(const struct slices *, uint32_t slice);

/* `n` amounts as a line of small bars, for a column with COLUMN_SPARK; belongs to the table. */
const char *slices_spark(struct table *, const uint64_t *amounts, uint32_t n);

#endif
