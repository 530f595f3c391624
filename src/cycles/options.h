/* SPDX-License-Identifier: Apache-2.0 */
/* Options of all commands that do cycle accounting: which tree, and what its events cost. */
#ifndef CYCLOPS_CYCLES_OPTIONS_H
#define CYCLOPS_CYCLES_OPTIONS_H

#include "base/err.h"
#include "cli/options.h"
#include "cycles/tree/template.h"
#include "estimate/clock.h"
#include "session/session.h"

/* Zeroed: the tree of the CPU, as it is. */
struct cycle_options {
	const char *tree;
	const char *ghz;
	struct option_list penalties;

	struct core_clock clock; /* of --ghz */
};

struct option_set cycle_option_set(struct cycle_options *);

/* Is any of them given? */
bool cycle_options_given(const struct cycle_options *);

/* Checks what can be checked without a tree. */
int cycle_options_check(struct cycle_options *, struct err *);

/* The tree that they name, else that of the capture's CPU. Fails with ERR_NO_DATA if it has none. */
int cycle_options_tree(const struct cycle_options *, const struct session *,
		       struct cycle_template **out, struct err *);

/* Cycles of one event, by node, to be freed. NULL after a failure: an event that is not in the tree. */
double *cycle_options_penalties(const struct cycle_options *, const struct cycle_template *,
				struct err *);

/* The clock at which penalties in ns are taken because nobody said another one; 0: there are none. */
double cycle_options_assumed_ghz(const struct cycle_options *, const struct cycle_template *);

#endif
