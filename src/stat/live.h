/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cyclops stat that counts on this machine. */
#ifndef CYCLOPS_STAT_LIVE_H
#define CYCLOPS_STAT_LIVE_H

#include "cli/options.h"
#include "count/counts.h"
#include "cpu/cpu.h"
#include "metrics/metrics.h"

/* Options about what is measured, and how. */
struct live_options {
	const char *pids, *tids, *cpus, *cgroup;
	const char *delay, *control;
	unsigned repeat, interval_ms;
	bool all_cpus, by_cpu, by_thread, no_mux, no_inherit, user, kernel;
	char *const *command; /* ended by NULL; NULL: none */
};

struct option_set live_option_set(struct live_options *);

/* Was anything to be counted here asked for? */
bool live_is_wanted(const struct live_options *);

/* What becomes of intervals. */
struct live_ticks {
	/* Before anything is counted: what is known of machine and command, which stay. */
	void (*begin)(void *context, const struct counts *);

	/* As in struct counting. */
	int (*tick)(void *context, const struct counts *, struct err *);
	void *context;
};

/*
 * Counts what `stat` needs to answer, on the CPU of this machine or, if not NULL, on the one of
 * that name. *out_status becomes the exit status of the command; on failure the status to end
 * with.
 */
int live_count(const struct live_options *, const struct stat_options *, const struct catalog *,
	       const char *cpu_name, const struct live_ticks *, struct counts *out, int *out_status,
	       struct err *);

#endif
