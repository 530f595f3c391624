/* SPDX-License-Identifier: Apache-2.0 */
/* Branch prediction: patterns that it must learn, and those that nothing can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/predictor.h"
#include "small.h"

enum { ROUNDS = 4000, PC = 0x1000, TARGET = 0x2000 };

static unsigned next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* The outcome of a branch in its n-th round. */
static bool always(unsigned n)
{
	(void)n;
	return true;
}

static bool never(unsigned n)
{
	(void)n;
	return false;
}

static bool alternating(unsigned n)
{
	return n & 1;
}

static bool loop_of_four(unsigned n)
{
	return n % 4 != 3;
}

static bool at_random(unsigned n)
{
	uint64_t x = n * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	return x >> 40 & 1;
}

static void conditional_branches(void **state)
{
	static const struct {
		const char *name;
		bool (*is_taken)(unsigned n);
		unsigned least, most; /* mispredictions */
	} patterns[] = {
		{ "always", always, 1, 2 },
		{ "never", never, 0, 0 },
		{ "alternating", alternating, 0, 20 },
		{ "loop of four", loop_of_four, 0, 40 },
		{ "at random", at_random, ROUNDS * 45 / 100, ROUNDS * 55 / 100 },
	};
	struct params params = small_params();

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct insn in = { .pc = PC, .kind = INSN_BRANCH, .branch = BRANCH_CONDITIONAL };
		struct predictor p;
		unsigned n_wrong = 0;

		predictor_init(&p, &params);
		for (unsigned n = 0; n < ROUNDS; n++) {
			uint64_t next = patterns[i].is_taken(n) ? TARGET : PC + 4;

			n_wrong += predictor_branch(&p, &in, next) == MISPREDICTED;
		}
		if (n_wrong < patterns[i].least || n_wrong > patterns[i].most)
			fail_msg("%s: %u mispredictions", patterns[i].name, n_wrong);
		predictor_release(&p);
	}
}

static void returns_match_calls(void **state)
{
	struct params params = small_params();
	struct insn call = { .pc = PC, .branch = BRANCH_DIRECT, .flags = INSN_CALL };
	struct insn back = { .pc = TARGET, .branch = BRANCH_RETURN };
	struct predictor p;

	(void)state;
	predictor_init(&p, &params);
	for (unsigned depth = 1; depth <= 6; depth++) {
		unsigned n_wrong = 0;

		for (unsigned i = 0; i < depth; i++) {
			call.pc = PC + 16 * i;
			predictor_branch(&p, &call, TARGET);
		}
		for (unsigned i = depth; i-- > 0;)
			n_wrong += predictor_branch(&p, &back, PC + 16 * i + 4) == MISPREDICTED;
		/* The stack has four places: what is deeper was overwritten. */
		assert_int_equal(n_wrong, depth > 4 ? depth - 4 : 0);
	}
	predictor_release(&p);
}

static void indirect_branches(void **state)
{
	struct params params = small_params();
	struct insn in = { .pc = PC, .branch = BRANCH_INDIRECT };
	struct predictor p;
	unsigned n_wrong[3] = { 0 };
	uint32_t random = 1;

	(void)state;
	predictor_init(&p, &params);
	for (unsigned n = 0; n < ROUNDS; n++) {
		n_wrong[0] += predictor_branch(&p, &in, TARGET) == MISPREDICTED;
	}
	for (unsigned n = 0; n < ROUNDS; n++)
		n_wrong[1] += predictor_branch(&p, &in, TARGET + 64 * (n % 3)) == MISPREDICTED;
	for (unsigned n = 0; n < ROUNDS; n++)
		n_wrong[2] += predictor_branch(&p, &in, TARGET + 64 * (next_random(&random) % 8)) ==
			      MISPREDICTED;
	assert_true(n_wrong[0] < 100);		  /* one target */
	assert_true(n_wrong[1] < ROUNDS / 10);	  /* three in turn */
	assert_true(n_wrong[2] > ROUNDS * 3 / 4); /* eight at random */
	predictor_release(&p);
}

static void first_taken_branch_resteers(void **state)
{
	struct params params = small_params();
	struct insn in = { .pc = PC, .branch = BRANCH_DIRECT };
	struct predictor p;

	(void)state;
	predictor_init(&p, &params);
	assert_int_equal(predictor_branch(&p, &in, TARGET), RESTEERED);
	assert_int_equal(predictor_branch(&p, &in, TARGET), PREDICTED);
	in.pc = PC + 4 * 64; /* another one takes its place in the table, and it must learn again */
	predictor_branch(&p, &in, TARGET);
	in.pc = PC;
	assert_int_equal(predictor_branch(&p, &in, TARGET), RESTEERED);
	predictor_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditional_branches),
		cmocka_unit_test(returns_match_calls),
		cmocka_unit_test(indirect_branches),
		cmocka_unit_test(first_taken_branch_resteers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
