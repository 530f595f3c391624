/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the counters of a CPU count and what the counts mean: events, metrics, groups of metrics,
 * the top-down tree, all of one CPU. Facts of the catalog (catalog/schema.md).
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

/* The only name in formulas that is not an event: slots per cycle, from the kernel. */
#define CPU_SLOTS "SLOTS"

enum event_stage {
	EVENT_STAGE_NOT_TOLD,
	EVENT_STAGE_RETIRED,
	EVENT_STAGE_SPECULATIVE, /* operations on the wrong path are counted, too */
};

struct cpu_event {
	const char *name;	 /* "L1D_CACHE_REFILL" */
	uint64_t code;		 /* Arm: the event number; x86: the raw config */
	const char *class;	 /* "l1d" */
	const char *note;	 /* NULL: none */
	const char *description; /* what it counts, in words; NULL: not known */
	/* open it by this generic name of the kernel, not by `code`; NULL: by `code` */
	const char *linux_name;
	enum event_stage stage;
	bool is_impdef; /* IMPLEMENTATION DEFINED in the architecture */
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
	double scale;	   /* the factor in the formula: 100 for per cent, 1000 for per thousand */
	enum metric_better better;
	const char *origin;	   /* "arm": published for this CPU by Arm */
	struct formula formula;	   /* of the revision that cpu_pmu_open() was asked for */
	struct event_list events;  /* of the formula, to be counted in one group */
	bool needs_slots;	   /* the formula uses CPU_SLOTS */
	struct event_list samples; /* events to sample, to find the code behind the metric */
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

/* A node of the top-down tree. A metric without a node is a leaf. */
struct cpu_node {
	const struct cpu_metric *metric;
	const struct cpu_group *group;	 /* NULL: none */
	struct metric_list next_metrics; /* its parts, compared with each other */
	struct group_list next_groups;	 /* groups of metrics that explain it */
	struct event_list samples;
};

struct cpu_topdown {
	struct group_list stage_1, stage_2;
	struct metric_list roots;	/* compared first; empty if the CPU has no tree */
	struct metric_list unreachable; /* nodes that no other node leads to */
	struct cpu_node *nodes;
	size_t n_nodes;
};

/* The part of the pipeline that loses cycles. */
enum cpu_side {
	SIDE_FRONTEND,
	SIDE_BACKEND,
	SIDE_BAD_SPECULATION, /* on Arm, in cycles, a part of the front end */
};

/* The catalog's word, "frontend": metrics of that side begin with it. */
const char *cpu_side_name(enum cpu_side);

/* Is the metric about that side: a root of the tree, or a part of it? Rates are about none. */
bool cpu_metric_is_of_side(const struct cpu_metric *, enum cpu_side);

/*
 * The upper bound of the cycles that an occurrence of an event costs, beyond the cost of the level
 * before. Events of one issue are alternatives, the preferred one first: only one of them may be
 * charged.
 */
struct cpu_penalty {
	const struct cpu_event *event;
	const char *issue; /* "mispredict", "l1d_miss", "dtlb_walk" */
	double cycles;	   /* 1: the event counts cycles */
	enum cpu_side side;
	bool is_estimate; /* not published or measured for this core */
	/* the event also counts what does not stall: prefetches, the wrong path */
	bool is_upper_bound;
	const char *source;
};

/* A generic event of the kernel: "branch-misses". */
struct kernel_event {
	const char *word;
	const struct cpu_event *event;
};

/* A limit from which on a metric counts as high (or low), or another limit for walking the tree. */
struct cpu_threshold {
	const char *name;
	double value; /* in the metric's unit */
};

struct threshold_list {
	const struct cpu_threshold *items;
	size_t n;
};

/* A name of a list, and where it stands there. */
struct cpu_name {
	const char *name;
	size_t at;
};

/* Facts of a CPU's PMU. Constant once opened; lists are in catalog order. */
struct cpu_pmu {
	const struct cpu *cpu;
	struct cpu_event *events;
	struct cpu_metric *metrics;
	struct cpu_name *event_names, *metric_names,
		*group_names; /* in order, without regard to case */
	struct cpu_group *groups;
	/* names below /sys/bus/event_source/devices; '*' at the end matches the rest */
	const char **linux_names;
	struct threshold_list thresholds; /* defaults, with the CPU's own values */
	size_t n_events, n_metrics, n_groups, n_linux_names;
	struct cpu_penalty *penalties;
	struct kernel_event *kernel_events;
	size_t n_penalties, n_kernel_events;
	size_t n_spe_ratios; /* how many of the last metrics are ratios of SPE sampling */
	struct cpu_topdown topdown;
	unsigned n_programmable; /* counters for any event; 0: not published, to be probed */
	unsigned n_fixed_cycles; /* counters for cycles only */
	unsigned counter_bits;	 /* 0: not known */
	unsigned dispatch_width; /* operations per cycle; 0: not known */
	/* instructions per cycle, if fewer than dispatched; 0: not known */
	unsigned fetch_width;
	unsigned reorder_entries;   /* size of the reorder buffer; 0: not known, or in-order */
	unsigned outstanding_lines; /* line fills that a core can have outstanding; 0: not known */
	unsigned l1i_lines;	    /* 0: not known */
	unsigned itlb_entries;	    /* pages of the first-level instruction TLB; 0: not known */
	/* pages of 4 KiB of the first-level data TLB, and of the second-level TLB; 0: not known */
	unsigned dtlb_entries, l2tlb_entries;
	unsigned slots; /* per cycle; 0: the kernel knows (caps/slots), or the PMU has none */
	bool is_arm;
	/* events and metrics of any PMUv3 core stand in for the CPU's own, which are not known */
	bool is_architectural;
	bool is_generic;	  /* generic events of the kernel, shared by many CPUs */
	bool is_other_revision;	  /* formulas are those of another revision than the base one */
	bool has_other_revisions; /* some revisions have formulas of their own */
	uint64_t midr;		  /* that chose the formulas; 0: not known */
	const char *note;	  /* a caveat in one line; NULL: none */
	const struct cpu_event *cycles, *instructions; /* NULL: none, or not known */
	struct arena memory;
};

/*
 * Opens the facts of a CPU. `midr` chooses the formulas of its revision; 0: the base ones. A CPU
 * that has only a name gives empty lists. The catalog must outlive the result.
 */
int cpu_pmu_open(const struct catalog *, const struct cpu *, uint64_t midr, struct cpu_pmu **out,
		 struct err *);
/*
 * The same without what takes long to read: sizes, widths and penalties, no metrics, groups or trees, and of the events
 * those of penalties. Free it as that of cpu_pmu_open().
 */
int cpu_costs_open(const struct catalog *, const struct cpu *, struct cpu_pmu **out, struct err *);

/* How much is known of a CPU. */
struct cpu_counts {
	size_t n_events, n_metrics;
	unsigned n_programmable, slots;
	bool is_architectural; /* of any PMUv3 */
	const char *unit;      /* of the first metric of its tree; "": no tree, or none */
};

struct cpu_counts cpu_pmu_counts(const struct cpu_pmu *);

/* The same from the index, without opening the CPU's file; NULL: files beside the embedded ones change it. */
const struct cpu_counts *cpu_counts_known(const struct catalog *, const struct cpu *);
void cpu_pmu_free(struct cpu_pmu *);

/* Find by name, ignoring case; NULL if there is none. */
const struct cpu_event *cpu_event_find(const struct cpu_pmu *, const char *name);
const struct cpu_metric *cpu_metric_find(const struct cpu_pmu *, const char *name);
const struct cpu_group *cpu_group_find(const struct cpu_pmu *, const char *name);

/*
 * The threshold of that name, ignoring case: the CPU's own, else the default. NULL if there is
 * none.
 */
const struct cpu_threshold *cpu_threshold_find(const struct cpu_pmu *, const char *name);

/* The first event with that code, or NULL. */
const struct cpu_event *cpu_event_of_code(const struct cpu_pmu *, uint64_t code);

/* The cost of an event, or NULL. */
const struct cpu_penalty *cpu_penalty_of(const struct cpu_pmu *, const struct cpu_event *);

/* The cycles of the first, preferred penalty of an issue; 0: not known. */
double cpu_penalty_cycles(const struct cpu_pmu *, const char *issue);

/* The node of a metric, or NULL. */
const struct cpu_node *cpu_node_of(const struct cpu_pmu *, const struct cpu_metric *);

/* An upper bound of instructions per cycle; that of the widest CPU if this one is not known. */
double cpu_most_ipc(const struct cpu_pmu *);

/* Has the event a fixed counter, so that it takes no programmable one? */
static inline bool cpu_event_is_free(const struct cpu_pmu *pmu, const struct cpu_event *event)
{
	return event == pmu->cycles && pmu->n_fixed_cycles > 0;
}

#endif
