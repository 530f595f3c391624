/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer chases: each load takes its address from the load before, as in lists and trees. */
#ifndef CYCLOPS_ACCESS_CHASE_H
#define CYCLOPS_ACCESS_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/*
 * Is instruction `at` of the `n` A64 instructions a pointer chase? It is one if it loads into its
 * own base register, such as "ldr x0, [x0, #8]", and stands in a loop that does not write this
 * register elsewhere. Also false where that is not certain: the loop has a call, does not end
 * within the code, or has an instruction that may write the register.
 */
bool chase_in_loop(const uint32_t *code, size_t n, size_t at);

/* The same for a place; false if the code around it is not A64, or not found. */
bool chase_at(const struct session *, uint32_t place);

#endif
