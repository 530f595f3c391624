/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording watches: threads, or a cgroup, and on which CPUs. */
#ifndef CYCLOPS_RECORD_TARGETS_H
#define CYCLOPS_RECORD_TARGETS_H

#include "pmu/target.h"
#include "record/record.h"

/* Zeroed is empty. */
struct record_target {
	struct target_threads
		threads; /* or RECORDING_ALL_THREADS alone, or the cgroup's directory */
	struct cpu_list cpus, online; /* those watched; all */
	struct arena memory;
	bool is_program; /* the program that is started, and nothing else */
	bool is_cgroup;
};

/*
 * Reads the lists of pids, tids and CPUs; `program` is the program's pid, 0: none. What does not
 * exist is an error that names it. Release it also after an error.
 */
int record_target_find(struct record_target *, const struct record_options *, pid_t program,
		       const char *root, struct err *);

void record_target_release(struct record_target *);

#endif
