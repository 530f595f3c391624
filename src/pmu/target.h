/* SPDX-License-Identifier: Apache-2.0 */
/* What to measure, and the threads and CPUs on which events are opened for it. */
#ifndef CYCLOPS_PMU_TARGET_H
#define CYCLOPS_PMU_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "pmu/pmu.h"
#include "system/system.h"

/*
 * What to measure: a command, processes, threads, a cgroup, CPUs, or the whole system. A command
 * beside one of the others only gives the duration. Lists are as users write them.
 */
struct target {
	char *const *command; /* ended by NULL; NULL: none */
	const char *pids;     /* processes with all their threads: "12,34" */
	const char *tids;     /* threads */
	const char *cpus;     /* "0-3,8" */
	const char *cgroup;   /* its path below the cgroup file system */
	bool all_cpus;
};

/* A place to open an event on. */
struct target_place {
	pid_t pid; /* as in struct event_request */
	int cpu;
	bool is_cgroup;
	int32_t tid;	   /* the thread that is counted; COUNT_ANY: several */
	const char *where; /* name of the thread or cgroup; NULL: none */
};

struct target_places {
	struct arena memory;
	VEC_OF(struct target_place) list;
	int cgroup_fd;
	bool has_cgroup; /* cgroup_fd is open */
};

struct target_threads {
	VEC_OF(pid_t) list; /* distinct, in the order asked for */
	struct arena memory;
};

/*
 * Appends all threads of the processes `pids` and the threads `tids` (NULL: none). What does not
 * exist is an error that names it. To be released also after an error.
 */
int target_threads_find(struct target_threads *, const char *pids, const char *tids,
			const char *root, struct err *);
void target_threads_release(struct target_threads *);

/* The CPUs of a list, which must be online; NULL: all online CPUs. Memory of the arena. */
int target_cpus_find(const char *wanted, const char *root, struct arena *, struct cpu_list *out,
		     struct err *);

/* Opens the directory of a cgroup in cgroup v1 or v2; -1 and an error if there is none. */
int target_cgroup_open(const char *name, const char *root, struct err *);

/* Does it count whole CPUs, for which rights are needed? */
bool target_is_cpus(const struct target *);

/* Is only the command measured? */
bool target_is_command(const struct target *);

/*
 * Finds the places. `child` is the process of the command. Fails if something does not exist or
 * options contradict each other. To be released also after an error.
 */
int places_find(struct target_places *, const struct target *, pid_t child, const char *root,
		struct err *);

/* The places of an uncore PMU: its CPUs. */
void places_of_pmu(struct target_places *, const struct pmu *);

void places_release(struct target_places *);

#endif
