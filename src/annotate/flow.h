/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions of a function every way to another one passes. */
#ifndef CYCLOPS_ANNOTATE_FLOW_H
#define CYCLOPS_ANNOTATE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "annotate/annotate.h"

struct annotate_flow {
	uint32_t *rank;	     /* of an instruction in an order in which most ways ascend; 0: no
				known way leads to it, as into a table of cases */
	uint32_t *dominator; /* nearest instruction that every way to it passes */
};

void annotate_flow_init(struct annotate_flow *, const struct annotation *);
void annotate_flow_release(struct annotate_flow *);

/* Is every known way from the function's first instruction to `to` through `by`? */
bool annotate_flow_passes(const struct annotate_flow *, size_t by, size_t to);

#endif
