/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the counters of a CPU can count and what the counts mean: events, metrics, groups of
 * metrics, the top-down method. Facts of the catalog (catalog/schema.md), all of one CPU.
 */
#ifndef CYCLOPS_CPU_PMU_H
#define CYCLOPS_CPU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cpu/cpu.h"
#include "cpu/formula.h"

/* The one name in formulas that is no event: slots in a cycle, where the kernel tells them. */
#define CPU_SLOTS "SLOTS"

enum event_stage {
	EVENT_STAGE_NOT_TOLD,
	EVENT_STAGE_RETIRED,
	EVENT_STAGE_SPECULATIVE, /* the wrong path is counted, too */
};

struct cpu_event {
	const char *name;	/* "L1D_CACHE_REFILL" */
	uint64_t code;		/* Arm: the event number; x86: the whole raw config */
	const char *class;	/* "l1d" */
	const char *note;	/* NULL: none */
	const char *linux_name; /* open it by this word of the kernel's, not by `code`; or NULL */
	enum event_stage stage;
	bool is_impdef; /* the architecture does not fix its number */
};

struct event_list {
	const struct cpu_event **items;
	size_t n;
};

enum metric_better {
	BETTER_NEUTRAL,
	BETTER_HIGHER,
	BETTER_LOWER,
};

struct cpu_metric {
	const char *name;  /* "l1d_cache_mpki" */
	const char *label; /* "L1D line refills per 1000 instructions" */
	const char *unit;  /* "MPKI", "percent of cycles", "per cache access" */
	double scale;	   /* the factor inside the formula: 100 is per cent, 1000 per thousand */
	enum metric_better better;
	const char *origin;	   /* "arm": published for this CPU */
	struct formula formula;	   /* for the revision that cpu_cpu_pmu_open() was asked for */
	struct event_list events;  /* of the formula: count these at the same moments */
	bool needs_slots;	   /* the formula also has SLOTS, which is no event */
	struct event_list samples; /* sample these to find the code */
};

struct metric_list {
	const struct cpu_metric **items;
	size_t n;
};

struct cpu_group {
	const char *name;  /* "L1D_Cache_Effectiveness" */
	const char *label; /* "L1D Cache Effectiveness" */
	struct metric_list metrics;
};

struct group_list {
	const struct cpu_group **items;
	size_t n;
};

/* A place in the tree of the top-down method. A part without a node of its own is a leaf. */
struct cpu_node {
	const struct cpu_metric *metric;
	const struct cpu_group *group;	 /* NULL: not told */
	struct metric_list next_metrics; /* its parts, to be compared with each other */
	struct group_list next_groups;	 /* what explains it */
	struct event_list samples;
};

struct cpu_topdown {
	struct group_list stage_1, stage_2;
	struct metric_list roots;	/* to compare first; none: this CPU has no tree */
	struct metric_list unreachable; /* nodes that no other one names */
	struct cpu_node *nodes;
	size_t n_nodes;
};

/* Which part of the core loses the cycles. */
enum cpu_side {
	SIDE_FRONTEND,
	SIDE_BACKEND,
	SIDE_BAD_SPECULATION, /* in cycles of Arm CPUs a part of the front end's */
};

/* "frontend": the catalog's word, which metrics of that side begin with. */
const char *cpu_side_name(enum cpu_side);

/*
 * Cycles that one occurrence of an event costs at the most, beyond what the level before costs.
 * Events of one issue are alternatives, the best first: only one of them may be charged.
 */
struct cpu_penalty {
	const struct cpu_event *event;
	const char *issue; /* "mispredict", "l1d_miss", "dtlb_walk" */
	double cycles;	   /* 1: the event counts cycles itself */
	enum cpu_side side;
	bool is_estimate;    /* not published or measured for this core */
	bool is_upper_bound; /* the event counts more than what waits: prefetches, the wrong path */
	const char *source;
};

/* A word of the kernel's for an event: "branch-misses". */
struct kernel_event {
	const char *word;
	const struct cpu_event *event;
};

