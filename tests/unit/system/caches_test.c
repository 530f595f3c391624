/* SPDX-License-Identifier: Apache-2.0 */
/* The caches that sysfs tells of, whatever their order and form. */
#include "system/caches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "../pmu/tree.h"
#include "base/alloc.h"

struct index {
	const char *type, *level, *size; /* NULL: no such file */
};

static void read_made(const struct index *indexes, size_t n, unsigned cpu, struct caches *out)
{
	static const struct tree_file nothing[] = { { NULL, NULL } };
	struct tree tree;

	tree_make(&tree, nothing);
	for (size_t i = 0; i < n; i++) {
		const char *const names[] = { "type", "level", "size" };
		const char *const texts[] = { indexes[i].type, indexes[i].level, indexes[i].size };

		for (size_t k = 0; k < COUNT(names); k++) {
			char path[96];

			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%u/cache/index%zu/%s", cpu, i,
				 names[k]);
			if (texts[k] != NULL)
				tree_add(&tree, path, texts[k]);
		}
	}
	caches_read(out, tree.root, cpu);
	tree_remove(&tree);
}

static void levels_have_their_size(void **state)
{
	static const struct {
		struct index indexes[5];
		uint64_t l1, l2, l3, last;
		unsigned n;
	} cases[] = {
		{ { { NULL, NULL, NULL } }, 0, 0, 0, 0, 0 },
		{ { { "Data", "1", "64K" },
		    { "Instruction", "1", "48K" },
		    { "Unified", "2", "1024K" },
		    { "Unified", "3", "32768K" } },
		  64 << 10,
		  1 << 20,
		  32 << 20,
		  32 << 20,
		  3 },
		/* another order, other units */
		{ { { "Unified", "2", "2M" },
		    { "Instruction", "1", "48K" },
		    { "Data", "1", "32768" } },
		  32 << 10,
		  2 << 20,
		  0,
		  2 << 20,
		  2 },
		/* what cannot be read is left out: the rest stays */
		{ { { "Data", "1", "what" },
		    { "Unified", "2", NULL },
		    { NULL, "3", "8M" },
		    { "Unified", "0", "8M" },
		    { "Unified", "4", "64M" } },
		  0,
		  0,
		  0,
		  64 << 20,
		  1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned cpu = i % 2 == 0 ? 0 : 7;
		struct caches caches;

		print_message("%zu\n", i);
		read_made(cases[i].indexes, COUNT(cases[i].indexes), cpu, &caches);
		assert_int_equal(caches.n, cases[i].n);
		assert_int_equal(caches_bytes(&caches, 1), cases[i].l1);
		assert_int_equal(caches_bytes(&caches, 2), cases[i].l2);
		assert_int_equal(caches_bytes(&caches, 3), cases[i].l3);
		assert_int_equal(caches_last(&caches), cases[i].last);
	}
}

static void sizes_have_names(void **state)
{
	static const struct caches none = { 0 }, caches = {
		.n = 3,
		.items = { { 1, 64 << 10 }, { 2, 1 << 20 }, { 5, 32 << 20 } },
	};

	(void)state;
	assert_null(caches_name(&none, 1));
	assert_string_equal(caches_name(&caches, 1), "L1D");
	assert_string_equal(caches_name(&caches, 64 << 10), "L1D");
	assert_string_equal(caches_name(&caches, (64 << 10) + 1), "L2");
	assert_string_equal(caches_name(&caches, 2 << 20), "cache");
	assert_string_equal(caches_name(&caches, 1e9), "DRAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_have_their_size),
		cmocka_unit_test(sizes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
