/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of remedies: programs read them, so each remedy has one of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "findings/finding.h"

static void remedies_have_ids_of_their_own(void **state)
{
	(void)state;
	for (int i = 0; i < N_REMEDIES; i++) {
		const char *id = finding_remedy_id(i);

		assert_non_null(id);
		assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(id));
		for (int other = 0; other < i; other++)
			assert_string_not_equal(id, finding_remedy_id(other));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remedies_have_ids_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
