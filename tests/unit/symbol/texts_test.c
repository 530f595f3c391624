/* SPDX-License-Identifier: Apache-2.0 */
/* The text files that name code: kallsyms and JIT maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "elf/jit_map.h"
#include "elf/kallsyms.h"
#include "../elf/elf_builder.h"

static const char kallsyms_text[] = "ffffffff81000000 T _text\n"
				    "ffffffff81000000 T startup_64\n"
				    "0000000000000000 A fixed_percpu_data\n"
				    "ffffffff81000100 t local_one\n"
				    "ffffffff81000100 T global_one\n"
				    "ffffffff81000200 D data\n"
				    "ffffffff81000180 W weak_one\n"
				    "not a line\n"
				    "\n"
				    "ffffffffc0001000 t mod_init\t[mod]\r\n"
				    "ffffffffc0001040 t mod_work\t[mod]\n"
				    "ffffffffc0020010 t other_work\t[other]";

static const struct expected {
	uint64_t address;
	const char *name;
} kernel_functions[] = {
	{ 0xffffffff80ffffff, NULL },	      { 0xffffffff81000000, "startup_64" },
	{ 0xffffffff810000ff, "startup_64" }, { 0xffffffff81000100, "global_one" },
	{ 0xffffffff8100017f, "global_one" }, { 0xffffffff81000180, "weak_one" },
	{ 0xffffffff81001fff, "weak_one" }, /* to the end of the page after its page */
	{ 0xffffffff81002000, NULL },	      { 0xffffffffc0001000, "mod_init" },
	{ 0xffffffffc000103f, "mod_init" },   { 0xffffffffc0002fff, "mod_work" },
	{ 0xffffffffc0003000, NULL },	      { 0xffffffffc0020010, "other_work" },
	{ 0xffffffffc0021fff, "other_work" }, { 0xffffffffc0022000, NULL },
};

static const struct expected kernel_data[] = {
	{ 0xffffffff810001ff, NULL },	{ 0xffffffff81000200, "data" },
	{ 0xffffffff81001fff, "data" }, { 0xffffffff81002000, NULL },
	{ 0xffffffffc0001000, NULL },
};

static void check(const struct functions *f, const struct expected *expected)
{
	const struct function *found = functions_find(f, expected->address);

	if (expected->name == NULL) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found->name, expected->name);
}

static void test_kallsyms(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "kallsyms");
	struct kallsyms k = { 0 };
	struct err err;
	uint64_t address;

	(void)state;
	file_write(path, kallsyms_text, strlen(kallsyms_text));
	assert_int_equal(kallsyms_read(&k, path, &err), 0);
	assert_false(k.is_hidden);
	for (size_t i = 0; i < COUNT(kernel_functions); i++)
		check(&k.functions, &kernel_functions[i]);
	for (size_t i = 0; i < COUNT(kernel_data); i++)
		check(&k.data, &kernel_data[i]);
	assert_true(kallsyms_find_mark(&k, "_text", &address));
	assert_int_equal(address, 0xffffffff81000000);
	assert_false(kallsyms_find_mark(&k, "_stext", &address));
	assert_false(kallsyms_find_mark(&k, "weak_one", &address));
	kallsyms_release(&k);
	folder_remove(folder);
}

static void test_kallsyms_cut(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "kallsyms");

	(void)state;
	for (size_t size = 0; size < strlen(kallsyms_text); size++) {
		struct kallsyms k = { 0 };
		struct err err;

		file_write(path, kallsyms_text, size);
		assert_int_equal(kallsyms_read(&k, path, &err), 0);
		assert_true(k.functions.list.n <= 6);
		kallsyms_release(&k);
	}
	folder_remove(folder);
}

static void test_hidden(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 t other\n";
	char *folder = folder_make();
	const char *path = in_folder(folder, "kallsyms");
	struct kallsyms k = { 0 };
	struct err err;
	uint64_t address;

	(void)state;
	file_write(path, text, strlen(text));
	assert_int_equal(kallsyms_read(&k, path, &err), 0);
	assert_true(k.is_hidden);
	assert_int_equal(k.functions.list.n, 0);
	assert_false(kallsyms_find_mark(&k, "_text", &address));
	kallsyms_release(&k);
	folder_remove(folder);
}

static void test_no_file(void **state)
{
	char *folder = folder_make();
	struct kallsyms k = { 0 };
	struct functions f = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(kallsyms_read(&k, in_folder(folder, "none"), &err), -1);
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(jit_map_read(&f, folder, &err), -1);
	folder_remove(folder);
}

static const char jit_text[] = "7f0000001000 40 old_code\n"
			       "7f0000001100 0x20 LazyCompile:~add /src/a.js:3\n"
			       "7f0000001000 30 new code \n"
			       "7f0000002000 0 nothing\n"
			       "7f0000003000 zz bad\n"
			       "7f0000004000 10 \n"
			       "ffffffffffffffff 10 wraps\n"
			       "0x7f0000005000 10 last";

static const struct expected jit_functions[] = {
	{ 0x7f0000001000, "new code" }, { 0x7f000000102f, "new code" },
	{ 0x7f0000001030, NULL },	{ 0x7f0000001100, "LazyCompile:~add /src/a.js:3" },
	{ 0x7f0000001120, NULL },	{ 0x7f0000002000, NULL },
	{ 0x7f0000003000, NULL },	{ 0x7f0000004000, NULL },
	{ 0x7f000000500f, "last" },
};

static void test_jit_map(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "perf-1.map");
	struct functions f = { 0 };
	struct err err;

	(void)state;
	file_write(path, jit_text, strlen(jit_text));
	assert_int_equal(jit_map_read(&f, path, &err), 0);
	functions_build(&f);
	for (size_t i = 0; i < COUNT(jit_functions); i++)
		check(&f, &jit_functions[i]);
	functions_release(&f);
	folder_remove(folder);
}

static void test_jit_map_cut(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "perf-1.map");

	(void)state;
	for (size_t size = 0; size < strlen(jit_text); size++) {
		struct functions f = { 0 };
		struct err err;

		file_write(path, jit_text, size);
		assert_int_equal(jit_map_read(&f, path, &err), 0);
		functions_build(&f);
		assert_true(f.list.n <= 3);
		functions_release(&f);
	}
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms), cmocka_unit_test(test_kallsyms_cut),
		cmocka_unit_test(test_hidden),	 cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_jit_map),	 cmocka_unit_test(test_jit_map_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
