/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cyclops stat counts on this machine: from what was asked for to events of its PMUs, type
 * of core by type of core.
 */
#ifndef CYCLOPS_STAT_PLAN_H
#define CYCLOPS_STAT_PLAN_H

#include "base/vec.h"
#include "cpu/pmu.h"
#include "metrics/metrics.h"
#include "pmu/event_spec.h"
#include "pmu/pmu.h"

/* The cores of one type. */
struct plan_core {
	const struct pmu *pmu; /* NULL: this machine has no PMU */
	struct cpu_pmu *facts;
	uint64_t midr;
	unsigned n_free; /* programmable counters */
	unsigned slots;	 /* in a cycle, as the kernel tells; 0: it does not */
	struct event_sets wanted, missing, packed;
	uint32_t first_group; /* number of the first packed set's group */
};

/* How the machine is to be looked at. */
struct plan_machine {
	const char *root;     /* where /proc and /sys are: "" */
	const char *cpus;     /* only cores that are on these CPUs; NULL: all */
	const char *cpu_name; /* take the CPU to be this one; NULL: as found */
	bool is_of_tasks;     /* tasks are counted, which move between types of cores */
	bool no_mux;	      /* groups are not multiplexed: each is counted in a run of its own */
	unsigned (*n_free)(struct pmus *, const struct pmu *); /* counters_available() */
};

/* Zeroed is empty. */
struct stat_plan {
	struct plan_machine machine;
	struct pmus pmus;
	VEC_OF(struct plan_core) cores; /* one at least */
	struct event_specs specs;	/* what is to be counted next */
	size_t n_left_out;		/* groups of events that would have had to take turns */
};

/* Finds the PMUs, the types of cores and the facts about them. Release it in any case. */
int stat_plan_init(struct stat_plan *, const struct plan_machine *, const struct catalog *,
		   struct err *);
void stat_plan_release(struct stat_plan *);

/*
 * Chooses the events to be counted first. Of a machine without a PMU these are the kernel's own,
 * others only if asked for by name. An event that this machine cannot count takes no room: it
 * comes last, in no group, and so do metrics that lack it.
 */
int stat_plan_begin(struct stat_plan *, const struct stat_options *, struct err *);

/*
 * The same in place of what was chosen before, for what the method leads to with these counts.
 * No events: it is through.
 */
int stat_plan_next(struct stat_plan *, const struct stat_options *, const struct counts *,
		   struct err *);

/*
 * A fifth of the time is the least that something is concluded from: no more groups than give
 * each a quarter take turns at a time, if the method is free to choose.
 */
enum { STAT_PLAN_TURNS = 4 };

/*
 * Which groups of the plan matter with these counts: each metric that the method looks at needs
 * one. For struct counting; the context is a struct stat_choice.
 */
struct stat_choice {
	struct stat_plan *plan;
	const struct stat_options *stat;
};
void stat_plan_choose(void *choice, const struct counts *so_far, bool *is_on, uint32_t n_groups);

/* Groups of events that do not fit beside each other, on the type of core that has most. */
size_t stat_plan_n_groups(const struct stat_plan *);

/* Tells the counts what is known of the machine. */
void stat_plan_describe(const struct stat_plan *, struct counts *out);

/* Is nothing in particular asked for: does the top-down method choose? */
bool stat_plan_is_method(const struct stat_options *);

#endif
