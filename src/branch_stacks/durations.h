/* SPDX-License-Identifier: Apache-2.0 */
/* How long segments lasted. */
#ifndef CYCLOPS_BRANCH_STACKS_DURATIONS_H
#define CYCLOPS_BRANCH_STACKS_DURATIONS_H

#include "branch_stacks/segments.h"

/* The quantiles of a segment's durations, in any order; one may be there several times. Sorts them. */
struct stack_duration stack_duration_of(struct segment_cycles *, size_t n);

#endif
