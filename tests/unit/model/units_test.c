/* SPDX-License-Identifier: Apache-2.0 */
/* Which cycle an operation starts in: that which a search of each cycle finds, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/random.h"
#include "model/units.h"

static const struct params params = {
	.branch_units = 1,
	.integer_units = 2,
	.multicycle_units = 1,
	.memory_units = 2,
	.vector_units = 2,
};

/* Units by cycle, from cycle 0 on. */
enum { CYCLES = 1 << 17, OPERATIONS = 8000 };

struct simple_units {
	uint16_t busy[CYCLES];
};

static uint64_t take_simply(struct simple_units *s, uint16_t kind, uint64_t ready, uint32_t cycles)
{
	uint64_t at = ready;
	uint32_t n = 0;

	if (cycles == 1) {
		while ((kind & ~s->busy[at]) == 0)
			at++;
		s->busy[at] |= (uint16_t)((kind & ~s->busy[at]) & -(kind & ~s->busy[at]));
		return at;
	}
	kind &= (uint16_t)-kind;
	for (; n < cycles; n++) {
		if (s->busy[at + n] & kind) {
			at++;
			n = UINT32_MAX;
		}
	}
	for (n = 0; n < cycles; n++)
		s->busy[at + n] |= kind;
	return at;
}

/* How operations come: ready so many cycles after dispatch, at random; so many a cycle; busy for so long. */
static const struct {
	const char *title;
	uint32_t ready, width, n_kinds, busy;
} patterns[] = {
	{ "a queue of branches", 1, 4, 1, 1 },
	{ "integers and multiplications", 1, 8, 3, 1 },
	{ "all kinds, ready later", 64, 6, N_INSN_UNITS - 1, 1 },
	{ "divisions between others", 100, 3, 3, 20 },
};

static void starts_in_the_first_free_cycle(void **state)
{
	struct simple_units *simple = mem_alloc(1, sizeof(*simple));
	struct units *units = mem_alloc(1, sizeof(*units));

	(void)state;
	for (size_t p = 0; p < COUNT(patterns); p++) {
		uint64_t random = p, cycle = 0;

		units_init(units, &params);
		*simple = (struct simple_units){ 0 };
		for (unsigned i = 0; i < OPERATIONS; i++) {
			struct insn in = { .n_uses = 1 };
			uint64_t ready = cycle + random_next(&random) % patterns[p].ready;
			uint32_t busy = i % 16 == 0 ? patterns[p].busy : 1;
			uint64_t at, wanted;

			in.unit = (uint8_t)(1 + random_next(&random) % patterns[p].n_kinds);
			units_forget_before(units, cycle);
			at = units_take(units, &in, busy, ready);
			wanted = take_simply(simple, units->kinds[in.unit], ready, busy);
			if (at != wanted)
				fail_msg("%s: operation %u starts at %llu, not %llu",
					 patterns[p].title, i, (unsigned long long)at,
					 (unsigned long long)wanted);
			/* The window: nothing is dispatched while the queue is as long as it. */
			cycle += i % patterns[p].width == 0;
			cycle = at > cycle + 128 ? at - 128 : cycle;
		}
		assert_true(cycle < CYCLES / 2);
	}
	free(units);
	free(simple);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(starts_in_the_first_free_cycle) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
