/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of `cyclops fleet --fail-if` may be about. */
#ifndef CYCLOPS_FLEET_GATES_H
#define CYCLOPS_FLEET_GATES_H

#include "fleet/query.h"
#include "gate/gate.h"

enum { FLEET_N_QUANTITIES = 4 };

extern const struct quantity fleet_quantities[FLEET_N_QUANTITIES];

/* Fails if the gate is about another question. */
int fleet_gate_check(const struct fleet_query *, const struct gate *, struct err *);

/* What it came to, by all rows of the answer. Fails if these are of several events, or do not tell it. */
int fleet_measure(const struct fleet_query *, const struct table *, const struct gate *,
		  struct measured *out, struct err *);

#endif
