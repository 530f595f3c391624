/* SPDX-License-Identifier: Apache-2.0 */
/* The events of cycle accounting for a recording (record --cycles). */
#ifndef CYCLOPS_RECORD_ACCOUNTING_H
#define CYCLOPS_RECORD_ACCOUNTING_H

#include "base/diag.h"
#include "cycles/tree/template.h"
#include "pmu/kernel.h"
#include "pmu/pmu.h"
#include "record/events.h"

/* What is to be recorded, and on what. Borrowed. */
struct accounting {
	const struct cycle_template *tree;
	const struct pmu *core;
	const struct kernel *kernel;
	uint64_t cycles_period; /* of the event of cycles; 0: that of the tree */
	bool with_all; /* also events that only explain others, and cost nothing by themselves */
	bool follows_children; /* by accounting_reads_inherited() */
	unsigned n_free;       /* programmable counters; 0: not known */
};

/* What came of it. */
struct accounting_plan {
	unsigned n_events;   /* that are recorded */
	unsigned n_counters; /* programmable ones that would hold them all at once */
	unsigned n_free;     /* as above */
};

/*
 * Appends the tree's events, but for those that this machine refuses or does not have, which are noted. One
 * sample of each stands for about as many cycles: its period is a prime near that of cycles, divided by
 * its penalty. Fails with ERR_UNSUPPORTED if cycles themselves cannot be sampled.
 */
int accounting_add(const struct accounting *, struct record_events *, struct accounting_plan *out,
		   struct diags *, struct err *);

/* The tree of this machine's CPU. Fails with ERR_UNSUPPORTED if there is none. */
int accounting_tree(const struct pmu *core, const char *root, struct cycle_template **out,
		    struct err *);

/* The period of an event of the tree. */
uint64_t accounting_period(const struct cycle_template *, int node, uint64_t cycles_period);

/*
 * Does the kernel follow children and threads of events whose samples have read values? From 6.12 on.
 */
bool accounting_reads_inherited(const struct kernel *);

/* Says how many counters the events need, and which part of the time each was counted: least, most. */
void accounting_sum_up(const struct accounting_plan *, double least, double most, struct text *);

#endif
