/* SPDX-License-Identifier: Apache-2.0 */
/* --time-slices: the time of a capture, cut into slices of equal length. */
#ifndef CYCLOPS_SESSION_SLICES_H
#define CYCLOPS_SESSION_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "table/table.h"

enum { SLICES_MAX = 200, SLICES_DEFAULT = 20, SLICES_BARS = 40 };

struct slices {
	uint64_t first_ns, last_ns, width_ns;
	uint64_t offset_ns;  /* from the start of the capture to the first slice */
	uint32_t n;	     /* 0: time is not sliced */
	bool is_provisional; /* the first and the last time are guessed: see slices_settle() */
};

/* What is to be sliced: from the first time to the last one; and where the capture starts. */
struct slices_span {
	uint64_t start_ns, first_ns, last_ns;
};

/* Fails if the times are not of different moments, or there are too many slices. */
int slices_init(const struct slices_span *, uint32_t n, struct slices *out, struct err *err);

/*
 * The span is known now: provisional slices become slices of it, if it has several moments. False if they were
 * others before, so that what was counted by them is to be counted again. Slices that are not provisional stay.
 */
bool slices_settle(struct slices *, const struct slices_span *);

/* The slice of a time; times outside belong to the first or the last one. */
uint32_t slices_find(const struct slices *, uint64_t time_ns);

/* The start of a slice, from the start of the capture: as times are in --select. */
uint64_t slices_start_ns(const struct slices *, uint32_t slice);

/* Heading of such columns: bars are relative to the largest of their row. */
#define SLICES_TITLE "time (own scale)"

/*
 * `n` amounts as a sparkline (COLUMN_SPARK). Lives as long as the table. If there are more than
 * SLICES_BARS, neighbours share a bar.
 */
const char *slices_spark(struct table *, const uint64_t *amounts, uint32_t n);

/* Says below the table how many slices a bar is, if that is not one. */
void slices_note(const struct slices *, struct table *);

/*
 * Columns for amounts by slice, behind those that the table has: "time", a line of bars for people,
 * and "slice_0" … for programs, with this unit and meaning. Nothing where time is not sliced, and
 * slices_note(). To be called before the first row; `meaning` lives as long as the table.
 */
void slices_add_columns(const struct slices *, const char *unit, const char *meaning,
			struct table *);

/* Fills these columns of a row: `amounts` are one for each slice. */
void slices_show(const struct slices *, const uint64_t *amounts, struct table *, struct cell *row);

#endif
