/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped into this process, which is also where the guest's memory lies. */
#ifndef CYCLOPS_MODEL_MAPS_H
#define CYCLOPS_MODEL_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct mapping {
	uint64_t start, end; /* addresses of ours */
	uint64_t offset;     /* in the file */
	uint32_t protection; /* PROT_READ … */
	bool is_shared;
	char *path; /* "" if there is no file */
};

/* The mapping that holds the address, by /proc/self/maps. The caller frees the path. */
bool mapping_find(uint64_t address, struct mapping *out);

/* Reads one line of /proc/self/maps. The path is copied; false if it is no such line. */
bool mapping_read(const char *line, struct mapping *out);

/* Address ranges, as a set that is searched by address. Few, and seldom changed. */
struct span {
	uint64_t start, end;
};

struct spans {
	VEC_OF(struct span) list;
};

void spans_release(struct spans *);
bool spans_hold(const struct spans *, uint64_t address);
void spans_add(struct spans *, uint64_t start, uint64_t end);

/* Makes the same set again, in memory of its own. */
void spans_copy(const struct spans *, struct spans *out);

/*
 * What other processes write there is seen here: mappings that fork() shares. Addresses are ours
 * less `base`.
 */
void mappings_find_shared(uint64_t base, struct spans *out);

/* Forgets each range that has an address in common with this one. */
void spans_forget(struct spans *, uint64_t start, uint64_t end);

#endif
