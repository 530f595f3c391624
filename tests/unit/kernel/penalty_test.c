/* SPDX-License-Identifier: Apache-2.0 */
/* What an event costs, of what two kernels counted. */
#include "kernel/validation/penalty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"

static void of_two_runs(void **state)
{
	static const struct penalty_rule per_step = { .known = { "A", "B" } };
	static const struct penalty_rule per_event = { .known = { "A", NULL },
						       .is_per_event = true };
	static const struct {
		const struct penalty_rule *rule;
		struct penalty_run with, without;
		double costs[PENALTY_KNOWN];
		double wanted; /* NAN: none */
	} cases[] = {
		{ &per_step, { 14, 1, { NAN, NAN } }, { 4, 0, { NAN, NAN } }, { NAN, NAN }, 10 },
		/* what is known of other events is subtracted, by how many more there are */
		{ &per_step, { 45, 1, { 1, 0.9 } }, { 14, 0, { 0, 0.4 } }, { 5, 10 }, 21 },
		/* … unless it was not counted, or its cost is not known */
		{ &per_step, { 45, 1, { NAN, 1 } }, { 14, 0, { 0, 0 } }, { 5, NAN }, 31 },
		/* every second step has the event */
		{ &per_event, { 10.5, 0.5, { 0, 0 } }, { 5, 0, { 0, 0 } }, { NAN, NAN }, 11 },
		{ &per_event, { 10.5, 0.5, { 0.1, 0 } }, { 5, 0, { 0, 0 } }, { 5, NAN }, 10 },
		{ &per_event, { 9, 0.5, { 0, 0 } }, { 5, 0.5, { 0, 0 } }, { NAN, NAN }, NAN },
		{ &per_event, { 9, NAN, { 0, 0 } }, { 5, 0, { 0, 0 } }, { NAN, NAN }, NAN },
		{ &per_step, { NAN, 1, { 0, 0 } }, { 5, 0, { 0, 0 } }, { NAN, NAN }, NAN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double found = penalty_of_runs(cases[i].rule, &cases[i].with, &cases[i].without,
					       cases[i].costs);

		if (isnan(cases[i].wanted) ? !isnan(found) : fabs(found - cases[i].wanted) > 1e-9)
			fail_msg("case %zu: %g, wanted %g", i, found, cases[i].wanted);
	}
}

static void of_repeats(void **state)
{
	static const double odd[] = { 12, 10, 11 }, even[] = { 4, 1, 2, 3 }, one[] = { 7 };
	static const double none[] = { 1, NAN }, below[] = { -1, -3 };
	struct repeated r = repeated_of(odd, COUNT(odd));

	(void)state;
	assert_true(r.median == 11 && r.least == 10 && r.most == 12 && r.spread == 2. / 11);
	r = repeated_of(even, COUNT(even));
	assert_true(r.median == 2.5 && r.spread == 3 / 2.5);
	r = repeated_of(one, COUNT(one));
	assert_true(r.median == 7 && r.spread == 0);
	assert_true(isnan(repeated_of(none, COUNT(none)).median));
	assert_true(isinf(repeated_of(below, COUNT(below)).spread));
}

/* What a rule refers to exists, and is measured before it is subtracted. */
static void rules_can_be_applied(void **state)
{
	static const struct cache_sizes sizes = { 64 << 10, 1 << 20, 32 << 20, 48, 1280 };
	const struct penalty_rule *rule;

	(void)state;
	for (size_t i = 0; (rule = penalty_rule_at(i)) != NULL; i++) {
		struct kernel_setting with, without;
		struct err err;

		assert_int_equal(penalty_kernel_set(&rule->with, 100, &sizes, &with, &err), 0);
		assert_int_equal(penalty_kernel_set(&rule->without, 100, &sizes, &without, &err),
				 0);
		assert_memory_not_equal(with.values, without.values, sizeof(with.values));
		assert_int_equal(with.values[ITERATIONS], 100);
		assert_true(penalty_steps(&with) >= 100);
		for (size_t p = 0; p < N_PARAMETERS; p++)
			assert_true(with.values[p] <= with.what->parameters[p].most);
		for (size_t k = 0; k < PENALTY_KNOWN && rule->known[k] != NULL; k++) {
			bool is_before = false;

			for (size_t j = 0; j < i; j++)
				is_before |=
					strcmp(penalty_rule_at(j)->events[0], rule->known[k]) == 0;
			if (!is_before)
				fail_msg("%s subtracts %s, which is not measured before",
					 rule->events[0], rule->known[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_runs),
		cmocka_unit_test(of_repeats),
		cmocka_unit_test(rules_can_be_applied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
