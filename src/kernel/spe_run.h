/* SPDX-License-Identifier: Apache-2.0 */
/* Chases of each level under SPE: on the machine model, or on this machine. */
#ifndef CYCLOPS_KERNEL_SPE_RUN_H
#define CYCLOPS_KERNEL_SPE_RUN_H

#include "kernel/spe/levels.h"
#include "kernel/subject.h"

/* Can SPE records be made there? */
bool spe_run_is_possible(const struct subject *);

/* Runs and reads the chases; levels of which no size is known are left out. */
int spe_run(struct subject *, const char *catalog, struct spe_levels *out, struct err *);

#endif
