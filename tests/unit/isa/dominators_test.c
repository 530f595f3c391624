/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators, compared with reachability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "isa/dominators.h"

enum { MOST = 24, RANDOM_FUNCTIONS = 3000 };

/* Marks what can be reached from `at` without passing `without`. */
static void reach(const struct isa_step *steps, size_t n, size_t at, size_t without, bool *seen)
{
	const struct isa_step *step = &steps[at];

	if (at == without || seen[at])
		return;
	seen[at] = true;
	if (step->kind == FLOW_NEXT || step->kind == FLOW_BRANCH || step->kind == FLOW_CALL ||
	    step->kind == FLOW_SYSTEM)
		if (at + 1 < n)
			reach(steps, n, at + 1, without, seen);
	if ((step->kind == FLOW_BRANCH || step->kind == FLOW_JUMP) && step->target < n)
		reach(steps, n, step->target, without, seen);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static size_t make_random(struct isa_step *steps, uint32_t *seed)
{
	static const enum flow_kind kinds[] = { FLOW_NEXT,   FLOW_NEXT, FLOW_BRANCH, FLOW_BRANCH,
						FLOW_BRANCH, FLOW_JUMP, FLOW_CALL,   FLOW_RETURN };
	size_t n = 1 + next_random(seed) % MOST;

	for (size_t i = 0; i < n; i++) {
		enum flow_kind kind = kinds[next_random(seed) % COUNT(kinds)];
		bool has_target = kind == FLOW_BRANCH || kind == FLOW_JUMP;

		steps[i] = (struct isa_step){ kind, (uint32_t)n };
		if (has_target)
			steps[i].target = next_random(seed) % (uint32_t)n;
	}
	return n;
}

/* `by` dominates `to` if `to` cannot be reached without it. */
static void dominators_are_those_that_cannot_be_avoided(void **state)
{
	uint32_t seed = 1;
	size_t n_passed = 0;

	(void)state;
	for (int function = 0; function < RANDOM_FUNCTIONS; function++) {
		struct isa_step steps[MOST];
		size_t n = make_random(steps, &seed);
		bool reached[MOST] = { false };
		struct isa_dominators dominators;

		isa_dominators_init(&dominators, steps, n);
		reach(steps, n, 0, SIZE_MAX, reached);
		for (size_t by = 0; by < n; by++) {
			bool avoids[MOST] = { false };

			reach(steps, n, 0, by, avoids);
			assert_int_equal(dominators.rank[by] != 0, reached[by]);
			for (size_t to = 0; to < n; to++) {
				bool both = reached[by] && reached[to];

				assert_int_equal(isa_dominates(&dominators, by, to),
						 both && (to == by || !avoids[to]));
				n_passed += both && to != by && !avoids[to];
			}
		}
		isa_dominators_release(&dominators);
	}
	assert_true(n_passed > RANDOM_FUNCTIONS);
}

#define NEXT                                                                                       \
	{                                                                                          \
		FLOW_NEXT, 6                                                                       \
	}
#define END                                                                                        \
	{                                                                                          \
		FLOW_RETURN, 6                                                                     \
	}

static const struct {
	const char *what;
	struct isa_step steps[6];
	size_t head, branch;
	bool is_loop;
} loops[] = {
	{ "back to what every way passes",
	  { NEXT, NEXT, NEXT, { FLOW_BRANCH, 1 }, NEXT, END },
	  1,
	  3,
	  true },
	{ "entered behind its first instructions",
	  { { FLOW_JUMP, 3 }, NEXT, NEXT, NEXT, { FLOW_BRANCH, 1 }, END },
	  1,
	  4,
	  true },
	{ "a rare path at the end, which jumps back",
	  { { FLOW_BRANCH, 4 }, NEXT, NEXT, END, { FLOW_JUMP, 1 }, END },
	  1,
	  4,
	  false },
	{ "entered behind a branch",
	  { { FLOW_JUMP, 3 }, NEXT, { FLOW_BRANCH, 5 }, NEXT, { FLOW_BRANCH, 1 }, END },
	  1,
	  4,
	  false },
	{ "forward", { { FLOW_BRANCH, 3 }, NEXT, NEXT, NEXT, NEXT, END }, 3, 0, false },
};

static void loops_go_back_to_what_every_way_around_passes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(loops); i++) {
		struct isa_dominators d;

		isa_dominators_init(&d, loops[i].steps, COUNT(loops[i].steps));
		if (isa_is_loop(&d, loops[i].head, loops[i].branch) != loops[i].is_loop)
			fail_msg("%s", loops[i].what);
		isa_dominators_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dominators_are_those_that_cannot_be_avoided),
		cmocka_unit_test(loops_go_back_to_what_every_way_around_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
