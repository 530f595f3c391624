/* SPDX-License-Identifier: Apache-2.0 */
#include "record/amounts.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

typedef int reader(const char *option, const char *text, uint64_t *out, struct err *err);

static const struct {
	reader *read;
	const char *text;
	uint64_t amount; /* 0: refused */
} cases[] = {
	{ read_bytes, "1", 1 },
	{ read_bytes, "512K", 512 << 10 },
	{ read_bytes, "64mb", 64 << 20 },
	{ read_bytes, "1.5G", UINT64_C(3) << 29 },
	{ read_bytes, "7B", 7 },
	{ read_bytes, "0", 0 },
	{ read_bytes, "", 0 },
	{ read_bytes, "-1", 0 },
	{ read_bytes, "+1", 0 },
	{ read_bytes, "K", 0 },
	{ read_bytes, "1X", 0 },
	{ read_bytes, "1 K", 0 },
	{ read_bytes, "0.5", 0 },
	{ read_bytes, "nan", 0 },
	{ read_bytes, "inf", 0 },
	{ read_bytes, "1e30", 0 },
	{ read_bytes, "9999999999G", 0 },
	{ read_time_ns, "2", 2000000000 },
	{ read_time_ns, "500ms", 500000000 },
	{ read_time_ns, "1.5s", 1500000000 },
	{ read_time_ns, "10us", 10000 },
	{ read_time_ns, "2m", UINT64_C(120000000000) },
	{ read_time_ns, "1h", UINT64_C(3600000000000) },
	{ read_time_ns, "1d", 0 },
	{ read_time_ns, "0ms", 0 },
	{ read_count, "1", 1 },
	{ read_count, "18446744073709551615", UINT64_MAX },
	{ read_count, "18446744073709551616", 0 },
	{ read_count, "0", 0 },
	{ read_count, "1.5", 0 },
	{ read_count, "-1", 0 },
	{ read_count, " 1", 0 },
	{ read_count, "1K", 0 },
	{ read_count, "", 0 },
};

static void amounts_are_read_or_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t amount = 77;
		struct err err;
		int rc = cases[i].read("size", cases[i].text, &amount, &err);

		if ((rc == 0) != (cases[i].amount != 0))
			fail_msg("'%s': %d", cases[i].text, rc);
		if (rc == 0) {
			assert_int_equal(amount, cases[i].amount);
			continue;
		}
		assert_int_equal(amount, 77);
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.text, "--size: found '"));
	}
}

static void what_was_not_given_is_left_alone(void **state)
{
	uint64_t amount = 5;
	struct err err;

	(void)state;
	assert_int_equal(read_bytes("size", NULL, &amount, &err), 0);
	assert_int_equal(read_time_ns("time", NULL, &amount, &err), 0);
	assert_int_equal(read_count("count", NULL, &amount, &err), 0);
	assert_int_equal(amount, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_are_read_or_refused),
		cmocka_unit_test(what_was_not_given_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
