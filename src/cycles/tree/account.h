/* SPDX-License-Identifier: Apache-2.0 */
/* What samples or counts come to in the nodes of a tree of cycle accounting. */
#ifndef CYCLOPS_CYCLES_TREE_ACCOUNT_H
#define CYCLOPS_CYCLES_TREE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "cycles/tree/template.h"

/* What is known of the event of a node, in one object: a function, a process … */
struct cycle_count {
	bool is_collected;
	bool reads_0;	    /* not collected, as the machine counts nothing with this event */
	bool is_unscaled;   /* how much of the time it was counted is not known */
	double events;	    /* estimated number: sum of weight x multiplex factor */
	double variance;    /* of `events`: sum of (weight x multiplex factor)²; 0: counted */
	uint64_t n_samples; /* 0 if counted */
};

enum cycle_state {
	CYCLE_MEASURED,
	CYCLE_NOT_COLLECTED, /* the CPU has the event, and this capture does not */
	CYCLE_GAP,	     /* the CPU has no event for it */
	CYCLE_NOT_COUNTED,   /* the machine counts nothing, as loops of known counts showed */
	CYCLE_TOO_FINE,	     /* differences and ratios of samples mean nothing for so few of them */
};

struct cycle_value {
	enum cycle_state state;
	bool is_lower_bound; /* a part that costs something was not collected */
	bool is_upper_bound; /* nothing was subtracted for a part that was not collected */
	bool is_sparse;	     /* of fewer than ten samples */
	bool is_clamped;     /* `cycles` is 0 and would be `raw` < 0 */
	bool is_estimate;    /* of a model, and not of counts alone */
	bool is_unscaled;    /* a part of it is: it may be too small */
	double events;	     /* of an event: their number */
	double cycles;	     /* events: without a penalty 0, unless they count cycles */
	double se;	     /* standard error of `cycles` */
	double raw;	     /* `cycles` before clamping */
	uint64_t n_samples;
	double cap; /* branches: cycles that it cannot exceed; < 0: no cap */
	int port;   /* FORMULA_BUSIEST: index of the busiest port; -1: none */
};

struct cycle_account_options {
	const double *penalties; /* cycles of one event, by node */
	bool is_fine;		 /* an instruction, line or block: no differences, no caps */
	bool is_counted;	 /* a whole run, and not samples */
	double wall_ns;		 /* of what was counted, on one CPU; 0: not known */
	/*
	 * Operations issued in an issuing cycle, of all the capture; 0: not known. Ratios of the
	 * samples of one function are too noisy.
	 */
	double issued_per_cycle;
};

/* Below this many samples an estimate is marked sparse. */
enum { CYCLE_SPARSE = 10 };

/* A port is saturated if it is busy in this part of all cycles. */
#define CYCLE_PORT_SATURATED 0.8

/* Fills out[n_nodes] from counts[n_nodes]. */
void cycle_account(const struct cycle_template *, const struct cycle_count *counts,
		   const struct cycle_account_options *, struct cycle_value *out);

/* Operations issued in an issuing cycle, of these counts; 0 if they were not collected. */
double cycle_issued_per_cycle(const struct cycle_template *, const struct cycle_count *counts);

/* Is it measured, and the sum of branches of stalled cycles? Stalled cycles less that sum, or 0. */
bool cycle_not_explained(const struct cycle_template *, const struct cycle_value *values,
			 double *out);

/* Its cycles, or the cap if that is less. */
double cycle_capped(const struct cycle_value *);

#endif
