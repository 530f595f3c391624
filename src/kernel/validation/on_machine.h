/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of microbenchmarks on this machine. */
#ifndef CYCLOPS_KERNEL_VALIDATION_ON_MACHINE_H
#define CYCLOPS_KERNEL_VALIDATION_ON_MACHINE_H

#include "cpu/pmu.h"
#include "kernel/validation/measurer.h"
#include "pmu/kernel.h"
#include "pmu/pmu.h"

struct on_machine {
	const struct kernel *kernel; /* opens the events */
	struct pmus *pmus;
	const struct pmu *core;	     /* NULL: hardware events cannot be counted */
	const struct cpu_pmu *facts; /* the catalog's events of this core; NULL: none */
	unsigned n_counters;	     /* that are free, beside the one for cycles */
	bool is_pinned;		     /* the caller has chosen the CPU, which has this PMU */
	double cycles, running_ns;   /* of runs in which cycles were counted */
};

/*
 * The measurer. Events are names of the catalog, or of the kernel's software events ("page-faults"); they
 * are counted in user mode, software events also in the kernel. A run for each group of events that fits the
 * counters, so that none takes turns.
 */
struct measurer on_machine_measurer(struct on_machine *);

/* The caches of the machine's first CPU, as the kernel tells them below `root`; 0: it does not. No TLBs. */
struct cache_sizes on_machine_sizes(const char *root);

/* Is it one of the software events, which every machine counts? */
bool on_machine_is_software(const char *event);

#endif
