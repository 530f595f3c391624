/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { CLASS = 1, OTHER = 2 };

static void fill(struct batch *b, size_t n)
{
	batch_reset(b, BATCH_SPE);
	b->n = n;
	for (size_t row = 0; row < n; row++) {
		b->has[row] = HAS_PC | HAS_OP;
		b->op_class[row] = CLASS;
	}
	for (size_t row = n; row < BATCH_ROWS; row++) { /* not looked at */
		b->has[row] = 0;
		b->op_class[row] = OTHER;
	}
}

/* One row that is different, anywhere in a batch of any size. */
static void all_rows_are_looked_at(void **state)
{
	static const size_t sizes[] = { 1, 2, 63, 64, 65, 130, BATCH_ROWS - 1, BATCH_ROWS };
	struct batch *b = batch_new();

	(void)state;
	fill(b, 0);
	assert_true(batch_all_are(b, HAS_OP, CLASS));
	for (size_t i = 0; i < COUNT(sizes); i++) {
		fill(b, sizes[i]);
		assert_true(batch_all_are(b, HAS_OP, CLASS));
		assert_true(batch_all_are(b, HAS_OP | HAS_PC, CLASS));
		assert_false(batch_all_are(b, HAS_OP | HAS_VA, CLASS));
		assert_false(batch_all_are(b, HAS_OP, OTHER));
		for (size_t row = 0; row < sizes[i]; row++) {
			b->op_class[row] = OTHER;
			assert_false(batch_all_are(b, HAS_OP, CLASS));
			b->op_class[row] = CLASS;
			b->has[row] = HAS_PC;
			assert_false(batch_all_are(b, HAS_OP, CLASS));
			b->has[row] = HAS_PC | HAS_OP;
		}
	}
	batch_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_rows_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