/* A value from which on a metric is worth a word, or another limit of the walk down the tree. */
struct cpu_threshold {
	const char *name;
	double value; /* in the unit of the metric */
};

struct threshold_list {
	struct cpu_threshold *items;
	size_t n;
};

/* Read-only once opened; lists are in the order of the catalog. */
struct cpu_pmu {
	const struct cpu *cpu;
	struct cpu_event *events;
	struct cpu_metric *metrics;
	struct cpu_group *groups;
	const char **linux_names; /* below /sys/bus/event_source/devices; may end with '*' */
	struct threshold_list thresholds; /* the usual ones, with the values of this CPU */
	size_t n_events, n_metrics, n_groups, n_linux_names;
	struct cpu_penalty *penalties;
	struct kernel_event *kernel_events;
	size_t n_penalties, n_kernel_events;
	size_t n_spe_ratios; /* the last metrics, about how well SPE sampled */
	struct cpu_topdown topdown;
	unsigned n_programmable;    /* counters that take any event; 0: not published, probe */
	unsigned n_fixed_cycles;    /* counters for the cycle event alone */
	unsigned counter_bits;	    /* 0: not told */
	unsigned dispatch_width;    /* operations in a cycle; 0: not known */
	unsigned fetch_width;	    /* instructions in a cycle, if that is less; 0: not known */
	unsigned reorder_entries;   /* of the reorder buffer; 0: not known, or it runs in order */
	unsigned outstanding_lines; /* that a core can wait for at a time; 0: not known */
	unsigned slots; /* in a cycle; 0: the kernel knows (caps/slots), or there are none */
	bool is_arm;
	bool is_architectural; /* events and metrics are those of any PMUv3 core, its own are not known */
	bool is_generic;       /* not a CPU but the kernel's words, which many CPUs share */
	bool is_other_revision; /* formulas of another revision than the base one are in use */
	const char *note;	/* a caution in one line, or NULL */
	const struct cpu_event *cycles, *instructions; /* NULL: has none, or is not known */
	struct arena memory;
};

/*
 * The facts of a CPU. `midr` chooses the formulas of its revision; 0: the base ones. A CPU with
 * only a name has empty lists. The catalog must outlive it.
 */
int cpu_pmu_open(const struct catalog *, const struct cpu *, uint64_t midr, struct cpu_pmu **out,
		 struct err *);
void cpu_pmu_free(struct cpu_pmu *);

/* By name, ignoring case; NULL if there is none. */
const struct cpu_event *cpu_event_find(const struct cpu_pmu *, const char *name);
const struct cpu_metric *cpu_metric_find(const struct cpu_pmu *, const char *name);
const struct cpu_group *cpu_group_find(const struct cpu_pmu *, const char *name);

/* The CPU's own threshold of that name, or else the usual one; ignores case. NULL: neither. */
const struct cpu_threshold *cpu_threshold_find(const struct cpu_pmu *, const char *name);

/* The first event of that code, or NULL. */
const struct cpu_event *cpu_event_of_code(const struct cpu_pmu *, uint64_t code);

/* What the event costs, or NULL. */
const struct cpu_penalty *cpu_penalty_of(const struct cpu_pmu *, const struct cpu_event *);

/* The first of that issue, which is the preferred one, or NULL. */
const struct cpu_penalty *cpu_penalty_of_issue(const struct cpu_pmu *, const char *issue);

/* The node of that metric, or NULL. */
const struct cpu_node *cpu_node_of(const struct cpu_pmu *, const struct cpu_metric *);

/* The most instructions that can retire in a cycle; where it is not known that of the widest CPU. */
double cpu_most_ipc(const struct cpu_pmu *);

/* Is it the event of the fixed cycle counter, which costs no other one? */
static inline bool cpu_event_is_free(const struct cpu_pmu *pmu, const struct cpu_event *event)
{
	return event == pmu->cycles && pmu->n_fixed_cycles > 0;
}

#endif
