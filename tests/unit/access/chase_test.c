/* SPDX-License-Identifier: Apache-2.0 */
/* Which loads are told to follow pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "access/chase.h"
#include "base/alloc.h"

enum { MOST = 5 };

#define LOAD 0xf9400000u       /* ldr x0, [x0] */
#define COUNT_DOWN 0x71000421u /* subs w1, w1, #1 */
#define BACK_2 0x54ffffc1u     /* b.ne to the second before */
#define BACK_3 0x54ffffa1u
#define RETURN 0xd65f03c0u

static const struct {
	uint32_t code[MOST];
	size_t n, at;
	bool is_chase;
} cases[] = {
	{ { LOAD, COUNT_DOWN, BACK_2 }, 3, 0, true },
	{ { COUNT_DOWN, LOAD, BACK_2 }, 3, 1, true },
	{ { 0xf9400400, COUNT_DOWN, BACK_2 }, 3, 0, true },	   /* ldr x0, [x0, #8] */
	{ { LOAD, 0xb5ffffe0 }, 2, 0, true },			   /* cbnz x0 */
	{ { LOAD, 0xf9000040, COUNT_DOWN, BACK_3 }, 4, 0, true },  /* str x0, [x2] */
	{ { LOAD, 0xf9400443, COUNT_DOWN, BACK_3 }, 4, 0, true },  /* ldr x3, [x2, #8] */
	{ { LOAD, COUNT_DOWN, RETURN }, 3, 0, false },		   /* no loop */
	{ { LOAD, COUNT_DOWN, BACK_2 }, 2, 0, false },		   /* … that is seen */
	{ { COUNT_DOWN, BACK_2, LOAD, RETURN }, 4, 2, false },	   /* behind one */
	{ { LOAD, COUNT_DOWN, BACK_2 }, 3, 1, false },		   /* no load */
	{ { LOAD, COUNT_DOWN, BACK_2 }, 3, 3, false },		   /* nothing */
	{ { 0xf9400001, COUNT_DOWN, BACK_2 }, 3, 0, false },	   /* ldr x1, [x0] */
	{ { 0xf94003ff, COUNT_DOWN, BACK_2 }, 3, 0, false },	   /* ldr xzr, [sp] */
	{ { LOAD, 0xaa0203e0, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* mov x0, x2 */
	{ { LOAD, 0xf9400040, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* ldr x0, [x2] */
	{ { LOAD, 0xa9400043, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* ldp x3, x0, [x2] */
	{ { LOAD, 0xf8408403, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* ldr x3, [x0], #8 */
	{ { LOAD, 0xf8008403, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* str x3, [x0], #8 */
	{ { LOAD, 0xc8a07c43, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* cas x0, x3, [x2] */
	{ { LOAD, 0x94000010, COUNT_DOWN, BACK_3 }, 4, 0, false }, /* bl */
};

static void knows_loops_that_follow_pointers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (chase_in_loop(cases[i].code, cases[i].n, cases[i].at) != cases[i].is_chase)
			fail_msg("case %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(knows_loops_that_follow_pointers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
