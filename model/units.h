/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution units of a core, and the cycles in which each is busy. Operations come in program
 * order, and may start out of order: each in the first cycle in which it is ready and a unit of its
 * kind is free.
 */
#ifndef CYCLOPS_MODEL_UNITS_H
#define CYCLOPS_MODEL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/insn.h"
#include "model/params.h"

/*
 * Cycles that are kept, from about that of dispatch on. Operations that start later find all units
 * free: they wait longer for their operands than they would for a unit.
 */
enum { UNIT_CYCLES = 4096, UNIT_CYCLES_FORGOTTEN = 256 };

/* Cycles from `from` to before `until` in which all units of a kind are busy. They stay so. */
struct busy_cycles {
	uint64_t from, until;
};

struct units {
	uint16_t kinds[N_INSN_UNITS];		 /* bit n: unit n executes this kind of operation */
	struct busy_cycles waited[N_INSN_UNITS]; /* by kind: what the last that waited has passed */
	uint64_t from;				 /* the first cycle that is kept */
	uint16_t busy[UNIT_CYCLES]; /* by cycle modulo UNIT_CYCLES; bit n: unit n is busy */
};

void units_init(struct units *, const struct params *);

/* Part of units_forget_before(): drops cycles in pieces of UNIT_CYCLES_FORGOTTEN. */
void units_forget(struct units *, uint64_t cycle);

/* Drops cycles before `cycle`: no operation starts there any more. */
static inline void units_forget_before(struct units *u, uint64_t cycle)
{
	if (cycle - u->from >= 2 * UNIT_CYCLES_FORGOTTEN)
		units_forget(u, cycle);
}

/*
 * The last of the cycles from `ready` on in which all units of the kind are known to be busy, as they are in
 * `ready`. Where operations come faster than units take them, they form a queue as long as the window.
 */
static inline uint64_t units_skip_waited(const struct units *u, unsigned kind, uint64_t ready)
{
	const struct busy_cycles *w = &u->waited[kind];

	return w->from <= ready && ready < w->until ? w->until - 1 : ready;
}

static inline void units_note_wait(struct units *u, unsigned kind, uint64_t ready, uint64_t until)
{
	struct busy_cycles *w = &u->waited[kind];

	if (w->from > ready || ready > w->until)
		w->from = ready;
	w->until = until;
}

/*
 * Takes a unit of a kind for the first cycle from `ready` on in which one is free. Returns the
 * cycle.
 */
static inline uint64_t units_take_one(struct units *u, unsigned kind, uint64_t ready)
{
	uint32_t units = u->kinds[kind];
	uint64_t at = ready;

	for (; at - u->from < UNIT_CYCLES; at++) {
		uint16_t *busy = &u->busy[at % UNIT_CYCLES];
		uint32_t idle = units & ~(uint32_t)*busy;

		if (idle != 0) {
			*busy |= (uint16_t)(idle & -idle);
			break;
		}
		if (at == ready)
			at = units_skip_waited(u, kind, ready);
	}
	if (at != ready)
		units_note_wait(u, kind, ready, at);
	return at;
}

/* The same for several cycles. Only the first unit of the kind executes such operations. */
uint64_t units_take_long(struct units *, unsigned kind, uint64_t ready, uint32_t cycles);

/*
 * Takes all units of an instruction that is ready in the cycle `ready`: the first one for
 * `busy_cycles` (0 is as 1), the others for one cycle. Returns the cycle in which the last of them
 * starts.
 */
static inline uint64_t units_take(struct units *u, const struct insn *in, uint32_t busy_cycles,
				  uint64_t ready)
{
	uint64_t last = ready;

	if (busy_cycles <= 1 && in->n_uses == 1 && in->n_second_uses == 0) /* most of them */
		return units_take_one(u, in->unit, ready);
	if (busy_cycles > 1)
		last = units_take_long(u, in->unit, ready, busy_cycles);
	else if (in->n_uses > 0)
		last = units_take_one(u, in->unit, ready);
	for (unsigned i = 1; i < in->n_uses; i++)
		last = units_take_one(u, in->unit, last);
	for (unsigned i = 0; i < in->n_second_uses; i++) {
		uint64_t at = units_take_one(u, in->second_unit, ready);

		last = at > last ? at : last;
	}
	return last;
}

#endif
