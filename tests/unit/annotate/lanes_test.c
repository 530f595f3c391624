/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows in lanes: what is drawn where, and which are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/lanes.h"
#include "base/alloc.h"

enum { ROWS = 5 };

static const struct drawn {
	const char *why;
	size_t most;
	bool has_unicode;
	struct lane_arrow arrows[3]; /* from, to, group, weight, style */
	size_t n;
	const char *rows[ROWS];
	bool is_left_out[3];
} drawings[] = {
	{ "arrows to one row share a lane",
	  4,
	  true,
	  { { 0, 4, 7, 1, LANE_LIGHT, false }, { 2, 4, 7, 1, LANE_LIGHT, false } },
	  2,
	  { "╭──", "│  ", "├──", "│  ", "╰─►" },
	  { false } },
	{ "the heavy part of a lane is heavy",
	  4,
	  true,
	  { { 0, 4, 7, 1, LANE_LIGHT, false }, { 2, 4, 7, 9, LANE_HEAVY, false } },
	  2,
	  { "╭──", "│  ", "┣━━", "┃  ", "┗━►" },
	  { false } },
	{ "heavy and dashed, without UTF-8",
	  4,
	  false,
	  { { 3, 1, 1, 9, LANE_HEAVY, false }, { 0, 4, 4, 0, LANE_DASHED, false } },
	  2,
	  { "....", ":#=>", ":#  ", ":#==", "'..>" },
	  { false } },
	{ "where lanes are short, the lightest is left out, though it is the shortest",
	  1,
	  true,
	  { { 1, 2, 2, 1, LANE_LIGHT, false }, { 0, 4, 4, 2, LANE_LIGHT, false } },
	  2,
	  { "╭──", "│  ", "│  ", "│  ", "╰─►" },
	  { true, false } },
	{ "one that is beside no other is kept, however light",
	  1,
	  true,
	  { { 0, 1, 1, 0, LANE_LIGHT, false },
	    { 2, 4, 4, 5, LANE_LIGHT, false },
	    { 3, 2, 2, 4, LANE_LIGHT, false } },
	  3,
	  { "╭──", "╰─►", "╭──", "│  ", "╰─►" },
	  { false, false, true } },
	{ "no lanes at all",
	  0,
	  true,
	  { { 0, 1, 1, 0, LANE_LIGHT, false } },
	  1,
	  { "", "", "", "", "" },
	  { true } },
};

static void test_drawings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(drawings); i++) {
		const struct drawn *d = &drawings[i];
		struct arena memory = { 0 };
		lane_arrows arrows = { 0 };
		const char **rows;

		for (size_t k = 0; k < d->n; k++)
			*vec_add(&arrows) = d->arrows[k];
		rows = lanes_draw(&arrows, ROWS, d->most, d->has_unicode, &memory);
		for (size_t row = 0; row < ROWS; row++)
			if (strcmp(rows[row], d->rows[row]) != 0)
				fail_msg("%s: row %zu is \"%s\"", d->why, row, rows[row]);
		for (size_t k = 0; k < d->n; k++)
			if (arrows.items[k].is_drawn == d->is_left_out[k])
				fail_msg("%s: arrow %zu", d->why, k);
		vec_release(&arrows);
		arena_release(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_drawings) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
