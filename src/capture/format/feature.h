/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of header features, for info.c only. Each reads a whole section into a draft of struct
 * info and returns false if it cannot be parsed. The draft begins as a copy of the info. A reader
 * replaces lists (LIST_FORGET) and never changes the items of old ones.
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

/* Empties a list without freeing its items, which another struct info holds. */
#define LIST_FORGET(list) ((list).items = NULL, (list).n = (list).cap = 0)

/* The smallest string: its length field. */
enum { STRING_MIN = 4 };

/*
 * Reads a string, padded with NULs to the length before it. If it is cut off: "" and a bad cursor.
 */
struct str_id section_string(struct section *);

/* Skips a list of strings; false if it is cut off. */
bool section_skip_strings(struct section *);

/* Features about the run (feature_run.c). */
bool read_build_ids(struct section *, struct info *draft);
bool read_command_line(struct section *, struct info *draft);
bool read_event_descs(struct section *, struct info *draft);
bool read_groups(struct section *, struct info *draft);
bool read_sample_time(struct section *, struct info *draft);
bool read_clock_resolution(struct section *, struct info *draft);
bool read_clock_data(struct section *, struct info *draft);
bool read_compression(struct section *, struct info *draft);

/* Features of simpleperf (feature_simpleperf.c). */
bool read_stored_files(struct section *, struct info *draft);
bool read_stored_files_2(struct section *, struct info *draft);
bool read_meta_info(struct section *, struct info *draft);

/* Features about the machine (feature_machine.c). */
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
