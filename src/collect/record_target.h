/* SPDX-License-Identifier: Apache-2.0 */
/* What is watched: threads and CPUs. */
#ifndef CYCLOPS_COLLECT_RECORD_TARGET_H
#define CYCLOPS_COLLECT_RECORD_TARGET_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "collect/record.h"
#include "collect/system.h"

struct record_target {
	VEC_OF(int32_t) threads; /* or RECORDING_ALL_THREADS alone */
	struct cpu_list cpus;
	bool is_program; /* the program that is started, and nothing else */
	struct arena memory;
};

/*
 * Reads the lists of pids, tids and CPUs; `program` is the program's pid, 0: none. A process
 * stands for all its threads. What does not exist is an error that names it.
 */
int record_target_find(struct record_target *, const struct record_options *, int32_t program,
		       const char *root, struct err *);

void record_target_release(struct record_target *);

#endif
