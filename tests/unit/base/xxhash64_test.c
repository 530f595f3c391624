/* SPDX-License-Identifier: Apache-2.0 */
/* Expected hashes are those of the reference implementation (xxhsum 0.8). */
#include "base/xxhash64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static const char words[] =
	"cyclops reads what the hardware recorded, on any machine, and answers in cycles";

static const struct {
	size_t size;
	uint64_t hash;
} cases[] = {
	{ 0, 0xef46db3751d8e999 },  { 1, 0xa3dad144c40657ed },	{ 3, 0xb021ebdeef03fd67 },
	{ 4, 0x32ee12da4d858c52 },  { 7, 0xc9c22d07bc11e715 },	{ 8, 0x56a99cf5dced3478 },
	{ 14, 0x8e30b89d6acba76b }, { 31, 0x76f8dad196192e1f }, { 32, 0xa031ef765de28b89 },
	{ 33, 0x4d207d654e278bab }, { 39, 0x470a27326ec08a83 }, { 64, 0x1993685aa8f9c420 },
	{ 79, 0xc34ff0be305ecaac },
};

static void test_equals_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(xxhash64(words, cases[i].size), cases[i].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
