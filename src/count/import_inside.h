/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of formats. For this folder only. */
#ifndef CYCLOPS_COUNT_IMPORT_INSIDE_H
#define CYCLOPS_COUNT_IMPORT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "count/counts.h"

/* A part of the input; not terminated. */
struct slice {
	const char *at;
	size_t n;
};

/* A reader of lines. */
struct lines {
	const char *start, *at, *end;
};

/* The next line without its newline; false behind the last. */
bool lines_next(struct lines *, struct slice *out);

struct slice slice_trim(struct slice);
bool slice_is(struct slice, const char *text);
bool slice_begins(struct slice, const char *text);
bool slice_has(struct slice, const char *text);
const char *slice_copy(struct arena *, struct slice);

/* Reads digits only. */
bool slice_u64(struct slice, uint64_t *out);

/* Reads a decimal number with a point or comma and an optional sign. */
bool slice_number(struct slice, double *out);

/* Reads "CPU3" as 3. slice_is_part(): is it a part of the machine, "S0-D0-C3", "N0" …? */
bool slice_is_cpu(struct slice, int32_t *out);
bool slice_is_part(struct slice);

/* Reads "<not counted>" and "<not supported>" as enum count_state. */
bool slice_is_state(struct slice, uint8_t *out);

/* Reads "comm-123", a thread, as 123. */
bool slice_is_thread(struct slice, int32_t *out_tid);

/* The index of the interval that ends at this time, added if it is new. Times ascend. */
uint32_t import_interval(struct counts *, double seconds);

/*
 * The times that perf prints: the running time, and its percentage of the enabled time, truncated
 * to a whole number. The enabled time is that of an event with 100 % at the same place and
 * interval, if it fits the percentage.
 */
struct import_times {
	VEC_OF(double) percent; /* by count; 100: all of the time */
};

void import_times_finish(struct import_times *, struct counts *);

/*
 * Reads the rows of a table "regions", of libcyclops or of the machine model. `are_all`: the program
 * was counted in its regions only, so that they are what `items` has.
 */
struct json_t;
int import_region_rows(const struct json_t *rows, bool are_all, struct counts *, struct err *);

/* A format. */
struct import_format {
	const char *name; /* for messages */
	bool (*is_it)(const char *text, size_t size);
	int (*read)(const char *text, size_t size, struct counts *, struct err *);
};

extern const struct import_format import_regions, import_json, import_perf_json, import_topdown,
	import_rpistat, import_perf_text, import_perf_csv;

#endif
