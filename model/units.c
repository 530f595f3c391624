/* SPDX-License-Identifier: Apache-2.0 */
#include "model/units.h"

#include <string.h>

/* The mask of the next `n` units, from number *first on. */
static uint16_t next_units(unsigned *first, uint32_t n)
{
	uint32_t units = ((UINT32_C(1) << n) - 1) << *first;

	*first += n;
	return (uint16_t)units;
}

void units_init(struct units *u, const struct params *p)
{
	unsigned n = 0;
	uint16_t branch = next_units(&n, p->branch_units);
	uint16_t integer = next_units(&n, p->integer_units);
	uint16_t multicycle = next_units(&n, p->multicycle_units);
	uint16_t memory = next_units(&n, p->memory_units);
	uint16_t vector = next_units(&n, p->vector_units);

	/*
	 * Free units with lower numbers are taken first, so simple operations spare the multicycle
	 * unit.
	 */
	*u = (struct units){
		.kinds = {
			[UNIT_BRANCH] = branch,
			[UNIT_INTEGER] = integer | multicycle,
			[UNIT_MULTICYCLE] = multicycle,
			[UNIT_MEMORY] = memory,
			[UNIT_VECTOR] = vector,
			[UNIT_VECTOR_FIRST] = vector & (uint16_t)-vector,
			[UNIT_VECTOR_LAST] = (uint16_t)(UINT32_C(1) << (n - 1)),
		},
	};
}

void units_forget(struct units *u, uint64_t cycle)
{
	uint64_t from = cycle - cycle % UNIT_CYCLES_FORGOTTEN;

	if (from - u->from >= UNIT_CYCLES)
		memset(u->busy, 0, sizeof(u->busy));
	else
		for (uint64_t at = u->from; at < from; at += UNIT_CYCLES_FORGOTTEN)
			memset(&u->busy[at % UNIT_CYCLES], 0,
			       UNIT_CYCLES_FORGOTTEN * sizeof(*u->busy));
	u->from = from;
}

/* Is the unit free in these cycles? Else the last one in which it is not. Cycles that are not kept are free. */
static bool is_free(const struct units *u, uint32_t unit, uint64_t at, uint32_t cycles,
		    uint64_t *out_busy)
{
	for (uint64_t last = at + cycles; last-- > at;) {
		if (last - u->from < UNIT_CYCLES && u->busy[last % UNIT_CYCLES] & unit) {
			*out_busy = last;
			return false;
		}
	}
	return true;
}

uint64_t units_take_long(struct units *u, unsigned kind, uint64_t ready, uint32_t cycles)
{
	uint32_t unit = u->kinds[kind] & -(uint32_t)u->kinds[kind];
	uint64_t busy;

	while (!is_free(u, unit, ready, cycles, &busy))
		ready = busy + 1;
	for (uint64_t at = ready; at < ready + cycles && at - u->from < UNIT_CYCLES; at++)
		u->busy[at % UNIT_CYCLES] |= (uint16_t)unit;
	return ready;
}
