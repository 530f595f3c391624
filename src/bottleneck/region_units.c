/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that a unit of the core limits. An operation whose inputs are there, and that is not issued for
 * longer than an iteration takes, waits for its unit: the unit always has something to do.
 */
#include <math.h>

#include "bottleneck/judged.h"
#include "isa/registers.h"

bool is_division_word(uint32_t word)
{
	return (word & 0x7fe0f800) == 0x1ac00800 || (word & 0xff20fc00) == 0x1e201800 ||
	       (word & 0xff3ffc00) == 0x1e21c000 || (word & 0xbfa0fc00) == 0x2e20fc00;
}

/* Cycles from dispatch to the result of the instruction that wrote a register last. NAN: not known. */
static double cycles_to_input(const struct judged *j, size_t i, unsigned reg)
{
	for (size_t back = 1; back <= j->n; back++) {
		size_t k = (i + j->n - back) % j->n;

		if (!j->f->is_rare[j->region->head + k] &&
		    isa_writes_register(judged_word(j, k), reg))
			return mean_of(&judged_sums(j, k)->total, NAN);
	}
	return 0;
}

/*
 * Cycles that an instruction waits before it is issued although its inputs are there; it is dispatched
 * later than they are, so these are some more. 0: none, or not known.
 */
static double unit_wait(const struct judged *j, size_t i)
{
	const struct insn_sums *s = judged_sums(j, i);
	struct isa_registers r;
	double wait = mean_of(&s->total, 0) - mean_of(&s->access, 0), least = wait;

	if (s->n < LEAST_HERE || s->total.n == 0 || s->access.n == 0 ||
	    !isa_registers_of(judged_word(j, i), &r))
		return 0;
	for (unsigned k = 0; k < r.n_reads; k++) {
		double input = cycles_to_input(j, i, r.reads[k]);

		if (isnan(input))
			return 0;
		least = fmin(least, wait - input);
	}
	return fmax(0, least);
}

static void measure_divisions(struct judged *j)
{
	double cycles = 0;

	for (size_t i = 0; i < j->n; i++)
		if (is_division_word(judged_word(j, i)))
			cycles += (double)judged_sums(j, i)->access.cycles / j->iterations;
	for (size_t i = 0; i < j->n; i++)
		if (is_division_word(judged_word(j, i)))
			j->division_wait = fmax(j->division_wait, unit_wait(j, i));
	/* An iteration's divisions are before it, so the one that divides never stands still. */
	if (j->division_wait >= cycles)
		j->divisions = cycles;
}

void judged_measure_units(struct judged *j)
{
	if (!j->region->is_loop || j->f->words == NULL || j->iterations == 0)
		return;
	measure_divisions(j);
	/* What is loaded elsewhere may be the address; a load may wait for a store to its own. */
	for (size_t i = 0; i < j->n; i++)
		j->has_access_backlog |=
			j->addresses[i].move == ADDRESS_STEPS && unit_wait(j, i) > judged_time(j);
}
