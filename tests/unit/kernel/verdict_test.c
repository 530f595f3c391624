/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on events, of counts in kernels whose counts are known. */
#include "kernel/validation/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"

enum { MOST_RUNS = 3 };

/* 1000 iterations: exactly one event in each, or none. */
#define ONCE(n)                                                                                    \
	{                                                                                          \
		"E", "once", false, 990, 1010, true, n                                             \
	}
#define NEVER(n)                                                                                   \
	{                                                                                          \
		"E", "never", true, 0, 1, true, n                                                  \
	}
#define FAILED                                                                                     \
	{                                                                                          \
		"E", "failed", false, 990, 1010, false, 0                                          \
	}
/* It may count, or not: neither says whether the event works. */
#define SOME(n)                                                                                    \
	{                                                                                          \
		"E", "some", false, 0, 100, true, n                                                \
	}

static void of_all_runs(void **state)
{
	static const struct {
		struct validation_check runs[MOST_RUNS];
		size_t n;
		enum validation_verdict verdict;
		int worst; /* -1: none */
		double factor;
		bool is_remembered;
		enum event_verdict remembered;
	} cases[] = {
		{ { ONCE(1000), NEVER(0) }, 2, VALIDATION_OK, -1, 1, true, EVENT_OK },
		{ { ONCE(990), ONCE(1010), NEVER(1) }, 3, VALIDATION_OK, -1, 1, true, EVENT_OK },
		{ { ONCE(2020), NEVER(0) }, 2, VALIDATION_OVER, 0, 2, true, EVENT_IS_OFF },
		{ { ONCE(1011), ONCE(4040) }, 2, VALIDATION_OVER, 1, 4, true, EVENT_IS_OFF },
		{ { ONCE(495) }, 1, VALIDATION_UNDER, 0, 0.5, true, EVENT_IS_OFF },
		/* the run that is further off decides */
		{ { ONCE(2020), ONCE(99) }, 2, VALIDATION_UNDER, 1, 0.1, true, EVENT_IS_OFF },
		{ { ONCE(10100), ONCE(495) }, 2, VALIDATION_OVER, 0, 10, true, EVENT_IS_OFF },
		{ { ONCE(1000), NEVER(2) },
		  2,
		  VALIDATION_FIRES_ELSEWHERE,
		  1,
		  1,
		  true,
		  EVENT_FIRES_ELSEWHERE },
		/* two events that were swapped: what must not fire does */
		{ { ONCE(0), NEVER(500) },
		  2,
		  VALIDATION_FIRES_ELSEWHERE,
		  1,
		  1,
		  true,
		  EVENT_FIRES_ELSEWHERE },
		{ { ONCE(0), NEVER(0) }, 2, VALIDATION_NOT_COUNTED, 0, 1, true, EVENT_READS_0 },
		/* it fires in one run, and in another not at all */
		{ { ONCE(1000), ONCE(0) }, 2, VALIDATION_UNDER, 1, 0, true, EVENT_IS_OFF },
		/* nothing is known of what could not be counted, nor of what no kernel makes count */
		{ { FAILED, FAILED }, 2, VALIDATION_NOT_COUNTED, -1, 1, false, EVENT_READS_0 },
		{ { FAILED, ONCE(1000) }, 2, VALIDATION_OK, -1, 1, true, EVENT_OK },
		{ { SOME(0), ONCE(1000) }, 2, VALIDATION_OK, -1, 1, true, EVENT_OK },
		{ { SOME(0), ONCE(0) }, 2, VALIDATION_NOT_COUNTED, 1, 1, true, EVENT_READS_0 },
		{ { SOME(0) }, 1, VALIDATION_OK, -1, 1, false, EVENT_OK },
		{ { SOME(300), ONCE(1000) }, 2, VALIDATION_OVER, 0, 3, true, EVENT_IS_OFF },
		{ { NEVER(0) }, 1, VALIDATION_OK, -1, 1, false, EVENT_OK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct event_validation v = validation_of_event(cases[i].runs, cases[i].n);
		enum event_verdict remembered;
		bool is_remembered =
			validation_to_remember(&v, cases[i].runs, cases[i].n, &remembered);

		if (v.verdict != cases[i].verdict || v.factor != cases[i].factor)
			fail_msg("case %zu: %s, factor %g", i, validation_verdict_name(v.verdict),
				 v.factor);
		if (v.worst != (cases[i].worst < 0 ? NULL : &cases[i].runs[cases[i].worst]))
			fail_msg("case %zu: another run is the worst", i);
		assert_int_equal(is_remembered, cases[i].is_remembered);
		if (is_remembered)
			assert_int_equal(remembered, cases[i].remembered);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_all_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
