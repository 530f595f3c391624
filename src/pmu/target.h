/* SPDX-License-Identifier: Apache-2.0 */
/* What to measure, and the places where events have to be opened for it. */
#ifndef CYCLOPS_PMU_TARGET_H
#define CYCLOPS_PMU_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "pmu/pmu.h"
#include "pmu/system.h"

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

struct target_threads {
	VEC_OF(pid_t) list; /* each once, in the order asked for */
	struct arena memory;
};

/*
 * All threads of the processes (NULL: none) and the threads (NULL: none) of lists. What does not
 * exist is an error that names it. Appends; release also after an error.
 */
int target_threads_find(struct target_threads *, const char *pids, const char *tids,
			const char *root, struct err *);
void target_threads_release(struct target_threads *);

/* The CPUs of a list, all of which have to be online; NULL: those that are. Borrows the memory. */
int target_cpus_find(const char *wanted, const char *root, struct arena *, struct cpu_list *out,
		     struct err *);

/* Opens the directory of a cgroup, wherever its file system is; -1: there is none. */
int target_cgroup_open(const char *name, const char *root, struct err *);

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
