/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/progress.h"

static void the_line_has_a_bar_a_share_and_the_time_left(void **state)
{
	static const struct {
		struct progress_state state;
		unsigned width;
		const char *line;
	} cases[] = {
		{ { "reading", 0, 100, 0 },
		  60,
		  "reading  [........................................]    0 %" },
		{ { "reading", 50, 100, 4000000000 },
		  60,
		  "reading  [################................]   50 %  4 s left" },
		{ { "reading", 1, 100, 2000000000 },
		  60,
		  "reading  [..............................]    1 %  3 min left" },
		{ { "reading", 0, 1000, 2000000000 }, 30, "reading  [............]    0 %" },
		{ { "reading", 100, 100, 2000000000 }, 24, "reading  100 %  0 s left" },
		{ { "reading", 200, 100, 0 }, 24, "reading  100 %  0 s left" },
		{ { "reading", 0, 0, 0 }, 20, "reading    0 %" },
		{ { "reading", 0, 0, 0 }, 5, "readi" },
		{ { "reading", UINT64_MAX, UINT64_MAX, UINT64_MAX },
		  24,
		  "reading  100 %  0 s left" },
	};
	struct text line = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_reset(&line);
		progress_line(&cases[i].state, cases[i].width, &line);
		text_char(&line, '\0');
		assert_string_equal(line.bytes, cases[i].line);
		assert_true(line.n - 1 <= cases[i].width);
	}
	text_release(&line);
}

/* Whatever it says, it fits. */
static void the_line_fits_any_width(void **state)
{
	struct text line = { 0 };

	(void)state;
	for (unsigned width = 0; width < 200; width++)
		for (uint64_t done = 0; done <= 1000; done += 37) {
			const struct progress_state s = { "counting samples", done, 1000,
							  done * 1234567890 };

			text_reset(&line);
			progress_line(&s, width, &line);
			assert_true(line.n <= width);
		}
	text_release(&line);
}

static void counters_may_be_absent(void **state)
{
	struct progress p = { .done = 0 };

	(void)state;
	progress_begin(NULL, "reading", 7);
	progress_add(NULL, 1);
	progress_set(NULL, 1);
	progress_end(NULL);
	progress_close(NULL);
	progress_begin(&p, "reading", 7);
	progress_add(&p, 2);
	progress_add(&p, 3);
	assert_int_equal(p.done, 5);
	progress_set(&p, 6);
	assert_int_equal(p.done, 6);
	assert_string_equal(p.doing, "reading");
	progress_end(&p);
	assert_null(p.doing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_has_a_bar_a_share_and_the_time_left),
		cmocka_unit_test(the_line_fits_any_width),
		cmocka_unit_test(counters_may_be_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
