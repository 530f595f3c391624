/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of single formats share: inside this folder only. */
#ifndef CYCLOPS_COUNT_IMPORT_INSIDE_H
#define CYCLOPS_COUNT_IMPORT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "count/counts.h"

/* A piece of the input. */
struct slice {
	const char *at;
	size_t n;
};

/* The input, line by line. */
struct lines {
	const char *start, *at, *end;
};

/* The next line without its end; false behind the last. */
bool lines_next(struct lines *, struct slice *out);

struct slice slice_trim(struct slice);
bool slice_is(struct slice, const char *text);
bool slice_begins(struct slice, const char *text);
bool slice_has(struct slice, const char *text);
const char *slice_copy(struct arena *, struct slice);

/* Digits alone. */
bool slice_u64(struct slice, uint64_t *out);

/* A plain decimal number, with a point or a comma, perhaps with a sign. */
bool slice_number(struct slice, double *out);

/* "CPU3": the number; "S0-D0-C3", "N0" …: a part of the machine. */
bool slice_is_cpu(struct slice, int32_t *out);
bool slice_is_part(struct slice);

/* "<not counted>" and "<not supported>". */
bool slice_is_state(struct slice, uint8_t *out);

/* The name and number of a thread: "comm-123". */
bool slice_is_thread(struct slice, int32_t *out_tid);

/* The interval that ends then, added if it is new. Times come in order. */
uint32_t import_interval(struct counts *, double seconds);

/* Values in milliseconds become nanoseconds; other units stay. */
void import_unit(struct counts *, struct count *, struct slice unit);

/*
 * perf tells how long an event was on a counter, and the percentage cut to whole numbers. The
 * time in which it was to be counted is that of an event of the same place and interval that was
 * counted all of the time, if that fits the percentage.
 */
struct import_times {
	VEC_OF(double) percent; /* of each count; 100: all of the time */
};

void import_times_finish(struct import_times *, struct counts *);

/* A format. */
struct import_format {
	const char *name; /* for messages */
	bool (*is_it)(const char *text, size_t size);
	int (*read)(const char *text, size_t size, struct counts *, struct err *);
};

extern const struct import_format import_json, import_perf_json, import_topdown, import_rpistat,
	import_perf_text, import_perf_csv;

#endif
