/* SPDX-License-Identifier: Apache-2.0 */
/* Which loops of a function are looked at, and what belongs to an iteration. Words as GNU as made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static const struct {
	const char *what;
	struct function_case function;
	const char *regions; /* of each instruction: . of none, else the last of its region */
	const char *rare, *spine;
	double trips; /* of the loop inside the first region; 0: none */
	bool has_outer;
} cases[] = {
	{ "a loop: ldr; sub; cbnz",
	  { { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 }, { 50, 50, 50, 1 } },
	  "222.",
	  "....",
	  "sss.",
	  0,
	  false },
	{ "too few records to look at",
	  { { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 }, { 9, 10, 10, 60 } },
	  "....",
	  "....",
	  "....",
	  0,
	  false },
	{ "entered behind its first: b; mov; ldrb; add; cmp; b.ne",
	  { { 0x14000002, 0xaa0503e4, 0x386468e0, 0x91000485, 0xeb0b00bf, 0x54ffff81, 0xd65f03c0 },
	    { 1, 50, 50, 50, 50, 50, 1 } },
	  ".55555.",
	  ".......",
	  "..ssss.",
	  0,
	  false },
	{ "a loop in a loop: mov; [ldr; sub; cbnz]; sub; cbnz",
	  { { 0xaa0603e5, 0xf9400000, 0xd10004a5, 0xb5ffffc5, 0xd1000421, 0xb5ffff61, 0xd65f03c0 },
	    { 10, 20000, 20000, 20000, 10, 10, 1 } },
	  ".333...",
	  ".......",
	  ".sss...",
	  0,
	  true },
	{ "left after a few iterations, it is part of the one around",
	  { { 0xaa0603e5, 0xf9400000, 0xd10004a5, 0xb5ffffc5, 0xd1000421, 0xb5ffff61, 0xd65f03c0 },
	    { 100, 300, 300, 300, 100, 100, 1 } },
	  "555555.",
	  ".......",
	  "s...ss.",
	  3,
	  false },
	{ "left sooner than the next record comes: 3000 operations of 4096",
	  { { 0xaa0603e5, 0xf9400000, 0xd10004a5, 0xb5ffffc5, 0xd1000421, 0xb5ffff61, 0xd65f03c0 },
	    { 20, 2000, 2000, 2000, 20, 20, 1 } },
	  "555555.",
	  ".......",
	  "s...ss.",
	  100,
	  false },
	{ "what few iterations have is rare: ldr; cbz; sub; cbnz",
	  { { 0xf9400000, 0xb4000040, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 }, { 80, 80, 5, 80, 1 } },
	  "3333.",
	  "..r..",
	  "ss.s.",
	  0,
	  false },
	{ "what a third has is not",
	  { { 0xf9400000, 0xb4000040, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 }, { 80, 80, 27, 80, 1 } },
	  "3333.",
	  ".....",
	  "ss.s.",
	  0,
	  false },
};

static void loops_are_cut_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct bottleneck_fixture b;
		const struct function_insns *f;
		char regions[MOST_INSNS + 1] = "", rare[MOST_INSNS + 1] = "",
					  spine[MOST_INSNS + 1] = "";
		const struct region *first;

		open_function(&cases[i].function, &b);
		f = b.all->functions.items;
		for (size_t k = 0; k < f->n; k++) {
			const struct region *r = &b.all->regions.items[f->regions[k]];

			regions[k] = r->is_loop ? (char)('0' + r->branch) : '.';
			rare[k] = f->is_rare[k] ? 'r' : '.';
			spine[k] = f->is_spine[k] ? 's' : '.';
		}
		if (strcmp(regions, cases[i].regions) != 0 || strcmp(rare, cases[i].rare) != 0 ||
		    strcmp(spine, cases[i].spine) != 0)
			fail_msg("%s: %s %s %s", cases[i].what, regions, rare, spine);
		first = &b.all->regions.items[b.all->regions.n > 1];
		assert_int_equal(first->inner.n, cases[i].trips > 0);
		if (cases[i].trips > 0)
			assert_int_equal((int)(first->inner.items[0].trips + 0.5),
					 (int)cases[i].trips);
		assert_int_equal(first->has_outer, cases[i].has_outer);
		close_function(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_are_cut_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
