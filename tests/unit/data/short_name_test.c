/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "data/short_name.h"

static const struct {
	const char *name;
	size_t most;
	const char *expected;
} cases[] = {
	{ "", 10, "" },
	{ "struct conn.lock", 16, "struct conn.lock" },
	{ "std::thread::_State_impl<std::tuple<int, char> >.run", 40,
	  "std::thread::_State_impl<…>.run" },
	{ "map<a, b<c> >::node<d>.next (64 bytes, heap)", 42,
	  "map<…>::node<…>.next (64 bytes, heap)" },
	{ "vector<int>.size", 16, "vector<int>.size" },
	{ "a::operator<.b_and_some_more_words", 20, "a::ope…me_more_words" },
	{ "a::operator<<map<int, char>.next", 24, "a::operator<<map<…>.next" },
	{ "function<auto (int)->long>::held_here", 24, "function<…>::held_here" },
	{ "broken>name_of_something", 12, "bro…omething" },
	{ "broken<name_of_something", 12, "bro…omething" },
	{ "größen_ärgern_öfter", 10, "grö…_öfter" },
	{ "abc", 1, "…" },
	{ "abc", 0, "…" },
};

static void test_short_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text out = { 0 };

		short_name(cases[i].name, strlen(cases[i].name), cases[i].most, &out);
		text_char(&out, '\0');
		assert_string_equal(out.bytes, cases[i].expected);
		text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_short_name) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
