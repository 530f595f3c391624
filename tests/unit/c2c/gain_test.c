/* SPDX-License-Identifier: Apache-2.0 */
/* What a fix saves, by how fast threads were without contention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/alloc.h"
#include "c2c/fix/gain.h"

enum { MOST = 32 };

/* `n_slow` windows of contention that take `slow_ns` for 10 records, and quiet ones. */
static const struct {
	const char *name;
	unsigned n_slow, n_quiet;
	double slow_ns, quiet_ns[8];
	bool is_told;
	double share, most_error;
} cases[] = {
	{ "half of the time",
	  8,
	  8,
	  300,
	  { 100, 100, 100, 100, 100, 100, 100, 100 },
	  true,
	  0.5,
	  0.016 },
	{ "no contention that costs", 8, 4, 100, { 100, 100, 100, 100 }, true, 0, 0.031 },
	{ "one that was not quiet",
	  6,
	  6,
	  200,
	  { 100, 100, 100, 200, 100, 100 },
	  true,
	  0.368,
	  0.02 },
	{ "quiet ones are slower", 6, 4, 100, { 200, 200, 200, 200 }, true, 0, 0.044 },
	{ "they differ", 4, 4, 400, { 60, 100, 100, 160 }, true, 0.604, 0.4 },
	{ "too few", 8, 3, 300, { 100, 100, 100 }, false, 0, 0 },
	{ "none", 8, 0, 300, { 0 }, false, 0, 0 },
};

static void quiet_time_tells_what_is_saved(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_window windows[MOST] = { 0 };
		double share = -1, error = -1;
		size_t n = 0;

		print_message("%s\n", cases[i].name);
		for (unsigned k = 0; k < cases[i].n_slow; k++)
			windows[n++] = (struct c2c_window){ cases[i].slow_ns, 10, false };
		for (unsigned k = 0; k < cases[i].n_quiet; k++)
			windows[n++] = (struct c2c_window){ cases[i].quiet_ns[k], 10, true };
		assert_int_equal(c2c_gain_of_windows(windows, n, &share, &error), cases[i].is_told);
		if (!cases[i].is_told)
			continue;
		assert_true(fabs(share - cases[i].share) < 0.001);
		assert_true(error <= cases[i].most_error);
		assert_true(error >=
			    0.03 * (1 - share) - 1e-9); /* the pace is not quite that of a fix */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_time_tells_what_is_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
