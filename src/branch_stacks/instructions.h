/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that were executed, by the segments of branch stacks: a software count, beside what an
 * event of the capture counted.
 */
#ifndef CYCLOPS_BRANCH_STACKS_INSTRUCTIONS_H
#define CYCLOPS_BRANCH_STACKS_INSTRUCTIONS_H

#include "branch_stacks/stacks.h"

struct executed_instructions {
	double n, by_class[N_CODE_CLASSES]; /* NAN: not known */
	uint64_t n_segments;		    /* good ones, that it is made of */
	double share[N_CODE_CLASSES];	    /* of all; also where the number is not known */
	uint64_t n_calls;		    /* that were recorded */
	double per_call;		    /* NAN: no calls */
	int event;	    /* counts retired instructions of the same privilege levels; -1: none */
	double counted;	    /* by its samples */
	uint64_t n_samples; /* of it */
};

void executed_instructions_find(const struct branch_stacks *, struct executed_instructions *out);

/*
 * The event of the capture that counts retired instructions, in the privilege levels of the event with
 * stacks; -1: none was sampled.
 */
int instructions_event(const struct session *, size_t event);

/* The table "instructions", by class. */
void executed_instructions_table(const struct branch_stacks *, struct table *out);

/* Says how many, of what class, and how many the event counted. */
void executed_instructions_note(const struct branch_stacks *, struct table *);

#endif
