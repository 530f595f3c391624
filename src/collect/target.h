/* SPDX-License-Identifier: Apache-2.0 */
/* What to measure, and the places where events have to be opened for it. */
#ifndef CYCLOPS_COLLECT_TARGET_H
#define CYCLOPS_COLLECT_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "collect/pmu.h"

/*
 * What to measure: the command alone, processes, threads, a cgroup, CPUs or all of them. With
 * one of the others a command only says how long. All lists are as users type them.
 */
struct target {
	char *const *command; /* ended by NULL; NULL: none */
	const char *pids;     /* processes with all their threads: "12,34" */
	const char *tids;     /* threads */
	const char *cpus;     /* "0-3,8" */
	const char *cgroup;   /* its path below the cgroup file system */
	bool all_cpus;
};

/* Where to open an event. */
struct target_place {
	pid_t pid; /* as in struct event_request */
	int cpu;
	bool is_cgroup;
	int32_t tid;	   /* that the counts are of; COUNT_ANY: several */
	const char *where; /* name of the thread, or of the cgroup; NULL: none */
};

struct target_places {
	struct arena memory;
	VEC_OF(struct target_place) list;
	int cgroup_fd;
	bool has_cgroup; /* the former is open */
};

/* Does it take the rights to count whole CPUs? */
bool target_is_cpus(const struct target *);

/* Is it only the command? */
bool target_is_command(const struct target *);

/*
 * Finds the places; those of the command are on `child`. Fails if something does not exist or
 * if the options contradict each other. Release the places also after an error.
 */
int places_find(struct target_places *, const struct target *, pid_t child, const char *root,
		struct err *);

/* The places of a PMU that is not asked for tasks: its CPUs. */
void places_of_pmu(struct target_places *, const struct pmu *);

void places_release(struct target_places *);

#endif
