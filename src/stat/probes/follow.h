/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program and follows its threads and, if wanted, the processes that it forks (ptrace): each gets
 * its probes before its first instruction. Nothing else of the program is stopped or changed.
 */
#ifndef CYCLOPS_STAT_PROBES_FOLLOW_H
#define CYCLOPS_STAT_PROBES_FOLLOW_H

#include "stat/probes/group.h"

struct follow {
	struct probe_plan *plan;
	char *const *command; /* ended by NULL */
	bool without_children;
	uint64_t elapsed_ns; /* of the program */
	uint32_t n_threads;  /* that were counted */
	uint32_t n_processes;
	int status; /* as of a shell */
	int32_t pid;
};

/*
 * Runs the program to its end and fills `out`. Fails if it cannot be run, traced or probed; status then is
 * what to end with.
 */
int follow_run(struct follow *, struct call_counts *out, struct err *);

/*
 * What probes themselves count in an empty function of this process: a call's share of `out`, in which
 * function 0 is the empty one. *out_call_ns: how much longer a call takes with its probes.
 */
int follow_calibrate(struct probe_plan *, struct call_counts *out, double *out_call_ns,
		     struct err *);

#endif
