/* SPDX-License-Identifier: Apache-2.0 */
/* When threads used a line: at once, by turns, or one after the other and never again. */
#ifndef CYCLOPS_C2C_ACCESSES_PHASES_H
#define CYCLOPS_C2C_ACCESSES_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "c2c/accesses/accesses.h"

/* When some accesses were made. */
struct c2c_activity {
	uint64_t first_ns, last_ns; /* UINT64_MAX, 0: no times were recorded */
	uint64_t slots;		    /* see struct c2c_touch */
	uint32_t n;
};

#define C2C_NEVER ((struct c2c_activity){ .first_ns = UINT64_MAX })

void c2c_activity_add(struct c2c_activity *, const struct c2c_touch_part *);

/* The slots in which it went on: those of its accesses, and those of gaps that chance leaves. */
uint64_t c2c_activity_slots(const struct c2c_activity *);

/*
 * Were they made in the same time? Yes without times. What was sampled before all of the other, or
 * behind it, was not; nor, if enough was, what met the other in few of the slots that it fills, as
 * at the border of two phases. Slots are c2c_activity_slots() of each.
 */
bool c2c_were_at_once(const struct c2c_activity *, uint64_t slots, const struct c2c_activity *,
		      uint64_t other_slots);

#endif
