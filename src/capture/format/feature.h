/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of single header features, for info.c only. Each reads the whole section into a
 * draft of struct info and returns false if it does not parse. The draft begins as a copy of
 * the info: a reader makes new lists (LIST_FORGET) and never touches the items of old ones.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_FEATURE_H
#define CYCLOPS_CAPTURE_FORMAT_FEATURE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/strings.h"
#include "capture/format/info.h"

/* A section being read. */
struct section {
	struct cursor c;
	uint64_t at; /* its position in the file */
	struct strings *strings;
};

/* Leaves an empty list without freeing what somebody else still holds. */
#define LIST_FORGET(list) ((list).items = NULL, (list).n = (list).cap = 0)

/* Bytes of the smallest string: its length. */
enum { STRING_MIN = 4 };

/* A string, padded with NULs to the length before it. Empty (and a bad cursor) if cut. */
struct str_id section_string(struct section *);

/* Steps over a list of strings; false if it is cut. */
bool section_skip_strings(struct section *);

/* What was run, when, and what was recorded (feature_run.c). */
bool read_build_ids(struct section *, struct info *draft);
bool read_command_line(struct section *, struct info *draft);
bool read_event_descs(struct section *, struct info *draft);
bool read_groups(struct section *, struct info *draft);
bool read_sample_time(struct section *, struct info *draft);
bool read_clock_resolution(struct section *, struct info *draft);
bool read_clock_data(struct section *, struct info *draft);
bool read_compression(struct section *, struct info *draft);

/* The machine it ran on (feature_machine.c). */
bool read_n_cpus(struct section *, struct info *draft);
bool read_total_memory(struct section *, struct info *draft);
bool read_cpu_topology(struct section *, struct info *draft);
bool read_numa_topology(struct section *, struct info *draft);
bool read_memory_topology(struct section *, struct info *draft);
bool read_caches(struct section *, struct info *draft);
bool read_pmus(struct section *, struct info *draft);
bool read_cpu_pmu_capabilities(struct section *, struct info *draft);
bool read_pmu_capabilities(struct section *, struct info *draft);

#endif
