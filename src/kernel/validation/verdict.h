/* SPDX-License-Identifier: Apache-2.0 */
/* What counts of kernels whose counts are known say about an event. */
#ifndef CYCLOPS_KERNEL_VALIDATION_VERDICT_H
#define CYCLOPS_KERNEL_VALIDATION_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "counting/event_checks.h"

enum validation_verdict {
	VALIDATION_OK,
	VALIDATION_OVER,	    /* more than is right */
	VALIDATION_UNDER,	    /* less than is right, though not nothing */
	VALIDATION_FIRES_ELSEWHERE, /* it counts in a kernel in which it must not */
	VALIDATION_NOT_COUNTED,	    /* it cannot be opened, or reads 0 whatever runs */
	N_VALIDATION_VERDICTS,
};

/* "ok", "over", "under", "fires elsewhere", "not counted here". */
const char *validation_verdict_name(enum validation_verdict);

/* One event in one run of a kernel. */
struct validation_check {
	const char *event, *run; /* the run's kernel and parameters; both borrowed */
	bool must_not_fire;	 /* whatever of it is counted, up to `most`, is noise */
	double least, most;	 /* counts that are right */
	bool is_counted;	 /* it could be counted, and was all of the time */
	double count;
};

/* What this one run says; of an event that reads 0 in it: not counted here. */
enum validation_verdict validation_verdict_of_run(const struct validation_check *);

/* What all runs say of an event. */
struct event_validation {
	enum validation_verdict verdict;
	const struct validation_check
		*worst;		/* the run that shows it; NULL: it is ok, or was not counted */
	size_t n_runs, n_right; /* runs in which it was counted; with the right count */
	double factor; /* of VALIDATION_OVER and _UNDER: count / nearest right count; else 1 */
};

struct event_validation validation_of_event(const struct validation_check *, size_t n);

/*
 * What is to be remembered of it (counting/event_checks.h). False: nothing, as it could not be counted,
 * or no kernel makes it count.
 */
bool validation_to_remember(const struct event_validation *, const struct validation_check *,
			    size_t n, enum event_verdict *out);

#endif
