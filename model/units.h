/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution units of a core, and in which cycles each of them starts an operation or is still
 * busy with one. Operations come in program order and take units in any order of time: each the
 * first cycle, from the one on in which it is ready, in which a unit of its kind is free.
 */
#ifndef CYCLOPS_MODEL_UNITS_H
#define CYCLOPS_MODEL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/insn.h"
#include "model/params.h"

/*
 * Cycles that are kept, from about that of dispatch on. Operations that start later find all units
 * free: they wait for something that takes longer than any unit would.
 */
enum { UNIT_CYCLES = 4096, UNIT_CYCLES_FORGOTTEN = 256 };

struct units {
	uint16_t kinds[N_INSN_UNITS]; /* bit n: unit n executes such operations */
	uint64_t from;		      /* the first cycle that is kept */
	uint16_t busy[UNIT_CYCLES];   /* by cycle modulo UNIT_CYCLES; bit n: unit n is taken */
};

void units_init(struct units *, const struct params *);

/* Forgets cycles, so that those from `cycle` on, which is late enough for that, can be kept. */
void units_forget(struct units *, uint64_t cycle);

/* Nothing starts before this cycle any more. */
static inline void units_forget_before(struct units *u, uint64_t cycle)
{
	if (cycle - u->from >= 2 * UNIT_CYCLES_FORGOTTEN)
		units_forget(u, cycle);
}

/* Takes one unit of a kind for a cycle, from `ready` on as early as possible. Returns that cycle. */
static inline uint64_t units_take_one(struct units *u, uint32_t kind, uint64_t ready)
{
	for (; ready - u->from < UNIT_CYCLES; ready++) {
		uint16_t *busy = &u->busy[ready % UNIT_CYCLES];
		uint32_t idle = kind & ~(uint32_t)*busy;

		if (idle == 0)
			continue;
		*busy |= (uint16_t)(idle & -idle);
		break;
	}
	return ready;
}

/* The same for several cycles: the first unit of the kind alone does what takes so long. */
uint64_t units_take_long(struct units *, uint32_t kind, uint64_t ready, uint32_t cycles);

/*
 * The cycle in which an instruction starts that is ready in the cycle `ready`: its units are taken
 * from then on, the first of them for `busy_cycles` (0 is as 1), the others for one.
 */
static inline uint64_t units_take(struct units *u, const struct insn *in, uint32_t busy_cycles,
				  uint64_t ready)
{
	uint64_t last = ready;

	if (busy_cycles <= 1 && in->n_uses == 1 && in->n_second_uses == 0) /* most of them */
		return units_take_one(u, u->kinds[in->unit], ready);
	if (busy_cycles > 1)
		last = units_take_long(u, u->kinds[in->unit], ready, busy_cycles);
	else if (in->n_uses > 0)
		last = units_take_one(u, u->kinds[in->unit], ready);
	for (unsigned i = 1; i < in->n_uses; i++)
		last = units_take_one(u, u->kinds[in->unit], last);
	for (unsigned i = 0; i < in->n_second_uses; i++) {
		uint64_t at = units_take_one(u, u->kinds[in->second_unit], ready);

		last = at > last ? at : last;
	}
	return last;
}

#endif
