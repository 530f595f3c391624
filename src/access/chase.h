/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of which each address comes out of the load before: lists, trees, chains of a hash table. */
#ifndef CYCLOPS_ACCESS_CHASE_H
#define CYCLOPS_ACCESS_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/*
 * Is instruction `at` of `n` of A64 a load into its own base register, such as "ldr x0, [x0, #8]", in a
 * loop that does not write this register otherwise? Also false where that is not known: the loop
 * calls, is longer than the code that is given, or has an instruction that may write it.
 */
bool chase_in_loop(const uint32_t *code, size_t n, size_t at);

/* The same of a place, by the code around it; false if that is not known, or not of A64. */
bool chase_at(const struct session *, uint32_t place);

#endif
