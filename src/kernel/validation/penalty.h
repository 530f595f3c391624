/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one event costs: the cycles of a kernel that has it, less those of a kernel that is the same but for
 * it. Both are runs of the same number of steps.
 */
#ifndef CYCLOPS_KERNEL_VALIDATION_PENALTY_H
#define CYCLOPS_KERNEL_VALIDATION_PENALTY_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/validation/measurer.h"

enum { PENALTY_NAMES = 3, PENALTY_KNOWN = 2, PENALTY_VALUES = 4 };

/* A kernel as a rule has it. */
struct penalty_kernel {
	const char *name;
	const char *level; /* where its data is; NULL: as the values say */
	struct {
		enum parameter parameter;
		uint64_t value;
	} values[PENALTY_VALUES]; /* 0: as usual; ITERATIONS is not among them */
};

struct penalty_rule {
	const char *events
		[PENALTY_NAMES]; /* what CPUs call it; the rule is of the first that a tree has */
	struct penalty_kernel with, without;
	uint64_t iterations; /* of a run */

	/*
	 * true: cycles are of the events that were counted. false: each step has one, as the kernel is
	 * made, whatever was counted.
	 */
	bool is_per_event;

	/* Events of other rules, before this one, of which the kernels also have different numbers. */
	const char *known[PENALTY_KNOWN];
};

/* In their order; NULL behind the last. */
const struct penalty_rule *penalty_rule_at(size_t);

/* Sets the kernel's values. Fails if sizes of caches that it needs are not known. */
int penalty_kernel_set(const struct penalty_kernel *, uint64_t iterations,
		       const struct cache_sizes *, struct kernel_setting *out, struct err *);

/* Appends the kernel as the rule has it: "chase l2", "jumps spacing=4160". */
void penalty_kernel_text(const struct penalty_kernel *, struct text *);

/* Steps of a run: iterations, or lines or branches that they go through. */
double penalty_steps(const struct kernel_setting *);

/* What one run of a rule's kernel counted, for each step. */
struct penalty_run {
	double cycles;
	double events;		     /* NAN: not counted */
	double known[PENALTY_KNOWN]; /* NAN: not counted, or none */
};

/*
 * Cycles of one event; NAN if it does not happen more often in `with` than in `without`. `costs` are those of
 * the known ones; NAN: not known, then they are not subtracted.
 */
double penalty_of_runs(const struct penalty_rule *, const struct penalty_run *with,
		       const struct penalty_run *without, const double costs[PENALTY_KNOWN]);

struct repeated {
	double median, least, most;
	double spread; /* (most - least) / median; infinite if the median is not above 0 */
};

/* Of n values, 1 or more. NAN if one is. */
struct repeated repeated_of(const double *values, size_t n);

#endif
