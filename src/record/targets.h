/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording watches: threads, or a cgroup, and on which CPUs. */
#ifndef CYCLOPS_RECORD_TARGETS_H
#define CYCLOPS_RECORD_TARGETS_H

#include "pmu/target.h"
#include "record/record.h"

/* Zeroed is empty. */
struct record_target {
	struct target_threads
		/* RECORDING_ALL_THREADS alone: all; the cgroup's descriptor for a cgroup */
		threads;
	struct cpu_list cpus, online; /* CPUs that are recorded; all online CPUs */
	struct arena memory;
	bool is_program; /* only the program that is started */
	bool is_cgroup;
};

/*
 * Finds threads and CPUs from the options; `program`: its pid, 0: none. What does not exist is an
 * error that names it. To be released also after an error.
 */
int record_target_find(struct record_target *, const struct record_options *, pid_t program,
		       const char *root, struct err *);

void record_target_release(struct record_target *);

#endif
