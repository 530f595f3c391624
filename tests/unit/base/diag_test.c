/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/err.h"

static void assert_diag(const struct diag *d, enum diag_level level, const char *text, uint64_t n,
			uint64_t bytes, uint64_t first)
{
	assert_int_equal(d->level, level);
	assert_string_equal(d->text, text);
	assert_int_equal(d->n, n);
	assert_int_equal(d->bytes, bytes);
	assert_true(d->first == first);
}

static void equal_texts_are_counted(void **state)
{
	struct diags d = { 0 };
	char text[] = "bad packet";

	(void)state;
	diags_add(&d, DIAG_DAMAGE, 200, 3, text);
	diags_add(&d, DIAG_DAMAGE, 100, 5, text);
	diags_add_n(&d, DIAG_DAMAGE, 10, 300, 7, text);
	text[0] = 'x';
	diags_add(&d, DIAG_NOTE, ERR_NOWHERE, 0, "bad packet");
	diags_add_n(&d, DIAG_LOSS, 0, 1, 1, "never");
	assert_int_equal(d.list.n, 2);
	assert_diag(&d.list.items[0], DIAG_DAMAGE, "bad packet", 12, 15, 100);
	assert_diag(&d.list.items[1], DIAG_NOTE, "bad packet", 1, 0, ERR_NOWHERE);
	assert_int_equal(diags_bytes(&d, DIAG_NOTE), 15);
	diags_release(&d);
}

static void add_part(struct diags *d, int part)
{
	if (part == 0) {
		diags_add(d, DIAG_NOTE, 5, 0, "note");
		diags_add(d, DIAG_DAMAGE, 900, 1, "b damage");
	} else {
		diags_add(d, DIAG_DAMAGE, 800, 2, "b damage");
		diags_add(d, DIAG_DAMAGE, 800, 4, "a damage");
		diags_add(d, DIAG_LOSS, 1, 0, "loss");
	}
}

/* The result does not depend on how the work was divided, or in which order parts are merged. */
static void merging_does_not_depend_on_the_order(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct diags parts[2] = { { { 0 } } }, whole = { 0 };

		add_part(&parts[0], 0);
		add_part(&parts[1], 1);
		diags_merge(&whole, &parts[first]);
		diags_merge(&whole, &parts[1 - first]);
		diags_release(&parts[0]);
		diags_release(&parts[1]);
		diags_sort(&whole);
		assert_int_equal(whole.list.n, 4);
		assert_diag(&whole.list.items[0], DIAG_DAMAGE, "a damage", 1, 4, 800);
		assert_diag(&whole.list.items[1], DIAG_DAMAGE, "b damage", 2, 3, 800);
		assert_diag(&whole.list.items[2], DIAG_LOSS, "loss", 1, 0, 1);
		assert_diag(&whole.list.items[3], DIAG_NOTE, "note", 1, 0, 5);
		assert_int_equal(diags_bytes(&whole, DIAG_NOTE), 7);
		diags_release(&whole);
	}
}

static void empty_is_fine(void **state)
{
	struct diags d = { 0 };

	(void)state;
	diags_sort(&d);
	assert_int_equal(diags_bytes(&d, DIAG_NOTE), 0);
	diags_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_are_counted),
		cmocka_unit_test(merging_does_not_depend_on_the_order),
		cmocka_unit_test(empty_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
