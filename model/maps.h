/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of this process, which include the guest's memory; sets of address ranges. */
#ifndef CYCLOPS_MODEL_MAPS_H
#define CYCLOPS_MODEL_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct mapping {
	uint64_t start, end; /* addresses of this process */
	uint64_t offset;     /* in the file */
	uint32_t protection; /* PROT_READ … */
	bool is_shared;
	char *path; /* "" if there is no file */
};

/*
 * The mapping that holds the address, by /proc/self/maps; false if none. The caller frees the path.
 */
bool mapping_find(uint64_t address, struct mapping *out);

/* Parses a line of /proc/self/maps; false if it has another form. The caller frees the path. */
bool mapping_read(const char *line, struct mapping *out);

/* A set of address ranges, from `start` to before `end`. Searched linearly: there are few. */
struct span {
	uint64_t start, end;
};

struct spans {
	VEC_OF(struct span) list;
};

void spans_release(struct spans *);
bool spans_hold(const struct spans *, uint64_t address);
void spans_add(struct spans *, uint64_t start, uint64_t end);

/* Adds all ranges of a set to `out`. */
void spans_copy(const struct spans *, struct spans *out);

/* Adds the shared mappings of this process, at addresses less `base`; lower ones are left out. */
void mappings_find_shared(uint64_t base, struct spans *out);

/* Removes each range that overlaps this one, as a whole. */
void spans_forget(struct spans *, uint64_t start, uint64_t end);

#endif
