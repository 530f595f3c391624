/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what events count in microbenchmarks with what they must count (kernel/expected): which events of
 * a machine can be trusted, and which cannot.
 */
#ifndef CYCLOPS_KERNEL_VALIDATION_VALIDATE_H
#define CYCLOPS_KERNEL_VALIDATION_VALIDATE_H

#include "base/vec.h"
#include "cpu/pmu.h"
#include "kernel/expected/expected.h"
#include "kernel/validation/measurer.h"
#include "kernel/validation/verdict.h"
#include "table/table.h"

/* All borrowed. */
struct validation_request {
	const struct expected *expected;
	const struct measurer *measurer;
	const struct cpu_pmu
		*facts;	   /* the catalog's events of the CPU; NULL: software events only */
	bool has_software; /* software events are counted, too */
	const struct cache_sizes *sizes;
	unsigned architecture; /* of the machine */
	/* events and cases or kernels to look at: these events in these kernels; none of a sort: all of it */
	const char *const *names;
	size_t n_names;
};

/* An event in a case, beside what verdict.h says. */
struct validation_case {
	const struct expected_case *which;
	const struct expectation *expectation;
	struct expected_count expected;
	double iterations;
};

/* An event with its runs: checks[first … first + n). */
struct validated_event {
	const char *name;
	size_t first, n;
	struct event_validation result;
};

struct validation {
	VEC_OF(struct validated_event) events;	/* wrong ones first */
	VEC_OF(struct validation_check) checks; /* by event */
	VEC_OF(struct validation_case) cases;	/* by check */
	size_t n_of[N_VALIDATION_VERDICTS];	/* events with each verdict */
	size_t n_skipped;			/* cases that cannot run here … */
	struct err why_skipped;			/* … and why the first cannot */
};

/*
 * Runs all cases that have to do with the names. Fails if a name is none, or if nothing can be run. To be
 * released, also after an error.
 */
int validate(const struct validation_request *, struct validation *out, struct err *);
void validation_release(struct validation *);

/* What is to be remembered of the machine's events. */
void validation_remember(const struct validation *, struct event_checks *out);

/* What it comes to, in sentences; a row for each event; a row for each event and case, for programs. */
void validation_answer(const struct validation *, struct table *);
void validation_events_table(const struct validation *, struct table *);
void validation_checks_table(const struct validation *, struct table *);

#endif
