/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of `cyclops stat --fail-if` may be about: metrics, events, and the time of the run. */
#ifndef CYCLOPS_STAT_GATES_H
#define CYCLOPS_STAT_GATES_H

#include "cli/gates.h"
#include "stat/types.h"

/*
 * Judges conditions about counts, whose types were opened. Names of several types of cores end in "@PMU". Fails
 * if there is no such metric or event, or if it was not counted.
 */
int stat_judge(const struct gate_options *, struct stat_types *, struct counts *,
	       const struct stat_options *, struct gates *out, struct err *);

#endif
