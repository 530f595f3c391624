/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/err.h"

static void fills_all_fields(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, ERR_FORMAT, 0x2e8, "attr %d: size %u", 3, 48u), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_int_equal(err.at, 0x2e8);
	assert_string_equal(err.text, "attr 3: size 48");
}

static void context_stands_before(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_IO, ERR_NOWHERE, "cannot read");
	assert_int_equal(err_within(&err, "event %d", 2), -1);
	assert_int_equal(err_within(&err, "%s", "perf.data"), -1);
	assert_string_equal(err.text, "perf.data: event 2: cannot read");
	assert_int_equal(err.code, ERR_IO);
	assert_true(err.at == ERR_NOWHERE);
}

/* Texts of any length end inside the buffer. */
static void long_texts_are_cut(void **state)
{
	char name[2000];
	struct err err;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	err_set(&err, ERR_LIMIT, 0, "%s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_within(&err, "%s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_set(&err, ERR_LIMIT, 0, "%s", name);
	err_within(&err, "ctx");
	assert_memory_equal(err.text, "ctx: nnn", 8);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_all_fields),
		cmocka_unit_test(context_stands_before),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
