/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the memory of a template, and the check that a read one is sound. */
#ifndef CYCLOPS_CYCLES_TREE_INSIDE_H
#define CYCLOPS_CYCLES_TREE_INSIDE_H

#include "base/arena.h"
#include "cycles/tree/template.h"

struct cycle_template_memory {
	struct arena arena;
};

/* Do sums and formulas end? Fails with the name of a node that depends on itself. */
int cycle_template_check(const struct cycle_template *, struct err *);

#endif
