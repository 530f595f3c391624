/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of microbenchmarks whose events are counted: on this machine, or on the machine model. */
#ifndef CYCLOPS_KERNEL_VALIDATION_MEASURER_H
#define CYCLOPS_KERNEL_VALIDATION_MEASURER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "kernel/loops/microbenchmark.h"

/* What to run. */
struct kernel_setting {
	const struct microbenchmark *what;
	uint64_t values[N_PARAMETERS];
};

/* What an event counted in a run. */
struct kernel_count {
	bool is_counted; /* all of the run's time */
	double count;
};

/* Takes off what counting nothing counts. */
static inline void kernel_count_subtract(struct kernel_count *of,
					 const struct kernel_count *nothing)
{
	of->count -= of->count < nothing->count ? of->count : nothing->count;
}

/* Who runs and counts. */
struct measurer {
	void *context;

	/*
	 * Runs it `n_repeats` times for each group of events that can be counted at the same time. Fills
	 * out[repeat * n_events + event]. Fails if it cannot be run; an event that cannot be counted is no
	 * error.
	 */
	int (*count)(void *context, const struct kernel_setting *, const char *const *events,
		     size_t n_events, unsigned n_repeats, struct kernel_count *out, struct err *);

	/* The clock of the core in the runs so far; 0: not known. */
	double (*ghz)(void *context);
};

/*
 * Appends what to type behind `cyclops kernel`: "chase lines=2048", without values that are usual, and
 * without iterations. */
void kernel_setting_text(const struct kernel_setting *, struct text *);

#endif
