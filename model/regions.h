/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of programs that measure themselves with libcyclops: what each counted, by the marks that
 * the library sets (measure/mark.h). As in the library, a region counts what is inside of it, once if
 * it is in itself.
 */
#ifndef CYCLOPS_MODEL_REGIONS_H
#define CYCLOPS_MODEL_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/text.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "model/counts.h"
#include "model/params.h"

enum { REGION_NAME_BYTES = 256 };

/* A mark with what it points to. */
struct seen_mark {
	uint32_t kind; /* enum mark_kind */
	uint64_t handle;
	uint32_t region;
	char name[REGION_NAME_BYTES]; /* of MARK_BEGIN; a longer one is cut */
};

/* What a thread has counted, and the cycle of its CPU. */
struct region_counts {
	struct counts counts;
	uint64_t cycle;
};

/* A region that is open in a thread. */
struct region_frame {
	uint32_t region; /* of its handle */
	uint32_t path;
	uint32_t epoch; /* of its handle at the begin */
	struct region_counts start, inside;
};

/* The open regions of a thread and a handle, the outermost first. */
struct region_stack {
	uint32_t handle;
	VEC_OF(struct region_frame) frames;
};

/* Of a thread. Zeroed is empty. */
struct region_stacks {
	VEC_OF(struct region_stack) list;
};

void region_stacks_release(struct region_stacks *);

/* Of a process. A number that is used again is another handle. */
struct region_handle {
	uint32_t pid;
	uint64_t number;
	uint32_t epoch;
	bool is_calibrating;
	VEC_OF(struct region_counts) empty; /* of regions until MARK_READY */
	uint64_t *bias;			    /* the median of these, by event; NULL: not known */
	uint64_t bias_cycles;
};

/* A region in one thread, inside of another region. */
struct region_path {
	uint64_t calls;
	struct region_counts sum, exclusive;
};

struct regions {
	struct strings names;
	VEC_OF(struct region_handle) handles;
	struct tuples
		keys; /* (handle, tid, name, parent's name, is recursive) -> index of the path */
	VEC_OF(struct region_path) paths;
};

void regions_init(struct regions *);
void regions_release(struct regions *);

/* A mark of the thread, which has counted `now` before it. */
void regions_see(struct regions *, struct region_stacks *, uint32_t pid, uint32_t tid,
		 const struct seen_mark *, const struct region_counts *now);

/* Appends table "regions" as a member of a json object, if there are any. */
void regions_json(const struct regions *, const struct params *, struct text *);

#endif
