/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators: which instructions every path from the function's start to another one passes. */
#ifndef CYCLOPS_ANNOTATE_FLOW_H
#define CYCLOPS_ANNOTATE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "annotate/annotate.h"

struct annotate_flow {
	uint32_t *rank;	     /* by instruction: in reverse postorder from 1; 0: no known path
				leads to it, as to code behind a jump table */
	uint32_t *dominator; /* by instruction: its immediate dominator */
};

void annotate_flow_init(struct annotate_flow *, const struct annotation *);
void annotate_flow_release(struct annotate_flow *);

/* Does `by` dominate `to`: does every known path from the first instruction to `to` pass `by`? */
bool annotate_flow_dominates(const struct annotate_flow *, size_t by, size_t to);

#endif
