/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops list kernels: the microbenchmarks of cyclops kernel. */
#ifndef CYCLOPS_LIST_KERNELS_TABLE_H
#define CYCLOPS_LIST_KERNELS_TABLE_H

#include "table/table.h"

/* All microbenchmarks. To be released. */
void kernels_table(struct table *out);

/* The parameters of those that `kernels` has left. To be released. */
void parameters_table(const struct table *kernels, struct table *out);

#endif
