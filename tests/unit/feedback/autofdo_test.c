/* SPDX-License-Identifier: Apache-2.0 */
/* Discriminators of clang, taken apart. Their parts are encoded in 1, 7 or 14 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "feedback/autofdo.h"

static void parts_are_taken_apart(void **state)
{
	static const struct {
		uint32_t discriminator, base, copies;
	} cases[] = {
		{ 0, 0, 1 },
		{ 1, 0, 1 },		    /* no base; no copies */
		{ 2, 1, 1 },		    /* base 1 in 7 bits */
		{ 31 << 1, 31, 1 },	    /* the largest in 7 bits */
		{ 0xc0, 32, 1 },	    /* 32: 14 bits, of which bit 6 says so */
		{ 0x3ffe, 4095, 1 },	    /* the largest */
		{ 2 | 4 << 8, 1, 4 },	    /* base 1, 4 copies */
		{ 1 | 8 << 2, 0, 8 },	    /* no base, 8 copies */
		{ 1 | (0xc0 << 1), 0, 32 }, /* no base, 32 copies in 14 bits */
		{ 0xc0 | 2 << 15, 32, 2 },  /* both */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t copies, base = autofdo_base_discriminator(cases[i].discriminator, &copies);

		if (base != cases[i].base || copies != cases[i].copies)
			fail_msg("%#x: base %u, %u copies; wanted %u, %u", cases[i].discriminator,
				 base, copies, cases[i].base, cases[i].copies);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parts_are_taken_apart) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
