/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/phases.h"

#include "base/widen.h"

enum {
	ENOUGH = 8, /* accesses, to say that there were none in a gap between them */

	/*
	 * Accesses that are drawn by lot leave gaps: one of five times the mean length in one of
	 * 150 cases. What is longer is a pause.
	 */
	LONG_GAP = 5,

	/* Phases that border on each other meet in a slot or two of many. */
	LEAST_PART = 4, /* one in so many of the slots of either */
};

void c2c_activity_add(struct c2c_activity *a, const struct c2c_touch_part *touch)
{
	widen_times(&a->first_ns, &a->last_ns, touch->first_ns, touch->last_ns);
	a->slots |= touch->slots;
	a->n += touch->n_records;
}

/* The slots from the first to the last, both within 0 … 63. */
static uint64_t slots_between(unsigned first, unsigned last)
{
	return (~UINT64_C(0) >> (63 - last)) & (~UINT64_C(0) << first);
}

uint64_t c2c_activity_slots(const struct c2c_activity *a)
{
	uint64_t rest = a->slots, filled = a->slots;
	unsigned first, last, at;

	if (rest == 0)
		return 0;
	first = (unsigned)__builtin_ctzll(rest);
	last = 63 - (unsigned)__builtin_clzll(rest);
	for (at = first; (rest &= rest - 1) != 0;) {
		unsigned next = (unsigned)__builtin_ctzll(rest);

		if ((uint64_t)(next - at) * a->n <= LONG_GAP * (uint64_t)(last - first + 1))
			filled |= slots_between(at, next);
		at = next;
	}
	return filled;
}

static bool has_times(const struct c2c_activity *a)
{
	return a->first_ns <= a->last_ns;
}

/* Without a call: the builtin is one where the compiler may not use the CPU's instruction. */
static int n_bits(uint64_t word)
{
	const uint64_t ones = UINT64_MAX / 255;

	word -= word >> 1 & ones * 0x55;
	word = (word & ones * 0x33) + (word >> 2 & ones * 0x33);
	word = (word + (word >> 4)) & ones * 0x0f;
	return (int)(word * ones >> 56);
}

bool c2c_were_at_once(const struct c2c_activity *a, uint64_t of_a, const struct c2c_activity *b,
		      uint64_t of_b)
{
	int n_a, n_b, n_both;

	if (!has_times(a) || !has_times(b))
		return true;
	if (a->last_ns < b->first_ns || b->last_ns < a->first_ns)
		return false;
	if (a->n < ENOUGH || b->n < ENOUGH)
		return true;
	n_a = n_bits(of_a);
	n_b = n_bits(of_b);
	n_both = n_bits(of_a & of_b);
	return n_both * LEAST_PART >= (n_a < n_b ? n_a : n_b);
}
