/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what events cost on a machine, by the rules of penalty.h, and writes that as a tree of penalties. */
#ifndef CYCLOPS_KERNEL_VALIDATION_CALIBRATE_H
#define CYCLOPS_KERNEL_VALIDATION_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "cycles/tree/template.h"
#include "kernel/validation/penalty.h"
#include "table/table.h"

/* All borrowed. */
struct calibration_request {
	const struct measurer *measurer;
	const struct cycle_template *tree; /* of the machine's CPU */
	const struct cache_sizes *sizes;
	unsigned n_repeats;    /* runs of each kernel */
	uint64_t n_times;      /* iterations, as a multiple of those of the rules */
	double largest_spread; /* what a penalty may vary by; beyond it is not written */
};

/* A penalty, or why there is none. */
struct calibrated {
	const struct penalty_rule *rule;
	const char *event;	/* as the tree calls it */
	double old;		/* cycles in the tree, at the clock of the machine; NAN: none */
	struct repeated cycles; /* of one event */
	bool is_written;
	const char *with, *without; /* the runs: "chase lines=2048"; NULL: they cannot run here */
	const char *why_not;	    /* NULL: it is written */
};

struct calibration {
	struct arena memory;
	VEC_OF(struct calibrated) list;
	double ghz; /* of the core, meanwhile */
	size_t n_measured, n_unsteady;
	double widest; /* spread of those that were measured */
};

/*
 * Measures all penalties of the tree for which there is a rule. Fails if kernels cannot run or cycles cannot be
 * counted. To be released, also after an error.
 */
int calibrate(const struct calibration_request *, struct calibration *out, struct err *);
void calibration_release(struct calibration *);

/* A row for each penalty. */
void calibration_table(const struct calibration *, struct table *);

#endif
