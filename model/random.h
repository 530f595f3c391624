/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-random numbers of other distributions. */
#ifndef CYCLOPS_MODEL_RANDOM_H
#define CYCLOPS_MODEL_RANDOM_H

#include "base/random.h"

/*
 * An exponentially distributed number of that mean, at least 1. By comparisons only (J. von Neumann,
 * 1951), so that all machines agree.
 */
uint64_t random_exponential(uint64_t *state, uint64_t mean);

#endif
