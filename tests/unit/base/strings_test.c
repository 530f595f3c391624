/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/strings.h"

enum { N_STRINGS = 3000 };

static void equal_strings_have_equal_ids(void **state)
{
	static const char *early;
	struct strings s;
	char name[32];

	(void)state;
	strings_init(&s);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < N_STRINGS; i++) {
			snprintf(name, sizeof(name), "function_%u", i);
			assert_int_equal(strings_addz(&s, name).v, i + 1);
			if (i == 0 && round == 0)
				early = strings_get(&s, (struct str_id){ 1 });
		}
	}
	assert_ptr_equal(strings_get(&s, (struct str_id){ 1 }), early);
	assert_string_equal(strings_get(&s, (struct str_id){ N_STRINGS }), "function_2999");
	strings_release(&s);
}

static void the_empty_string_is_zero(void **state)
{
	struct strings s;

	(void)state;
	strings_init(&s);
	assert_int_equal(strings_add(&s, "", 0).v, 0);
	assert_int_equal(strings_add(&s, "abc", 0).v, 0);
	assert_int_equal(strings_add(&s, "\0abc", 4).v, 0);
	assert_string_equal(strings_get(&s, (struct str_id){ 0 }), "");
	strings_release(&s);
}

/* Only the given bytes count: not a prefix, not bytes behind the length or a NUL. */
static void only_the_given_bytes_count(void **state)
{
	struct strings s;
	struct str_id abc;

	(void)state;
	strings_init(&s);
	abc = strings_addz(&s, "abc");
	assert_int_equal(strings_add(&s, "abcdef", 3).v, abc.v);
	assert_int_equal(strings_add(&s, "abc\0def", 7).v, abc.v);
	assert_int_not_equal(strings_addz(&s, "ab").v, abc.v);
	assert_int_not_equal(strings_addz(&s, "abcd").v, abc.v);
	assert_string_equal(strings_get(&s, abc), "abc");
	strings_release(&s);
}

static void release_accepts_zeroed(void **state)
{
	struct strings s = { 0 };

	(void)state;
	strings_release(&s);
	assert_null(s.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_have_equal_ids),
		cmocka_unit_test(the_empty_string_is_zero),
		cmocka_unit_test(only_the_given_bytes_count),
		cmocka_unit_test(release_accepts_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
