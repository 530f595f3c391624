/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for BOLT, the optimiser of linked programs: fdata, as llvm-bolt reads it, and pre-aggregated
 * branches, which perf2bolt -pa reads.
 */
#ifndef CYCLOPS_FEEDBACK_BOLT_H
#define CYCLOPS_FEEDBACK_BOLT_H

#include "feedback/edge_profile.h"

/* Takes the next piece of output; -1 stops it. */
typedef int feedback_sink(void *context, const struct text *);

/* How much was written. */
struct feedback_written {
	size_t n_functions, n_lines;
	size_t n_without_lines; /* functions left out: without debug information */
};

/*
 * Branches and fall-throughs by function and offset, with executions and mispredictions. Returns -1 if the sink
 * stopped it.
 */
int bolt_write_fdata(const struct edge_profile *, feedback_sink *, void *context,
		     struct feedback_written *out);

/*
 * Branches (B), and what ran between them (F), by address in the module's file. From branch stacks as they were
 * recorded, without a fit.
 */
int bolt_write_aggregated(const struct edge_profile *, feedback_sink *, void *context,
			  struct feedback_written *out);

#endif
