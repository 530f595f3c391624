/* SPDX-License-Identifier: Apache-2.0 */
#include "system/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../pmu/tree.h"

static const struct tree_file files[] = {
	{ "/sys/number", "42" },     { "/sys/hex", "0x1f" },
	{ "/sys/negative", "-1" },   { "/sys/two", "first\nsecond" },
	{ "/sys/empty", "" },	     { "/sys/word", "on" },
	{ "/sys/many/b", "" },	     { "/sys/many/a", "" },
	{ "/sys/many/.hidden", "" }, { NULL, NULL },
};

static void files_are_read_below_the_root(void **state)
{
	struct tree tree;
	char line[16];
	struct text text = { 0 };
	int64_t number = 7;

	(void)state;
	tree_make(&tree, files);
	assert_true(system_line(tree.root, line, sizeof(line), "/sys/%s", "two"));
	assert_string_equal(line, "first");
	assert_true(system_line(tree.root, line, sizeof(line), "/sys/empty"));
	assert_string_equal(line, "");
	assert_false(system_line(tree.root, line, sizeof(line), "/sys/none"));
	assert_false(system_line(tree.root, line, sizeof(line), "/sys/many"));
	assert_false(system_line(tree.root, line, 5, "/sys/two"));
	assert_string_equal(line, "");
	assert_true(system_line(tree.root, line, 6, "/sys/two"));
	assert_true(system_text(tree.root, &text, "/sys/two"));
	assert_int_equal(text.n, strlen("first\nsecond\n"));
	assert_false(system_number(tree.root, &number, "/sys/word"));
	assert_false(system_number(tree.root, &number, "/sys/empty"));
	assert_int_equal(number, 7);
	assert_true(system_number(tree.root, &number, "/sys/hex"));
	assert_int_equal(number, 31);
	assert_true(system_number(tree.root, &number, "/sys/negative"));
	assert_int_equal(number, -1);
	assert_true(system_has(tree.root, "/sys/many"));
	assert_false(system_has(tree.root, "/sys/few"));
	text_release(&text);
	tree_remove(&tree);
}

static void names_are_sorted(void **state)
{
	struct tree tree;
	struct arena memory = { 0 };
	struct system_names names;

	(void)state;
	tree_make(&tree, files);
	names = system_list(tree.root, &memory, "/sys/%s", "many");
	assert_int_equal(names.n, 2);
	assert_string_equal(names.items[0], "a");
	assert_string_equal(names.items[1], "b");
	assert_int_equal(system_list(tree.root, &memory, "/none").n, 0);
	arena_release(&memory);
	tree_remove(&tree);
}

static void paths_that_are_too_long_name_nothing(void **state)
{
	char root[SYSTEM_PATH_MAX + 2], line[8];

	(void)state;
	memset(root, '/', sizeof(root) - 1);
	root[sizeof(root) - 1] = '\0';
	assert_false(system_line(root, line, sizeof(line), "/proc/version"));
	root[SYSTEM_PATH_MAX - 2] = '\0';
	assert_false(system_has(root, "/proc/version"));
}

static void lists_of_cpus(void **state)
{
	static const struct {
		const char *text;
		int n; /* -1: refused */
		const char *cpus;
	} cases[] = {
		{ "", 0, "" },
		{ "0", 1, "0" },
		{ "0-3,8", 5, "0 1 2 3 8" },
		{ "8,0-1", 3, "0 1 8" },
		{ "0-2,1-4,5", 6, "0 1 2 3 4 5" },
		{ "3,3,3", 1, "3" },
		{ "0-5,2", 6, "0 1 2 3 4 5" },
		{ "65535", 1, "65535" },
		{ "65536", -1, "" },
		{ "99999999999999999999", -1, "" },
		{ "0-4294967295", -1, "" },
		{ "3-1", -1, "" },
		{ "1-", -1, "" },
		{ "-1", -1, "" },
		{ "1,", -1, "" },
		{ ",1", -1, "" },
		{ "1 2", -1, "" },
		{ "a", -1, "" },
		{ "0x3", -1, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena memory = { 0 };
		struct cpu_list list;
		struct err err;
		char cpus[128] = "";
		int rc = cpu_list_parse(cases[i].text, &memory, &list, &err);

		assert_int_equal(rc, cases[i].n < 0 ? -1 : 0);
		if (rc == 0) {
			assert_int_equal(cpu_list_n(&list), cases[i].n);
			for (size_t k = 0; k < cpu_list_n(&list); k++) {
				snprintf(cpus + strlen(cpus), sizeof(cpus) - strlen(cpus), "%s%u",
					 k > 0 ? " " : "", cpu_list_at(&list, k));
				assert_true(cpu_list_has(&list, cpu_list_at(&list, k)));
			}
			assert_string_equal(cpus, cases[i].cpus);
			assert_false(cpu_list_has(&list, 7));
		}
		arena_release(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_below_the_root),
		cmocka_unit_test(names_are_sorted),
		cmocka_unit_test(paths_that_are_too_long_name_nothing),
		cmocka_unit_test(lists_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
