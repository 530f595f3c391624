/* SPDX-License-Identifier: Apache-2.0 */
#include "base/size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static void sizes_are_read_to_their_end(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
		size_t length;	/* of what is read */
	} cases[] = {
		{ "4096", 4096, 4 },
		{ "64K", 64 << 10, 3 },
		{ "64k", 64 << 10, 3 },
		{ "1.5M", 3 << 19, 4 },
		{ "2GiB", UINT64_C(2) << 30, 4 },
		{ "1T", UINT64_C(1) << 40, 2 },
		{ "64mb", 64 << 20, 4 },
		{ "7B", 7, 2 },
		{ "7b", 7, 2 },
		{ "16K,1M", 16 << 10, 3 },
		{ "4K..64M", 4 << 10, 2 },
		{ "3 K", 3, 1 },
		{ "1X", 1, 1 },
		{ "0", 0 },
		{ "0.5", 0 },
		{ "", 0 },
		{ "K", 0 },
		{ "-1", 0 },
		{ " 1", 0 },
		{ "nan", 0 },
		{ "9999999999G", 0 },
		{ "99999999999999999999999999", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *at = cases[i].text;
		uint64_t bytes = 77;

		print_message("%s\n", cases[i].text);
		assert_int_equal(size_parse(&at, &bytes), cases[i].bytes == 0 ? -1 : 0);
		assert_int_equal(bytes, cases[i].bytes == 0 ? 77 : cases[i].bytes);
		assert_ptr_equal(at, cases[i].text + cases[i].length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read_to_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
