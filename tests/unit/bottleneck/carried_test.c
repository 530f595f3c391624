/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and recurrences: words as GNU as made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "bottleneck/carried.h"

enum { MOST = 4 };

#define COUNT_DOWN 0xd1000421 /* sub x1, x1, #1: not on the chain */

static const struct {
	const char *what;
	uint32_t words[MOST];
	double parts[MOST];
	enum carried carried;
} chains[] = {
	{ "fadd d0, d0, d1", { 0x1e612800, COUNT_DOWN }, { 2 }, CARRIED_REDUCTION },
	{ "fmadd d0, d1, d2, d0", { 0x1f420020, COUNT_DOWN }, { 4 }, CARRIED_REDUCTION },
	{ "madd x0, x1, x3, x0", { 0x9b030020, COUNT_DOWN }, { 1 }, CARRIED_REDUCTION },
	{ "smaddl x0, w1, w3, x0", { 0x9b230020, COUNT_DOWN }, { 1 }, CARRIED_REDUCTION },
	{ "mul x0, x0, x1", { 0x9b017c00, COUNT_DOWN }, { 4 }, CARRIED_REDUCTION },
	{ "fmul d0, d0, d1", { 0x1e610800, COUNT_DOWN }, { 3 }, CARRIED_REDUCTION },
	{ "fmla v0.4s, v1.4s, v2.4s", { 0x4e22cc20, COUNT_DOWN }, { 4 }, CARRIED_REDUCTION },
	{ "uadalp v0.4s, v1.8h", { 0x6e606820, COUNT_DOWN }, { 1 }, CARRIED_REDUCTION },
	{ "eor v0.16b, v0.16b, v1.16b", { 0x6e211c00 }, { 2 }, CARRIED_REDUCTION },
	{ "fadd d0, d0, d1, twice", { 0x1e612800, 0x1e612800 }, { 2, 2 }, CARRIED_REDUCTION },
	{ "fsub d0, d0, d3; fadd d0, d0, d1",
	  { 0x1e633800, 0x1e612800 },
	  { 2, 2 },
	  CARRIED_REDUCTION },
	{ "fadd d0, d0, d1; fmov d0, d4: a copy",
	  { 0x1e612800, 0x1e604080 },
	  { 2, 1 },
	  CARRIED_REDUCTION },
	{ "cmp x0, x2; csel x0, x0, x2, gt",
	  { 0xeb02001f, 0x9a82c000 },
	  { 1, 1 },
	  CARRIED_REDUCTION },
	{ "madd x0, x0, x1, x2", { 0x9b010800, COUNT_DOWN }, { 3 }, CARRIED_LINEAR },
	{ "fmadd d0, d0, d1, d2", { 0x1f410800, COUNT_DOWN }, { 4 }, CARRIED_LINEAR },
	{ "mul x0, x0, x1; add x0, x0, x2", { 0x9b017c00, 0x8b020000 }, { 3, 1 }, CARRIED_LINEAR },
	{ "mul x0, x0, x1; add x0, x0, #1", { 0x9b017c00, 0x91000400 }, { 3, 1 }, CARRIED_LINEAR },
	{ "mul x0, x0, x0", { 0x9b007c00, COUNT_DOWN }, { 3 }, CARRIED_RECURRENCE },
	{ "fmadd d0, d0, d0, d2", { 0x1f400800 }, { 4 }, CARRIED_RECURRENCE },
	{ "smaddl x0, w0, w1, x2: bits are lost", { 0x9b210800 }, { 3 }, CARRIED_RECURRENCE },
	{ "eor x0, x0, x2; mul x0, x0, x1",
	  { 0xca020000, 0x9b017c00 },
	  { 1, 3 },
	  CARRIED_RECURRENCE },
	{ "eor x1, x0, x0, lsr #32; mul x0, x1, x3",
	  { 0xca408001, 0x9b037c20 },
	  { 1, 3 },
	  CARRIED_RECURRENCE },
	{ "add x0, x0, x0, lsl #5", { 0x8b001400 }, { 2 }, CARRIED_RECURRENCE },
	{ "ror x0, x0, #7; add x0, x0, x2",
	  { 0x93c01c00, 0x8b020000 },
	  { 1, 1 },
	  CARRIED_RECURRENCE },
	{ "sub x0, x2, x0", { 0xcb000040 }, { 1 }, CARRIED_RECURRENCE },
	{ "fsub d0, d3, d0", { 0x1e603860 }, { 2 }, CARRIED_RECURRENCE },
	{ "ldr x0, [x0]: through memory", { 0xf9400000 }, { 4 }, CARRIED_UNKNOWN },
	{ "mov x0, x3: nothing but a copy", { 0xaa0303e0 }, { 1 }, CARRIED_UNKNOWN },
	{ "no instruction that is known", { 0x00000001 }, { 1 }, CARRIED_UNKNOWN },
	{ "nothing on the chain", { COUNT_DOWN }, { 0 }, CARRIED_UNKNOWN },
};

static void sums_are_no_recurrences(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(chains); i++) {
		enum carried carried = carried_by(chains[i].words, chains[i].parts, MOST);

		if (carried != chains[i].carried)
			fail_msg("%s: %d, not %d", chains[i].what, (int)carried,
				 (int)chains[i].carried);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sums_are_no_recurrences) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
