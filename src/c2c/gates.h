/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of `cyclops c2c --fail-if` may be about. */
#ifndef CYCLOPS_C2C_GATES_H
#define CYCLOPS_C2C_GATES_H

#include "c2c/accesses/result.h"
#include "c2c/verdict/cause.h"
#include "gate/gate.h"

enum { C2C_N_QUANTITIES = 5 };

extern const struct quantity c2c_quantities[C2C_N_QUANTITIES];

/*
 * What one of them came to. Lines are counted among all that were looked at. Fails where the capture does
 * not tell it.
 */
int c2c_measure(const struct c2c *, const struct c2c_causes *, size_t quantity,
		struct measured *out, struct err *);

#endif
